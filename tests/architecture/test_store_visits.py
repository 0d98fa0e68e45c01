"""How often each verb visits the store, and asks the embedder and a parser.

A visit is one transaction. docs/ARCHITECTURE.md gives the numbers.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from commonplace.engine.sources import process, receive
from commonplace.store.queries import PassagesOf, SourcesById
from support.embedders import Counting

TALK = (
    "Ana: My sister Noa works at Intel.\n"
    "Tal: Does she live in Haifa?\n"
    "Ana: Yes, Noa lives in Haifa with her husband Dan.\n"
)
MAIL = (
    b"From: Tal <tal@example.com>\r\nTo: Ana <ana@example.com>\r\nSubject: The kiln\r\n"
    b"Date: Mon, 02 Jun 2025 09:00:00 +0000\r\nMessage-ID: <one@example.com>\r\n\r\n"
    b"Noa works at Intel. The kiln is fired on Sunday at nine.\r\n"
)


class Visits:
    """The transactions of a store, and how many of them are open."""

    def __init__(self, store: Any, patch: pytest.MonkeyPatch):
        self.reads = self.writes = self.open = 0
        if hasattr(store, "_transaction"):
            begin = store._transaction
            patch.setattr(
                store,
                "_transaction",
                lambda role, scope, how: self._counted(
                    lambda: begin(role, scope, how), is_write=how == "begin_writing"
                ),
            )
            return
        for name, is_write in (("_begin_reading", False), ("_begin_writing", True)):
            patch.setattr(store, name, self._counting(getattr(store, name), is_write))

    def _counting(self, begin: Callable[[Any], Any], is_write: bool) -> Callable[[Any], Any]:
        return lambda scope: self._counted(lambda: begin(scope), is_write)

    @contextmanager
    def _counted(self, begin: Callable[[], Any], is_write: bool) -> Iterator[Any]:
        self.writes += is_write
        self.reads += not is_write
        with begin() as session:
            self.open += 1
            try:
                yield session
            finally:
                self.open -= 1

    def of(self, verb: Callable[[], Any]) -> tuple[int, int]:
        reads, writes = self.reads, self.writes
        verb()
        return self.reads - reads, self.writes - writes


class OutsideTransactions(Counting):
    """Refuses to work while a transaction is open."""

    visits: Visits | None = None

    def embed(self, texts):
        assert self.visits is None or self.visits.open == 0
        return super().embed(texts)


@pytest.fixture
def embedder() -> OutsideTransactions:
    return OutsideTransactions()


@pytest.fixture
def book(open_book, embedder):
    return open_book(embedder=embedder, worker="off", tidy_on_open=False)


@pytest.fixture
def visits(book, me, embedder, monkeypatch) -> Visits:
    """Of a store with memories, a source and a graph, whose caches are warm."""
    me.remember_many(["Noa lives in Haifa", "Ruth lives in Acre", "My dentist is Dr. Levi"])
    me.ingest(TALK, format="transcript", external_id="talk")
    me.extract()
    me.recall("where does Ruth live?")
    me.context("where does Ruth live?", thread="t")
    me.explore(text_matches=["Noa"], granularity=1)
    book.flush()
    embedder.visits = Visits(me._engine.store, monkeypatch)
    return embedder.visits


VERBS: dict[str, tuple[Callable[[Any, str], Any], tuple[int, int]]] = {
    "remember": (lambda me, talk: me.remember("Omer works at Siemens"), (2, 1)),
    "remember, changed": (lambda me, talk: me.remember("Noa lives in Jaffa"), (2, 1)),
    "remember, in conflict": (
        lambda me, talk: me.remember(
            kind="contact", metadata={"name": "Dan Adler", "phone": "050-2"}
        ),
        (2, 1),
    ),
    "remember many": (
        lambda me, talk: me.remember_many(
            ["Noa lives in Eilat", "Ruth lives in Lod", "I like tea"]
        ),
        (2, 1),
    ),
    "recall": (lambda me, talk: me.recall("where does Noa live?"), (2, 0)),
    "context": (lambda me, talk: me.context("where does Noa live?", thread="another"), (4, 1)),
    "extract": (lambda me, talk: me.extract([talk]), (5, 1)),
    "explore": (lambda me, talk: me.explore(text_matches=["Noa"], granularity=1), (1, 0)),
    "traverse, pagerank": (lambda me, talk: me.traverse("ppr", seed_nodes=["Noa"]), (1, 0)),
    "traverse, cypher": (
        lambda me, talk: me.traverse(cypher="MATCH (a:Person)-[r]->(b) RETURN a.name, b.name"),
        (1, 0),
    ),
    "ingest": (lambda me, talk: me.ingest(MAIL, external_id="kiln"), (5, 3)),
}


@pytest.mark.parametrize("verb", VERBS)
def test_verbs_visit_the_store_as_often_as_documented(book, me, visits, verb):
    if verb == "remember, in conflict":
        me.remember(kind="contact", metadata={"name": "Dan Adler", "phone": "050-1"})
    ask, documented = VERBS[verb]
    talk = me.sources().sources[0].id
    book.flush()
    assert visits.of(lambda: ask(me, talk)) == documented
    assert visits.open == 0


def test_architecture_page_gives_the_visits_of_each_verb():
    page = (Path(__file__).parents[2] / "docs" / "ARCHITECTURE.md").read_text()
    [sentence] = re.findall(r"test_store_visits\.py`: (.*?)\.", page)
    on_page = {}
    for part in sentence.split(", "):
        verb, reads, writes = re.fullmatch(
            r"(\w+) (\d+)(?: reads?)?(?: and (\d+)(?: writes?)?)?", part
        ).groups()
        on_page[verb] = (int(reads), int(writes or 0))
    assert on_page == {verb: found for verb, (_, found) in VERBS.items() if " " not in verb} | {
        "traverse": VERBS["traverse, cypher"][1]
    }


def test_recall_over_several_scopes_takes_two_reads(book, me, visits):
    team = me.teams_create("Planning")
    me.ingest(
        "Noa: The kiln is in Lod.\nTal: Yes.\nNoa: Good.\n", format="transcript", team=team.id
    )
    me.recall("where is the kiln?")
    book.flush()
    assert visits.of(lambda: me.recall("where is the kiln?")) == (2, 0)


COMPARED: dict[str, Callable[[Any], Any]] = {
    "remember": lambda me: me.remember("My dentist is Dr. Cohen"),
    "remember_many": lambda me: me.remember_many(
        [
            {"kind": "contact", "metadata": {"name": "Ben Adler", "role": "plumber"}},
            {"kind": "kv", "metadata": {"subject": "office wifi password", "value": "owl"}},
            {"content": "Ruth moved to Lod"},
            {"content": "Ruth moved to Akko last week"},
        ]
    ),
    "observe_many": lambda me: me.observe_many(
        [
            {"text": "My favourite color is green.", "thread": "t"},
            {"text": "My dentist is Dr. Green.", "thread": "t"},
        ]
    ),
}


@pytest.mark.parametrize("verb", COMPARED)
def test_batch_comparison_calls_the_embedder_once(book, me, visits, embedder, verb):
    me.remember_many(
        [
            {"content": "My favourite color is blue"},
            {"kind": "contact", "metadata": {"name": "Ben Adler", "phone": "+972501234567"}},
            {"kind": "kv", "metadata": {"subject": "wifi password", "value": "bat"}},
        ]
    )
    calls = embedder.calls
    COMPARED[verb](me)
    assert embedder.calls == calls + 1


def test_remember_many_retried_after_a_conflict_calls_the_embedder_once(book, me, visits, embedder):
    other = book.user("ana")
    store, meanwhile = me._engine.store, [lambda: other.remember("Zebras sleep standing")]
    apply = store.apply

    def interrupted(*changesets):
        while meanwhile:
            meanwhile.pop()()
        return apply(*changesets)

    store.apply = interrupted
    calls = embedder.calls
    me.remember_many(["My dentist is Dr. Cohen", "Ruth lives in Lod"])
    assert embedder.calls == calls + 2  # the other's, and ours


FORMATS = {
    "email": MAIL,
    "transcript": TALK,
    "markdown": "# The kiln, 2025-06-01\n\nNoa fires it.\n\n## When\n\nOn Sunday.",
    "html": "<html><head><title>Kiln</title></head><body><p>Noa fires it.</p></body></html>",
    "whatsapp": "[1/2/24, 10:00:00] Ana: Is it fired?\n[1/2/24, 10:01:00] Tal: On Sunday.",
    "conversation": '{"role": "user", "text": "Is it fired?", "at": "2024-01-01T10:00:00Z"}',
    "slack": '[{"user": "U1", "text": "Is it fired?", "ts": "1700000000.000100"}]',
    "text": "Noa fires the kiln on Sunday.",
}


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("given", [{}, {"date": "2024-05-01", "title": "Kiln"}], ids=str)
def test_ingest_parses_once_and_equals_processing_the_stored_original(
    book, me, monkeypatch, format, given
):
    parsed = []
    for room in (receive, process):
        parse = room.parse_source
        monkeypatch.setattr(
            room, "parse_source", lambda *a, _do=parse, **k: parsed.append(1) or _do(*a, **k)
        )
    one = me.ingest(FORMATS[format], format=format, external_id="once", **given)
    assert len(parsed) == 1
    queued = me.ingest(FORMATS[format], format=format, external_id="later", wait=False, **given)
    book.work(once=True)
    assert len(parsed) == 3  # a worker parses what is kept
    store, scope = me._engine.store, me.principal.scope
    kept, again = store.sources(scope, SourcesById([one.source.id, queued.source.id]))
    said = [
        [(p.text, p.speaker, p.at) for p in store.passages(scope, PassagesOf(each.id)).values()]
        for each in (kept, again)
    ]
    assert said[0] == said[1]
    for name in ("title", "participants", "started_at", "ended_at", "summary", "keywords"):
        assert getattr(kept, name) == getattr(again, name)

"""Passages in the kept index: whatever came in whichever order, it equals an index built anew, and
a conversation that came turn by turn is ranked like one that came whole."""

from __future__ import annotations

import itertools
from contextlib import suppress

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import commonplace
from commonplace.engine.maintenance.vectors import fill_vectors
from commonplace.errors import InvalidInput, NotFound
from commonplace.model.access.principal import Scope
from commonplace.store.cache.scope_index import ScopeIndex
from support.clock import Clock
from support.embedders import Switchable
from support.sources import chat, slack, turn

WORDS = ("kettle", "garden", "Paris", "blue", "running", "heron", "שלום", "東京", "7", "not")
TEXTS = st.lists(st.sampled_from(WORDS), min_size=1, max_size=8).map(" ".join)
SPEAKERS = ("Dana", "Ilan", "ana")
QUERIES = ("Who saw the heron in the garden?", "Dana's blue kettle", "running in Paris", "שלום")

_users = itertools.count(1)


class Teller:
    """One of two open books, each with a cache of its own, on the same store."""

    def __init__(self, url, clock):
        self.embedder = Switchable()
        self.clock = clock
        self.book = commonplace.open(
            url, embedder=self.embedder, clock=clock, tidy_on_open=False, worker="off"
        )

    def do(self, name, user_id, text, pick, ids):
        self.clock.tick(minutes=1)
        me = self.book.user(user_id, cleared=True)
        with suppress(InvalidInput, NotFound):  # nothing there yet, or gone again
            getattr(self, name)(me, text, pick, ids)
        self.embedder.down = False

    def remember(self, me, text, pick, ids):
        ids.append(me.remember(text).id)

    def ingest_a_talk(self, me, text, pick, ids):
        said = [turn(SPEAKERS[n % 3], f"{text} {n}", n, session=str(n // 2)) for n in range(4)]
        ids.append(me.ingest(chat(*said), title=text, tags=text.split()[:2]).id)

    def ingest_a_document(self, me, text, pick, ids):
        ids.append(me.ingest(f"# {text}\n\n{text} again.", external_id=f"doc {pick % 2}").id)

    def ingest_secretly(self, me, text, pick, ids):
        ids.append(me.ingest(f"Secret {text}", sensitivity="high").id)

    def ingest_without_vectors(self, me, text, pick, ids):
        self.embedder.down = True
        self.ingest_a_talk(me, text, pick, ids)

    def append(self, me, text, pick, ids):
        said = turn(SPEAKERS[pick % 3], text, pick, session=str(pick % 2))
        ids.append(me.ingest(chat(said), external_id="log", append=True).id)

    def append_without_a_vector(self, me, text, pick, ids):
        self.embedder.down = True
        self.append(me, text, pick, ids)

    def append_late_in_slack(self, me, text, pick, ids):
        """Most come before those that are there: the passages are made anew."""
        message = (f"{1772355600 - 60 * pick}.000100", "U1", text)
        ids.append(me.ingest(slack(message), external_id="slack", append=True).id)

    def replace_a_talk(self, me, text, pick, ids):
        """Other words, other speakers, fewer or more turns and sessions."""
        who = SPEAKERS[pick % 3 :]
        said = [
            turn(who[n % len(who)], f"{text} {n}", n, session=str(n // 2))
            for n in range(1 + pick % 5)
        ]
        ids.append(me.ingest(chat(*said), external_id="edited", title=text, tags=[who[0]]).id)

    def replace_a_talk_and_process_later(self, me, text, pick, ids):
        ids.append(me.ingest(chat(turn("Ilan", text)), external_id="edited", wait=False).id)

    def receive_and_process_later(self, me, text, pick, ids):
        ids.append(me.ingest(chat(turn("Dana", text)), wait=False).id)

    def work(self, me, text, pick, ids):
        self.clock.tick(hours=1)
        self.book.work(once=True)

    def forget(self, me, text, pick, ids):
        me.forget(ids[pick % len(ids)] if ids else "source:none")

    def restore(self, me, text, pick, ids):
        me.restore(ids[pick % len(ids)] if ids else "source:none")

    def erase(self, me, text, pick, ids):
        me.erase(ids[pick % len(ids)] if ids else "source:none")

    def fill_vectors(self, me, text, pick, ids):
        fill_vectors(self.book._engine, me.principal, me._link_in_maintenance)

    def reindex(self, me, text, pick, ids):
        me.tidy(reindex=True)

    def read(self, me, text, pick, ids):
        """Catches up here, so that later changes reach this cache in another portion."""
        me.recall(text)


DEEDS = sorted(name for name in vars(Teller) if not name.startswith("_") and name != "do")


# What replaces passages that are there, and what may come in between.
REPLACING = (
    "replace_a_talk",
    "replace_a_talk_and_process_later",
    "append_late_in_slack",
    "ingest_a_document",
    "forget",
    "restore",
    "read",
    "work",
)


@pytest.fixture(scope="module")
def two_tellers(shared_url):
    clock = Clock()
    pair = (Teller(shared_url, clock), Teller(shared_url, clock))
    yield pair
    for teller in pair:
        teller.book.close()


def rebuilt(engine, scope):
    index = ScopeIndex(engine.embedder.dimension)
    index.absorb(engine.store.index_page(scope, 0, -1))
    return index


def answers(me, queries=QUERIES, **more):
    """By their texts: equal scores stand in the order of their ids, which are drawn by lot."""
    return [
        sorted((hit.text, hit.score, hit.similarity or -1.0) for hit in found.hits)
        for found in me.recall_many(list(queries), k=20, **more)
    ]


def alike(one, other):
    """The last digits of a product depend on how many rows were multiplied at once."""
    nearly = [
        [
            (text, pytest.approx(score, abs=1e-3), pytest.approx(near, abs=1e-3))
            for text, score, near in found
        ]
        for found in other
    ]
    return one == nearly


@settings(
    max_examples=8,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(
    deeds=st.lists(
        st.tuples(st.integers(0, 1), st.sampled_from(DEEDS), TEXTS, st.integers(0, 20)),
        min_size=4,
        max_size=16,
    )
)
def test_index_cache_equals_a_rebuild_after_any_interleaving_with_sources(two_tellers, deeds):
    after_all_of_it_both_caches_equal_a_rebuild(two_tellers, deeds)


@settings(
    max_examples=8,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(
    deeds=st.lists(
        st.tuples(st.integers(0, 1), st.sampled_from(REPLACING), TEXTS, st.integers(0, 20)),
        min_size=6,
        max_size=16,
    )
)
def test_index_cache_equals_a_rebuild_after_any_replacements(two_tellers, deeds):
    after_all_of_it_both_caches_equal_a_rebuild(two_tellers, deeds)


def after_all_of_it_both_caches_equal_a_rebuild(two_tellers, deeds):
    """And give the same hits with the same scores."""
    user_id = f"user {next(_users)}"
    scope = Scope.of_user(user_id)
    ids = []
    for who, name, text, pick in deeds:
        two_tellers[who].do(name, user_id, text, pick, ids)
    found = []
    for teller in two_tellers:
        engine = teller.book._engine
        fresh = rebuilt(engine, scope)
        with engine.index.reading(scope) as kept:
            assert kept.counters.seq == fresh.counters.seq
            assert kept.fingerprint() == fresh.fingerprint()
        me = teller.book.user(user_id, cleared=True)
        found.append(answers(me))
        engine.index.drop(scope)
        found.append(answers(me))
    assert all(alike(found[0], each) for each in found[1:])
    assert {n: c for n, c in engine.store.statistics(scope).loose_ends.items() if c} == {}


SAID = st.lists(
    st.tuples(st.sampled_from(SPEAKERS), TEXTS, st.sampled_from(("1", "2", None))),
    min_size=2,
    max_size=12,
)


@settings(
    max_examples=8,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(
    said=SAID,
    others=st.lists(st.tuples(st.integers(0, 11), st.booleans(), TEXTS), max_size=4),
    reads=st.sets(st.integers(0, 11)),
)
def test_ingest_turn_by_turn_ranks_like_ingest_at_once(two_tellers, said, others, reads):
    """With memories and other sources coming in between, and questions asked in between."""
    teller, _ = two_tellers
    turns = [turn(s, text, n, session=session) for n, (s, text, session) in enumerate(said)]
    number = next(_users)
    whole, piecewise = (teller.book.user(f"{how} {number}") for how in ("whole", "pieces"))
    whole.ingest(chat(*turns), external_id="talk")
    for place, each in enumerate(turns):
        piecewise.ingest(chat(each), external_id="talk", append=True)
        if place in reads:
            piecewise.recall(each["text"])
        for at, is_memory, text in others:
            if at == place:
                bring(piecewise, is_memory, text)
    for at, is_memory, text in sorted(others, key=lambda other: other[0]):
        if at < len(turns):
            bring(whole, is_memory, text)
    queries = [*QUERIES, *(each["text"] for each in turns[:3])]
    assert alike(answers(piecewise, queries), answers(whole, queries))


def bring(me, is_memory, text):
    if is_memory:
        me.remember(text)
    else:
        me.ingest(chat(turn("Ilan", text), turn("Dana", f"yes, {text}", 1)), external_id=text)


def test_ingest_of_a_long_conversation_in_parts_ranks_like_ingest_at_once(two_tellers):
    """Long enough for columns to grow, postings to fold and windows to be full."""
    teller, _ = two_tellers
    rng = np.random.default_rng(7)
    words = [f"word{n}" for n in range(60)]
    turns = [
        turn(SPEAKERS[n % 2], " ".join(rng.choice(words, 12)), n, session=str(n // 30))
        for n in range(120)
    ]
    whole, piecewise = teller.book.user("long whole"), teller.book.user("long pieces")
    whole.ingest(chat(*turns), external_id="talk")
    for start in range(0, len(turns), 7):
        piecewise.ingest(chat(*turns[start : start + 7]), external_id="talk", append=True)
        piecewise.recall("word1 word2")
    queries = [" ".join(rng.choice(words, 3)) for _ in range(10)]
    assert alike(answers(piecewise, queries), answers(whole, queries))


def test_ingest_single_word_file_name_is_not_an_indexed_title(two_tellers, tmp_path):
    """Every text speaks of notes; of the heron lake, or of what a heading names, few do."""
    teller, _ = two_tellers
    me = teller.book.user("files")
    for name in ("notes.txt", "heron-lake.txt", "todo.md"):
        (tmp_path / name).write_text("Water and birds.")
    (tmp_path / "rome.md").write_text("# Trastevere\n\nA quarter with narrow streets.")
    for path in tmp_path.iterdir():
        me.ingest(path)
    me.ingest("# Notes\n\nWhat a heading says is meant as a title.")
    with teller.book._engine.index.reading(me.principal.scope) as index:
        assert set(index.titles) == {"heron lake", "trastevere", "notes"}


def test_forget_source_removes_people_and_titles_from_the_index(two_tellers):
    teller, _ = two_tellers
    me = teller.book.user("names")
    me.remember("Melanie painted the fence")
    gone = me.ingest(chat(turn("Melanie", "I paint a lot"), turn("Ilan", "Do you?")))
    document = me.ingest("# Heron Lake\n\nA lake with birds.")
    scope = me.principal.scope
    with teller.book._engine.index.reading(scope) as index:
        assert (set(index.people), set(index.titles)) == ({"Melanie", "Ilan"}, {"heron lake"})
    me.forget([gone.id, document.id])
    with teller.book._engine.index.reading(scope) as index:
        assert (dict(index.people), dict(index.titles)) == ({}, {})
    warm = answers(me, ["What did Melanie paint?"])
    teller.book._engine.index.drop(scope)
    assert alike(answers(me, ["What did Melanie paint?"]), warm)
    me.restore([gone.id, document.id])
    with teller.book._engine.index.reading(scope) as index:
        assert (set(index.people), set(index.titles)) == ({"Melanie", "Ilan"}, {"heron lake"})

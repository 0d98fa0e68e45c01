"""A thread's conversation is one source: it grows turn by turn and is recalled like any other."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

import pytest

from commonplace.engine.follow_up_jobs import DESCRIBE_JOB, GROWING_SOURCE_DELAY
from commonplace.engine.sources.process import cut_into_passages, parse_parts
from commonplace.errors import InvalidInput
from commonplace.model import validation
from commonplace.model.sources.source import ContentType, ProcessingStatus, SourceType
from commonplace.model.validation import stored_form
from commonplace.store.queries import PassagesOf
from support.embedders import Counting
from support.odd_texts import odd_texts
from support.sources import chat, turn


def talk(me, count, thread="main", first=1):
    for number in range(first, first + count):
        last = me.observe(f"Heron number {number} sat on the wall.", thread=thread)
    return last


# ——— what is kept ———


def test_observe_thread_is_one_source_with_speaker_role_session_and_time(me, clock):
    began = clock.now
    me.observe("Where are the herons?", speaker="Ana", thread="t1", session="s1")
    ended = clock.tick(minutes=5)
    last = me.observe("On the wall.", role="assistant", speaker="Bot", thread="t1", session="s1")
    (source,) = me.sources().sources
    assert source.id == last.source_id
    assert (source.origin, source.external_id, source.thread_id) == ("thread", "t1", "t1")
    assert (source.source_type, source.content_type) == (SourceType.CHAT, ContentType.CONVERSATION)
    assert (source.status, source.passages, source.parts) == (ProcessingStatus.PROCESSED, 2, 2)
    assert (source.started_at, source.ended_at) == (began, ended)
    assert source.participants == ("ana", "Ana", "Bot")
    told = [
        (p.number, p.turn, p.text, p.speaker, p.role, p.session, p.at)
        for p in me.show(source.id).passages
    ]
    assert told == [
        (1, 1, "Where are the herons?", "Ana", "user", "s1", began),
        (2, 2, "On the wall.", "Bot", "assistant", "s1", ended),
    ]


def test_observe_threads_have_separate_sources(me):
    one, other = talk(me, 1, "one"), talk(me, 1, "other")
    assert one.source_id != other.source_id
    assert len(me.sources().sources) == 2


def test_observe_turn_is_recalled_at_once_by_its_passage(me):
    talk(me, 3)
    kept = me.observe("The spare keys are in the blue drawer, under the maps.", role="assistant")
    hit = me.recall("where are the spare keys").hits[0]
    assert hit.id == kept.passages[0]


def test_observe_splits_a_long_turn_into_several_passages(me):
    first = talk(me, 1)
    long = me.observe("A sentence about herons on walls. " * 100)
    after = talk(me, 1, first=2)
    assert len(long.passages) > 1
    assert first.passages + long.passages + after.passages == tuple(
        passage.id for passage in me.show(first.source_id).passages
    )
    turns = [passage.turn for passage in me.show(first.source_id).passages]
    assert turns == [1, *[2] * len(long.passages), 3]


def test_observe_accepts_the_time_of_a_turn(me, clock):
    me.observe("Heron.", at="2026-02-01T10:00:00+02:00")
    (passage,) = me.show(me.sources().sources[0].id).passages
    assert passage.at.isoformat() == "2026-02-01T08:00:00+00:00"


def test_observe_resent_dated_turn_is_stored_once(me):
    """By whoever did not hear the answer: it is the same turn of the same moment."""
    for _ in range(2):
        observed = me.observe("I am allergic to peanuts.", at="2026-02-01T10:00")
        assert observed.passages == (f"{observed.source_id}#1",)
    assert len(me.show(observed.source_id).passages) == 1
    assert len(me.list().memories) == 1


def test_observe_passages_equal_those_parsed_from_the_original(me, clock):
    """What is kept turn by turn is what a worker would make of the whole."""
    me.observe("Wo ist der Fußweg?\r\n\r\nHier: שלום עולם", speaker="Ana", session="s")
    clock.tick(minutes=1)
    me.observe_many([{"text": "Zwei. " * 400}, {"text": "drei", "role": "tool", "speaker": "x"}])
    (source,) = me.sources().sources
    parts = me._engine.store.original(me.principal.scope, source.id)
    anew = cut_into_passages(source, parse_parts(source, parts).turns)
    assert tuple(anew) == tuple(me.show(source.id).passages)


def test_observe_odd_texts_equal_those_parsed_from_the_original(me):
    texts = [text for text in odd_texts(40, seed=5) if is_kept(text)]
    observed = me.observe_many(texts)
    (source,) = me.sources().sources
    scope = me.principal.scope
    turns = parse_parts(source, me._engine.store.original(scope, source.id)).turns
    assert [turn.text for turn in turns] == [stored_form(text) for text in texts]
    kept = list(me._engine.store.passages(scope, PassagesOf(source.id)).values())
    assert cut_into_passages(source, turns) == kept
    assert [id for each in observed for id in each.passages] == [passage.id for passage in kept]
    assert all(finding.ok for finding in me.doctor())


def is_kept(text):
    try:
        validation.text(text, "text")
    except InvalidInput:
        return False
    return True


# ——— what a turn costs ———


@contextmanager
def counted_reads(me, monkeypatch) -> Iterator[list[tuple[str, int]]]:
    """The statements that read, with how many rows each gave."""
    store = me._engine.store
    reading = store._reading
    told: list[tuple[str, int]] = []

    class Counted:
        def __init__(self, session: Any):
            self._session = session

        def rows(self, statement: str, **values: Any) -> Any:
            found = list(self._session.rows(statement, **values))
            told.append((statement, len(found)))
            return found

        def __getattr__(self, name: str) -> Any:
            return getattr(self._session, name)

    @contextmanager
    def counting(scope: Any) -> Iterator[Any]:
        with reading(scope) as session:
            yield Counted(session)

    with monkeypatch.context() as patch:
        patch.setattr(store, "_reading", counting)
        yield told


@pytest.mark.parametrize("turn", ["Fine.", "I love hiking in the {} mountains."])
def test_observe_cost_does_not_grow_with_the_thread(open_book, monkeypatch, turn):
    embedder = Counting()
    me = open_book(embedder=embedder, worker="off").user("ana")
    seen = []
    for words in ("first", "second"):
        talk(me, 40, first=1 if words == "first" else 100)
        calls = embedder.calls
        with counted_reads(me, monkeypatch) as reads:
            me.observe(turn.format("blue" if words == "first" else "icy"))
        index = ("terms", "vectors", "index", "passage_terms", "passage_vectors", "counters")
        told = [each for each in reads if not each[0].startswith(index)]
        seen.append((embedder.calls - calls, told))
    assert [calls for calls, _ in seen] == [1, 1]
    rows = [sum(count for _, count in told) for _, told in seen]
    assert rows[1] <= rows[0] + 2  # a memory has neighbours
    assert not [each for each in seen[1][1] if each[0] in ("original", "all_passages")]


# ——— what it is about ———


def test_describe_thread_runs_after_a_pause(open_book, clock):
    book = open_book(worker="off")
    me = book.user("ana")
    talk(me, 6)
    (job,) = me.jobs()
    assert job.kind == DESCRIBE_JOB
    assert me.sources().sources[0].summary == ""
    assert book.work(once=True).done == 0
    clock.tick(seconds=GROWING_SOURCE_DELAY.total_seconds())
    assert book.work(once=True).done == 1
    (source,) = me.sources().sources
    assert "Heron" in source.summary
    assert "heron" in " ".join(source.keywords).lower()
    assert (source.status, source.passages) == (ProcessingStatus.PROCESSED, 6)
    talk(me, 1, first=7)
    assert me.sources().sources[0].summary == source.summary
    assert all(finding.ok for finding in me.doctor())


def test_describe_thread_reruns_after_growth_by_a_quarter(open_book, clock):
    book = open_book(worker="off")
    me = book.user("ana")
    talk(me, 40)
    clock.tick(seconds=GROWING_SOURCE_DELAY.total_seconds())
    book.work(once=True)
    talk(me, 2, first=41)
    assert me.jobs() == []
    talk(me, 12, first=43)
    assert [job.kind for job in me.jobs()] == [DESCRIBE_JOB]


def test_changes_header_omits_turns_of_a_thread(me):
    me.changes("main")
    talk(me, 1)
    me.changes("main")
    talk(me, 3, first=2)
    assert me.changes("main").header == ""
    observed = me.observe("I am allergic to peanuts.")
    assert "peanuts" in me.changes("main").header
    assert observed.source_id not in me.changes("main", since=0).header
    events = [row["event"] for row in me.history(observed.source_id)]
    assert events == [*["UPDATE"] * 4, "ADD"]


def test_events_record_the_classification_of_each_turn(me, book):
    me.observe("I am allergic to peanuts.")
    me.observe("ok")
    book.flush()
    told = [(row["op"], row["status"]) for row in me.events() if row["op"] == "classify"]
    assert sorted(told) == [("classify", "ok"), ("classify", "skipped")]


# ——— forgetting and erasing ———


def test_observe_after_forget_of_a_thread_starts_a_new_source(me, clock):
    old = talk(me, 2).source_id
    me.forget(old)
    new = talk(me, 1, first=3)
    assert new.source_id != old
    assert new.passages == (f"{new.source_id}#1",)
    assert talk(me, 1, first=4).source_id == new.source_id
    me.restore(old)
    assert len(me.sources().sources) == 2


def test_erase_thread_removes_its_memories_and_proposals(me):
    observed = me.observe("I am allergic to peanuts. I live in Berlin.", thread="t1")
    other = me.observe("I love hiking.", thread="t2")
    assert observed.stored
    assert observed.proposals
    erased = me.erase(observed.source_id, now=True)
    assert observed.stored[0].remembered.id in erased.ids
    assert erased.scrub == "complete"
    assert [memory.id for memory in me.list().memories] == [other.stored[0].remembered.id]
    assert me.proposals() == []
    assert me.verify_forget("peanuts").clean
    assert me.verify_forget("Berlin").clean


def test_erase_thread_leaves_no_residue_in_a_rule_from_another_thread(me):
    first = me.observe("From now on always answer in bullet points.", thread="t1")
    again = me.observe("Please, from now on always answer in bullet points!", thread="t2")
    me.erase(again.source_id)
    assert me.show(first.stored[0].remembered.id).memory.content
    assert me.verify_forget("Please, from now on").clean


def test_export_and_import_preserve_a_thread_that_then_grows(me, book, clock):
    talk(me, 3)
    me.observe("I am allergic to peanuts.")
    ben = book.user("ben")
    assert ben.import_(list(me.export())).whole
    clock.tick(days=1)
    kept = ben.observe("Heron number 9 sat on the wall.")
    assert kept.source_id == me.sources().sources[0].id
    assert kept.passages == (f"{kept.source_id}#5",)
    assert all(finding.ok for finding in ben.doctor())


# ——— others at the same name ———


def test_observe_continues_an_ingested_thread(me):
    source = me.ingest(
        chat(turn("Dana", "Hello there", 1)), origin="thread", external_id="t1", thread="t1"
    ).source
    observed = me.observe("I am allergic to peanuts.", thread="t1")
    assert observed.source_id == source.id
    assert observed.passages == (f"{source.id}#2",)


def test_observe_turn_of_an_unprocessed_thread_is_processed_with_the_thread(open_book):
    book = open_book(worker="off")
    me = book.user("ana")
    source = me.ingest(
        chat(turn("Dana", "Hello there", 1)), origin="thread", external_id="t1", wait=False
    ).source
    observed = me.observe("I am allergic to peanuts.", thread="t1")
    assert (observed.source_id, observed.passages) == (source.id, ())
    assert observed.stored
    book.work(once=True)
    assert [p.text for p in me.show(source.id).passages] == [
        "Hello there",
        "I am allergic to peanuts.",
    ]


def test_observe_does_not_append_to_an_email_with_the_same_external_id(me):
    letter = "Subject: Boiler\nFrom: a@example.com\n\nThe boiler is repaired."
    mail = me.ingest(letter, format="email", origin="thread", external_id="t1").source
    observed = me.observe("I am allergic to peanuts.", thread="t1")
    assert observed.source_id != mail.id
    assert observed.passages == (f"{observed.source_id}#1",)


# ——— agents ———


def test_observe_by_an_agent_without_read_access_stores_the_turn(me):
    stylist = me.agent("stylist")  # which sees neither history nor what it hears here
    talk(me, 2)
    observed = stylist.observe("I am allergic to peanuts.")
    assert observed.stored
    assert observed.passages == (f"{observed.source_id}#3",)
    assert stylist.recall("peanuts").is_empty
    assert me.recall("peanuts").hits


def test_observe_in_a_sensitive_thread_stores_sensitive_memories(me):
    chat_ = chat(turn("Dana", "Hello there", 1))
    me.ingest(chat_, origin="thread", external_id="t1", sensitivity="high")
    observed = me.agent("helper").observe("I am allergic to peanuts.", thread="t1")
    assert me.show(observed.stored[0].remembered.id).memory.sensitivity == "high"
    assert me.agent("helper").recall("peanuts").is_empty
    assert me.list().memories == ()


def test_observe_extends_ended_at_of_a_thread_over_days(me, clock):
    """A thread that goes on for long has one source, whose end moves."""
    began = clock.now
    for _ in range(4):
        last = me.observe("Good morning.")
        clock.tick(days=1)
    (source,) = me.sources().sources
    assert (source.started_at, source.ended_at) == (began, began + timedelta(days=3))
    assert last.passages == (f"{source.id}#4",)


def test_changes_header_omits_new_threads(me):
    helper = me.agent("helper")
    helper.changes("main")
    for name in ("t1", "t2", "t3", "t4"):
        me.observe("Where are the herons?", thread=name)
    assert helper.changes("main").header == ""


def test_observe_continues_the_newer_source_after_restore_of_the_older(me):
    first = me.observe("Where are the herons?", thread="t1").source_id
    me.forget([first])
    second = me.observe("On the wall.", thread="t1").source_id
    me.restore([first])
    assert me.observe("And the storks?", thread="t1").source_id == second != first


def test_observe_resent_dated_turn_is_stored_once_after_later_turns(me, clock):
    first = me.observe("Where are the herons?", thread="t1", at=clock.now)
    me.observe("On the wall.", role="assistant", thread="t1", at=clock.now)
    again = me.observe("Where are the herons?", thread="t1", at=clock.now)
    assert (again.source_id, again.passages) == (first.source_id, first.passages)
    both = me.observe_many(
        [
            {"text": text, "thread": "t1", "at": clock.now}
            for text in ("And the storks?", "Where are the herons?", "And the storks?")
        ]
    )
    assert [each.passages[0].partition("#")[2] for each in both] == ["3", "1", "3"]
    assert me.show(first.source_id).source.passages == 3

"""Answers, usage and readings of language models: what is kept, and what erasing takes of it."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from threading import Barrier, Thread

import pytest

from commonplace.engine.sources.blot import blot
from commonplace.errors import StaleDecision
from commonplace.model.changeset import (
    Bookkeeping,
    ClearScope,
    Receipt,
    build_removal,
)
from commonplace.model.journal import Entry, Event, Op
from commonplace.model.memory.memory import State
from commonplace.model.model_calls import ModelUsageRow
from commonplace.store.queries import PassagesOf
from support.clock import START
from support.making import ANA, BOB, a_memory, adding, changeset, put, updating
from support.models import a_kept_answer, a_reading, keeping, reading
from support.sources import a_source, altering, bringing, ending, filling
from support.stores import raw


def keep(store, *answers, scope=ANA):
    known = store.counters(scope).erasures
    kept = tuple(keeping(each, known) for each in answers)
    store.record(Bookkeeping(scope, START, model_answers=kept))


def kept_digests(store, scope=ANA):
    return {d for d in ("a", "b", "c") if store.model_answer(scope, d) is not None}


def three_answers(store, one="source:1", other="source:2", scope=ANA):
    """About two sources, and about memories."""
    store.record(Bookkeeping(scope, START, model_usage=(a_usage(),)))  # the scope is there
    keep(
        store,
        a_kept_answer(source=one, digest="a"),
        a_kept_answer(source=other, digest="b"),
        a_kept_answer(source=None, digest="c"),
        scope=scope,
    )
    assert kept_digests(store, scope) == {"a", "b", "c"}


def a_usage(**fields):
    return ModelUsageRow(**{"day": "2026-03-01", "prompt": "say/1", "model": "m", **fields})


# ——— answers ———


@pytest.mark.parametrize("answer", ['{"says":["é","\\u0000","שלום"]}', "[]", '"a"', "null"])
def test_model_answer_round_trips_for_its_owner_only(store, answer):
    mine = a_kept_answer(answer, source="source:1")
    put(store, [a_memory()])
    put(store, [a_memory(user_id="bob")], BOB)
    keep(store, mine)
    assert store.model_answer(ANA, "d1") == mine
    assert store.model_answer(BOB, "d1") is None
    keep(store, replace(mine, answer='"bob\'s"', source=None), scope=BOB)
    assert store.model_answer(ANA, "d1") == mine
    assert store.model_answer(BOB, "d1").value == "bob's"


def test_model_answer_is_replaced_by_a_later_one(store):
    put(store, [a_memory()])
    keep(store, a_kept_answer())
    later = a_kept_answer('{"says":"nothing"}', source="source:1", at=START + timedelta(days=9))
    keep(store, later)
    assert store.model_answer(ANA, "d1") == later


def test_model_answer_is_not_kept_when_something_was_erased_since(store):
    memory = a_memory()
    put(store, [memory])
    known = store.counters(ANA).erasures
    store.apply(changeset(build_removal(memory, event=Event.ERASE)))
    late = keeping(a_kept_answer(digest="a"), known)
    in_time = keeping(a_kept_answer(digest="b"), store.counters(ANA).erasures)
    store.record(Bookkeeping(ANA, START, model_answers=(late, in_time), model_usage=(a_usage(),)))
    assert kept_digests(store) == {"b"}
    assert store.model_usage(ANA) == [a_usage()]


def test_model_answers_before_a_moment_are_deleted(store):
    put(store, [a_memory()])
    old = a_kept_answer(digest="a", at=START - timedelta(days=31))
    keep(store, old, a_kept_answer(digest="b"))
    store.record(Bookkeeping(ANA, START, model_answers_before=START - timedelta(days=30)))
    assert kept_digests(store) == {"b"}


def test_mentions_finds_a_text_in_a_model_answer(store):
    put(store, [a_memory("Something else")])
    keep(store, a_kept_answer('{"says":["She calls it \\"the Old Harbour\\""]}'))
    assert store.mentions(ANA, 'calls it "the old harbour"') == ["model_answers"]
    assert store.mentions(BOB, "old harbour") == []


# ——— what takes answers away ———


def test_model_answers_go_with_a_source_and_those_about_memories(store):
    source, other = a_source("one"), a_source("two")
    store.apply(changeset(bringing(source), bringing(other)))
    three_answers(store, source.id, other.id)
    before = store.counters(ANA).erasures
    store.apply(changeset(ending(source, Event.DELETE)))
    assert kept_digests(store) == {"b"}
    assert store.counters(ANA).erasures == before + 1


def hiding_a_passage(store, source, *, erased):
    step = filling(source, ["The harbour is quiet", "A heron stands there"])
    store.apply(changeset(step))
    (_, first), *_ = store.passages(ANA, PassagesOf(source.id)).items()
    text = blot(first.text) if erased else first.text
    change = altering(step.after)
    return replace(change, revised=(replace(first, text=text, purge_at=START),))


@pytest.mark.parametrize(("erased", "left"), [(True, {"b"}), (False, {"a", "b", "c"})])
def test_model_answers_go_with_an_erased_passage_and_stay_with_a_forgotten_one(store, erased, left):
    source = a_source()
    store.apply(changeset(bringing(source)))
    step = hiding_a_passage(store, source, erased=erased)
    three_answers(store, source.id)
    store.apply(changeset(step))
    assert kept_digests(store) == left


def test_model_answers_go_with_a_replaced_original(store):
    source = a_source()
    store.apply(changeset(bringing(source)))
    three_answers(store, source.id)
    store.apply(changeset(replace(altering(source), original=b"other", anew=True)))
    assert kept_digests(store) == {"b"}


@pytest.mark.parametrize("event", [Event.ERASE, Event.DELETE, Event.TTL])
def test_model_answers_about_memories_go_with_any_removed_memory(store, event):
    memory = a_memory("The door is blue")
    put(store, [memory])
    three_answers(store)
    store.apply(changeset(build_removal(memory, event=event)))
    assert kept_digests(store) == {"a", "b"}


def test_model_answers_stay_when_a_memory_is_forgotten_or_changed(store):
    memory = a_memory()
    put(store, [memory])
    three_answers(store)
    hidden = updating(memory, state=State.SOFT_DELETED, purge_at=START)
    store.apply(changeset(hidden))
    store.apply(changeset(updating(hidden.after, content="The lamp is red", reindexed=True)))
    assert kept_digests(store) == {"a", "b", "c"}
    assert store.counters(ANA).erasures == 0


def test_erased_text_goes_from_model_answers_about_any_source(store):
    memory = a_memory("The gate code is 4711")
    put(store, [memory])
    keep(
        store,
        a_kept_answer('{"memories":[{"text":"THE  gate code is 4711."}]}', source="s", digest="a"),
        a_kept_answer('{"memories":[]}', source="source:1", digest="b"),
    )
    receipt = Receipt("receipt:1", START, 1)
    store.apply(changeset(build_removal(memory, event=Event.ERASE), receipt=receipt))
    assert kept_digests(store) == {"b"}


def test_model_answers_go_with_a_source_of_another_scope(store):
    for scope in (ANA, BOB):
        three_answers(store, scope=scope)
    ended = changeset(scope=BOB, ended_sources=("source:2",))
    store.apply(changeset(adding(a_memory())), ended)
    assert kept_digests(store, BOB) == {"a"}
    assert kept_digests(store, ANA) == {"a", "b", "c"}
    assert store.counters(BOB).erasures == 1


def test_clear_scope_removes_all_of_language_models_of_that_scope_only(store, store_url):
    for scope in (ANA, BOB):
        three_answers(store, scope=scope)
        store.apply(changeset(reading(a_reading()), scope=scope))
    store.apply(changeset(ClearScope(Entry(op=Op.DELETE, event=Event.ERASE))))
    for table in ("model_answers", "model_usage", "model_readings"):
        assert raw(store_url, f"SELECT 1 FROM {table} WHERE scope = ?", ANA.key) == [], table
    assert kept_digests(store, BOB) == {"a", "b", "c"}
    assert len(store.model_usage(BOB)) == len(store.model_readings(BOB)) == 1


# ——— usage ———


def test_model_usage_adds_up_by_day_prompt_and_model(store):
    first = a_usage(calls=1, read=100, written=20)
    again = a_usage(calls=1, failed=1, cached=2, read=5, kept=3, dropped=4)
    others = (a_usage(day="2026-02-28", calls=1), a_usage(prompt="say/2", read=7))
    for row in (first, again, *others, a_usage(model="other", calls=9)):
        store.record(Bookkeeping(ANA, START, model_usage=(row,)))
    total = a_usage(calls=2, failed=1, cached=2, read=105, written=20, kept=3, dropped=4)
    today = [total, a_usage(model="other", calls=9), others[1]]
    assert store.model_usage(ANA) == [others[0], *today]
    assert store.model_usage(ANA, "2026-03-01") == today
    assert store.model_usage(BOB) == []


def test_model_usage_is_counted_for_a_user_without_any_memory(store):
    store.record(Bookkeeping(ANA, START, model_usage=(a_usage(read=3),)))
    assert [row.read for row in store.model_usage(ANA)] == [3]


def test_model_usage_of_concurrent_calls_is_counted_once_each(store):
    start = Barrier(4)

    def call():
        start.wait()
        for _ in range(5):
            store.record(Bookkeeping(ANA, START, model_usage=(a_usage(calls=1, read=10),)))

    threads = [Thread(target=call) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert store.model_usage(ANA) == [a_usage(calls=20, read=200)]


# ——— readings ———


def test_model_readings_round_trip_for_the_reader_only(store):
    mine = a_reading()
    teams = a_reading("source:2", source_scope="team:garden", passages=0, digest="")
    store.apply(changeset(reading(mine), reading(teams)))
    assert store.model_readings(ANA) == [mine, teams]
    assert store.model_readings(ANA, ["source:2", "source:none"]) == [teams]
    assert store.model_readings(ANA, []) == []
    assert store.model_readings(BOB) == []


def test_model_reading_moves_on_and_leaves_the_revision(store):
    put(store, [a_memory()])
    before = store.counters(ANA).revision
    first = a_reading()
    later = replace(first, passages=5, digest="def", at=START + timedelta(hours=1))
    store.apply(changeset(reading(first)))
    store.apply(changeset(reading(later, first)))
    assert store.model_readings(ANA) == [later]
    assert store.counters(ANA).revision == before
    store.apply(changeset(reading(first, gone=True)))
    assert store.model_readings(ANA) == []


@pytest.mark.parametrize("known", [None, 1])
def test_findings_of_a_reading_that_somebody_else_made_are_refused(store, known):
    """Findings and reading are one changeset, so nothing is read twice."""
    first = a_reading(passages=1)
    store.apply(changeset(reading(first)))
    further = replace(first, passages=2)
    store.apply(changeset(reading(further, first)))
    finding = a_memory("The harbour is quiet")
    stale = reading(replace(first, passages=3), first if known else None)
    with pytest.raises(StaleDecision):
        store.apply(changeset(adding(finding), stale))
    assert store.fetch(ANA, [finding.id]) == []
    assert store.model_readings(ANA) == [further]


def test_concurrent_readings_of_a_source_keep_the_findings_of_one(store):
    start, refused = Barrier(4), []

    def read(number):
        start.wait()
        try:
            step = reading(a_reading(passages=number))
            store.apply(changeset(adding(a_memory(f"Finding {number}")), step))
        except StaleDecision:
            refused.append(number)

    threads = [Thread(target=read, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    (kept,) = store.model_readings(ANA)
    assert sorted([kept.passages, *refused]) == [0, 1, 2, 3]
    assert store.counters(ANA).revision == 1

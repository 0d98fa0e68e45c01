"""Runs of sleep: what is kept of them, and what erasing takes of it."""

from __future__ import annotations

from datetime import timedelta

import pytest

from commonplace.errors import StaleDecision
from commonplace.model.changeset import ClearScope, Receipt, build_removal
from commonplace.model.journal import Entry, Event, Op
from commonplace.model.sleep import (
    ItemKind,
    KeepFingerprints,
    PairFingerprint,
    RecordSleep,
    RunState,
    SleepChange,
    SleepRun,
    SleepSchedule,
    SleepTask,
    TaskResult,
)
from commonplace.store.queries import SleepRunQuery
from support.clock import START
from support.making import ANA, BOB, a_memory, adding, changeset, put


def a_run(**fields):
    return SleepRun(
        **{
            "id": "run:1",
            "schedule": SleepSchedule.NIGHTLY,
            "due_at": START,
            "tasks": (SleepTask.IDLE, SleepTask.STORYLINES),
            "started_at": START,
            "live_at_start": 10,
            **fields,
        }
    )


def a_change(**fields):
    return SleepChange(
        **{
            "run": "run:1",
            "number": 1,
            "task": SleepTask.IDLE,
            "why": "unread for 60 days",
            "kind": ItemKind.MEMORY,
            "subject": "m1",
            "before": {"content": "The tea is green."},
            "after_ref": "m1@2",
            **fields,
        }
    )


def record(store, run, *changes, before=None, scope=ANA, **fields):
    step = RecordSleep(run, changes, before, **fields)
    store.apply(changeset(step, scope=scope, at=run.finished_at or START))


def stored(store, run="run:1", scope=ANA):
    return store.sleep_changes(scope, run)


def test_sleep_run_comes_back_as_recorded(store):
    result = TaskResult(task=SleepTask.IDLE, actions=2, items=3, waiting=4, seconds=0.1, tokens=5)
    run = a_run(results=(result,), ended=2, position=1, finished_at=START + timedelta(hours=1))
    record(store, run)
    assert store.sleep_runs(ANA, SleepRunQuery()) == [run]


def test_sleep_runs_are_found_by_id_schedule_state_and_night(store):
    night = a_run()
    weekly = a_run(id="run:2", schedule=SleepSchedule.WEEKLY, started_at=START + timedelta(hours=1))
    record(store, night)
    record(store, weekly)
    assert store.sleep_runs(ANA, SleepRunQuery()) == [weekly, night]
    assert store.sleep_runs(ANA, SleepRunQuery(limit=1)) == [weekly]
    assert store.sleep_runs(ANA, SleepRunQuery(id="run:1")) == [night]
    assert store.sleep_runs(ANA, SleepRunQuery(schedule=SleepSchedule.WEEKLY)) == [weekly]
    assert store.sleep_runs(ANA, SleepRunQuery(state=RunState.DONE)) == []
    assert store.sleep_runs(ANA, SleepRunQuery(due_at=START + timedelta(days=1))) == []


def test_sleep_runs_once_for_each_night(store):
    record(store, a_run())
    with pytest.raises(StaleDecision):
        record(store, a_run(id="run:2"))
    record(store, a_run(id="run:2", due_at=START + timedelta(days=1)))
    assert len(store.sleep_runs(ANA, SleepRunQuery())) == 2


def test_sleep_run_moves_only_from_what_the_decision_saw(store):
    run = a_run()
    record(store, run)
    result = TaskResult(task=SleepTask.IDLE, actions=1)
    further = run.evolve(results=(result,), ended=1)
    record(store, further, before=run)
    with pytest.raises(StaleDecision):
        record(store, run.evolve(ended=1), a_change(), before=run)
    assert stored(store) == []
    assert store.sleep_runs(ANA, SleepRunQuery()) == [further]


def test_sleep_moves_no_revision_and_is_in_no_journal(store):
    put(store, [a_memory(id="m1")])
    before = store.counters(ANA)
    record(store, a_run(), a_change())
    after = store.counters(ANA)
    assert (after.revision, after.journal) == (before.revision, before.journal)


def test_sleep_changes_come_back_in_the_order_of_actions(store):
    changes = [
        a_change(number=2, before=None, after_ref="m9@1", subject="m9"),
        a_change(),
        a_change(number=1, kind=ItemKind.LINK, subject="m1 m2", before=None, after_ref=None),
        a_change(number=3, kind=ItemKind.NOTE, subject="note:1", can_be_undone=False),
    ]
    record(store, a_run(), *changes)
    assert stored(store) == sorted(changes, key=lambda each: (each.number, each.kind))


def test_sleep_is_not_seen_from_another_scope(store):
    record(store, a_run(), a_change())
    store.apply(changeset(KeepFingerprints((PairFingerprint("a", "b", 0.8, START),))))
    assert store.sleep_runs(BOB, SleepRunQuery()) == []
    assert stored(store, scope=BOB) == []
    assert store.fingerprints(BOB) == []


def test_sleep_undo_data_is_deleted_with_its_run_and_after_its_retention(store):
    record(store, a_run(), a_change())
    later = a_run(id="run:2", due_at=START + timedelta(days=1), finished_at=START)
    changes = [a_change(run="run:2", number=number) for number in (1, 2)]
    record(store, later, *changes, undone=(1,))
    assert stored(store) == [a_change()]
    taken_back = a_change(run="run:2", before=None, after_ref="undone", can_be_undone=False)
    assert taken_back.is_undone
    assert stored(store, "run:2") == [taken_back, changes[1]]
    record(store, later.evolve(ended=1), before=later, forget_before=START + timedelta(seconds=1))
    assert stored(store) == stored(store, "run:2") == []


def test_fingerprints_are_kept_renewed_and_forgotten(store):
    old = PairFingerprint("a", "b", 0.8, START)
    other = PairFingerprint("a", "c", 0.71, START + timedelta(days=2))
    store.apply(changeset(KeepFingerprints((old, other))))
    assert store.fingerprints(ANA) == [old, other]
    again = PairFingerprint("a", "b", 0.8, START + timedelta(days=3))
    store.apply(changeset(KeepFingerprints((again,), START + timedelta(days=3))))
    assert store.fingerprints(ANA) == [again]


def test_fingerprints_go_with_their_memories(store):
    put(store, [a_memory(id="a")])
    store.apply(changeset(KeepFingerprints((PairFingerprint("a", "b", 0.8, START),))))
    (memory,) = store.fetch(ANA, ["a"])
    store.apply(changeset(build_removal(memory, event=Event.DELETE)))
    assert store.fingerprints(ANA) == []


@pytest.mark.parametrize("event", [Event.TTL, Event.DELETE, Event.ERASE])
def test_sleep_undo_data_goes_with_its_memory(store, event):
    put(store, [a_memory(id="m1"), a_memory(id="m2")])
    record(store, a_run(), a_change(), a_change(subject="m2"))
    (memory,) = store.fetch(ANA, ["m1"])
    store.apply(changeset(build_removal(memory, event=event)))
    assert [change.before is None for change in stored(store)] == [True, False]
    assert [change.can_be_undone for change in stored(store)] == [False, True]


def test_sleep_undo_data_goes_with_an_erased_text_that_it_contains(store):
    put(store, [a_memory(id="m1", content="The locker code is 4471."), a_memory(id="m2")])
    summary = {"content": "- The locker code is 4471.\n- Tea is green."}
    record(store, a_run(), a_change(subject="m2", before=summary), a_change(subject="m3"))
    (memory,) = store.fetch(ANA, ["m1"])
    store.apply(changeset(build_removal(memory, event=Event.ERASE)))
    assert [change.before for change in stored(store)] == [None, {"content": "The tea is green."}]
    assert store.mentions(ANA, "locker code is 4471") == []


DERIVED = [
    (ItemKind.NODE, "node:1"),
    (ItemKind.EDGE, "edge:1"),
    (ItemKind.NOTE, "note:1"),
    (ItemKind.STORYLINE, "storyline:1"),
    (ItemKind.MACRO, "macro:1"),
]


@pytest.mark.parametrize(("kind", "subject"), DERIVED)
def test_sleep_undo_data_of_derived_items_goes_with_any_erasure(store, kind, subject):
    put(store, [a_memory(id="m1", content="Ana likes tea")])
    record(store, a_run(), a_change(kind=kind, subject=subject), a_change())
    store.apply(changeset(adding(a_memory(id="m4"))))
    assert all(change.before for change in stored(store))
    (memory,) = store.fetch(ANA, ["m1"])
    erasing = changeset(build_removal(memory, event=Event.ERASE), receipt=Receipt("r", START, 1))
    store.apply(erasing)
    assert [change.before for change in stored(store)] == [None, None]


def test_sleep_undo_data_is_searched_for_a_text(store):
    record(store, a_run(), a_change())
    assert store.mentions(ANA, "the tea is GREEN") == ["sleep_changes"]


def test_sleep_is_gone_when_a_scope_is_cleared(store):
    record(store, a_run(), a_change())
    store.apply(changeset(KeepFingerprints((PairFingerprint("a", "b", 0.8, START),))))
    store.apply(changeset(ClearScope(Entry(op=Op.DELETE, event=Event.ERASE))))
    assert store.sleep_runs(ANA, SleepRunQuery()) == []
    assert stored(store) == []
    assert store.fingerprints(ANA) == []

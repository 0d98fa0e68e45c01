"""How much nights may end: together, after an undo, when a store is opened, when interrupted."""

from __future__ import annotations

from datetime import timedelta

import pytest

from commonplace.engine.maintenance.sleep.runner import sleep
from commonplace.errors import InvalidInput
from commonplace.model.jobs import LEASE
from commonplace.model.sleep import RunState, SleepSchedule
from commonplace.store.queries import JobQuery, SleepRunQuery
from support.sleep_tasks import a_catalog, forget_drafts


@pytest.fixture
def book(open_book):
    return open_book(worker="off")


@pytest.fixture
def me(book):
    return book.user("ana")


def see_birds(me, number):
    me.remember_many(
        [
            {"content": f"Saw bird number {n} of {n * 13}", "kind": "event", "importance": 1}
            for n in range(number)
        ]
    )


def count(me):
    return len(me.list(limit=1000).memories)


def runs(me, **query):
    return me._engine.store.sleep_runs(me.principal.own_scope, SleepRunQuery(**query))


# ——— opening a store ———


def test_tidy_on_open_ends_no_live_memory_and_leaves_that_to_a_night(book, me, clock):
    see_birds(me, 50)
    me.remember_many([{"content": f"Scribble {n}", "stability": "volatile"} for n in range(5)])
    me.remember("Call the plumber", ttl_days=1)
    clock.tick(days=61)
    book.tidy_what_is_due()
    assert count(me) == 55


def test_open_catches_up_with_the_newest_missed_night_of_a_store_that_never_slept(open_book, clock):
    with open_book(worker="off") as book:
        see_birds(book.user("ana"), 50)
    clock.tick(days=61)
    with open_book(worker="off") as book:
        me = book.user("ana")
        assert runs(me) == []
        book.work(once=True)
        (night,) = runs(me, schedule=SleepSchedule.NIGHTLY)
        assert (night.state, night.ended) == (RunState.DONE, 10)
        assert timedelta(0) <= clock() - night.due_at < timedelta(days=1)
        due = {
            job.key: job.due_at
            for job in me._engine.store.jobs(me.principal.own_scope, JobQuery(kinds=["sleep"]))
        }
        assert due["nightly"] > clock()
    with open_book(worker="off") as book:
        book.work(once=True)
        assert count(book.user("ana")) == 40


def test_open_without_tidy_on_open_queues_no_night(open_book, clock):
    with open_book(worker="off") as book:
        see_birds(book.user("ana"), 5)
    clock.tick(days=61)
    book = open_book(worker="off", tidy_on_open=False)
    book.work(once=True)
    assert runs(book.user("ana")) == []


# ——— several runs in one night ———


def test_sleep_limit_holds_for_all_runs_of_a_night_together(me, clock):
    see_birds(me, 50)
    clock.tick(days=61)
    assert me.sleep(["idle"]).ended == 10
    for _ in range(3):
        clock.tick(hours=6)
        assert me.sleep(["idle"]).ended == 0
    clock.tick(hours=6)
    assert me.sleep(["idle"]).ended == 8


def test_sleep_limit_does_not_count_what_was_undone(me, clock):
    see_birds(me, 50)
    clock.tick(days=61)
    first = me.sleep(["idle"])
    me.sleep_undo(first.id)
    clock.tick(hours=1)
    assert me.sleep(["idle"]).ended == 10


# ——— after an undo ———


def test_sleep_task_goes_on_with_others_while_what_was_undone_rests(me, clock):
    see_birds(me, 640)
    clock.tick(days=61)
    first = me.sleep(["idle"])
    assert first.ended == 128
    brought_back = {id for action in me.sleep_log(run=first.id)[0].actions for id in action.items}
    me.sleep_undo(first.id)
    clock.tick(days=1)
    assert me.sleep(["idle"]).ended == 128
    assert brought_back <= {m.id for m in me.list(limit=1000).memories}


def test_sleep_merges_other_volatile_memories_while_undone_ones_rest(me, clock):
    for n in range(30):
        me.remember(f"Scribble number {n}", kind="note", stability="volatile")
        clock.tick(minutes=1)
    clock.tick(days=8)
    first = me.sleep(["volatile"])
    assert first.ended == 5
    me.sleep_undo(first.id)
    clock.tick(days=1)
    assert me.sleep(["volatile"]).ended == 5


# ——— which tasks ———


def test_sleep_with_an_empty_list_of_tasks_is_refused(me):
    for none in ([], ()):
        with pytest.raises(InvalidInput, match="empty") as refused:
            me.sleep(none)
        assert refused.value.field == "tasks"
        assert "idle" in (refused.value.remedy or "")
    assert runs(me) == []


# ——— a run by hand that was interrupted ———


def interrupt(me):
    """Stops after the first slice, as a killed process does."""

    class Killed(BaseException):
        pass

    seen = []

    def stop(run):
        seen.append(run)
        if len(seen) == 3:
            raise Killed

    me.remember("The old draft about tea.", kind="note")
    with pytest.raises(Killed):
        sleep(me._engine, me._request, None, False, stop, a_catalog(expiry=forget_drafts()))
    return seen[0].id


def test_sleep_finishes_an_interrupted_run_by_hand_first(me, clock):
    id = interrupt(me)
    assert runs(me, id=id)[0].is_running
    clock.tick(seconds=LEASE.total_seconds() + 1)
    me.sleep(["idle"])
    assert runs(me, id=id)[0].state is RunState.DONE
    assert runs(me, state=RunState.RUNNING) == []


def test_sleep_undo_ends_an_interrupted_run(book, me, clock):
    id = interrupt(me)
    with pytest.raises(InvalidInput) as refused:
        me.sleep_undo(id)
    assert "commonplace sleep" in (refused.value.remedy or "")
    clock.tick(seconds=LEASE.total_seconds() + 1)
    assert me.sleep_undo(id).undone == 1
    assert runs(me, id=id)[0].state is RunState.UNDONE
    book.work(once=True)
    assert [run.state for run in runs(me)] == [RunState.UNDONE]
    assert count(me) == 1


def test_sleep_ends_an_interrupted_run_whose_job_was_cancelled(me, clock):
    id = interrupt(me)
    clock.tick(seconds=LEASE.total_seconds() + 1)
    (job,) = [each for each in me.jobs() if each.kind == "sleep"]
    me.jobs_cancel(job.id)
    me.sleep(["idle"])
    assert runs(me, id=id)[0].state is RunState.DONE

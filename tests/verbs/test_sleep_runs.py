"""Runs of sleep: bounded, visible, in slices; what no night may do; schedules; the dry run."""

from __future__ import annotations

from datetime import UTC, timedelta
from zoneinfo import ZoneInfo

import pytest

from commonplace.engine.maintenance.sleep import schedule
from commonplace.engine.maintenance.sleep.runner import sleep
from commonplace.engine.maintenance.sleep.task import NightAction
from commonplace.errors import InvalidInput, NotAllowed, NotFound, StoreBusy
from commonplace.model.changeset import build_change
from commonplace.model.journal import Event, Op
from commonplace.model.memory.memory import State
from commonplace.model.sleep import RunState, SleepSchedule, SleepTask, next_due
from commonplace.store.queries import JobQuery, SleepRunQuery
from support.sleep_tasks import (
    a_catalog,
    doing,
    ending_all,
    forget_drafts,
    live,
    raising,
    raising_late,
    texts,
    usual_catalog,
)


@pytest.fixture
def book(open_book):
    """Jobs run when a test says so, not in a thread beside it."""
    return open_book(worker="off")


@pytest.fixture
def tasks(monkeypatch):
    """What the worker's catalog does."""

    def use(**named):
        monkeypatch.setattr(schedule, "TASKS", a_catalog(**named))

    return use


def sleeping(me, catalog, *chosen, dry_run=False, progress=lambda _: None):
    return sleep(me._engine, me._request, chosen or None, dry_run, progress, catalog)


def say(me, *contents, **fields):
    return [me.remember(each, kind="note", on_conflict="insert", **fields).id for each in contents]


def contents(me):
    return texts(me.list().memories)


def outcomes(report):
    return {result.task: result.outcome for result in report.tasks if result.outcome}


def runs(me, **query):
    return me._engine.store.sleep_runs(me.principal.scope, SleepRunQuery(**query))


TEXTS = ["The boat is blue.", "Ana plays chess on Mondays.", "The old draft about tea."]


# ——— a run ———


def test_sleep_does_every_task_and_reports_it(me):
    say(me, *TEXTS)
    report = sleeping(me, usual_catalog())
    assert report.state is RunState.DONE
    assert report.schedule is SleepSchedule.BY_HAND
    assert [result.task for result in report.tasks] == list(SleepTask)
    idle = next(result for result in report.tasks if result.task is SleepTask.IDLE)
    assert (idle.actions, idle.items, idle.waiting) == (1, 1, 0)
    assert report.ended == 1
    assert contents(me) == sorted(TEXTS[:2])


def test_sleep_does_only_the_tasks_that_are_asked_for_in_the_order_of_a_night(me):
    report = sleeping(me, usual_catalog(), SleepTask.STORYLINES, SleepTask.IDLE)
    assert [result.task for result in report.tasks] == [SleepTask.IDLE, SleepTask.STORYLINES]


def test_sleep_task_with_more_is_called_again_in_the_same_run(me):
    say(me, *(f"A draft number {number} of many." for number in range(5)))
    say(me, *(f"Fact {number} stands." for number in range(20)))
    report = sleeping(me, a_catalog(idle=forget_drafts(at_once=2)))
    idle = next(result for result in report.tasks if result.task is SleepTask.IDLE)
    assert (idle.actions, idle.waiting) == (5, 0)
    assert len(contents(me)) == 20


def test_sleep_runs_twice_at_one_moment(me):
    first, second = me.sleep(), me.sleep()
    assert first.id != second.id
    assert [each.id for each in me.sleep_log()] == sorted((first.id, second.id), reverse=True)


def test_sleep_progress_shows_each_slice_and_the_end(me):
    say(me, *TEXTS)
    seen = []
    sleeping(me, usual_catalog(), SleepTask.IDLE, SleepTask.NOTES, progress=seen.append)
    assert [run.position for run in seen] == [0, 1, 2]
    assert seen[-1].state is RunState.DONE


def test_sleep_actions_are_in_the_history_of_their_items(me):
    (id,) = say(me, "The old draft about tea.")
    report = sleeping(me, usual_catalog())
    newest = me.history(id)[0]
    assert newest["actor"] == "worker:sleep"
    assert newest["meta"] == {"run": report.id, "why": "a draft"}


def test_sleep_log_says_what_was_done_why_and_to_which_items(me, clock):
    first = sleeping(me, a_catalog())
    clock.tick(hours=1)
    (draft, *_) = say(me, "The old draft about tea.")
    second = sleeping(me, usual_catalog())
    log = me.sleep_log()
    assert [run.id for run in log] == [second.id, first.id]
    assert [run.actions for run in log] == [(), ()]
    assert [run.id for run in me.sleep_log(limit=1)] == [second.id]
    assert [run.id for run in me.sleep_log(after=second.id)] == [first.id]
    (shown,) = me.sleep_log(run=second.id)
    assert [(each.task, each.why, each.items) for each in shown.actions] == [
        (SleepTask.IDLE, "a draft", (draft,))
    ]
    assert shown == second


def test_sleep_log_of_an_unknown_run_is_refused(me):
    with pytest.raises(NotFound, match="Unknown run"):
        me.sleep_log(run="sleep:none")
    with pytest.raises(InvalidInput):
        me.sleep_log(run="sleep:none", after="sleep:none")


def test_sleep_belongs_to_the_owner(me):
    agent = me.agent("planner")
    for call in (agent.sleep, agent.sleep_log, lambda: agent.sleep_undo("sleep:1")):
        with pytest.raises(NotAllowed):
            call()


def test_sleep_refuses_an_unknown_task(me):
    with pytest.raises(InvalidInput):
        me.sleep(["dreams"])
    assert runs(me) == []


def test_sleep_is_in_the_operations_of_its_day(me, clock):
    say(me, *TEXTS, "One twin says tea.", "Another twin says tea.")
    clock.tick(days=1)
    sleeping(me, usual_catalog())
    day = clock().date().isoformat()
    operations = me.stats(events=True).operations
    of_night = {each.op: each.count for each in operations if each.day == day}
    assert of_night == {"create": 1, "merge": 2, "link": 1, "delete": 1}
    assert {each.node for each in operations if each.day == day} == {"worker"}
    assert [each.day for each in operations] == sorted(
        (each.day for each in operations), reverse=True
    )


def test_stats_events_shows_the_last_days_only(me, clock):
    days = [clock().date().isoformat()]
    for _ in range(3):
        say(me, f"The boat is blue on {clock()}.")
        clock.tick(days=1)
        days.append(clock().date().isoformat())
    assert {each.day for each in me.stats(events=True).operations} == set(days[:3])
    assert {each.day for each in me.stats(events=True, days=2).operations} == {days[2]}
    assert me.stats(events=True, days=1).operations == ()
    assert me.stats().operations == ()


# ——— a dry run ———


def test_sleep_dry_run_reports_the_same_and_changes_nothing(me):
    say(me, *TEXTS, "One twin says tea.", "Another twin says tea.")
    before = list(me.export())
    rehearsed = sleeping(me, usual_catalog(), dry_run=True)
    assert list(me.export()) == before
    assert runs(me) == []
    assert me.jobs() == []
    done = sleeping(me, usual_catalog())
    assert rehearsed.id is None
    assert [r.actions for r in rehearsed.tasks] == [r.actions for r in done.tasks]
    assert [a.why for a in rehearsed.actions] == [a.why for a in done.actions]
    assert rehearsed.ended == done.ended


# ——— what no night may do ———


def test_sleep_when_a_model_says_that_all_is_obsolete_changes_nothing(me):
    say(me, *(f"Fact number {number} stands." for number in range(10)))
    before = contents(me)
    report = sleeping(me, a_catalog(duplicates=ending_all))
    assert contents(me) == before
    assert outcomes(report) == {SleepTask.DUPLICATES: "refused: more endings than a night may make"}
    assert report.ended == 0


def test_sleep_ends_at_most_a_fifth_and_leaves_the_rest_for_the_next_night(me):
    say(me, *(f"A draft number {number} of many." for number in range(50)))
    report = sleeping(me, a_catalog(idle=forget_drafts(at_once=100)))
    idle = next(result for result in report.tasks if result.task is SleepTask.IDLE)
    assert (report.ended, idle.waiting) == (10, 40)
    assert len(contents(me)) == 40


def test_sleep_limit_holds_for_all_tasks_of_a_run_together(me):
    say(me, *(f"A draft number {number} of many." for number in range(25)))
    catalog = a_catalog(idle=forget_drafts(4), volatile=forget_drafts(4))
    assert sleeping(me, catalog).ended == 5


@pytest.mark.parametrize("fields", [{"pinned": True}, {"stability": "permanent"}])
def test_sleep_never_ends_what_is_protected(me, fields):
    say(me, "The old draft about tea.", **fields)
    report = sleeping(me, usual_catalog())
    assert contents(me) == ["The old draft about tea."]
    assert outcomes(report) == {SleepTask.IDLE: "refused: ends what is protected"}


def test_sleep_never_ends_a_field_of_the_profile(me):
    me.profile_set("city", "Bergen")
    sleeping(me, a_catalog(idle=ending_all))
    assert me.profile().fields["city"] == "Bergen"


def test_sleep_supersedes_nothing_without_a_live_successor(me):
    say(me, "The boat is blue.")

    def superseding(night):
        def decide():
            (memory,) = live(night)
            after = memory.evolve(state=State.SUPERSEDED, superseded_by="nobody")
            step = build_change(memory, after, op=Op.MERGE, event=Event.MERGE)
            return doing(NightAction("gone", (step,), (memory.id,)))(night)()

        return decide

    report = sleeping(me, a_catalog(duplicates=superseding))
    assert contents(me) == ["The boat is blue."]
    assert outcomes(report) == {
        SleepTask.DUPLICATES: "refused: supersedes without a live successor"
    }


# ——— a task that fails ———


@pytest.mark.parametrize(
    ("task", "code"), [(raising, "KeyError"), (raising_late, "ZeroDivisionError")]
)
def test_sleep_goes_on_after_a_task_that_fails_and_says_which(me, task, code):
    say(me, "The old draft about tea.")
    report = sleeping(me, a_catalog(expiry=task, idle=forget_drafts()))
    assert report.state is RunState.DONE
    assert outcomes(report) == {SleepTask.EXPIRY: f"failed: {code}"}
    assert contents(me) == []


def test_sleep_decides_again_when_another_writer_was_faster(me):
    say(me, *TEXTS)
    tries = []

    def disturbed(night):
        usual = forget_drafts()(night)

        def decide():
            batch = usual()
            if not tries:
                tries.append("once")
                say(me, "A second draft came meanwhile.")
            return batch

        return decide

    report = sleeping(me, a_catalog(idle=disturbed))
    assert report.ended == 2
    assert contents(me) == sorted(TEXTS[:2])


# ——— schedules ———


def scheduled(me):
    return {
        job.key: job.due_at
        for job in me._engine.store.jobs(me.principal.scope, JobQuery(kinds=["sleep"]))
    }


def test_sleep_is_scheduled_at_night_in_the_users_time_zone(book, me, clock):
    me.profile_set("time_zone", "America/New_York")
    book.tidy_what_is_due()
    due = scheduled(me)
    assert due.keys() == {"nightly", "weekly"}
    for name, moment in due.items():
        zone = ZoneInfo("America/New_York")
        assert moment == next_due(SleepSchedule(name), clock(), zone, "ana")
        assert moment > clock()


def test_sleep_runs_at_its_time_and_is_scheduled_again(book, me, clock, tasks):
    tasks(idle=forget_drafts())
    say(me, *TEXTS)
    book.tidy_what_is_due()
    book.work(once=True)
    assert runs(me) == []
    due = scheduled(me)["nightly"]
    clock.now = due
    book.work(once=True)
    (run,) = runs(me, schedule=SleepSchedule.NIGHTLY)
    assert (run.due_at, run.state, run.ended) == (due, RunState.DONE, 1)
    assert scheduled(me)["nightly"] == next_due(SleepSchedule.NIGHTLY, clock(), UTC, "ana")
    book.work(once=True)
    assert len(runs(me, schedule=SleepSchedule.NIGHTLY)) == 1


def test_sleep_catches_up_with_the_newest_missed_night_only(book, me, clock, tasks):
    tasks(idle=forget_drafts())
    say(me, *TEXTS)
    book.tidy_what_is_due()
    clock.tick(days=30)
    book.work(once=True)
    nights = runs(me, schedule=SleepSchedule.NIGHTLY)
    assert len(nights) == len(runs(me, schedule=SleepSchedule.WEEKLY)) == 1
    assert timedelta(0) <= clock() - nights[0].due_at < timedelta(days=1)


def test_sleep_weekly_runs_on_sunday_and_only_weekly_tasks(book, me, clock, tasks):
    tasks()
    say(me, *TEXTS)
    book.tidy_what_is_due()
    clock.now = scheduled(me)["weekly"]
    book.work(once=True)
    (run,) = runs(me, schedule=SleepSchedule.WEEKLY)
    assert run.due_at.weekday() == 6
    assert run.tasks == (SleepTask.MACROS,)


def test_sleep_of_different_users_is_staggered(book, clock):
    for name in ("ana", "bob"):
        book.user(name).remember("The boat is blue.")
    book.tidy_what_is_due()
    ana, bob = (scheduled(book.user(name))["nightly"] for name in ("ana", "bob"))
    assert ana != bob
    assert abs(ana - bob) < timedelta(hours=1)


def test_sleep_that_fails_in_every_try_is_passed_over(book, me, clock, tasks):
    def busy(night):
        raise StoreBusy("locked")

    tasks(expiry=busy, idle=forget_drafts())
    say(me, *TEXTS)
    book.tidy_what_is_due()
    clock.now = scheduled(me)["nightly"]
    for _ in range(6):
        book.work(once=True)
        clock.tick(hours=1)
    (run,) = runs(me, schedule=SleepSchedule.NIGHTLY)
    assert run.state is RunState.DONE
    assert run.results[0].outcome == "failed: store_busy"
    assert contents(me) == sorted(TEXTS[:2])


def test_sleep_is_not_caught_up_by_a_user_who_is_new(book, me, clock, tasks):
    tasks(idle=forget_drafts())
    say(me, *TEXTS)
    clock.tick(hours=3)
    book.tidy_what_is_due()
    book.work(once=True)
    assert runs(me) == []

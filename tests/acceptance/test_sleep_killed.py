"""A night that is killed at any moment, or done by two: the same memory, each task once."""

from __future__ import annotations

import pytest

from commonplace.engine.maintenance.sleep import schedule
from commonplace.model.jobs import LEASE
from commonplace.model.sleep import RunState
from commonplace.store.queries import JobQuery, SleepRunQuery
from support.kills import AT_WORK, IN_A_WRITE, ON_BOTH
from support.processes import Child
from support.scenarios import wait_until_alone
from support.sleep_children import (
    NIGHT,
    OWNER,
    TEXTS,
    open_at,
    prepare_night,
    sleep_until_killed,
    sleep_when_told,
)
from support.whole import assert_whole

SLICES = (1, 3, 4, 9)  # the beginning of the run, a batch of its tasks, tasks without any


@pytest.fixture(scope="module", autouse=True)
def catalog_of_these_tests():
    """`open_at` sets it here, too: later tests of the same process have the real one again."""
    kept = schedule.TASKS
    yield
    schedule.TASKS = kept


def _moments():
    """`make soak` kills at each failpoint of each of these slices, on both databases."""
    for database in ("sqlite", "postgres"):
        for failpoint in (*AT_WORK, *IN_A_WRITE):
            for times in SLICES:
                often = times == 3 and (database == "sqlite" or failpoint in ON_BOTH)
                marks = () if often else pytest.mark.soak
                yield pytest.param(database, failpoint, times, marks=marks)


def _there(url):
    """Live texts, links, and what each run did: no ids and times."""
    assert_whole(url, OWNER)
    with open_at(url, NIGHT + 2 * LEASE) as book:
        me = book.user(OWNER)
        store, scope = me._engine.store, me.principal.scope
        memories = {memory.id: memory for memory in me.list().memories}
        links = store.links(scope, sorted(memories))
        runs = store.sleep_runs(scope, SleepRunQuery())
        changes = [change for run in runs for change in store.sleep_changes(scope, run.id)]
        jobs = store.jobs(scope, JobQuery(kinds=["sleep"]))
        return (
            sorted(memory.content for memory in memories.values()),
            len(links),
            [(run.schedule, run.state, run.ended) for run in runs],
            [[(each.task, each.actions, each.items) for each in run.results] for run in runs],
            sorted((change.number, change.kind, change.why) for change in changes),
            sorted((job.key, job.due_at) for job in jobs),
        )


def _finish(url):
    with open_at(url, NIGHT + 2 * LEASE) as book:
        while book.work(once=True).done:
            pass


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    url = str(tmp_path_factory.mktemp("undisturbed") / "memory.db")
    prepare_night(url)
    _finish(url)
    there = _there(url)
    assert there[2] == [("nightly", RunState.DONE, 5)]
    assert len(there[0]) == len(TEXTS) - 5 + 1
    return there


@pytest.mark.parametrize(
    ("store_url", "failpoint", "times"), list(_moments()), indirect=["store_url"]
)
def test_sleep_killed_at_any_failpoint_goes_on_with_the_same_run(
    store_url, failpoint, times, undisturbed
):
    prepare_night(store_url)
    with Child(sleep_until_killed, store_url, failpoint, times) as child:
        assert child.rest() == []
        assert child.was_killed()
    wait_until_alone(store_url)
    _finish(store_url)
    assert _there(store_url) == undisturbed


def test_sleep_by_two_workers_at_once_does_each_task_once(store_url, undisturbed):
    prepare_night(store_url)
    children = [Child(sleep_when_told, store_url) for _ in range(2)]
    with children[0] as one, children[1] as two:
        assert [one.hear(), two.hear()] == ["ready", "ready"]
        one.tell("go")
        two.tell("go")
        slices = sum(one.rest() + two.rest())
    _finish(store_url)
    assert _there(store_url) == undisturbed
    assert slices > 0

"""A killed worker leaves nothing half-done: another takes its job over, and it is done once."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from datetime import UTC, datetime

from commonplace.engine.maintenance.worker import Worked
from commonplace.model.changeset import Changeset, EnqueueJob
from commonplace.model.jobs import LEASE
from support.kills import AT_WORK, killed_at
from support.making import ANA, a_job
from support.processes import PATIENCE, Child
from support.scenarios import wait_until_alone
from support.stores import raw
from support.whole import assert_whole, open_plainly
from support.workers import work

# The job's own moments, and those of the write that is its result.
WHILE_AT_WORK = ["job.claimed", "job.worked", "apply.rows", "apply.before_commit"]


def owe(url, *keys, kind="note"):
    """Long ago, so that they are due by any clock."""
    with open_plainly(url) as book:
        jobs = tuple(EnqueueJob(a_job(kind=kind, key=key)) for key in keys)
        at = datetime.now(UTC)
        book._engine.store.apply(Changeset(ANA, at, "test", jobs))


def let_leases_end(url):
    """As if their holder had been silent for as long as a lease lasts."""
    raw(url, f"UPDATE jobs SET due_at = due_at - {int(LEASE.total_seconds() * 1e6)}")


def test_every_job_failpoint_is_covered_by_a_crash_test():
    assert set(WHILE_AT_WORK).issuperset(AT_WORK)


@killed_at(WHILE_AT_WORK)
def test_worker_killed_at_work_is_taken_over_and_the_job_runs_once(store_url, failpoint):
    owe(store_url, "1")
    with Child(work, store_url, failpoint) as child:
        said = child.rest()
        assert child.was_killed()
    assert said == ([] if failpoint == "job.claimed" else [1])
    wait_until_alone(store_url)
    assert assert_whole(store_url, "ana").memories == ()
    with Child(work, store_url) as early:  # it is still held
        assert early.rest() == [Worked()]
    let_leases_end(store_url)
    with Child(work, store_url) as child:
        assert child.rest() == [2, Worked(done=1)]
    (kept,) = assert_whole(store_url, "ana").memories
    assert kept.content == "Job 1 is done"


def test_worker_killed_after_commit_does_not_repeat_the_job(store_url):
    owe(store_url, "1")
    with Child(work, store_url, "apply.after_commit") as child:
        assert child.rest() == [1]
        assert child.was_killed()
    wait_until_alone(store_url)
    let_leases_end(store_url)
    with Child(work, store_url) as child:
        assert child.rest() == [Worked()]
    assert len(assert_whole(store_url, "ana").memories) == 1


def test_workers_in_several_processes_run_each_job_once(store_url):
    keys = [str(number) for number in range(12)]
    owe(store_url, *keys)
    with (
        Child(work, store_url) as one,
        Child(work, store_url) as two,
        Child(work, store_url) as three,
    ):
        ended = [child.rest()[-1] for child in (one, two, three)]
    assert sum((each.done for each in ended), 0) == len(keys)
    said = [memory.content for memory in assert_whole(store_url, "ana").memories]
    assert sorted(said) == sorted(f"Job {key} is done" for key in keys)


def test_worker_command_stops_on_sigterm(store_url):
    """`commonplace worker`, as an operator runs it."""
    owe(store_url, "1", kind="embed")
    command = ["worker", "--store", store_url, "--embedder", "hashing", "--json"]
    with subprocess.Popen(
        [sys.executable, "-m", "commonplace", *command], stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            deadline = time.monotonic() + PATIENCE
            while raw(store_url, "SELECT id FROM jobs WHERE kind <> 'sleep'"):
                assert time.monotonic() < deadline
                time.sleep(0.05)
            process.send_signal(signal.SIGTERM)
            told, _ = process.communicate(timeout=PATIENCE)
        finally:
            process.kill()
    assert json.loads(told) == {"done": 1, "failed": 0}
    assert process.returncode == 0

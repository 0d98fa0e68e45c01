"""A worker does what is due, once; it survives whatever a job does, and stops when told to."""

from __future__ import annotations

import threading
from datetime import timedelta

import pytest

from commonplace.engine.maintenance.worker import BackgroundWorker, Worked, Worker
from commonplace.errors import EmbedderUnavailable, InvalidInput
from commonplace.model.changeset import Changeset, EnqueueJob
from commonplace.model.jobs import LEASE, LONGEST_WAIT, MAX_TRIES, JobState
from commonplace.store.queries import JobQuery
from support.making import ANA, BOB, a_job
from support.workers import note_of

PATIENCE = 30.0  # seconds that any wait may take before the test fails


@pytest.fixture
def desk(open_book):
    return open_book(worker="off")._desk


@pytest.fixture
def owe(desk, clock):
    def enqueue(**fields):
        job = a_job(**{"kind": "note", "created_at": clock(), **fields})
        desk.store.apply(Changeset(job.scope, clock(), "test", (EnqueueJob(job),)))
        return job

    return enqueue


def notes(desk):
    """Each job's result is one memory, by which it can be counted."""
    return lambda job: lambda: note_of(desk, job)


def jobs(desk, scope=ANA):
    return desk.store.jobs(scope, JobQuery())


def revision(desk, scope=ANA):
    return desk.store.counters(scope).revision


def test_what_is_due_is_done_and_leaves_the_list_with_its_result(desk, owe, clock):
    owe(key="1")
    owe(key="2", scope=BOB)
    owe(key="later", due_at=clock() + timedelta(seconds=1))
    worker = Worker(desk, {"note": notes(desk)})
    assert worker.run_until_idle() == Worked(done=2)
    assert (revision(desk), revision(desk, BOB)) == (1, 1)
    assert [job.key for job in jobs(desk)] == ["later"]
    clock.tick(seconds=1)
    assert worker.run_until_idle() == Worked(done=1)
    assert jobs(desk) == []


def test_no_more_than_was_asked_for(desk, owe):
    for number in range(3):
        owe(key=str(number))
    assert Worker(desk, {"note": notes(desk)}).run_until_idle(limit=2) == Worked(done=2)
    assert len(jobs(desk)) == 1


def test_what_a_worker_does_not_know_is_left_to_others(desk, owe):
    owe(kind="unheard of")
    assert Worker(desk, {"note": notes(desk)}).run_until_idle() == Worked()
    assert Worker(desk, {}).run_until_idle() == Worked()
    assert jobs(desk)[0].tries == 0


def test_a_job_may_cause_the_next(desk, owe):
    owe(key="first")

    def chain(job):
        def decision():
            steps = (EnqueueJob(a_job(kind="note", key="second")),)
            return Changeset(job.scope, desk.clock(), "test", steps if job.key == "first" else ())

        return decision

    assert Worker(desk, {"note": chain}).run_until_idle() == Worked(done=2)


def test_a_failed_job_waits_longer_each_time_and_is_dead_in_the_end(desk, owe, clock):
    owe()

    def down(job):
        raise EmbedderUnavailable("The embedder said: Dana's secret")

    worker = Worker(desk, {"note": down})
    waits = []
    for _ in range(MAX_TRIES - 1):
        assert worker.run_until_idle() == Worked(failed=1)
        (job,) = jobs(desk)
        waits.append(job.due_at - clock())
        assert worker.run_until_idle() == Worked()
        clock.now = job.due_at
    assert waits == sorted(waits)
    assert waits[-1] <= LONGEST_WAIT
    assert worker.run_until_idle() == Worked(failed=1)
    (dead,) = jobs(desk)
    assert (dead.state, dead.tries) == (JobState.DEAD, MAX_TRIES)
    assert dead.failure.code == "embedder_unavailable"
    assert "Dana" not in dead.failure.told


def test_a_poisoned_job_does_not_stop_the_worker(desk, owe):
    owe(key="poison")
    owe(key="good")

    def careful(job):
        if job.key == "poison":
            raise ZeroDivisionError(f"{job.id} and Dana's secret")
        return lambda: note_of(desk, job)

    assert Worker(desk, {"note": careful}).run_until_idle() == Worked(done=1, failed=1)
    (poisoned,) = jobs(desk)
    assert (poisoned.failure.code, poisoned.failure.told) == (
        "unexpected",
        "ZeroDivisionError was raised.",
    )


def test_a_result_that_is_refused_changes_nothing_and_the_job_comes_back(desk, owe):
    owe()

    def refused(job):
        def decision():
            raise InvalidInput("It makes no sense.")

        return decision

    assert Worker(desk, {"note": refused}).run_until_idle() == Worked(failed=1)
    assert revision(desk) == 0
    assert jobs(desk)[0].state is JobState.QUEUED


def test_another_writer_in_between_means_deciding_again_not_working_again(desk, owe):
    owe()
    worked, decided = [], []

    def slow(job):
        worked.append(job.id)

        def decision():
            changeset = note_of(desk, job)
            on = revision(desk)
            if not decided:  # somebody is faster, once
                desk.store.apply(note_of(desk, job))
            decided.append(on)
            return Changeset(changeset.scope, changeset.at, "test", changeset.steps, on)

        return decision

    assert Worker(desk, {"note": slow}).run_until_idle() == Worked(done=1)
    assert (len(worked), decided) == (1, [0, 1])


def test_taken_over_meanwhile_the_slow_ones_result_is_not_taken(desk, owe, clock):
    owe()
    fast = Worker(desk, {"note": notes(desk)})

    def asleep(job):
        clock.tick(seconds=LEASE.total_seconds())
        assert fast.run_until_idle() == Worked(done=1)
        return lambda: note_of(desk, job)

    assert Worker(desk, {"note": asleep}).run_until_idle() == Worked()
    assert revision(desk) == 1
    assert jobs(desk) == []


def test_a_long_job_is_held_by_its_heartbeat(desk, owe, clock, monkeypatch):
    """The lease is short, so that the heart beats soon; the clock says when it would have ended."""
    owe()
    lease = timedelta(seconds=0.3)
    beaten = threading.Event()
    keep = desk.store.extend_lease

    def heard(job, until):
        held = keep(job, until)
        beaten.set()
        return held

    monkeypatch.setattr(desk.store, "extend_lease", heard)

    def long(job):
        for _ in range(5):
            beaten.clear()
            clock.tick(seconds=0.1)
            assert beaten.wait(PATIENCE)
        assert desk.store.claim_job("another", clock()) is None
        return lambda: note_of(desk, job)

    assert Worker(desk, {"note": long}, lease=lease).run_until_idle() == Worked(done=1)


# ——— in a thread ———


@pytest.fixture
def in_thread():
    running = []

    def run(worker):
        thread = threading.Thread(target=worker.run, daemon=True)
        thread.start()
        running.append((worker, thread))
        return thread

    yield run
    for worker, thread in running:
        worker.stop()
        thread.join(PATIENCE)
        assert not thread.is_alive()


def test_stop_brings_the_job_under_way_to_its_end(desk, owe, in_thread):
    owe(key="1")
    owe(key="2")
    begun, go_on = threading.Event(), threading.Event()

    def held_up(job):
        begun.set()
        assert go_on.wait(PATIENCE)
        return lambda: note_of(desk, job)

    worker = Worker(desk, {"note": held_up})
    thread = in_thread(worker)
    assert begun.wait(PATIENCE)
    worker.stop()
    go_on.set()
    thread.join(PATIENCE)
    assert not thread.is_alive()
    assert revision(desk) == 1
    assert len(jobs(desk)) == 1


def test_whoever_waits_for_a_job_gets_it_done_or_waits_for_the_worker_that_has_it(
    desk, owe, in_thread
):
    owe(key="mine")
    waiting = Worker(desk, {"note": notes(desk)})
    assert waiting.see_through(ANA, "note", "mine", PATIENCE) is None
    assert waiting.see_through(ANA, "note", "never owed", PATIENCE) is None
    begun, go_on = threading.Event(), threading.Event()

    def held_up(job):
        begun.set()
        assert go_on.wait(PATIENCE)
        return lambda: note_of(desk, job)

    owe(key="theirs")
    in_thread(Worker(desk, {"note": held_up}))
    assert begun.wait(PATIENCE)
    assert waiting.see_through(ANA, "note", "theirs", 0).state is JobState.RUNNING
    go_on.set()
    assert waiting.see_through(ANA, "note", "theirs", PATIENCE) is None
    assert revision(desk) == 2


def test_whoever_loses_the_job_to_another_waits_until_that_one_has_done_it(
    desk, owe, clock, in_thread, monkeypatch
):
    owe(key="mine")
    begun, go_on = threading.Event(), threading.Event()

    def held_up(job):
        begun.set()
        assert go_on.wait(PATIENCE)
        return lambda: note_of(desk, job)

    def too_slow(job):
        clock.tick(seconds=LEASE.total_seconds() + 1)
        in_thread(Worker(desk, {"note": held_up}))
        assert begun.wait(PATIENCE)
        return lambda: note_of(desk, job)

    waiting = Worker(desk, {"note": too_slow})
    monkeypatch.setattr(waiting, "_wait", lambda longest: go_on.set())  # not before it waits
    assert waiting.see_through(ANA, "note", "mine", PATIENCE) is None
    assert go_on.is_set()
    assert (revision(desk), jobs(desk)) == (1, [])


def test_work_caused_again_while_somebody_waits_is_waited_for_as_well(desk, owe):
    owe(key="mine")
    done = []

    def caused_again(job):
        if not done:
            owe(key="mine", payload={"part": 2})
        done.append(job.payload)
        return lambda: note_of(desk, job)

    waiting = Worker(desk, {"note": caused_again})
    assert waiting.see_through(ANA, "note", "mine", PATIENCE) is None
    assert done[1:] == [{"part": 2}]


def test_whoever_waits_for_a_job_that_fails_gets_it_back_with_the_reason(desk, owe):
    owe(key="mine")
    failing = Worker(desk, {"note": lambda job: 1 / 0})
    job = failing.see_through(ANA, "note", "mine", PATIENCE)
    assert (job.state, job.failure.code) == (JobState.QUEUED, "unexpected")


def test_the_background_begins_with_the_first_job_and_is_woken_by_the_next(desk, owe):
    done = threading.Semaphore(0)

    def counted(job):
        done.release()
        return lambda: note_of(desk, job)

    background = BackgroundWorker(lambda: Worker(desk, {"note": counted}))
    desk.store.when_enqueued(background.wake)
    for number in range(3):
        owe(key=str(number))
        assert done.acquire(timeout=PATIENCE)
    background.close()
    assert revision(desk) == 3
    owe(key="after closing")
    assert len(jobs(desk)) == 1

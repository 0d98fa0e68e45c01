"""A worker does what is due, once; it survives whatever a job does, and stops when told to."""

from __future__ import annotations

import threading
from datetime import timedelta

import pytest

from commonplace.engine.maintenance.worker import (
    BackgroundWorker,
    Worked,
    Worker,
    WorkerGroup,
)
from commonplace.errors import EmbedderUnavailable, InvalidInput
from commonplace.model.changeset import Changeset, EnqueueJob
from commonplace.model.jobs import LEASE, LONGEST_WAIT, MAX_TRIES, JobState
from commonplace.store.queries import JobQuery
from support.making import ANA, BOB, a_job
from support.workers import note_of

PATIENCE = 30.0  # seconds that any wait may take before the test fails


@pytest.fixture
def engine(open_book):
    return open_book(worker="off")._engine


@pytest.fixture
def owe(engine, clock):
    def enqueue(**fields):
        job = a_job(**{"kind": "note", "created_at": clock(), **fields})
        engine.store.apply(Changeset(job.scope, clock(), "test", (EnqueueJob(job),)))
        return job

    return enqueue


def notes(engine):
    """Each job's result is one memory, by which it can be counted."""
    return lambda job: lambda: note_of(engine, job)


def jobs(engine, scope=ANA):
    return engine.store.jobs(scope, JobQuery())


def revision(engine, scope=ANA):
    return engine.store.counters(scope).revision


def test_worker_runs_due_jobs_and_removes_them_with_the_result(engine, owe, clock):
    owe(key="1")
    owe(key="2", scope=BOB)
    owe(key="later", due_at=clock() + timedelta(seconds=1))
    worker = Worker(engine, {"note": notes(engine)})
    assert worker.run_until_idle() == Worked(done=2)
    assert (revision(engine), revision(engine, BOB)) == (1, 1)
    assert [job.key for job in jobs(engine)] == ["later"]
    clock.tick(seconds=1)
    assert worker.run_until_idle() == Worked(done=1)
    assert jobs(engine) == []


def test_worker_respects_the_limit(engine, owe):
    for number in range(3):
        owe(key=str(number))
    assert Worker(engine, {"note": notes(engine)}).run_until_idle(limit=2) == Worked(done=2)
    assert len(jobs(engine)) == 1


def test_worker_skips_jobs_of_unknown_kind(engine, owe):
    owe(kind="unheard of")
    assert Worker(engine, {"note": notes(engine)}).run_until_idle() == Worked()
    assert Worker(engine, {}).run_until_idle() == Worked()
    assert jobs(engine)[0].tries == 0


def test_worker_runs_a_job_queued_by_another_job(engine, owe):
    owe(key="first")

    def chain(job):
        def decision():
            steps = (EnqueueJob(a_job(kind="note", key="second")),)
            return Changeset(job.scope, engine.clock(), "test", steps if job.key == "first" else ())

        return decision

    assert Worker(engine, {"note": chain}).run_until_idle() == Worked(done=2)


def test_worker_backs_off_failed_jobs_until_dead(engine, owe, clock):
    owe()

    def down(job):
        raise EmbedderUnavailable("The embedder said: Dana's secret")

    worker = Worker(engine, {"note": down})
    waits = []
    for _ in range(MAX_TRIES - 1):
        assert worker.run_until_idle() == Worked(failed=1)
        (job,) = jobs(engine)
        waits.append(job.due_at - clock())
        assert worker.run_until_idle() == Worked()
        clock.now = job.due_at
    assert waits == sorted(waits)
    assert waits[-1] <= LONGEST_WAIT
    assert worker.run_until_idle() == Worked(failed=1)
    (dead,) = jobs(engine)
    assert (dead.state, dead.tries) == (JobState.DEAD, MAX_TRIES)
    assert dead.failure.code == "embedder_unavailable"
    assert "Dana" not in dead.failure.told


def test_worker_continues_after_an_unexpected_exception(engine, owe):
    owe(key="poison")
    owe(key="good")

    def careful(job):
        if job.key == "poison":
            raise ZeroDivisionError(f"{job.id} and Dana's secret")
        return lambda: note_of(engine, job)

    assert Worker(engine, {"note": careful}).run_until_idle() == Worked(done=1, failed=1)
    (poisoned,) = jobs(engine)
    assert (poisoned.failure.code, poisoned.failure.told) == (
        "unexpected",
        "ZeroDivisionError was raised.",
    )


def test_worker_requeues_a_job_with_a_refused_result(engine, owe):
    owe()

    def refused(job):
        def decision():
            raise InvalidInput("It makes no sense.")

        return decision

    assert Worker(engine, {"note": refused}).run_until_idle() == Worked(failed=1)
    assert revision(engine) == 0
    assert jobs(engine)[0].state is JobState.QUEUED


def test_worker_decides_again_without_rework_after_a_concurrent_write(engine, owe):
    owe()
    worked, decided = [], []

    def slow(job):
        worked.append(job.id)

        def decision():
            changeset = note_of(engine, job)
            on = revision(engine)
            if not decided:  # somebody is faster, once
                engine.store.apply(note_of(engine, job))
            decided.append(on)
            return Changeset(changeset.scope, changeset.at, "test", changeset.steps, on)

        return decision

    assert Worker(engine, {"note": slow}).run_until_idle() == Worked(done=1)
    assert (len(worked), decided) == (1, [0, 1])


def test_worker_result_is_refused_after_lease_takeover(engine, owe, clock):
    owe()
    fast = Worker(engine, {"note": notes(engine)})

    def asleep(job):
        clock.tick(seconds=LEASE.total_seconds())
        assert fast.run_until_idle() == Worked(done=1)
        return lambda: note_of(engine, job)

    assert Worker(engine, {"note": asleep}).run_until_idle() == Worked()
    assert revision(engine) == 1
    assert jobs(engine) == []


def test_worker_heartbeat_extends_the_lease_of_a_long_job(engine, owe, clock, monkeypatch):
    """The lease is short, so that the heart beats soon; the clock says when it would have ended."""
    owe()
    lease = timedelta(seconds=0.3)
    beaten = threading.Event()
    keep = engine.store.extend_lease

    def heard(job, until):
        held = keep(job, until)
        beaten.set()
        return held

    monkeypatch.setattr(engine.store, "extend_lease", heard)

    def long(job):
        for _ in range(5):
            beaten.clear()
            clock.tick(seconds=0.1)
            assert beaten.wait(PATIENCE)
        assert engine.store.claim_job("another", clock()) is None
        return lambda: note_of(engine, job)

    assert Worker(engine, {"note": long}, lease=lease).run_until_idle() == Worked(done=1)


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


def test_worker_stop_finishes_the_current_job(engine, owe, in_thread):
    owe(key="1")
    owe(key="2")
    begun, go_on = threading.Event(), threading.Event()

    def held_up(job):
        begun.set()
        assert go_on.wait(PATIENCE)
        return lambda: note_of(engine, job)

    worker = Worker(engine, {"note": held_up})
    thread = in_thread(worker)
    assert begun.wait(PATIENCE)
    worker.stop()
    go_on.set()
    thread.join(PATIENCE)
    assert not thread.is_alive()
    assert revision(engine) == 1
    assert len(jobs(engine)) == 1


def test_see_through_runs_the_job_or_waits_for_its_worker(engine, owe, in_thread):
    owe(key="mine")
    waiting = Worker(engine, {"note": notes(engine)})
    assert waiting.see_through(ANA, "note", "mine", PATIENCE) is None
    assert waiting.see_through(ANA, "note", "never owed", PATIENCE) is None
    begun, go_on = threading.Event(), threading.Event()

    def held_up(job):
        begun.set()
        assert go_on.wait(PATIENCE)
        return lambda: note_of(engine, job)

    owe(key="theirs")
    in_thread(Worker(engine, {"note": held_up}))
    assert begun.wait(PATIENCE)
    assert waiting.see_through(ANA, "note", "theirs", 0).state is JobState.RUNNING
    go_on.set()
    assert waiting.see_through(ANA, "note", "theirs", PATIENCE) is None
    assert revision(engine) == 2


def test_see_through_waits_for_another_worker_after_lease_loss(
    engine, owe, clock, in_thread, monkeypatch
):
    owe(key="mine")
    begun, go_on = threading.Event(), threading.Event()

    def held_up(job):
        begun.set()
        assert go_on.wait(PATIENCE)
        return lambda: note_of(engine, job)

    def too_slow(job):
        clock.tick(seconds=LEASE.total_seconds() + 1)
        in_thread(Worker(engine, {"note": held_up}))
        assert begun.wait(PATIENCE)
        return lambda: note_of(engine, job)

    waiting = Worker(engine, {"note": too_slow})
    monkeypatch.setattr(waiting, "_wait", lambda longest: go_on.set())  # not before it waits
    assert waiting.see_through(ANA, "note", "mine", PATIENCE) is None
    assert go_on.is_set()
    assert (revision(engine), jobs(engine)) == (1, [])


def test_see_through_waits_for_a_job_queued_again(engine, owe):
    owe(key="mine")
    done = []

    def caused_again(job):
        if not done:
            owe(key="mine", payload={"part": 2})
        done.append(job.payload)
        return lambda: note_of(engine, job)

    waiting = Worker(engine, {"note": caused_again})
    assert waiting.see_through(ANA, "note", "mine", PATIENCE) is None
    assert done[1:] == [{"part": 2}]


def test_see_through_returns_a_failed_job_with_its_failure(engine, owe):
    owe(key="mine")
    failing = Worker(engine, {"note": lambda job: 1 / 0})
    job = failing.see_through(ANA, "note", "mine", PATIENCE)
    assert (job.state, job.failure.code) == (JobState.QUEUED, "unexpected")


def test_worker_group_runs_slow_jobs_beside_the_others(engine, owe, in_thread):
    begun, go_on, done = threading.Event(), threading.Event(), threading.Semaphore(0)

    def slow(job):
        begun.set()
        assert go_on.wait(PATIENCE)
        return lambda: note_of(engine, job)

    def quick(job):
        done.release()
        return lambda: note_of(engine, job)

    group = WorkerGroup([Worker(engine, {"note": quick}), Worker(engine, {"slow": slow})])
    owe(key="slow", kind="slow")
    owe(key="quick")
    thread = in_thread(group)
    assert begun.wait(PATIENCE)
    assert done.acquire(timeout=PATIENCE)
    owe(key="quick again")
    group.wake()
    assert done.acquire(timeout=PATIENCE)
    group.stop()
    go_on.set()
    thread.join(PATIENCE)  # the running job is finished
    assert (thread.is_alive(), jobs(engine), revision(engine)) == (False, [], 3)


def test_worker_group_waits_for_the_jobs_that_run(engine, owe, in_thread):
    begun, go_on = threading.Event(), threading.Event()

    def slow(job):
        begun.set()
        assert go_on.wait(PATIENCE)
        return lambda: note_of(engine, job)

    group = WorkerGroup([Worker(engine, {"note": notes(engine)}), Worker(engine, {"slow": slow})])
    assert not group.wait_for_job()
    owe(kind="slow")
    in_thread(group)
    assert begun.wait(PATIENCE)
    threading.Timer(0, go_on.set).start()
    assert group.wait_for_job()
    assert revision(engine) == 1


def test_worker_group_ends_as_a_whole_with_an_error(engine, owe, monkeypatch):
    for place in range(2):
        workers = [Worker(engine, {kind: notes(engine)}) for kind in ("note", "other")]
        monkeypatch.setattr(workers[place], "_do_next", lambda: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            WorkerGroup(workers).run()


def test_background_worker_starts_on_the_first_job_and_wakes_on_the_next(engine, owe):
    done = threading.Semaphore(0)

    def counted(job):
        done.release()
        return lambda: note_of(engine, job)

    background = BackgroundWorker(lambda: WorkerGroup([Worker(engine, {"note": counted})]))
    engine.store.when_enqueued(background.wake)
    for number in range(3):
        owe(key=str(number))
        assert done.acquire(timeout=PATIENCE)
    background.close()
    assert revision(engine) == 3
    owe(key="after closing")
    assert len(jobs(engine)) == 1

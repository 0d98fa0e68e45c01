"""The worker that runs jobs, groups of workers, their threads, the daily tidy check.

Each kind of job is a function. It does the slow work and returns a decision: a function that
computes the resulting changeset, called again on a concurrent write. The worker adds the job's
completion to that changeset, so the result is applied exactly once.
"""

from __future__ import annotations

import logging
import os
import socket
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import Enum
from uuid import uuid4

from commonplace.engine.context import EngineContext
from commonplace.engine.follow_up_jobs import AFTER_RULES, FOR_A_MODEL, IN_ORDER
from commonplace.engine.transaction import run_transaction
from commonplace.errors import CommonplaceError, LeaseLost, StoreClosed, StoreError
from commonplace.language.llm.providers import ConnectedModels
from commonplace.model.access.principal import Scope
from commonplace.model.changeset import Changeset, ChangesetStep, EnqueueJob, FinishJob
from commonplace.model.jobs import BEATS_PER_LEASE, LEASE, Failure, Job, JobState, next_retry
from commonplace.store.failpoints import reach_failpoint
from commonplace.store.queries import NO_RESERVED_JOBS, JobQuery, ReservedJobs

log = logging.getLogger("commonplace")

POLL_SECONDS = 5.0  # maximum delay for jobs of other processes
RECHECK_SECONDS = 0.05  # while waiting for a job of another worker

JobDecision = Callable[[], Changeset]
JobFunction = Callable[[Job], JobDecision]


@dataclass(frozen=True, slots=True)
class Worked:
    done: int = 0
    failed: int = 0  # to be retried, or dead

    def __add__(self, other: Worked) -> Worked:
        return Worked(self.done + other.done, self.failed + other.failed)


class _JobOutcome(Enum):
    DONE = Worked(done=1)
    FAILED = Worked(failed=1)
    TAKEN_OVER = Worked()  # counted by the worker that has it now


class Worker:
    def __init__(
        self,
        engine: EngineContext,
        kinds: Mapping[str, JobFunction],
        *,
        lease: timedelta = LEASE,
        when_idle: Callable[[], object] = lambda: None,
    ):
        self.name = f"{socket.gethostname()}/{os.getpid()}/{uuid4().hex[:8]}"
        self._engine = engine
        self._kinds = kinds
        self._lease = lease
        self._when_idle = when_idle
        self._due: datetime | None = None  # next due time at the last check
        self._changed = threading.Condition()
        self._woken = False
        self._stopping = False
        self._between_jobs = threading.Event()
        self._between_jobs.set()

    # ——— running ———

    def run(self, when_done: Callable[[], object] = lambda: None) -> Worked:
        """Run until `stop`; a running job is finished first. ``when_done``: called after each."""
        worked = Worked()
        while not self._stopping:
            try:
                outcome = self._do_next()
            except StoreClosed:
                break
            except StoreError as error:  # may be temporary
                log.warning("worker is waiting for the store: %s", error.code)
                outcome = None
            if outcome is None:
                self._idle()
            else:
                worked += outcome.value
                when_done()
        return worked

    def _idle(self) -> None:
        try:
            self._when_idle()
        except StoreError as error:
            log.warning("maintenance postponed: %s", error.code)
        self._wait()

    def run_until_idle(self, limit: int | None = None) -> Worked:
        """Run all jobs that are due, then return."""
        worked = Worked()
        while limit is None or worked.done + worked.failed < limit:
            outcome = self._do_next()
            if outcome is None:
                break
            worked += outcome.value
        return worked

    def run_early(self, scope: Scope, kind: str) -> Worked:
        """Run the scope's jobs of this kind that are queued for later, each once, and what they
        queue for now. Those that failed keep their pause."""
        worked, known = Worked(), set[str]()
        while True:
            queued = JobQuery(kinds=[kind], states=[JobState.QUEUED])
            now = self._engine.clock()
            job = next(
                (
                    each
                    for each in self._engine.store.jobs(scope, queued)
                    if not each.tries and (each.key not in known or (each.due_at or now) <= now)
                ),
                None,
            )
            outcome = self._do(self._claim(scope, job.id)) if job else None
            if job is None or outcome is None:
                return worked
            known.add(job.key)
            worked += outcome.value

    def see_through(self, scope: Scope, kind: str, key: str, patience: float) -> Job | None:
        """Run this job now, or wait while another worker does. Returns None if it is done, else the
        job: failed, or still running after ``patience`` seconds."""
        deadline = time.monotonic() + patience
        while True:
            job = self._find(scope, kind, key)
            if job is None:
                return None
            match self._do(self._claim(scope, job.id)):
                case _JobOutcome.FAILED:
                    return self._find(scope, kind, key)
                case _JobOutcome.DONE if time.monotonic() <= deadline:
                    continue  # finished, or queued again
                case _JobOutcome.DONE:
                    return self._find(scope, kind, key)
            if job.state is JobState.DEAD or time.monotonic() > deadline:
                return job  # a pending one was claimed by another worker between the checks
            self._wait(RECHECK_SECONDS)

    def wake(self) -> None:
        """Check for due jobs now."""
        with self._changed:
            self._woken = True
            self._changed.notify_all()

    def stop(self) -> None:
        with self._changed:
            self._stopping = True
            self._changed.notify_all()

    def _wait(self, timeout: float = POLL_SECONDS) -> None:
        wait = timeout
        if self._due is not None and (due_in := self._due - self._engine.clock()) > timedelta(0):
            wait = min(wait, due_in.total_seconds())
        with self._changed:
            self._changed.wait_for(lambda: self._woken or self._stopping, wait)
            self._woken = False

    # ——— one job ———

    def _do_next(self) -> _JobOutcome | None:
        return self._do(self._claim())

    def _find(self, scope: Scope, kind: str, key: str) -> Job | None:
        found = self._engine.store.jobs(scope, JobQuery(kinds=[kind], keys=[key]))
        return found[0] if found else None

    def _claim(self, scope: Scope | None = None, id: str | None = None) -> Job | None:
        """Check before claiming: a claim takes the write lock. A job given by id is claimed even
        before it is due."""
        store, kinds = self._engine.store, sorted(self._kinds)
        if id is not None:
            now = self._engine.clock()
            return store.claim_job(
                self.name,
                now,
                lease=self._lease,
                kinds=kinds,
                scope=scope,
                id=id,
                in_order=IN_ORDER,
            )
        reserved = self._reserved_jobs()
        self._due = store.next_due(kinds, reserved) if kinds else None
        now = self._engine.clock()
        if self._due is None or self._due > now:
            return None
        return store.claim_job(
            self.name,
            now,
            lease=self._lease,
            kinds=kinds,
            in_order=IN_ORDER,
            after=AFTER_RULES,
            reserved=reserved,
        )

    def _reserved_jobs(self) -> ReservedJobs:
        """Where models are those of connected clients, what they read waits for one of them."""
        provider = self._engine.model.provider if self._engine.model else None
        if not isinstance(provider, ConnectedModels):
            return NO_RESERVED_JOBS
        return ReservedJobs(FOR_A_MODEL, tuple(map(Scope.of_user, provider.users())))

    def wait_for_job(self) -> bool:
        """Until the job that runs in another thread is over. False: none runs."""
        if self._between_jobs.is_set():
            return False
        self._between_jobs.wait()
        return True

    def _do(self, job: Job | None) -> _JobOutcome | None:
        if job is None:
            return None
        self._between_jobs.clear()
        try:
            return self._run(job)
        finally:
            self._between_jobs.set()

    def _run(self, job: Job) -> _JobOutcome:
        reach_failpoint("job.claimed")
        try:
            with self._holding(job):
                decision = self._kinds[job.kind](job)
                reach_failpoint("job.worked")
                run_transaction(self._engine, None, lambda: (_with_finish(decision(), job), None))
        except LeaseLost:
            log.info("job %s (%s) was taken over by another worker", job.id, job.kind)
            return _JobOutcome.TAKEN_OVER
        except StoreClosed:
            raise
        except Exception as error:  # a failing job must not stop the next
            self._give_back(job, error)
            return _JobOutcome.FAILED
        return _JobOutcome.DONE

    def _give_back(self, job: Job, error: Exception) -> None:
        now = self._engine.clock()
        failure, again_at = describe_failure(error), next_retry(job, now)
        tell = log.info if again_at else log.warning
        tell("job %s (%s) failed, try %d: %s", job.id, job.kind, job.tries, failure.code)
        log.debug("why job %s failed", job.id, exc_info=error)
        try:
            self._engine.store.fail_job(job, now, failure, again_at)
        except StoreError as trouble:  # then its lease expires, with the same effect
            log.warning("job %s could not be released: %s", job.id, trouble.code)

    @contextmanager
    def _holding(self, job: Job) -> Iterator[None]:
        """Renew the job's lease from a thread."""
        ended = threading.Event()
        pause = self._lease.total_seconds() / BEATS_PER_LEASE

        def beat() -> None:
            while not ended.wait(pause):
                try:
                    if not self._engine.store.extend_lease(job, self._engine.clock() + self._lease):
                        return
                except StoreError as error:
                    log.info("a heartbeat of job %s was missed: %s", job.id, error.code)

        heart = threading.Thread(target=beat, name="commonplace-heartbeat", daemon=True)
        heart.start()
        try:
            yield
        finally:
            ended.set()
            heart.join()


def _with_finish(result: Changeset, job: Job) -> Changeset:
    """A job that queues itself again does so after its end: it waits for its time then."""
    again = tuple(step for step in result.steps if _is_same_job(step, job))
    others = tuple(step for step in result.steps if not _is_same_job(step, job))
    return replace(result, steps=(*others, FinishJob(job), *again))


def _is_same_job(step: ChangesetStep, job: Job) -> bool:
    return isinstance(step, EnqueueJob) and (step.job.kind, step.job.key) == (job.kind, job.key)


def describe_failure(error: Exception) -> Failure:
    """The part of an error that may be stored: its message may contain user data."""
    if isinstance(error, CommonplaceError):
        return Failure(error.code, type(error).default_remedy)
    return Failure("unexpected", f"{type(error).__name__} was raised.")


class WorkerGroup:
    """Workers for different kinds of jobs, at the same time: slow ones do not delay the others."""

    def __init__(self, workers: Sequence[Worker]):
        self._workers = workers

    def run(self) -> Worked:
        """Run until `stop`; running jobs are finished first. The first worker has the caller's
        thread, each other one of its own. An error ends all of them."""
        worked: list[Worked] = []
        failed: list[BaseException] = []

        def run_one(worker: Worker) -> None:
            try:
                worked.append(worker.run(self.wake))  # another may wait for what is done now
            except BaseException as error:
                failed.append(error)
            finally:
                self.stop()

        first, *others = self._workers
        threads = [
            threading.Thread(
                target=run_one, args=(each,), name=f"commonplace-worker-{number}", daemon=True
            )
            for number, each in enumerate(others, 2)
        ]
        for thread in threads:
            thread.start()
        run_one(first)
        for thread in threads:
            thread.join()
        if failed:
            raise failed[0]
        return sum(worked, Worked())

    def wake(self) -> None:
        for worker in self._workers:
            worker.wake()

    def stop(self) -> None:
        for worker in self._workers:
            worker.stop()

    def wait_for_job(self) -> bool:
        """Until the jobs that run now are over. False: none runs."""
        waited = [worker.wait_for_job() for worker in self._workers]
        return any(waited)


class BackgroundWorker:
    def __init__(self, make: Callable[[], WorkerGroup]):
        self._make = make
        self._closed = False
        self._start()

    def _start(self) -> None:
        self._process = os.getpid()
        self._lock = threading.Lock()
        self._workers: WorkerGroup | None = None
        self._thread: threading.Thread | None = None

    def wake(self) -> None:
        if self._process != os.getpid():  # a forked child does not inherit the thread
            self._start()
        with self._lock:
            if self._closed:
                return  # the next process to open the store runs what is due
            if self._workers is None:
                self._workers = self._make()
                self._thread = threading.Thread(
                    target=self._workers.run, name="commonplace-worker", daemon=True
                )
                self._thread.start()
            else:
                self._workers.wake()

    def wait_for_job(self) -> bool:
        """Until its running jobs are over. False: none runs."""
        workers = self._workers if self._process == os.getpid() else None
        return workers is not None and workers.wait_for_job()

    def close(self) -> None:
        """Finish the running jobs, then stop."""
        if self._process != os.getpid():
            self._start()
        with self._lock:
            self._closed = True
            workers, thread = self._workers, self._thread
        if workers is not None and thread is not None:
            workers.stop()
            thread.join()


TIDY_CHECK_INTERVAL = timedelta(hours=1)  # maximum delay of a due tidy


class TidySchedule:
    def __init__(self, clock: Callable[[], datetime], tidy: Callable[[], None]):
        self._clock = clock
        self._tidy = tidy
        self._checked_at = clock()
        self._busy = threading.Lock()

    def run_if_due(self) -> bool:
        """Tidy what is due, if the last check is long ago. False if not, or if one is running."""
        if not self._busy.acquire(blocking=False):
            return False
        try:
            if self._clock() - self._checked_at < TIDY_CHECK_INTERVAL:
                return False
            self._checked_at = self._clock()
            self._tidy()
            return True
        finally:
            self._busy.release()

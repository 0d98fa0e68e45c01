"""Jobs: list, retry, cancel; the worker that runs them, its thread, the daily tidy check.

A kind of work is a function of the job. It does what is slow, and gives back a decision: the
changeset that is the job's result, decided again when another writer was faster. The worker adds
the job's end to that changeset, so the result counts once or not at all.
"""

from __future__ import annotations

import logging
import os
import socket
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import Enum
from uuid import uuid4

from commonplace.engine.context import EngineContext
from commonplace.engine.transaction import run_transaction
from commonplace.errors import CommonplaceError, LeaseLost, StoreClosed, StoreError
from commonplace.model.access.principal import Scope
from commonplace.model.changeset import Changeset, FinishJob
from commonplace.model.jobs import BEATS_PER_LEASE, LEASE, Failure, Job, JobState, next_retry
from commonplace.store.failpoints import reach_failpoint
from commonplace.store.queries import JobQuery

log = logging.getLogger("commonplace")

POLL_SECONDS = 5.0  # other processes' jobs are noticed this late
LOOK_AGAIN_SECONDS = 0.05  # while somebody waits for a job that another worker has

JobDecision = Callable[[], Changeset]
JobFunction = Callable[[Job], JobDecision]


@dataclass(frozen=True, slots=True)
class Worked:
    done: int = 0
    failed: int = 0  # they come back later, or are dead

    def __add__(self, other: Worked) -> Worked:
        return Worked(self.done + other.done, self.failed + other.failed)


class _JobOutcome(Enum):
    DONE = Worked(done=1)
    FAILED = Worked(failed=1)
    TAKEN_OVER = Worked()  # whoever has it now will tell


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
        self._due: datetime | None = None  # when something was due, by the last look
        self._changed = threading.Condition()
        self._woken = False
        self._stopping = False

    # ——— running ———

    def run(self) -> Worked:
        """Until somebody says stop; a job that is under way is brought to its end."""
        worked = Worked()
        while not self._stopping:
            try:
                outcome = self._do_next()
            except StoreClosed:
                break
            except StoreError as error:  # it may be back in a moment
                log.warning("worker is waiting for the store: %s", error.code)
                outcome = None
            if outcome is None:
                self._idle()
            else:
                worked += outcome.value
        return worked

    def _idle(self) -> None:
        try:
            self._when_idle()
        except StoreError as error:
            log.warning("maintenance postponed: %s", error.code)
        self._wait()

    def run_until_idle(self, limit: int | None = None) -> Worked:
        """Whatever is due now, and then no more."""
        worked = Worked()
        while limit is None or worked.done + worked.failed < limit:
            outcome = self._do_next()
            if outcome is None:
                break
            worked += outcome.value
        return worked

    def see_through(self, scope: Scope, kind: str, key: str, patience: float) -> Job | None:
        """Do this work now, or wait while another worker does. None: it is done. Else the job as
        it stands: it failed, or is still under way after ``patience`` seconds."""
        deadline = time.monotonic() + patience
        while True:
            job = self._find(scope, kind, key)
            if job is None:
                return None
            match self._do(self._claim(scope, job.id)):
                case _JobOutcome.FAILED:
                    return self._find(scope, kind, key)
                case _JobOutcome.DONE:
                    continue  # gone; or caused again meanwhile, which is waited for as well
            if job.state is JobState.DEAD or time.monotonic() > deadline:
                return job  # one that waits was taken by another between two looks
            self._wait(LOOK_AGAIN_SECONDS)

    def wake(self) -> None:
        """There is something to do, perhaps."""
        with self._changed:
            self._woken = True
            self._changed.notify_all()

    def stop(self) -> None:
        with self._changed:
            self._stopping = True
            self._changed.notify_all()

    def _wait(self, longest: float = POLL_SECONDS) -> None:
        wait = longest
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
        """A look comes first: it is in nobody's way, as claiming is. A job that is named is taken
        before it is due."""
        store, kinds = self._engine.store, sorted(self._kinds)
        if id is not None:
            now = self._engine.clock()
            return store.claim_job(
                self.name, now, lease=self._lease, kinds=kinds, scope=scope, id=id
            )
        self._due = store.next_due(kinds) if kinds else None
        now = self._engine.clock()
        if self._due is None or self._due > now:
            return None
        return store.claim_job(self.name, now, lease=self._lease, kinds=kinds)

    def _do(self, job: Job | None) -> _JobOutcome | None:
        if job is None:
            return None
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
        except Exception as error:  # whatever is wrong with one job, the next is not to blame
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
        except StoreError as trouble:  # then its lease runs out, which says the same
            log.warning("job %s could not be released: %s", job.id, trouble.code)

    @contextmanager
    def _holding(self, job: Job) -> Iterator[None]:
        """While this lasts a thread says, time and again, that the job is held."""
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
    return replace(result, steps=(*result.steps, FinishJob(job)))


def describe_failure(error: Exception) -> Failure:
    """What may be written down of an error: its own message may quote the user."""
    if isinstance(error, CommonplaceError):
        return Failure(error.code, type(error).default_remedy)
    return Failure("unexpected", f"{type(error).__name__} was raised.")


class BackgroundWorker:
    def __init__(self, make: Callable[[], Worker]):
        self._make = make
        self._closed = False
        self._start()

    def _start(self) -> None:
        self._process = os.getpid()
        self._lock = threading.Lock()
        self._worker: Worker | None = None
        self._thread: threading.Thread | None = None

    def wake(self) -> None:
        if self._process != os.getpid():  # a fork has no thread of its parent's
            self._start()
        with self._lock:
            if self._closed:
                return  # the next to open the store finds what is due
            if self._worker is None:
                self._worker = self._make()
                self._thread = threading.Thread(
                    target=self._worker.run, name="commonplace-worker", daemon=True
                )
                self._thread.start()
            else:
                self._worker.wake()

    def close(self) -> None:
        """What is under way is brought to its end."""
        if self._process != os.getpid():
            self._start()
        with self._lock:
            self._closed = True
            worker, thread = self._worker, self._thread
        if worker is not None and thread is not None:
            worker.stop()
            thread.join()


TIDY_CHECK_INTERVAL = timedelta(hours=1)  # whoever is due is tidied within this


class TidySchedule:
    def __init__(self, clock: Callable[[], datetime], tidy: Callable[[], None]):
        self._clock = clock
        self._tidy = tidy
        self._looked = clock()
        self._busy = threading.Lock()

    def look(self) -> bool:
        """Tidies what is due, if it has not looked for long. False: it has, or another is at it."""
        if not self._busy.acquire(blocking=False):
            return False
        try:
            if self._clock() - self._looked < TIDY_CHECK_INTERVAL:
                return False
            self._looked = self._clock()
            self._tidy()
            return True
        finally:
            self._busy.release()

"""Job queue and idempotent answers on SQL: claims, leases, retries.

Jobs are inserted and deleted in the transaction of a changeset. Every other change is a transaction
of its own on one row, and is conditional on the lease number.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from datetime import datetime, timedelta
from typing import Any

from commonplace.errors import LeaseLost, StaleDecision, StoreBusy
from commonplace.model.access.principal import Scope
from commonplace.model.changeset import Changeset, EnqueueJob, RetryJob, WithdrawJobs
from commonplace.model.jobs import (
    ANSWER_RETENTION,
    CLAIM_TIMEOUT,
    LEASE,
    AnswerOutcome,
    AnswerState,
    Failure,
    IdempotencyClaim,
    Job,
    KeepAnswer,
    KeepHarmlessAnswer,
    ReleaseAnswer,
    StoredAnswer,
)
from commonplace.store.queries import NO_RESERVED_JOBS, JobQuery, ReservedJobs
from commonplace.store.sql.rows import Row, RowCodec, Session, instant, micros, moment

ABANDONED = Failure("abandoned", "Its worker stopped without finishing it, in every attempt.")


class SqlJobs(ABC):
    _notify: Callable[[], None] | None = None

    # ——— implemented by a dialect ———

    @abstractmethod
    def _reading(self, scope: Scope) -> AbstractContextManager[Session]: ...

    @abstractmethod
    def _writing(self, scope: Scope) -> AbstractContextManager[Session]: ...

    @abstractmethod
    def _seeking(self) -> AbstractContextManager[Session]:
        """A read transaction on the jobs of all scopes, and on nothing else."""

    @abstractmethod
    def _claiming(self) -> AbstractContextManager[Session]:
        """A write transaction on the jobs of all scopes, and on nothing else."""

    # ——— for workers ———

    def claim_job(
        self,
        worker: str,
        now: datetime,
        *,
        lease: timedelta = LEASE,
        kinds: Sequence[str] = (),
        scope: Scope | None = None,
        id: str | None = None,
        in_order: Sequence[str] = (),
        after: tuple[str, str] | None = None,
        reserved: ReservedJobs = NO_RESERVED_JOBS,
    ) -> Job | None:
        at = micros(now)
        with self._claiming() as session:
            session.run("bury_jobs", now=at, code=ABANDONED.code, told=ABANDONED.told)
            claim: dict[str, Any] = {"now": at, "until": micros(now + lease), "worker": worker}
            claim["in_order"] = list(in_order)
            of = scope.key if scope else None
            if id is not None:
                row = session.one("claim_this_job", of=of, id=id, **claim)
            else:
                later, earlier = after or ("", "")
                wanted = {"any_kind": int(not kinds), "kinds": list(kinds)}
                wanted |= {"later": later, "earlier": earlier, **_reserved(reserved)}
                row = session.one("claim_job", of=of, **wanted, **claim)
        return _job_from(row) if row else None

    def next_due(
        self, kinds: Sequence[str] = (), reserved: ReservedJobs = NO_RESERVED_JOBS
    ) -> datetime | None:
        wanted = {"any_kind": int(not kinds), "kinds": list(kinds)}
        with self._seeking() as session:
            row = session.one("next_due", **wanted, **_reserved(reserved))
        return moment(row[0]) if row else None

    def extend_lease(self, job: Job, until: datetime) -> bool:
        return self._update_held("hold_job", job, until=micros(until))

    def fail_job(
        self, job: Job, now: datetime, failure: Failure, retry_at: datetime | None
    ) -> bool:
        error = {"code": failure.code, "told": failure.told}
        return self._update_held("fail_job", job, now=micros(now), due_at=micros(retry_at), **error)

    def _update_held(self, statement: str, job: Job, **values: Any) -> bool:
        with self._writing(job.scope) as session:
            return session.one(statement, id=job.id, lease=job.lease, **values) is not None

    # ——— for owners ———

    def jobs(self, scope: Scope, query: JobQuery) -> list[Job]:
        with self._reading(scope) as session:
            return [_job_from(row) for row in session.rows("jobs", **_query_values(query))]

    # ——— notification ———

    def when_enqueued(self, notify: Callable[[], None]) -> None:
        self._notify = notify

    def _notify_enqueued(self, changeset: Changeset) -> None:
        enqueues = any(isinstance(step, EnqueueJob | RetryJob) for step in changeset.steps)
        if enqueues and self._notify is not None:
            self._notify()


def _reserved(jobs: ReservedJobs) -> dict[str, Any]:
    return {
        "reserved": list(jobs.kinds),
        "reserved_for": [scope.key for scope in jobs.scopes],
    }


def enqueue(session: Session, jobs: Sequence[Job]) -> None:
    session.run_many("enqueue_job", [_new_values(job) for job in jobs])


def finish(session: Session, job: Job, at: datetime) -> None:
    """Deletes the job, or requeues it if it was enqueued again while it ran."""
    held = {"id": job.id, "lease": job.lease}
    if session.one("finish_job", **held) or session.one("begin_job_anew", **held, now=micros(at)):
        return
    raise LeaseLost("The job was taken over or cancelled before it was finished.")


def withdraw(session: Session, steps: Sequence[WithdrawJobs]) -> None:
    """A job given by id must still exist; a key may match no job."""
    session.run("withdraw_jobs", keys=[key for step in steps for key in step.keys])
    for id in (id for step in steps for id in step.ids):
        if session.one("drop_job", id=id) is None:
            raise StaleDecision("The job was finished or withdrawn first.")


def retry(session: Session, step: RetryJob, at: datetime) -> None:
    if session.one("jobs", **_query_values(JobQuery(ids=[step.id]))) is None:
        raise StaleDecision("The job was finished or withdrawn first.")
    session.run("retry_job", id=step.id, now=micros(at))


_JOB = RowCodec(Job, ("scope", "failure"))
JOB_COLUMNS = ", ".join(("scope", "error_code", "error", *_JOB.names))


def _job_from(row: Row) -> Job:
    scope, code, message, *rest = row
    failure = Failure(code, message) if code else None
    return Job(scope=Scope(scope), failure=failure, **_JOB.decode(rest))


_INSERTED = ("id", "kind", "key", "payload", "due_at", "max_tries", "created_at", "updated_at")


def _new_values(job: Job) -> dict[str, Any]:
    values = _JOB.values(job)
    return {name: values[name] for name in _INSERTED}


def _query_values(query: JobQuery) -> dict[str, Any]:
    return {
        "any_id": int(not query.ids),
        "ids": list(query.ids),
        "any_kind": int(not query.kinds),
        "kinds": list(query.kinds),
        "any_key": int(not query.keys),
        "keys": list(query.keys),
        "any_state": int(not query.states),
        "states": [str(state) for state in query.states],
        "limit": query.limit,
    }


class SqlIdempotency(ABC):
    @abstractmethod
    def _writing(self, scope: Scope) -> AbstractContextManager[Session]: ...

    def claim_answer(
        self, claim: IdempotencyClaim, request: str, now: datetime
    ) -> StoredAnswer | None:
        with self._writing(claim.scope) as session:
            delete_old_answers(session, now)
            given_up = micros(now - CLAIM_TIMEOUT)
            values = {"name": claim.name, "holder": claim.holder, "request": request}
            if session.one("claim_answer", **values, at=micros(now), given_up=given_up):
                return None
            row = session.one("kept_answer", name=claim.name)
        assert row is not None  # no other transaction deletes it while this one runs
        stored_request, at, state, answer = row
        return StoredAnswer(stored_request, instant(at), AnswerState(state), answer)


def record_answers(session: Session, answers: Sequence[AnswerOutcome], at: datetime) -> None:
    for each in answers:
        held = {"name": each.claim.name, "holder": each.claim.holder}
        match each:
            case KeepAnswer(answer=answer):
                session.run("keep_answer", **held, answer=answer)
            case KeepHarmlessAnswer(request=request, answer=answer):
                values = {"name": each.claim.name, "request": request, "at": micros(at)}
                session.run("keep_harmless_answer", **values, answer=answer)
            case ReleaseAnswer():
                session.run("release_answer", **held)


def require_claim(session: Session, claim: IdempotencyClaim) -> None:
    """Called in the transaction of a change, so that a caller whose claim was taken over changes
    nothing. A silenced answer has no holder and blocks nobody."""
    holder = session.one("holder_of_answer", name=claim.name)
    if holder is not None and holder[0] != claim.holder:
        raise StoreBusy("A request with this Idempotency-Key is in progress; retry shortly.")
    session.run("mark_applied", name=claim.name, holder=claim.holder)


def delete_old_answers(session: Session, now: datetime) -> None:
    session.run("delete_old_answers", before=micros(now - ANSWER_RETENTION))

"""Jobs as their owner sees them: what is owed, why it is late, once more, or never mind."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from commonplace.desk import Desk
from commonplace.errors import NotFound
from commonplace.model.job import Job, JobState
from commonplace.model.paging import page
from commonplace.model.scope import Principal
from commonplace.store.port import EVERYTHING, JobQuery


@dataclass(frozen=True, slots=True)
class Owed:
    id: str
    kind: str
    about: str | None  # such as a source's id; None: the whole memory
    state: JobState
    tries: int
    max_tries: int
    next_run: datetime | None  # None: it runs, or is dead
    error: str | None  # of the last try
    created_at: datetime


def list_jobs(
    desk: Desk,
    principal: Principal,
    states: Sequence[JobState],
    limit: int,
    after: str | None = None,
) -> list[Owed]:
    query = JobQuery(states=states, limit=limit if after is None else EVERYTHING)
    return page([owed(job) for job in desk.store.jobs(principal.scope, query)], after, limit)


def retry_job(desk: Desk, principal: Principal, id: str) -> Owed:
    job = desk.store.retry(principal.scope, id, desk.clock())
    if job is None:
        raise _unknown(id)
    return owed(job)


def cancel_job(desk: Desk, principal: Principal, id: str) -> Owed:
    """As it was. Somebody may have finished it in this very moment: then there is none."""
    known = desk.store.jobs(principal.scope, JobQuery(ids=[id]))
    if not known or not desk.store.drop(principal.scope, id):
        raise _unknown(id)
    return owed(known[0])


def owed(job: Job) -> Owed:
    return Owed(
        id=job.id,
        kind=job.kind,
        about=job.key or None,
        state=job.state,
        tries=job.tries,
        max_tries=job.max_tries,
        next_run=job.due_at if job.state is JobState.QUEUED else None,
        error=f"{job.failure.code}: {job.failure.told}" if job.failure else None,
        created_at=job.created_at,
    )


def _unknown(id: str) -> NotFound:
    return NotFound(
        f"Unknown job {id}.",
        remedy="See `commonplace jobs`; finished jobs are not listed.",
        field="id",
    )

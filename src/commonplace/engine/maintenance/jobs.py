"""Jobs: list, retry, cancel; the functions of all kinds, and the workers that run them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial

from commonplace.engine.context import EngineContext, RequestContext
from commonplace.engine.follow_up_jobs import (
    DESCRIBE_JOB,
    EMBED_JOB,
    EXTRACT_JOB,
    MODEL_JOBS,
    PROCESS_JOB,
    READ_JOB,
    SAME_FACT_JOB,
    SLEEP_JOB,
    SUMMARISE_JOB,
)
from commonplace.engine.maintenance.worker import JobFunction, Worked, Worker, WorkerGroup
from commonplace.errors import NotFound, StaleDecision
from commonplace.lazy import lazy_imports
from commonplace.model.access.principal import Principal, Scope
from commonplace.model.changeset import Changeset, RetryJob, WithdrawJobs
from commonplace.model.jobs import Job, JobState
from commonplace.model.paging import take_page
from commonplace.store.queries import NO_LIMIT, JobQuery

with lazy_imports(__name__):
    from commonplace.engine.graph.extraction.extract import run_extraction_job
    from commonplace.engine.maintenance.reembed import fill_late_vectors
    from commonplace.engine.maintenance.sleep.schedule import run_sleep_job
    from commonplace.engine.memories.neighbours import link_after_embedding
    from commonplace.engine.reading.read import run_read_job
    from commonplace.engine.reading.same_fact import run_same_fact_job
    from commonplace.engine.sources.process import describe_thread, process
    from commonplace.engine.sources.summarise import summarise_source
    from commonplace.engine.transaction import apply_changeset


def bind_job_kinds(
    engine: EngineContext, *, closes_windows: bool = False
) -> Mapping[str, JobFunction]:
    """``closes_windows``: somebody waits for what a model reads in the last turns."""
    return {
        PROCESS_JOB: partial(process, engine),
        EXTRACT_JOB: partial(run_extraction_job, engine),
        DESCRIBE_JOB: partial(describe_thread, engine),
        READ_JOB: partial(run_read_job, engine, closes_windows),
        SAME_FACT_JOB: partial(run_same_fact_job, engine),
        SUMMARISE_JOB: partial(summarise_source, engine),
        SLEEP_JOB: partial(run_sleep_job, engine),
        EMBED_JOB: partial(fill_late_vectors, engine, partial(link_after_embedding, engine)),
    }


def make_workers(
    engine: EngineContext, kinds: Mapping[str, JobFunction], when_idle: Callable[[], object]
) -> WorkerGroup:
    """With a language model, jobs that ask it have a worker of their own: a call may take minutes,
    and must not delay processing, extraction and vectors."""
    if engine.model is None:
        return WorkerGroup([Worker(engine, kinds, when_idle=when_idle)])
    asking = {kind: run for kind, run in kinds.items() if kind in MODEL_JOBS}
    others = {kind: run for kind, run in kinds.items() if kind not in MODEL_JOBS}
    return WorkerGroup([Worker(engine, others, when_idle=when_idle), Worker(engine, asking)])


def work_once(engine: EngineContext) -> Worked:
    """What is due, and what a model has still to read: nobody waits for a next turn."""
    worker = Worker(engine, bind_job_kinds(engine, closes_windows=True))
    worked = worker.run_until_idle()
    if engine.model is None:
        return worked
    for scope in engine.store.scopes():
        if scope.is_user and has_model_now(engine, scope):
            worked += worker.run_early(scope, READ_JOB) + worker.run_early(scope, SAME_FACT_JOB)
    return worked + worker.run_until_idle()


def has_model_now(engine: EngineContext, scope: Scope) -> bool:
    """Whether a language model would answer for this user: a client may not be connected."""
    access = engine.model
    return access is not None and access.provider.model_for(scope.name) is not None


@dataclass(frozen=True, slots=True)
class ShownJob:
    id: str
    kind: str
    about: str | None  # e.g. a source id; None: the whole memory
    state: JobState
    tries: int
    max_tries: int
    next_run: datetime | None  # None: running or dead
    error: str | None  # of the last attempt
    created_at: datetime


def list_jobs(
    engine: EngineContext,
    principal: Principal,
    states: Sequence[JobState],
    limit: int,
    after: str | None = None,
) -> list[ShownJob]:
    query = JobQuery(states=states, limit=limit if after is None else NO_LIMIT)
    return take_page(
        [present_job(job) for job in engine.store.jobs(principal.scope, query)], after, limit
    )


def retry_job(engine: EngineContext, request: RequestContext, id: str) -> ShownJob:
    principal = request.principal
    known = _find_job(engine, principal, id)
    _change_job(engine, request, RetryJob(id), id)
    now = engine.store.jobs(principal.scope, JobQuery(ids=[id]))
    return present_job(now[0] if now else known)  # a worker may have finished it already


def cancel_job(engine: EngineContext, request: RequestContext, id: str) -> ShownJob:
    """Return the job as it was. NotFound if a worker has just finished it."""
    known = _find_job(engine, request.principal, id)
    _change_job(engine, request, WithdrawJobs(ids=(id,)), id)
    return present_job(known)


def _find_job(engine: EngineContext, principal: Principal, id: str) -> Job:
    found = engine.store.jobs(principal.scope, JobQuery(ids=[id]))
    if not found:
        raise _unknown_job(id)
    return found[0]


def _change_job(
    engine: EngineContext, request: RequestContext, step: RetryJob | WithdrawJobs, id: str
) -> None:
    principal = request.principal
    try:
        apply_changeset(
            engine, request, Changeset(principal.scope, engine.clock(), principal.actor, (step,))
        )
    except StaleDecision:
        raise _unknown_job(id) from None


def present_job(job: Job) -> ShownJob:
    return ShownJob(
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


def _unknown_job(id: str) -> NotFound:
    return NotFound(
        f"Unknown job {id}.",
        remedy="See `commonplace jobs`; finished jobs are not listed.",
        field="id",
    )

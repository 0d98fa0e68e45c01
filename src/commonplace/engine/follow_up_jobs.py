"""Follow-up jobs: embed, process, extract and describe jobs that a changeset causes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta

from commonplace.model.access.principal import Scope
from commonplace.model.changeset import (
    AddMemory,
    AddSource,
    ChangeMemory,
    Changeset,
    ChangesetStep,
    ChangeSource,
    EnqueueJob,
    ImportScope,
    RewriteMemory,
)
from commonplace.model.graph.steps import PutEdge, PutNode
from commonplace.model.jobs import FIRST_WAIT, Job
from commonplace.model.memory.memory import State
from commonplace.model.sources.source import THREAD_ORIGIN, ProcessingStatus, Source

EMBED_JOB = "embed"  # the missing vectors of a scope
OUTAGE_TRIES = 170  # hourly in the end: about a week; nightly maintenance embeds the rest


PROCESS_JOB = "process"  # splits a source's original into passages
EXTRACT_JOB = "extract"  # adds a source's assertions to its reader's graph
DESCRIBE_JOB = "describe"  # updates the description of a growing conversation
GROWING_SOURCE_DELAY = timedelta(minutes=1)  # turns within this time share one job


# The waiting caller does the work; a worker does it if the caller is gone.
AWAITED_GRACE = timedelta(seconds=5)


def needs_processing(source: Source) -> bool:
    return source.status is ProcessingStatus.RAW and source.state is State.ACTIVE


def build_process_job(source: Source, job_id: str, now: datetime, *, awaited: bool) -> Job:
    return Job(
        id=job_id,
        scope=source.scope,
        kind=PROCESS_JOB,
        key=source.id,
        payload={"source": source.id},
        due_at=now + AWAITED_GRACE if awaited else now,
        created_at=now,
        updated_at=now,
    )


def build_describe_job(source: Source, job_id: str, now: datetime) -> Job:
    return replace(
        build_process_job(source, job_id, now, awaited=False),
        kind=DESCRIBE_JOB,
        due_at=now + GROWING_SOURCE_DELAY,
    )


def build_extract_job(
    source: str, reader: Scope, job_id: str, now: datetime, *, grows: bool = False
) -> Job:
    """For one reader: a team's source is extracted separately for each member."""
    return Job(
        id=job_id,
        scope=reader,
        kind=EXTRACT_JOB,
        key=source,
        payload={"source": source},
        due_at=now + GROWING_SOURCE_DELAY if grows else now,
        created_at=now,
        updated_at=now,
    )


def with_follow_up_jobs(
    changeset: Changeset, new_id: Callable[[], str], *, extracts: bool
) -> Changeset:
    """The changeset with the jobs that it causes: for missing vectors, and for sources that can be
    extracted."""
    jobs = [
        build_extract_job(
            source.id, changeset.scope, new_id(), changeset.at, grows=source.origin == THREAD_ORIGIN
        )
        for source in _extractable_sources(changeset)
        if extracts
    ]
    if any(map(_lacks_vector, changeset.steps)):
        jobs.append(_build_embed_job(changeset, new_id()))
    return replace(changeset, steps=(*changeset.steps, *map(EnqueueJob, jobs)))


def _extractable_sources(changeset: Changeset) -> list[Source]:
    """The user's own sources that were processed now or have grown."""
    if not changeset.scope.is_user:
        return []
    by_id: dict[str, Source] = {}
    for step in changeset.steps:
        match step:
            case AddSource(source=source) if step.passages:
                by_id[source.id] = source
            case ChangeSource(after=source) if (
                step.passages or step.before.status is ProcessingStatus.RAW
            ):
                by_id[source.id] = source
            case _:
                continue
    return [
        source
        for source in by_id.values()
        if source.status is ProcessingStatus.PROCESSED and source.state is State.ACTIVE
    ]


def _build_embed_job(changeset: Changeset, job_id: str) -> Job:
    """The embedder was down: try again after a delay."""
    at = changeset.at
    return Job(
        id=job_id,
        scope=changeset.scope,
        kind=EMBED_JOB,
        due_at=at + FIRST_WAIT,
        max_tries=OUTAGE_TRIES,
        created_at=at,
        updated_at=at,
    )


def _lacks_vector(step: ChangesetStep) -> bool:
    match step:
        case AddMemory() | RewriteMemory():
            return step.index.vector is None
        case ChangeMemory():
            return step.index is not None and step.index.vector is None
        case ImportScope():
            memories = any(index.vector is None for _, index in step.memories)
            graph = bool(step.graph.texts.keys() - step.graph_vectors.keys())
            return memories or any(map(_lacks_vector, step.sources)) or graph
        case PutNode() | PutEdge():
            return bool(step.text) and step.vector is None
        case AddSource() | ChangeSource():
            return any(index.vector is None for _, index in step.passages)
        case _:
            return False

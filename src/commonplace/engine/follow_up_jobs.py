"""Follow-up jobs: embed, process, extract, describe and model jobs that a changeset causes."""

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
    LinkMemories,
    RewriteMemory,
)
from commonplace.model.graph.steps import PutEdge, PutNode, PutStory
from commonplace.model.jobs import FIRST_WAIT, Job
from commonplace.model.memory.memory import Sensitivity, State
from commonplace.model.sources.source import THREAD_ORIGIN, ProcessingStatus, Source

EMBED_JOB = "embed"  # the missing vectors of a scope
OUTAGE_TRIES = 170  # hourly in the end: about a week; nightly maintenance embeds the rest


PROCESS_JOB = "process"  # splits a source's original into passages
EXTRACT_JOB = "extract"  # adds a source's assertions to its reader's graph
DESCRIBE_JOB = "describe"  # updates the description of a growing conversation
READ_JOB = "read"  # a language model reads a source for its reader
SAME_FACT_JOB = "same-fact"  # a language model compares near memories
SLEEP_JOB = "sleep"  # what the engine does at night
# One after the other, the earliest first: later turns correct what earlier ones told, and runs of
# sleep build on each other.
IN_ORDER = (READ_JOB, SAME_FACT_JOB, SLEEP_JOB)
SUMMARISE_JOB = "summarise"  # a language model's description of a source
# They may take minutes.
MODEL_JOBS = frozenset({READ_JOB, SAME_FACT_JOB, SUMMARISE_JOB, SLEEP_JOB})
AFTER_RULES = (
    READ_JOB,
    EXTRACT_JOB,
)  # a user's jobs of the first kind wait for those of the second
FOR_A_MODEL = (READ_JOB, SUMMARISE_JOB)  # they do nothing without one
MODEL_TRIES = 30  # about a day: then what the rules made stays
GROWING_SOURCE_DELAY = timedelta(minutes=1)  # turns within this time share one job
READ_DELAY = timedelta(seconds=45)  # after its last turn, a conversation is read
RULES_FIRST = timedelta(seconds=1)  # rules extract a source before a model reads it
SAME_FACT_DELAY = timedelta(minutes=2)
NEAR = 0.80  # similarity from which a model is asked whether two memories are one


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


def build_summarise_job(source: str, scope: Scope, job_id: str, now: datetime) -> Job:
    return Job(
        id=job_id,
        scope=scope,
        kind=SUMMARISE_JOB,
        key=source,
        payload={"source": source},
        due_at=now,
        max_tries=MODEL_TRIES,
        created_at=now,
        updated_at=now,
    )


def can_be_summarised(source: Source, scope: Scope) -> bool:
    """By a language model: only the user's own source, and none of sensitivity high."""
    return (
        scope.is_user
        and source.user_id == scope.name
        and source.state is State.ACTIVE
        and source.status is not ProcessingStatus.RAW
        and source.sensitivity is not Sensitivity.HIGH
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


def build_read_job(source: str, reader: Scope, job_id: str, due_at: datetime, now: datetime) -> Job:
    """For one reader, as extraction. A model that is down is asked again for about a week."""
    return Job(
        id=job_id,
        scope=reader,
        kind=READ_JOB,
        key=source,
        payload={"source": source},
        due_at=due_at,
        max_tries=OUTAGE_TRIES,
        created_at=now,
        updated_at=now,
    )


def build_same_fact_job(scope: Scope, job_id: str, now: datetime) -> Job:
    return Job(
        id=job_id,
        scope=scope,
        kind=SAME_FACT_JOB,
        due_at=now + SAME_FACT_DELAY,
        max_tries=OUTAGE_TRIES,
        created_at=now,
        updated_at=now,
    )


def with_follow_up_jobs(
    changeset: Changeset, new_id: Callable[[], str], *, extracts: bool, has_model: bool = False
) -> Changeset:
    """The changeset with the jobs that it causes: for missing vectors, for sources that can be
    extracted; with a language model, also for sources to read and to summarise, and for near
    memories."""
    scope, now = changeset.scope, changeset.at
    jobs = []
    for source in _extractable_sources(changeset) if extracts else ():
        grows = source.origin == THREAD_ORIGIN
        jobs.append(build_extract_job(source.id, scope, new_id(), now, grows=grows))
        if has_model:
            due = now + (READ_DELAY if grows else RULES_FIRST)
            jobs.append(build_read_job(source.id, scope, new_id(), due, now))
    if has_model:
        jobs += [
            build_summarise_job(id, scope, new_id(), now) for id in _described_sources(changeset)
        ]
    if has_model and scope.is_user and any(map(_is_near, changeset.steps)):
        jobs.append(build_same_fact_job(scope, new_id(), now))
    if any(map(_lacks_vector, changeset.steps)):
        jobs.append(_build_embed_job(changeset, new_id()))
    return replace(changeset, steps=(*changeset.steps, *map(EnqueueJob, jobs)))


def _is_near(step: ChangesetStep) -> bool:
    return isinstance(step, LinkMemories) and step.link.strength >= NEAR


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


def _described_sources(changeset: Changeset) -> list[str]:
    """Sources with a new summary by the rules."""
    by_id: dict[str, bool] = {}
    for step in changeset.steps:
        match step:
            case AddSource(source=source):
                by_id[source.id] = bool(source.summary) and can_be_summarised(
                    source, changeset.scope
                )
            case ChangeSource(before=before, after=source, entry=entry):
                is_new = source.summary != before.summary and "model" not in entry.meta
                is_new = is_new or by_id.get(source.id, False)
                by_id[source.id] = is_new and can_be_summarised(source, changeset.scope)
            case _:
                continue
    return [id for id, is_new in by_id.items() if is_new]


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
        case PutStory(before=before, after=after):
            has_new_text = before is None or before.search_text != after.search_text
            return has_new_text and step.vector is None
        case AddSource() | ChangeSource():
            return any(index.vector is None for _, index in step.passages)
        case _:
            return False

"""What a change leaves to be done. Pure: the job goes into the same changeset."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta

from commonplace.model.changes import (
    Add,
    AddSource,
    Change,
    Changeset,
    ChangeSource,
    Copy,
    Enqueue,
    Rewrite,
    Step,
)
from commonplace.model.graph.steps import PutEdge, PutNode
from commonplace.model.job import FIRST_WAIT, Job
from commonplace.model.memory import State
from commonplace.model.scope import Scope
from commonplace.model.source import THREAD, Source, Status

EMBED = "embed"  # the vectors that a scope lacks
TRIES_OF_AN_OUTAGE = 170  # hourly in the end: about a week; the night looks after the rest


PROCESS = "process"  # a source's original into passages
EXTRACT = "extract"  # what a source tells, into its reader's graph
DESCRIBE = "describe"  # what a talk that goes on is about, by now
PAUSE = timedelta(minutes=1)  # turns that come one upon the other are described together


GRACE = timedelta(seconds=5)  # whoever waits for the work does it, unless they are gone


def is_to_be_processed(source: Source) -> bool:
    return source.status is Status.RAW and source.state is State.ACTIVE


def processing(source: Source, job_id: str, now: datetime, *, awaited: bool) -> Job:
    return Job(
        id=job_id,
        scope=source.scope,
        kind=PROCESS,
        key=source.id,
        payload={"source": source.id},
        due_at=now + GRACE if awaited else now,
        created_at=now,
        updated_at=now,
    )


def describing(source: Source, job_id: str, now: datetime) -> Job:
    return replace(
        processing(source, job_id, now, awaited=False), kind=DESCRIBE, due_at=now + PAUSE
    )


def extracting(
    source: str, reader: Scope, job_id: str, now: datetime, *, grows: bool = False
) -> Job:
    """For one reader: a team's source is extracted by each member for themself."""
    return Job(
        id=job_id,
        scope=reader,
        kind=EXTRACT,
        key=source,
        payload={"source": source},
        due_at=now + PAUSE if grows else now,
        created_at=now,
        updated_at=now,
    )


def owing(changeset: Changeset, new_id: Callable[[], str], *, extracts: bool) -> Changeset:
    """With the jobs that it causes: vectors that are missing, sources that can be extracted."""
    owed = [
        extracting(
            source.id, changeset.scope, new_id(), changeset.at, grows=source.origin == THREAD
        )
        for source in _extractable(changeset)
        if extracts
    ]
    if any(map(_lacks_a_vector, changeset.steps)):
        owed.append(_embedding(changeset, new_id()))
    return replace(changeset, steps=(*changeset.steps, *map(Enqueue, owed)))


def _extractable(changeset: Changeset) -> list[Source]:
    """What of the user's own was processed, or has grown."""
    if not changeset.scope.is_user:
        return []
    found: dict[str, Source] = {}
    for step in changeset.steps:
        match step:
            case AddSource(source=source) if step.passages:
                found[source.id] = source
            case ChangeSource(after=source) if step.passages or step.before.status is Status.RAW:
                found[source.id] = source
            case _:
                continue
    return [
        source
        for source in found.values()
        if source.status is Status.PROCESSED and source.state is State.ACTIVE
    ]


def _embedding(changeset: Changeset, job_id: str) -> Job:
    """The embedder was down: it is asked again, but not at once."""
    at = changeset.at
    return Job(
        id=job_id,
        scope=changeset.scope,
        kind=EMBED,
        due_at=at + FIRST_WAIT,
        max_tries=TRIES_OF_AN_OUTAGE,
        created_at=at,
        updated_at=at,
    )


def _lacks_a_vector(step: Step) -> bool:
    match step:
        case Add() | Rewrite():
            return step.index.vector is None
        case Change():
            return step.index is not None and step.index.vector is None
        case Copy():
            here = any(index.vector is None for _, index in step.memories)
            late = bool(step.graph.texts.keys() - step.graph_vectors.keys())
            return here or any(map(_lacks_a_vector, step.sources)) or late
        case PutNode() | PutEdge():
            return bool(step.text) and step.vector is None
        case AddSource() | ChangeSource():
            return any(index.vector is None for _, index in step.passages)
        case _:
            return False

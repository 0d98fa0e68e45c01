"""What a change leaves to be done. Pure: the job goes into the same changeset."""

from __future__ import annotations

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
from commonplace.model.job import FIRST_WAIT, Job
from commonplace.model.memory import State
from commonplace.model.source import Source, Status

EMBED = "embed"  # the vectors that a scope lacks
TRIES_OF_AN_OUTAGE = 170  # hourly in the end: about a week; the night looks after the rest


PROCESS = "process"  # a source's original into passages
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


def owing_vectors(changeset: Changeset, job_id: str) -> Changeset:
    """The embedder was down: it is asked again, but not at once."""
    if not any(map(_lacks_a_vector, changeset.steps)):
        return changeset
    at = changeset.at
    job = Job(
        id=job_id,
        scope=changeset.scope,
        kind=EMBED,
        due_at=at + FIRST_WAIT,
        max_tries=TRIES_OF_AN_OUTAGE,
        created_at=at,
        updated_at=at,
    )
    return replace(changeset, steps=(*changeset.steps, Enqueue(job)))


def _lacks_a_vector(step: Step) -> bool:
    match step:
        case Add() | Rewrite():
            return step.index.vector is None
        case Change():
            return step.index is not None and step.index.vector is None
        case Copy():
            here = any(index.vector is None for _, index in step.memories)
            return here or any(map(_lacks_a_vector, step.sources))
        case AddSource() | ChangeSource():
            return any(index.vector is None for _, index in step.passages)
        case _:
            return False

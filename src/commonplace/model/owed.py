"""What a change leaves to be done. Pure: the job goes into the same changeset."""

from __future__ import annotations

from dataclasses import replace

from commonplace.model.changes import Add, Change, Changeset, Copy, Enqueue, Rewrite, Step
from commonplace.model.job import FIRST_WAIT, Job

EMBED = "embed"  # the vectors that a scope lacks
TRIES_OF_AN_OUTAGE = 170  # hourly in the end: about a week; the night looks after the rest


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
            return any(index.vector is None for _, index in step.memories)
        case _:
            return False

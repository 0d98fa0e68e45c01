"""describe: what a talk that goes on is about, by now. A job's work, off the turns' path."""

from __future__ import annotations

from collections.abc import Callable

from commonplace.desk import Desk
from commonplace.ingest.process import described, read_parts
from commonplace.model.changes import Changeset, ChangeSource
from commonplace.model.job import Job
from commonplace.model.journal import Entry, Event, Node, Op
from commonplace.model.memory import State
from commonplace.model.source import CATEGORY

ACTOR = "worker:describe"


def describe_talk(desk: Desk, job: Job) -> Callable[[], Changeset]:
    """Decided again when a further turn came meanwhile."""
    return lambda: _changeset(desk, job)


def _changeset(desk: Desk, job: Job) -> Changeset:
    scope, id = job.scope, str(job.payload["source"])
    now = desk.clock()
    found = desk.sources(scope, [id])
    if not found or found[0].state is not State.ACTIVE:
        return Changeset(scope, now, ACTOR, ())
    source = found[0]
    after = described(source, read_parts(source, desk.store.original(scope, id)))
    if after == source:
        return Changeset(scope, now, ACTOR, ())
    after = after.evolve(version=source.version + 1)
    entry = Entry(
        op=Op.UPDATE,
        event=Event.UPDATE,
        node=Node.WORKER,
        subject=id,
        category=CATEGORY,
        old_ref=source.ref,
        new_ref=after.ref,
        meta={"described": True},
    )
    step = ChangeSource(source, after, entry)
    return Changeset(scope, now, ACTOR, (step,), thread_id=source.thread_id)

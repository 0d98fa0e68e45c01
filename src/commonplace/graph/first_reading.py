"""A team's source is extracted by each member for themself: when they first open it, or first find
something of it."""

from __future__ import annotations

from collections.abc import Iterable

from commonplace.desk import Desk
from commonplace.model.changes import Changeset, Enqueue
from commonplace.model.owed import EXTRACT, extracting
from commonplace.model.scope import Principal
from commonplace.store.port import JobQuery


def extract_when_first_read(desk: Desk, principal: Principal, sources: Iterable[str]) -> None:
    """``sources``: of teams. It is owed, and done later; what is owed already is not owed twice."""
    wanted = list(dict.fromkeys(sources))
    if not wanted or not desk.extracts:
        return
    home, now = principal.home, desk.clock()
    known = {each.source for each in desk.store.extractions(home, wanted)}
    known |= {job.key for job in desk.store.jobs(home, JobQuery(kinds=[EXTRACT], keys=wanted))}
    owed = tuple(
        Enqueue(extracting(id, home, desk.new_id(), now)) for id in wanted if id not in known
    )
    if owed:
        desk.apply(Changeset(home, now, principal.actor, owed))

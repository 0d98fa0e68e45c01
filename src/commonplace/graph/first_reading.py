"""A team's source is extracted by each member for themself: when they first open it, or first find
something of it; and again once it has changed since."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from commonplace.desk import Desk, placed_for, reach_of
from commonplace.model.changes import Changeset, Enqueue
from commonplace.model.owed import EXTRACT, extracting
from commonplace.model.scope import Principal, Scope
from commonplace.store.port import JobQuery


def extract_when_first_read(desk: Desk, principal: Principal, sources: Iterable[str]) -> None:
    """``sources``: of teams. It is owed, and done later; what is owed already is not owed twice."""
    wanted = list(dict.fromkeys(sources))
    if not wanted or not desk.extracts:
        return
    home, now = principal.home, desk.clock()
    known = _read_as_they_are(desk, home, wanted)
    known |= {job.key for job in desk.store.jobs(home, JobQuery(kinds=[EXTRACT], keys=wanted))}
    new = [id for id in wanted if id not in known and place_to_learn(desk, principal, id)]
    owed = tuple(Enqueue(extracting(id, home, desk.new_id(), now)) for id in new)
    if owed:
        desk.apply(Changeset(home, now, principal.actor, owed))


def place_to_learn(desk: Desk, reader: Principal, id: str) -> Principal | None:
    """They themselves where a source is of which they make knowledge: at home, or in a team of
    theirs. None: a guest reads, and learns nothing."""
    place = placed_for(desk, reader, id)
    if place.is_at_home:
        return place
    readings = reach_of(desk, reader, searching=False)
    is_in_it = any(each.scope == place.scope and not each.is_guests for each in readings)
    return place if is_in_it else None


def _read_as_they_are(desk: Desk, reader: Scope, wanted: Sequence[str]) -> set[str]:
    read = {each.source: each for each in desk.store.extractions(reader, wanted)}
    sources = [
        source
        for owner in {each.scope for each in read.values()}
        for source in desk.sources(Scope(owner), list(read))
    ]
    return {source.id for source in sources if read[source.id].is_all_of(source)}

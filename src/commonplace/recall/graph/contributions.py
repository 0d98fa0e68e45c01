"""Who said what: everything in the graph that one of those who tell has told."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from commonplace.desk import Desk
from commonplace.graph.seen import seen
from commonplace.model.graph.note import live_at
from commonplace.model.graph.picture import Picture
from commonplace.model.graph.tellers import teller, teller_of
from commonplace.model.paging import page
from commonplace.model.scope import OWNER, Principal


@dataclass(frozen=True, slots=True)
class Contribution:
    """A node, an edge or a note, and when it was told."""

    id: str
    what: str  # node, edge or note
    about: str  # the node or edge
    text: str
    by: str
    at: datetime
    source_id: str | None = None


def contributions(
    desk: Desk, principal: Principal, by: str | None, limit: int, after: str | None = None
) -> tuple[Contribution, ...]:
    """Newest first; without ``by``, everybody's."""
    picture, now = seen(desk, principal, sources=True).picture, desk.clock()
    owner = principal.user_id
    found = (*_nodes(picture, owner), *_edges(picture, owner), *_notes(picture, owner, now))
    wanted = [each for each in found if by is None or _is_by(each.by, by)]
    wanted.sort(key=lambda each: (each.at, each.id), reverse=True)
    return tuple(page(wanted, after, limit))


def _nodes(picture: Picture, owner: str) -> Iterator[Contribution]:
    for node in picture.nodes.values():
        by = teller(node.created_by, owner)
        yield Contribution(node.id, "node", node.id, node.name, by, node.created_at)


def _edges(picture: Picture, owner: str) -> Iterator[Contribution]:
    for edge in picture.edges.values():
        ends = f"{picture.nodes[edge.a].name} {edge.type} {picture.nodes[edge.b].name}"
        by = teller(edge.recorded_by, owner)
        yield Contribution(edge.id, "edge", edge.id, ends, by, edge.recorded_at)


def _notes(picture: Picture, owner: str, now: datetime) -> Iterator[Contribution]:
    for about, notes in picture.notes.items():
        for note in live_at(notes, now):
            by = teller_of(note, picture, owner)
            source = note.source.id if note.source else None
            yield Contribution(note.id, "note", about, note.content, by, note.date_added, source)


def _is_by(told: str, by: str) -> bool:
    """As they are shown (ana, agent:planner), as the journal names them (user:ana), or by the name
    alone (planner)."""
    return by in (told, OWNER + told) or told.partition(":")[2] == by

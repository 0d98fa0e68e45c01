"""Who said what: everything in the graph that one of those who tell has told."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from commonplace.desk import Desk
from commonplace.graph.seen import seen
from commonplace.model.graph.note import live_at
from commonplace.model.paging import page
from commonplace.model.scope import Principal


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
    found = [
        Contribution(node.id, "node", node.id, node.name, node.created_by, node.created_at)
        for node in picture.nodes.values()
    ]
    for edge in picture.edges.values():
        ends = f"{picture.nodes[edge.a].name} {edge.type} {picture.nodes[edge.b].name}"
        found.append(
            Contribution(edge.id, "edge", edge.id, ends, edge.recorded_by, edge.recorded_at)
        )
    for about, notes in picture.notes.items():
        found += [
            Contribution(
                note.id,
                "note",
                about,
                note.content,
                note.added_by,
                note.date_added,
                note.source.id if note.source else None,
            )
            for note in live_at(notes, now)
        ]
    wanted = [each for each in found if by is None or _is_by(each.by, by)]
    wanted.sort(key=lambda each: (each.at, each.id), reverse=True)
    return tuple(page(wanted, after, limit))


def _is_by(told: str, by: str) -> bool:
    """As the journal names them (user:ana, agent:planner), or by the name alone."""
    return told == by or told.partition(":")[2] == by

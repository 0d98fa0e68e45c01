"""All of a graph that a handle may see at this moment, for surfaces that show it whole."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from commonplace.book.user import User
from commonplace.desk import Desk
from commonplace.graph.seen import seen
from commonplace.model.graph.node import Node
from commonplace.model.graph.note import Note
from commonplace.model.graph.picture import Picture
from commonplace.model.scope import Scope
from commonplace.model.time_travel import NOW


def pictured(whose: User) -> Picture:
    """With the edges that hold and the notes that count, the oldest first. The owner is in it once
    something is told of them: their node comes with whatever somebody else puts in first."""
    desk, now = whose._desk, whose._desk.clock()
    picture = seen(desk, whose.principal).picture
    live = {
        id: sorted((note for note in notes if note.is_live(now)), key=_as_they_came)
        for id, notes in picture.notes.items()
    }
    held = replace(
        picture,
        edges={id: edge for id, edge in picture.edges.items() if edge.holds(NOW, now)},
        notes={id: tuple(notes) for id, notes in live.items() if notes},
    )
    home = whose.principal.home
    shown = {id: node for id, node in held.nodes.items() if _is_told_of(desk, home, held, node)}
    return replace(held, nodes=shown)


def _as_they_came(note: Note) -> tuple[datetime, str]:
    return note.date_added, note.id


def _is_told_of(desk: Desk, home: Scope, picture: Picture, node: Node) -> bool:
    if not node.is_owner or node.aliases or node.id in picture.notes:
        return True
    related = any(node.id in edge.ends for edge in picture.edges.values())
    return related or bool(desk.store.node_tellings(home, [node.id]))

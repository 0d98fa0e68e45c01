"""All of a graph that a handle may see at this moment, for surfaces that show it whole."""

from __future__ import annotations

from dataclasses import replace

from commonplace.book.user import User
from commonplace.graph.seen import seen
from commonplace.model.graph.picture import Picture
from commonplace.model.time_travel import NOW


def pictured(whose: User) -> Picture:
    """With the edges that hold and the notes that count, the oldest first."""
    desk, now = whose._desk, whose._desk.clock()
    picture = seen(desk, whose.principal).picture
    live = {
        id: sorted((note for note in notes if note.is_live(now)), key=lambda note: note.date_added)
        for id, notes in picture.notes.items()
    }
    return replace(
        picture,
        edges={id: edge for id, edge in picture.edges.items() if edge.holds(NOW, now)},
        notes={id: tuple(notes) for id, notes in live.items()},
    )

"""What of the graph has an id, forgotten or not, as far as the caller may see it."""

from __future__ import annotations

from commonplace.desk import Desk, visibility_of
from commonplace.errors import InvalidInput, NotFound
from commonplace.graph.canvas import Canvas
from commonplace.graph.seen import seen, sees_artifact, sees_edge, sees_node, sees_note
from commonplace.model.filters import WHOLE, Visibility
from commonplace.model.graph.artifact import Artifact
from commonplace.model.graph.edge import PREFIX as EDGE
from commonplace.model.graph.edge import Edge
from commonplace.model.graph.node import PREFIX as NODE
from commonplace.model.graph.node import Node
from commonplace.model.graph.note import PREFIX as NOTE
from commonplace.model.graph.note import Note
from commonplace.model.scope import Principal

Item = Node | Edge | Note | Artifact


def item_of(canvas: Canvas, principal: Principal, id: str) -> Item:
    """To be taken away or brought back. Of a node that was merged, the one that speaks for it."""
    sight = sight_of(principal)
    item = _fetched(canvas, id)
    if isinstance(item, Node) and item.is_owner:
        raise InvalidInput(
            "The owner's node cannot be removed.",
            remedy="Forget or erase assertions about the owner instead.",
            field="ids",
        )
    is_there = item is not None and _is_within(canvas.desk, principal, item.id)
    if item is None or not is_there or not _is_seen(canvas, sight, item):
        raise NotFound(f"There is no {id!r} here.", field="ids")
    return item


def _is_within(desk: Desk, principal: Principal, id: str) -> bool:
    """A key for one team takes away, and brings back, only what it sees at this moment."""
    if principal.team is None:
        return True
    picture = seen(desk, principal, whole=True).picture
    notes = (note.id for noted in picture.notes.values() for note in noted)
    return id in {*picture.nodes, *picture.edges, *picture.artifacts, *notes}


def _is_seen(canvas: Canvas, sight: Visibility, item: Item) -> bool:
    match item:
        case Node():
            return sees_node(sight, item)
        case Edge():
            ends = {end: canvas.node(end) for end in item.ends}
            seen = {id: node for id, node in ends.items() if node and sees_node(sight, node)}
            return sees_edge(sight, seen, item)
        case Note():
            about = _fetched(canvas, item.about)
            return sees_note(sight, item) and about is not None and _is_seen(canvas, sight, about)
        case Artifact():
            return sees_artifact(sight, item)


def _fetched(canvas: Canvas, id: str) -> Item | None:
    store, scope = canvas.desk.store, canvas.scope
    if id.startswith(NODE):
        canvas.load([id])
        return canvas.node(canvas.root(id))
    if id.startswith(EDGE):
        canvas.load_edges([id])
        return canvas.edges.get(id)
    if id.startswith(NOTE):
        return next(iter(store.notes_called(scope, [id])), None)
    return next(iter(store.artifacts(scope, [id])), None)


def sight_of(principal: Principal) -> Visibility:
    """By its id the owner sees all of theirs."""
    return WHOLE if principal.is_owner else visibility_of(principal)

"""Nodes, edges, notes and artifacts that are forgotten by hand: out of sight at once, restorable
for a while, then gone. What was told of them stays as it was until then."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from commonplace.desk import Desk, visibility_of
from commonplace.errors import InvalidInput, NotFound
from commonplace.graph.canvas import Canvas
from commonplace.graph.known import Known, known, name_taken
from commonplace.graph.removing import take_out
from commonplace.graph.seen import seen, sees_artifact, sees_edge, sees_node, sees_note
from commonplace.graph.weave import weave
from commonplace.model.changes import Step
from commonplace.model.filters import WHOLE, Visibility
from commonplace.model.graph.artifact import CATEGORY as OF_ARTIFACTS
from commonplace.model.graph.artifact import PREFIX as ARTIFACT
from commonplace.model.graph.artifact import Artifact
from commonplace.model.graph.edge import PREFIX as EDGE
from commonplace.model.graph.edge import Edge
from commonplace.model.graph.node import PREFIX as NODE
from commonplace.model.graph.node import Node
from commonplace.model.graph.note import PREFIX as NOTE
from commonplace.model.graph.note import Note
from commonplace.model.graph.steps import PutArtifact, RemoveArtifact
from commonplace.model.journal import Entry, Event, Op
from commonplace.model.scope import Principal, Scope

Item = Node | Edge | Note | Artifact


@dataclass(frozen=True, slots=True)
class Moved:
    """Out of sight, or back."""

    steps: tuple[Step, ...] = ()
    ids: tuple[str, ...] = ()
    already: tuple[str, ...] = ()


def forget_of_graph(desk: Desk, principal: Principal, ids: Sequence[str], until: datetime) -> Moved:
    return _move(desk, principal, ids, until, Event.DELETE) if ids else Moved()


def restore_of_graph(desk: Desk, principal: Principal, ids: Sequence[str]) -> Moved:
    return _move(desk, principal, ids, None, Event.RESTORE) if ids else Moved()


def purge_of_graph(desk: Desk, scope: Scope, by: str, now: datetime) -> tuple[Step, ...]:
    """What was forgotten long enough ago, and notes whose time is over."""
    due = [id for id, at in desk.store.forgotten_of_graph(scope).items() if at <= now]
    ended = [note.id for note in desk.store.notes_ended(scope, now, _AT_ONCE)]
    canvas = Canvas(desk, scope, by, now)
    for id in dict.fromkeys([*due, *ended]):
        if not id.startswith(ARTIFACT):
            take_out(canvas, id)
    made = tuple(
        RemoveArtifact(id, Entry(op=Op.DELETE, event=Event.DELETE, subject=id))
        for id in due
        if id.startswith(ARTIFACT)
    )
    return (*weave(canvas), *made)


_AT_ONCE = 1000


def _move(
    desk: Desk, principal: Principal, ids: Sequence[str], until: datetime | None, event: Event
) -> Moved:
    canvas = Canvas(desk, principal.home, principal.actor, desk.clock())
    items = [_found(canvas, principal, id) for id in ids]
    moving = [item for item in items if (item.purge_at is None) is not (until is None)]
    if until is None:
        names = known(desk.pictures.of(principal.home).picture.nodes.values())
        _refuse_taken(names, _sight(principal), moving)
    for item in moving:
        _set(canvas, item, until)
    artifacts = tuple(
        PutArtifact(
            replace(each, purge_at=until, updated_at=canvas.at),
            Entry(op=_OPS[event], event=event, subject=each.id, category=OF_ARTIFACTS),
        )
        for each in moving
        if isinstance(each, Artifact)
    )
    already = tuple(item.id for item in items if item not in moving)
    return Moved(
        (*weave(canvas, moved=event), *artifacts), tuple(each.id for each in moving), already
    )


_OPS = {Event.DELETE: Op.DELETE, Event.RESTORE: Op.RESTORE}


def _found(canvas: Canvas, principal: Principal, id: str) -> Item:
    """As the caller may see it."""
    sight = _sight(principal)
    item = _fetched(canvas, id)
    if isinstance(item, Node) and item.is_owner:
        raise InvalidInput("The owner's own node stays.", field="ids")
    reached = principal.team is None or _is_within(canvas.desk, principal, id)
    if item is None or not reached or not _is_seen(canvas, sight, item):
        raise NotFound(f"There is no {id!r} here.", field="ids")
    return item


def _is_within(desk: Desk, principal: Principal, id: str) -> bool:
    """A key for one team takes away, and brings back, only what it sees at this moment."""
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


def _set(canvas: Canvas, item: Item, until: datetime | None) -> None:
    if isinstance(item, Node):
        canvas.put(item.evolve(purge_at=until))
    elif isinstance(item, Edge):
        canvas.put_edge(item.evolve(purge_at=until))
    elif isinstance(item, Note):
        canvas.load_subject(item.about)
        canvas.note(replace(item, purge_at=until))


def _refuse_taken(names: Known, sight: Visibility, coming: Sequence[Item]) -> None:
    for item in coming:
        if isinstance(item, Node) and (other := names.called(item.type, item.subtype, item.key)):
            is_seen = sees_node(sight, names.nodes[other])
            raise name_taken(item.name, other if is_seen else None, "ids")


def _sight(principal: Principal) -> Visibility:
    """By its id the owner sees all of theirs."""
    return WHOLE if principal.is_owner else visibility_of(principal)

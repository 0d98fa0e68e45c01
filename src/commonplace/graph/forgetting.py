"""Nodes, edges, notes and artifacts that are forgotten by hand: out of sight at once, restorable
for a while, then gone. What was told of them stays as it was until then."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from commonplace.desk import Desk
from commonplace.errors import NotFound
from commonplace.graph.by_id import Item, item_of, sight_of
from commonplace.graph.canvas import Canvas
from commonplace.graph.known import Known, known, name_taken
from commonplace.graph.removing import take_out
from commonplace.graph.seen import sees_node
from commonplace.graph.weave import weave
from commonplace.model.changes import Step
from commonplace.model.filters import Visibility
from commonplace.model.graph.artifact import CATEGORY as OF_ARTIFACTS
from commonplace.model.graph.artifact import PREFIX as ARTIFACT
from commonplace.model.graph.artifact import Artifact
from commonplace.model.graph.edge import Edge
from commonplace.model.graph.node import Node
from commonplace.model.graph.note import Note
from commonplace.model.graph.steps import PutArtifact, RemoveArtifact
from commonplace.model.journal import Entry, Event, Op
from commonplace.model.journal import Node as Place
from commonplace.model.scope import Principal, Scope
from commonplace.model.ttl_policy import last_made


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
    """What was forgotten long enough ago, and notes and artifacts whose time is over."""
    due = [id for id, at in desk.store.forgotten_of_graph(scope).items() if at <= now]
    ended = [note.id for note in desk.store.notes_ended(scope, now, _AT_ONCE)]
    canvas = Canvas(desk, scope, by, now)
    for id in dict.fromkeys([*due, *ended]):
        if not _is_artifact(id):
            take_out(canvas, id)
    made = dict.fromkeys(filter(_is_artifact, due), Event.DELETE)
    made |= dict.fromkeys(desk.store.ephemeral_artifacts(scope, last_made(now)), Event.TTL)
    return (*weave(canvas), *(_removed(id, event) for id, event in made.items()))


_AT_ONCE = 1000


def _is_artifact(id: str) -> bool:
    return id.startswith(ARTIFACT)


def _removed(id: str, event: Event) -> RemoveArtifact:
    return RemoveArtifact(id, Entry(op=Op.DELETE, event=event, node=Place.WORKER, subject=id))


def _move(
    desk: Desk, principal: Principal, ids: Sequence[str], until: datetime | None, event: Event
) -> Moved:
    canvas = Canvas(desk, principal.home, principal.actor, desk.clock())
    items = [_not_ended(item_of(canvas, principal, id), canvas.at) for id in ids]
    moving = [item for item in items if (item.purge_at is None) is not (until is None)]
    if until is None:
        names = known(desk.pictures.of(principal.home).picture.nodes.values())
        _refuse_taken(names, sight_of(principal), moving)
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


def _not_ended(item: Item, now: datetime) -> Item:
    """What is past its end is not there any more: the night has only not come yet."""
    if isinstance(item, Artifact) and item.has_ended(now):
        raise NotFound(f"There is no {item.id!r} here.", field="ids")
    return item


_OPS = {Event.DELETE: Op.DELETE, Event.RESTORE: Op.RESTORE}


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

"""What somebody takes out of the graph by hand: a node, an edge, a note, an artifact. What rests on
it goes along; the sources that told of it stay, and tell of it again only where it is new."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from commonplace.desk import Desk
from commonplace.errors import InvalidInput, NotFound
from commonplace.graph.canvas import Canvas
from commonplace.graph.seen import seen
from commonplace.graph.weave import weave
from commonplace.model.changes import Step
from commonplace.model.graph.artifact import CATEGORY as OF_ARTIFACTS
from commonplace.model.graph.artifact import PREFIX as ARTIFACT
from commonplace.model.graph.edge import PREFIX as EDGE
from commonplace.model.graph.node import PREFIX as NODE
from commonplace.model.graph.note import PREFIX as NOTE
from commonplace.model.graph.picture import Picture
from commonplace.model.graph.steps import RemoveArtifact, RemoveEdge, RemoveNode
from commonplace.model.journal import Entry, Event, Op
from commonplace.model.scope import Principal

PREFIXES = (NODE, EDGE, NOTE, ARTIFACT)


def is_of_the_graph(id: str) -> bool:
    return id.startswith(PREFIXES)


@dataclass(frozen=True, slots=True)
class Removal:
    steps: tuple[Step, ...] = ()
    gone: tuple[str, ...] = ()  # what was named, and the edges that went along


def removal(desk: Desk, principal: Principal, ids: Sequence[str], ended: Event) -> Removal:
    """All of them, or NotFound naming the first that is not there for this caller."""
    if not ids:
        return Removal()
    picture = seen(desk, principal, whole=True).picture
    canvas = Canvas(desk, principal.home, principal.actor, desk.clock())
    for id in ids:
        _take_out(canvas, picture, id)
    steps = weave(canvas, ended=ended)
    made = tuple(
        RemoveArtifact(id, Entry(op=Op.DELETE, event=ended, subject=id, category=OF_ARTIFACTS))
        for id in ids
        if id.startswith(ARTIFACT)
    )
    along = [step.id for step in steps if isinstance(step, RemoveNode | RemoveEdge)]
    return Removal((*steps, *made), tuple(dict.fromkeys([*ids, *along])))


def _take_out(canvas: Canvas, picture: Picture, id: str) -> None:
    if id.startswith(NODE) and id in picture.nodes:
        _node(canvas, picture, id)
    elif id.startswith(EDGE) and id in picture.edges:
        edge = picture.edges[id]
        canvas.load_relations([edge.a], [edge.type])
        canvas.untell([t.id for t in canvas.related.values() if t.edge == id])
    elif id.startswith(NOTE) and (about := _subject(picture, id)):
        if about.startswith(NODE):
            canvas.load([about])
        else:
            canvas.load_edges([about])
        canvas.untell([id])
    elif not (id.startswith(ARTIFACT) and id in picture.artifacts):
        raise NotFound(f"There is no {id!r} here.", field="ids")


def _node(canvas: Canvas, picture: Picture, id: str) -> None:
    if picture.nodes[id].is_owner:
        raise InvalidInput(
            "The owner's own node stays.",
            remedy="Forget or erase what is told of the owner instead.",
            field="ids",
        )
    canvas.load_relations([id])
    group = set(canvas.group(id))
    canvas.untell([t.id for t in canvas.told.values() if t.node in group])
    canvas.untell([t.id for t in canvas.related.values() if {t.a, t.b} & group])


def _subject(picture: Picture, note: str) -> str | None:
    found = (about for about, notes in picture.notes.items() for n in notes if n.id == note)
    return next(found, None)

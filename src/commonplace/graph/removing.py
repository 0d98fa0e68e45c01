"""What somebody takes out of the graph by hand: a node, an edge, a note, an artifact. What rests on
it goes along; the sources that told of it stay, and tell of it again only in new sentences."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from commonplace.desk import Desk
from commonplace.graph.by_id import item_of
from commonplace.graph.canvas import Canvas
from commonplace.graph.weave import weave
from commonplace.model.changes import Step
from commonplace.model.graph.artifact import CATEGORY as OF_ARTIFACTS
from commonplace.model.graph.artifact import PREFIX as ARTIFACT
from commonplace.model.graph.edge import PREFIX as EDGE
from commonplace.model.graph.node import PREFIX as NODE
from commonplace.model.graph.note import PREFIX as NOTE
from commonplace.model.graph.relationships import spellings
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
    canvas = Canvas(desk, principal.home, principal.actor, desk.clock())
    for id in ids:
        item_of(canvas, principal, id)
        take_out(canvas, id)
    steps = weave(canvas, ended=ended)
    made = tuple(
        RemoveArtifact(id, Entry(op=Op.DELETE, event=ended, subject=id, category=OF_ARTIFACTS))
        for id in ids
        if id.startswith(ARTIFACT)
    )
    along = [step.id for step in steps if isinstance(step, RemoveNode | RemoveEdge)]
    return Removal((*steps, *made), tuple(dict.fromkeys([*ids, *along])))


def take_out(canvas: Canvas, id: str) -> None:
    """All that is told of it, and what is noted on it."""
    if id.startswith(NODE):
        canvas.load([id])
        canvas.load_relations([id])
        group = set(canvas.group(canvas.root(id)))
        canvas.untell([t.id for t in canvas.told.values() if t.node in group])
        canvas.untell([t.id for t in canvas.related.values() if {t.a, t.b} & group])
    elif id.startswith(EDGE):
        canvas.load_edges([id])
        if edge := canvas.edges.get(id):
            canvas.load_relations([edge.a], spellings(edge.type))
        canvas.untell([t.id for t in canvas.related.values() if t.edge == id])
    elif id.startswith(NOTE):
        for note in canvas.desk.store.notes_called(canvas.scope, [id]):
            canvas.load_subject(note.about)
        canvas.untell([id])

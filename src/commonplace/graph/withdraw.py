"""What becomes of a reader's graph when a source is erased, forgotten or comes back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from commonplace.desk import Desk
from commonplace.graph.canvas import Canvas
from commonplace.graph.weave import weave
from commonplace.model.changes import Step
from commonplace.model.graph.edge import PREFIX as OF_EDGE
from commonplace.model.graph.node import PREFIX as OF_NODE
from commonplace.model.graph.steps import PutArtifact, SetExtracted
from commonplace.model.graph.telling import Cited
from commonplace.model.journal import Entry, Event, Op
from commonplace.model.scope import Scope
from commonplace.model.source import Source


def without_sources(
    desk: Desk, scope: Scope, sources: Sequence[str], by: str, at: datetime, ended: Event
) -> tuple[Step, ...]:
    """As if they had never been met: what others tell, too, has one support fewer."""
    canvas, ids = _canvas(desk, scope, sources, by, at)
    canvas.untell(ids)
    made = [
        replace(each, source=None)
        for each in desk.store.artifacts(scope)
        if each.source is not None and each.source.id in sources
    ]
    read = desk.store.extractions(scope, sources)
    return (
        *weave(canvas, ended=ended),
        *(PutArtifact(each, Entry(op=Op.UPDATE, subject=each.id)) for each in made),
        *(SetExtracted(each, Entry(op=Op.DELETE), gone=True) for each in read),
    )


def set_standing(
    desk: Desk, scope: Scope, sources: Sequence[str], stands: bool, by: str, at: datetime
) -> tuple[Step, ...]:
    """Hidden with a source that is forgotten, and back with it."""
    canvas, ids = _canvas(desk, scope, sources, by, at)
    canvas.set_standing(ids, stands)
    return weave(canvas)


def guarded_as(desk: Desk, scope: Scope, source: Source, by: str, at: datetime) -> tuple[Step, ...]:
    """What a source tells is as sensitive as the source."""
    canvas, _ = _canvas(desk, scope, [source.id], by, at)
    for told in list(canvas.told.values()):
        if told.source and told.source.id == source.id:
            canvas.tell(replace(told, source=_guarded(told.source, source)))
    for related in list(canvas.related.values()):
        if related.source and related.source.id == source.id:
            canvas.relate(replace(related, source=_guarded(related.source, source)))
    for note in list(canvas.notes.values()):
        if note.source and note.source.id == source.id:
            canvas.note(replace(note, source=_guarded(note.source, source)))
    return weave(canvas)


def _guarded(cited: Cited, source: Source) -> Cited:
    return replace(cited, sensitivity=source.sensitivity)


def _canvas(
    desk: Desk, scope: Scope, sources: Sequence[str], by: str, at: datetime
) -> tuple[Canvas, list[str]]:
    canvas = Canvas(desk, scope, by, at)
    if not sources:
        return canvas, []
    nodes, edges, notes = desk.store.told_by(scope, sources)
    canvas.load(t.node for t in nodes)
    canvas.load(note.about for note in notes if note.about.startswith(OF_NODE))
    canvas.load_edges(note.about for note in notes if note.about.startswith(OF_EDGE))
    for telling in edges:
        canvas.load_relations([telling.a], [telling.type])
    return canvas, [each.id for told in (nodes, edges, notes) for each in told]

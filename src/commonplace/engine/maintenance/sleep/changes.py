"""What the actions of a batch change, item by item, and what undoes it: computed from their steps.

Undo data is an item's record as in an export, which its erasure deletes. What the cascade adds to
a changeset (what memories tell the graph) is not in it: the cascade of the undo takes it back.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from commonplace.engine.context import EngineContext
from commonplace.engine.maintenance.sleep.task import NightAction
from commonplace.model.access.principal import Scope
from commonplace.model.changeset import (
    STEPS_WITHOUT_ENTRY,
    AddMemory,
    AmendMemory,
    ChangeMemory,
    ChangesetStep,
    ChangeSource,
    HoldValues,
    LinkMemories,
    RemoveMemory,
    RemoveSource,
    UnlinkMemories,
)
from commonplace.model.export.codec import Codec
from commonplace.model.export.records import record_codec
from commonplace.model.graph.assertion import Note
from commonplace.model.graph.elements import Edge, Node
from commonplace.model.graph.steps import (
    PutEdge,
    PutNode,
    PutNote,
    PutStory,
    RemoveEdge,
    RemoveNode,
    RemoveNotes,
    RemoveStories,
    SetArchived,
)
from commonplace.model.graph.storylines import MACRO_PREFIX, Macro, Story, Storyline
from commonplace.model.memory.memory import HeldValue, Link, Memory
from commonplace.model.sleep import ItemKind, SleepChange, SleepTask
from commonplace.model.sources.source import Source
from commonplace.store.queries import GraphQuery

ACTIVE = "active"  # the version of a source without an archived mark

KINDS: Mapping[type, ItemKind] = {
    Memory: ItemKind.MEMORY,
    Link: ItemKind.LINK,
    Node: ItemKind.NODE,
    Edge: ItemKind.EDGE,
    Note: ItemKind.NOTE,
    Source: ItemKind.SOURCE,
    Storyline: ItemKind.STORYLINE,
    Macro: ItemKind.MACRO,
    HeldValue: ItemKind.HELD,
}
Item = Memory | Link | Node | Edge | Note | Source | Story | HeldValue


@dataclass(frozen=True, slots=True)
class ItemChange:
    """What one step does to one item. ``can_be_undone``: from the records alone."""

    kind: ItemKind
    subject: str
    before: Mapping[str, Any] | None
    after_ref: str | None
    can_be_undone: bool = True


def id_of(item: Item) -> str:
    match item:
        case Link():
            return f"{item.a} {item.b}"
        case HeldValue():
            return item.memory.id
        case _:
            return item.id


def ref_of(item: Item) -> str:
    """Its version. A link and a note have none: they differ where they do."""
    match item:
        case Link():
            return f"{item.relation} {item.strength:.6f}"
        case Note():
            return f"{item.id}@{int(item.stands)}"
        case HeldValue():
            return item.memory.id
        case _:
            return item.ref


def archived_ref(at: datetime | None) -> str:
    return at.isoformat() if at else ACTIVE


def archived_record(at: datetime | None) -> dict[str, Any]:
    return {"archived_at": at.isoformat() if at else None}


class ChangeReader:
    """Finds what steps change; reads from the store what the steps do not tell."""

    def __init__(self, engine: EngineContext, scope: Scope):
        self._store, self._scope = engine.store, scope
        self._codec: Codec = record_codec(scope.name)

    def changes_of(
        self, run: str, task: SleepTask, number: int, action: NightAction
    ) -> list[SleepChange]:
        """One for each item, whatever number of steps change it."""
        found: dict[tuple[ItemKind, str], ItemChange] = {}
        for each in self._all_changes(action.steps):
            known = found.get((each.kind, each.subject))
            found[each.kind, each.subject] = each if known is None else _joined(known, each)
        whole = action.can_be_undone and all(map(_is_undoable, action.steps))
        whole = whole and all(each.can_be_undone for each in found.values())
        return [
            SleepChange(
                run=run,
                number=number,
                task=task,
                why=action.why,
                kind=each.kind,
                subject=each.subject,
                before=each.before if whole else None,
                after_ref=each.after_ref,
                can_be_undone=whole,
            )
            for each in found.values()
        ]

    def _all_changes(self, steps: Iterable[ChangesetStep]) -> Iterator[ItemChange]:
        for step in steps:
            yield from self._changes(step)

    def _changes(self, step: ChangesetStep) -> Iterator[ItemChange]:
        match step:
            case AddMemory(memory=memory):
                yield self._change(None, memory)
            case ChangeMemory() | PutNode() | PutEdge() | ChangeSource() | PutStory():
                yield self._change(step.before, step.after)
            case AmendMemory(memory=memory):
                for stored in self._store.fetch(self._scope, [memory.id]):
                    yield self._change(stored, memory)
            case RemoveMemory() | RemoveSource() | RemoveNode() | RemoveEdge():
                yield ItemChange(_REMOVED[type(step)], step.id, None, None, can_be_undone=False)
            case LinkMemories(link=link):
                yield self._change(self._link(link.a, link.b), link)
            case UnlinkMemories():
                if before := self._link(step.a, step.b):
                    yield self._change(before, None)
            case HoldValues():
                for value in step.values:
                    yield self._change(None, value)
            case _:
                yield from self._graph_changes(step)

    def _graph_changes(self, step: ChangesetStep) -> Iterator[ItemChange]:
        match step:
            case PutNote(note=note):
                known = self._notes([note.id])
                yield self._change(known.get(note.id), note)
            case RemoveNotes():
                for note in self._notes(step.ids).values():
                    yield self._change(note, None)
            case RemoveStories():
                for story in self._stories(step.ids):
                    yield self._change(story, None)
            case SetArchived():
                marks = self._store.graph_items(self._scope, GraphQuery(marks=step.ids)).marks
                for id in step.ids:
                    at = marks[id].archived_at if id in marks else None
                    before = archived_record(at)
                    yield ItemChange(ItemKind.ARCHIVED, id, before, archived_ref(step.at))

    def _change(self, before: Item | None, after: Item | None) -> ItemChange:
        item = after or before
        assert item is not None
        record = None if before is None else self._codec.write(before)
        ref = None if after is None else ref_of(after)
        return ItemChange(KINDS[type(item)], id_of(item), record, ref)

    def _link(self, a: str, b: str) -> Link | None:
        found = self._store.links(self._scope, [a])
        return next((each for each in found if (each.a, each.b) == (a, b)), None)

    def _notes(self, ids: Iterable[str]) -> dict[str, Note]:
        query = GraphQuery(notes=tuple(ids))
        return {note.id: note for note in self._store.graph_items(self._scope, query).notes}

    def _stories(self, ids: Iterable[str]) -> list[Story]:
        macros = [id for id in ids if id.startswith(MACRO_PREFIX)]
        query = GraphQuery(storylines=[id for id in ids if id not in macros], macros=macros)
        found = self._store.graph_items(self._scope, query)
        return [*found.storylines, *found.macros]


_REMOVED: Mapping[type, ItemKind] = {
    RemoveMemory: ItemKind.MEMORY,
    RemoveSource: ItemKind.SOURCE,
    RemoveNode: ItemKind.NODE,
    RemoveEdge: ItemKind.EDGE,
}


def _joined(first: ItemChange, later: ItemChange) -> ItemChange:
    both = first.can_be_undone and later.can_be_undone
    return replace(later, before=first.before, can_be_undone=both)


def _is_undoable(step: ChangesetStep) -> bool:
    """Whether its changes can be taken back from the records of its items."""
    match step:
        case ChangeSource():
            return not (step.original or step.anew or step.passages or step.revised or step.parts)
        case PutNode() | PutEdge():
            is_new = step.before is None
            return not (is_new or step.assertions or step.removed_assertions)
        case HoldValues():  # new contributions only: no question about a memory
            return all(value.contributes_to and not value.conflict for value in step.values)
        case _:
            return isinstance(step, _UNDOABLE)


_UNDOABLE = (
    AddMemory,
    AmendMemory,
    ChangeMemory,
    LinkMemories,
    UnlinkMemories,
    PutNote,
    RemoveNotes,
    PutStory,
    RemoveStories,
    SetArchived,
    *STEPS_WITHOUT_ENTRY,
)

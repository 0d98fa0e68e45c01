"""Undo of a run: one changeset takes back its actions, as far as nobody changed their items since.

It restores contents, states, links, descriptions, notes, storylines and archived marks. What
expired, was purged or was erased stays gone.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from commonplace.engine.context import EngineContext, RequestContext
from commonplace.engine.graph.graph_diff import node_search_text
from commonplace.engine.indexing import index_memories
from commonplace.engine.maintenance.sleep.changes import (
    KINDS,
    Item,
    archived_record,
    archived_ref,
    id_of,
    ref_of,
)
from commonplace.engine.maintenance.sleep.log import read_run
from commonplace.engine.maintenance.sleep.schedule import is_held
from commonplace.engine.maintenance.sleep.undo_plan import (
    ItemKey,
    LeftAction,
    UndoPlan,
    plan_undo,
)
from commonplace.engine.transaction import run_transaction
from commonplace.errors import InvalidInput
from commonplace.model.access.principal import Scope
from commonplace.model.changeset import (
    AmendMemory,
    ChangeMemory,
    Changeset,
    ChangesetStep,
    ChangeSource,
    LinkMemories,
    ReleaseHeld,
    RemoveMemory,
    UnlinkMemories,
    build_change,
)
from commonplace.model.export.records import record_codec
from commonplace.model.graph.assertion import Note, is_sensitive
from commonplace.model.graph.elements import Edge, Node
from commonplace.model.graph.steps import (
    PutEdge,
    PutNode,
    PutNote,
    PutStory,
    RemoveNotes,
    RemoveStories,
    SetArchived,
)
from commonplace.model.graph.storylines import Macro, Storyline
from commonplace.model.journal import Entry, Event, JournalNode, Op
from commonplace.model.memory.memory import HeldValue, Link, Memory, Sensitivity
from commonplace.model.sleep import ItemKind, RecordSleep, RunState, SleepChange, SleepRun
from commonplace.model.sources.source import SOURCE_CATEGORY, Source
from commonplace.store.queries import GraphQuery, HeldQuery, SourcesById

_TYPES: Mapping[ItemKind, type] = {kind: made for made, kind in KINDS.items()}


@dataclass(frozen=True, slots=True)
class SleepUndone:
    id: str
    undone: int  # actions
    items: int  # that they changed
    left: tuple[LeftAction, ...]  # actions that stay, and why
    revision: int


def undo_run(engine: EngineContext, request: RequestContext, id: str) -> SleepUndone:
    scope = request.principal.own_scope
    engine.access_log.flush()

    def decide() -> tuple[Changeset, SleepUndone]:
        revision = engine.store.counters(scope).revision
        run = read_run(engine, scope, id)
        if run.is_running and is_held(engine, scope, run):
            raise InvalidInput(
                "This run is not over yet.",
                remedy="Wait until it is (`commonplace sleep log` shows its state). If it was "
                "interrupted, try again after a minute, or finish it with `commonplace sleep`.",
                field="run",
            )
        now = engine.clock()
        if run.state is RunState.UNDONE:
            return Changeset(scope, now, request.principal.actor, ()), _nothing(id, revision)
        stored = engine.store.sleep_changes(scope, id)
        changes = [each for each in stored if not each.is_undone]
        present = _load_present(engine, scope, changes)
        plan = plan_undo(changes, present.refs, _record_refs(scope, changes))
        steps = _UndoSteps(engine, scope, run, present, now).of(plan)
        record = RecordSleep(plan.mark(run, now), (), run, undone=plan.undone)
        changeset = Changeset(
            scope, now, request.principal.actor, (*steps, record), revision if steps else None
        )
        answer = SleepUndone(id, len(plan.undone), len(plan.targets), plan.left, revision)
        return changeset, answer

    revision, answer = run_transaction(engine, request, decide)
    return replace(answer, revision=revision)


def _nothing(id: str, revision: int) -> SleepUndone:
    return SleepUndone(id, 0, 0, (), revision)


# ——— the present state ———


@dataclass(slots=True)
class _Present:
    items: dict[ItemKey, Item] = field(default_factory=dict)
    archived: dict[str, datetime | None] = field(default_factory=dict)
    refs: dict[ItemKey, str | None] = field(default_factory=dict)
    subjects: set[str] = field(default_factory=set)  # what links and notes may refer to


def _load_present(engine: EngineContext, scope: Scope, changes: Sequence[SleepChange]) -> _Present:
    ids: dict[ItemKind, list[str]] = {kind: [] for kind in ItemKind}
    for change in changes:
        ids[change.kind].append(change.subject)
    store = engine.store
    graph = store.graph_items(
        scope,
        GraphQuery(
            nodes=ids[ItemKind.NODE],
            edges=ids[ItemKind.EDGE],
            notes=ids[ItemKind.NOTE],
            marks=ids[ItemKind.ARCHIVED],
            storylines=ids[ItemKind.STORYLINE],
            macros=ids[ItemKind.MACRO],
        ),
    )
    pairs = set(ids[ItemKind.LINK])
    ends = sorted({pair.split(" ")[0] for pair in pairs})
    links = (each for each in store.links(scope, ends) if id_of(each) in pairs) if ends else ()
    found: list[Item] = [
        *store.fetch(scope, ids[ItemKind.MEMORY]),
        *store.sources(scope, SourcesById(ids[ItemKind.SOURCE])),
        *links,
        *_load_held(engine, scope, ids),
        *graph.nodes,
        *graph.edges,
        *graph.notes,
        *graph.storylines,
        *graph.macros,
    ]
    present = _Present({(KINDS[type(item)], id_of(item)): item for item in found})
    present.refs = {(each.kind, each.subject): None for each in changes}
    present.refs |= {key: _present_ref(item) for key, item in present.items.items()}
    for id in ids[ItemKind.ARCHIVED]:
        at = graph.marks[id].archived_at if id in graph.marks else None
        present.archived[id] = at
        present.refs[ItemKind.ARCHIVED, id] = archived_ref(at)
    present.subjects = _load_subjects(engine, scope, changes)
    return present


def _load_held(
    engine: EngineContext, scope: Scope, ids: Mapping[ItemKind, Sequence[str]]
) -> list[HeldValue]:
    """What the run stored as support of memories that it changed, too."""
    if not ids[ItemKind.HELD]:
        return []
    held = engine.store.held(scope, HeldQuery(contributes_to=ids[ItemKind.MEMORY]))
    return [each for each in held if each.memory.id in ids[ItemKind.HELD]]


def _load_subjects(engine: EngineContext, scope: Scope, changes: Sequence[SleepChange]) -> set[str]:
    """Memories that links connect, and nodes and edges that notes are about, if they are there."""
    notes = [each.before for each in changes if each.kind is ItemKind.NOTE and each.before]
    about = sorted({str(record["about"]) for record in notes})
    graph = engine.store.graph_items(scope, GraphQuery(nodes=about, edges=about))
    links = [each.subject for each in changes if each.kind is ItemKind.LINK]
    linked = sorted({id for pair in links for id in pair.split(" ")})
    found: list[Item] = [*graph.nodes, *graph.edges, *engine.store.fetch(scope, linked)]
    return set(map(id_of, found))


def _present_ref(item: Item) -> str:
    """A memory that is in an open conflict now is not as a run left it."""
    if isinstance(item, Memory) and item.conflict is not None:
        return f"{item.ref} disputed"
    return ref_of(item)


def _record_refs(
    scope: Scope, changes: Iterable[SleepChange]
) -> dict[tuple[ItemKind, str, int], str | None]:
    codec = record_codec(scope.name)
    refs: dict[tuple[ItemKind, str, int], str | None] = {}
    for each in changes:
        key = each.kind, each.subject, each.number
        if each.before is None:
            refs[key] = None
        elif each.kind is ItemKind.ARCHIVED:
            refs[key] = archived_ref(_moment(each.before))
        else:
            refs[key] = ref_of(codec.read(_TYPES[each.kind], each.before))
    return refs


def _moment(record: Mapping[str, Any]) -> datetime | None:
    value = record["archived_at"]
    return None if value is None else datetime.fromisoformat(value)


# ——— the steps ———


class _UndoSteps:
    def __init__(
        self, engine: EngineContext, scope: Scope, run: SleepRun, present: _Present, now: datetime
    ):
        self._engine, self._scope, self._run = engine, scope, run
        self._present, self._now = present, now
        self._codec = record_codec(scope.name)
        self._notes: dict[str, list[Note]] = {}  # as they will be, by what they are about

    def of(self, plan: UndoPlan) -> list[ChangesetStep]:
        """In an order in which nothing refers to what is not there."""
        targets = {
            key: None if record is None else self._read(key[0], record)
            for key, record in plan.targets.items()
            if key[0] is not ItemKind.ARCHIVED
        }
        self._load_notes(targets)
        order = {type: place for place, type in enumerate(_ORDER)}
        steps = [step for key, target in targets.items() if (step := self._step(key, target))]
        steps.sort(key=lambda step: order[type(step)])
        archived = [
            SetArchived((id,), _moment(record or archived_record(None)), self._entry(id, _SOURCES))
            for (kind, id), record in plan.targets.items()
            if kind is ItemKind.ARCHIVED
        ]
        return [*steps, *archived]

    def _read(self, kind: ItemKind, record: Mapping[str, Any]) -> Item:
        item: Item = self._codec.read(_TYPES[kind], record)
        return item

    def _entry(
        self,
        id: str,
        category: str | None = None,
        old_ref: str | None = None,
        new_ref: str | None = None,
    ) -> Entry:
        return Entry(
            op=Op.RESTORE,
            event=Event.RESTORE,
            node=JournalNode.WORKER,
            subject=id,
            category=category,
            old_ref=old_ref,
            new_ref=new_ref,
            meta={"undone": self._run.id},
        )

    def _step(self, key: ItemKey, target: Item | None) -> ChangesetStep | None:
        current = self._present.items.get(key)
        if target is None:
            return None if current is None else self._removal(current)
        match target:
            case Memory() if isinstance(current, Memory):
                return self._memory(current, target)
            case Link() if current is None and {target.a, target.b} <= self._present.subjects:
                return LinkMemories(target, self._link_entry(target))
            case Node() if isinstance(current, Node):
                return self._node(current, target)
            case Edge() if isinstance(current, Edge):
                return self._edge(current, target)
            case Note() if target.about in self._present.subjects:
                return PutNote(target, self._entry(target.about))
            case Source() if isinstance(current, Source):
                after = target.evolve(version=current.version + 1)
                entry = self._entry(after.id, _SOURCES, old_ref=current.ref, new_ref=after.ref)
                return ChangeSource(current, after, entry)
            case Storyline() | Macro() if current is None or isinstance(current, Storyline | Macro):
                version = current.version + 1 if current else target.version + 1
                story = target.evolve(version=version)
                return PutStory(current, story, self._entry(story.id, _SOURCES))
        return None

    def _removal(self, item: Item) -> ChangesetStep | None:
        match item:
            case Memory():
                entry = self._entry(item.id, item.category, old_ref=item.ref)
                return RemoveMemory(item.id, entry)
            case Link():
                return UnlinkMemories(item.a, item.b, self._link_entry(item))
            case Note():
                return RemoveNotes((item.id,), self._entry(item.about))
            case HeldValue():
                return ReleaseHeld((item.memory.id,), self._entry(item.contributes_to or ""))
            case Storyline() | Macro():
                return RemoveStories((item.id,), self._entry(item.id, _SOURCES))
            case _:
                return None

    def _link_entry(self, link: Link) -> Entry:
        return self._entry(link.a, new_ref=link.b)

    def _memory(self, current: Memory, target: Memory) -> ChangesetStep:
        kept = {"arrived_at": current.arrived_at, "conflict": current.conflict}
        after = target.evolve(**kept)
        if target.version == current.version:  # it was amended in place
            return AmendMemory(after, self._entry(after.id, after.category, new_ref=after.ref))
        index = None
        if current.indexed_texts != after.indexed_texts:
            index = index_memories(self._engine, [after])[0][0]
        return build_change(
            current,
            after,
            op=Op.RESTORE,
            event=Event.RESTORE,
            node=JournalNode.WORKER,
            index=index,
            meta={"undone": self._run.id},
        )

    def _node(self, current: Node, target: Node) -> PutNode:
        after = target.evolve(version=current.version + 1)
        text = node_search_text(after, self._notes_on(after))
        entry = self._entry(after.id, after.category, old_ref=current.ref, new_ref=after.ref)
        return PutNode(current, after, entry, text)

    def _edge(self, current: Edge, target: Edge) -> PutEdge:
        after = target.evolve(version=current.version + 1)
        text = after.search_text(" ".join(self._notes_on(after)))
        entry = self._entry(after.id, old_ref=current.ref, new_ref=after.ref)
        return PutEdge(current, after, entry, text)

    # ——— notes, which search texts contain ———

    def _load_notes(self, targets: Mapping[ItemKey, Item | None]) -> None:
        about = [id for kind, id in targets if kind in (ItemKind.NODE, ItemKind.EDGE)]
        query = GraphQuery(notes_about=about)
        found = self._engine.store.graph_items(self._scope, query).notes
        notes = {note.id: note for note in found}
        for (kind, id), target in targets.items():
            if kind is ItemKind.NOTE:
                notes.pop(id, None)
                if isinstance(target, Note):
                    notes[id] = target
        for note in notes.values():
            self._notes.setdefault(note.about, []).append(note)

    def _notes_on(self, item: Node | Edge) -> list[str]:
        is_item_sensitive = item.sensitivity is Sensitivity.HIGH
        shown = [
            note
            for note in self._notes.get(item.id, ())
            if note.is_live(self._now) and (is_item_sensitive or not is_sensitive(note))
        ]
        newest = sorted(shown, key=lambda note: (note.date_added, note.id), reverse=True)
        return [note.content for note in newest]


_SOURCES = SOURCE_CATEGORY
# Memories come back before what replaced them is removed, and before their links.
_ORDER: tuple[type, ...] = (
    ReleaseHeld,
    ChangeMemory,
    AmendMemory,
    UnlinkMemories,
    RemoveMemory,
    LinkMemories,
    RemoveNotes,
    PutNote,
    PutNode,
    PutEdge,
    ChangeSource,
    RemoveStories,
    PutStory,
)

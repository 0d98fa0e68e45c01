"""Graph removal: erase, forget, restore and purge items."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from commonplace.engine.access import visibility_of
from commonplace.engine.context import EngineContext
from commonplace.engine.graph.graph_diff import diff_graph, find_removed
from commonplace.engine.graph.names import NameIndex, build_name_index, name_taken_error
from commonplace.engine.graph.unit_of_work import GraphUnitOfWork
from commonplace.engine.graph.visible_graph import (
    sees_artifact,
    sees_edge,
    sees_node,
    sees_note,
    visible_graph,
)
from commonplace.errors import InvalidInput, NotFound
from commonplace.model.access.principal import Principal, Scope
from commonplace.model.changeset import ChangesetStep
from commonplace.model.filters import OWNER_VISIBILITY, Visibility
from commonplace.model.graph.assertion import NOTE_PREFIX as NOTE
from commonplace.model.graph.assertion import CitedSource, Note
from commonplace.model.graph.elements import ARTIFACT_CATEGORY as OF_ARTIFACTS
from commonplace.model.graph.elements import ARTIFACT_PREFIX as ARTIFACT
from commonplace.model.graph.elements import EDGE_PREFIX as EDGE
from commonplace.model.graph.elements import EDGE_PREFIX as OF_EDGE
from commonplace.model.graph.elements import NODE_PREFIX as NODE
from commonplace.model.graph.elements import NODE_PREFIX as OF_NODE
from commonplace.model.graph.elements import Artifact, Edge, Node
from commonplace.model.graph.steps import (
    NamedGraphItems,
    PutArtifact,
    RemoveArtifact,
    SetExtraction,
)
from commonplace.model.graph.storylines import STORY_PREFIXES, is_story_id
from commonplace.model.graph.types import equivalent_types
from commonplace.model.journal import Entry, Event, JournalNode, Op
from commonplace.model.memory.kinds import ephemeral_cutoff
from commonplace.model.memory.memory import Sensitivity
from commonplace.store.queries import AssertionQuery, EndedQuery, GraphQuery

GraphItem = Node | Edge | Note | Artifact


def load_visible_item(work: GraphUnitOfWork, principal: Principal, id: str) -> GraphItem:
    """An item to remove or restore; for a merged node, its merge root."""
    if is_story_id(id):
        raise InvalidInput(
            "Storylines and macros cannot be removed by themselves: they are made of sources.",
            remedy="Forget or erase the sources, or the node that it is about; `show` lists them.",
            field="ids",
        )
    sight = visibility_by_id(principal)
    item = _load_item(work, id)
    if isinstance(item, Node) and item.is_owner:
        raise InvalidInput(
            "The owner's node cannot be removed.",
            remedy="Forget or erase assertions about the owner instead.",
            field="ids",
        )
    is_in_view = item is not None and _is_in_team_view(work.engine, principal, item.id)
    if item is None or not is_in_view or not _is_visible(work, sight, item):
        raise NotFound(f"There is no {id!r} here.", field="ids")
    return item


def _is_in_team_view(engine: EngineContext, principal: Principal, id: str) -> bool:
    """An API key of one team removes and restores only what it sees now."""
    if principal.team is None:
        return True
    snapshot = visible_graph(engine, principal, whole=True).snapshot
    notes = (note.id for noted in snapshot.notes.values() for note in noted)
    return id in {*snapshot.nodes, *snapshot.edges, *snapshot.artifacts, *notes}


def _is_visible(work: GraphUnitOfWork, sight: Visibility, item: GraphItem) -> bool:
    match item:
        case Node():
            return sees_node(sight, item)
        case Edge():
            ends = {end: work.node(end) for end in item.ends}
            visible_ends = {
                id: node for id, node in ends.items() if node and sees_node(sight, node)
            }
            return sees_edge(sight, visible_ends, item)
        case Note():
            about = _load_item(work, item.about)
            return sees_note(sight, item) and about is not None and _is_visible(work, sight, about)
        case Artifact():
            return sees_artifact(sight, item)


def _load_item(work: GraphUnitOfWork, id: str) -> GraphItem | None:
    store, scope = work.engine.store, work.scope
    if id.startswith(NODE):
        work.load([id])
        return work.node(work.root(id))
    if id.startswith(EDGE):
        work.load_edges([id])
        return work.edges.get(id)
    if id.startswith(NOTE):
        return next(iter(store.graph_items(scope, GraphQuery(notes=[id])).notes), None)
    return next(iter(store.graph_items(scope, GraphQuery(artifacts=[id])).artifacts), None)


def visibility_by_id(principal: Principal) -> Visibility:
    """The owner sees all of their own items by id."""
    return OWNER_VISIBILITY if principal.is_owner else visibility_of(principal)


GRAPH_PREFIXES = (NODE, EDGE, NOTE, ARTIFACT, *STORY_PREFIXES)


def is_graph_id(id: str) -> bool:
    return id.startswith(GRAPH_PREFIXES)


@dataclass(frozen=True, slots=True)
class GraphRemoval:
    named: NamedGraphItems | None = None  # all but artifacts
    steps: tuple[RemoveArtifact, ...] = ()
    gone: tuple[str, ...] = ()  # the given ids, and the edges removed with them


def remove_items(
    engine: EngineContext, principal: Principal, ids: Sequence[str], ended: Event
) -> GraphRemoval:
    """Removes all, or raises NotFound for the first id that the caller cannot see."""
    if not ids:
        return GraphRemoval()
    work = GraphUnitOfWork(engine, principal.own_scope, principal.actor, engine.clock())
    for id in ids:
        load_visible_item(work, principal, id)
        retract_item(work, id)
    gone = tuple(dict.fromkeys([*ids, *find_removed(work)]))
    artifacts = tuple(
        RemoveArtifact(id, Entry(op=Op.DELETE, event=ended, subject=id, category=OF_ARTIFACTS))
        for id in ids
        if _is_artifact(id)
    )
    return GraphRemoval(_name([id for id in ids if not _is_artifact(id)], ended), artifacts, gone)


def _name(
    ids: Iterable[str], event: Event, until: datetime | None = None
) -> NamedGraphItems | None:
    return NamedGraphItems(found, event, until) if (found := tuple(ids)) else None


def change_named_items(work: GraphUnitOfWork, named: NamedGraphItems) -> None:
    """Retract, forget or restore them. Call it last: they go also with what the decision adds."""
    for id in named.ids:
        if named.event is Event.ERASE:
            retract_item(work, id)
        elif item := _load_item(work, id):
            _set_purge_at(work, item, named.until)


def retract_item(work: GraphUnitOfWork, id: str) -> None:
    """Retract all assertions about an item, and its notes."""
    if id.startswith(NODE):
        work.load([id])
        work.load_relations([id])
        group = set(work.group(work.root(id)))
        work.retract([t.id for t in work.node_assertions.values() if t.node in group])
        work.retract([t.id for t in work.edge_assertions.values() if {t.a, t.b} & group])
    elif id.startswith(EDGE):
        work.load_edges([id])
        if edge := work.edges.get(id):
            work.load_relations([edge.a], equivalent_types(edge.type))
        work.retract([t.id for t in work.edge_assertions.values() if t.edge == id])
    elif id.startswith(NOTE):
        for note in work.engine.store.graph_items(work.scope, GraphQuery(notes=[id])).notes:
            work.load_subject(note.about)
        work.retract([id])


@dataclass(frozen=True, slots=True)
class VisibilityChange:
    """Items that were forgotten or restored."""

    named: NamedGraphItems | None = None  # all but artifacts
    steps: tuple[PutArtifact, ...] = ()
    ids: tuple[str, ...] = ()
    already: tuple[str, ...] = ()
    known_dates: tuple[datetime, ...] = ()  # the purge dates of those that were forgotten already


def forget_graph_items(
    engine: EngineContext, principal: Principal, ids: Sequence[str], until: datetime
) -> VisibilityChange:
    return (
        _set_forgotten(engine, principal, ids, until, Event.DELETE) if ids else VisibilityChange()
    )


def restore_graph_items(
    engine: EngineContext, principal: Principal, ids: Sequence[str]
) -> VisibilityChange:
    return (
        _set_forgotten(engine, principal, ids, None, Event.RESTORE) if ids else VisibilityChange()
    )


def purge_graph_items(
    engine: EngineContext, scope: Scope, by: str, now: datetime
) -> tuple[ChangesetStep, ...]:
    """Remove items whose restore period is over."""
    forgotten = engine.store.ended_graph_items(scope, EndedQuery()).forgotten
    due = [id for id, at in forgotten.items() if at <= now]
    artifacts = [_remove_artifact(id, Event.DELETE) for id in filter(_is_artifact, due)]
    return (*_remove_for_good(engine, scope, by, now, due), *artifacts)


def remove_expired_artifacts(
    engine: EngineContext, scope: Scope, now: datetime
) -> list[RemoveArtifact]:
    query = EndedQuery(artifacts_made_by=ephemeral_cutoff(now))
    ended = engine.store.ended_graph_items(scope, query).artifacts
    return [_remove_artifact(id, Event.TTL) for id in ended]


def remove_expired_notes(
    engine: EngineContext, scope: Scope, by: str, now: datetime, limit: int
) -> tuple[ChangesetStep, ...]:
    """With their words in the search texts and vectors of what they are about."""
    query = EndedQuery(notes_by=now, limit=limit)
    notes = engine.store.ended_graph_items(scope, query).notes
    return _remove_for_good(engine, scope, by, now, [note.id for note in notes])


def _remove_for_good(
    engine: EngineContext, scope: Scope, by: str, now: datetime, ids: Iterable[str]
) -> tuple[ChangesetStep, ...]:
    work = GraphUnitOfWork(engine, scope, by, now)
    for id in dict.fromkeys(ids):
        if not _is_artifact(id):
            retract_item(work, id)
    return diff_graph(work, place=JournalNode.WORKER)


def _is_artifact(id: str) -> bool:
    return id.startswith(ARTIFACT)


def _remove_artifact(id: str, event: Event) -> RemoveArtifact:
    return RemoveArtifact(id, Entry(op=Op.DELETE, event=event, node=JournalNode.WORKER, subject=id))


def _set_forgotten(
    engine: EngineContext,
    principal: Principal,
    ids: Sequence[str],
    until: datetime | None,
    event: Event,
) -> VisibilityChange:
    work = GraphUnitOfWork(engine, principal.own_scope, principal.actor, engine.clock())
    items = [_refuse_ended(load_visible_item(work, principal, id), work.at) for id in ids]
    changing = [item for item in items if (item.purge_at is None) is not (until is None)]
    if until is None:
        names = build_name_index(engine.graph_cache.of(principal.own_scope).snapshot.nodes.values())
        _refuse_taken(names, visibility_by_id(principal), changing)
    artifacts = tuple(
        PutArtifact(
            replace(each, purge_at=until, updated_at=work.at),
            Entry(op=_OP_OF_EVENT[event], event=event, subject=each.id, category=OF_ARTIFACTS),
        )
        for each in changing
        if isinstance(each, Artifact)
    )
    unchanged = [item for item in items if item not in changing]
    return VisibilityChange(
        _name((each.id for each in changing if not isinstance(each, Artifact)), event, until),
        artifacts,
        tuple(each.id for each in changing),
        tuple(item.id for item in unchanged),
        tuple(item.purge_at for item in unchanged if item.purge_at),
    )


def _refuse_ended(item: GraphItem, now: datetime) -> GraphItem:
    """An expired artifact counts as removed, even before maintenance purges it."""
    if isinstance(item, Artifact) and item.has_ended(now):
        raise NotFound(f"There is no {item.id!r} here.", field="ids")
    return item


_OP_OF_EVENT = {Event.DELETE: Op.DELETE, Event.RESTORE: Op.RESTORE}


def _set_purge_at(work: GraphUnitOfWork, item: GraphItem, until: datetime | None) -> None:
    work.moved.add(item.id)
    if isinstance(item, Node):
        work.put(item.evolve(purge_at=until))
    elif isinstance(item, Edge):
        work.put_edge(item.evolve(purge_at=until))
    elif isinstance(item, Note):
        work.load_subject(item.about)
        work.moved.add(item.about)
        if note := work.notes.get(item.id):
            work.put_note(replace(note, purge_at=until))


def _refuse_taken(names: NameIndex, sight: Visibility, items: Sequence[GraphItem]) -> None:
    for item in items:
        if isinstance(item, Node) and (
            other := names.by_primary_name(item.type, item.subtype, item.key)
        ):
            is_seen = sees_node(sight, names.nodes[other])
            raise name_taken_error(item.name, other if is_seen else None, "ids")


def forget_extractions(
    engine: EngineContext, scope: Scope, sources: Sequence[str], removed: Collection[str]
) -> tuple[ChangesetStep, ...]:
    """As if these sources had never been extracted. ``removed``: artifacts that go as well."""
    artifacts = [
        replace(each, source=None)
        for each in engine.store.graph_items(scope, GraphQuery(artifacts=None)).artifacts
        if each.source is not None and each.source.id in sources and each.id not in removed
    ]
    extractions = engine.store.extractions(scope, sources)
    return (
        *(PutArtifact(each, Entry(op=Op.UPDATE, subject=each.id)) for each in artifacts),
        *(SetExtraction(each, Entry(op=Op.DELETE), gone=True) for each in extractions),
    )


def set_cited_sensitivity(work: GraphUnitOfWork, cited: str, level: Sensitivity) -> None:
    """Of all loaded assertions and notes that cite a source or a memory."""

    def guarded(source: CitedSource | None) -> CitedSource | None:
        return replace(source, sensitivity=level) if source and source.id == cited else source

    for assertion in list(work.node_assertions.values()):
        work.put_assertion(replace(assertion, source=guarded(assertion.source)))
    for relation in list(work.edge_assertions.values()):
        work.put_relation(replace(relation, source=guarded(relation.source)))
    for note in list(work.notes.values()):
        work.put_note(replace(note, source=guarded(note.source)))


def load_assertions_of(work: GraphUnitOfWork, sources: Sequence[str]) -> list[str]:
    """Load what these sources or memories assert, and all that it is part of; returns the ids."""
    if not sources:
        return []
    nodes, edges, notes = work.engine.store.assertions(work.scope, AssertionQuery(sources=sources))
    work.load(t.node for t in nodes)
    work.load(note.about for note in notes if note.about.startswith(OF_NODE))
    work.load_edges(note.about for note in notes if note.about.startswith(OF_EDGE))
    for assertion in edges:
        work.load_relations([assertion.a], [assertion.type])
    return [each.id for items in (nodes, edges, notes) for each in items]

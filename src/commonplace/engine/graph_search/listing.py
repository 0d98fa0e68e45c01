"""Nodes, edges and contributions: list pages, or show one with its details."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from commonplace.engine.context import EngineContext
from commonplace.engine.graph.visible_graph import EDGE_IDS_REMEDY
from commonplace.errors import NotFound
from commonplace.lazy import lazy_imports
from commonplace.model.access.principal import OWNER_ACTOR_PREFIX, Principal
from commonplace.model.graph.assertion import Note, note_snippets, notes_live_at
from commonplace.model.graph.elements import Edge, Node
from commonplace.model.graph.salience import SalienceState, current_salience
from commonplace.model.graph.snapshot import GraphSnapshot, display_author, note_author
from commonplace.model.graph.types import (
    EdgeKind,
    NodeType,
    attitude_word,
    equivalent_types,
    proximity_word,
)
from commonplace.model.memory.kinds import TtlPolicy
from commonplace.model.memory.lifecycle import NOW, PointInTime
from commonplace.model.paging import take_page
from commonplace.store.queries import AssertionQuery, GraphQuery

with lazy_imports(__name__):
    from commonplace.engine.graph.as_of import graph_as_of
    from commonplace.engine.graph.names import build_name_index
    from commonplace.engine.graph.visible_graph import VisibleGraph, find_node, visible_graph


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeShown:
    """A node in a list."""

    id: str
    entity_key: str  # same as id: the name used in graph results
    node_type: NodeType
    type: str  # of an Entity
    name: str
    aliases: tuple[str, ...]
    addresses: tuple[str, ...]
    description: str
    is_owner: bool
    confidence: float
    salience: float
    state: SalienceState
    ttl_policy: TtlPolicy
    source_count: int
    promotion_score: float
    first_mentioned_at: datetime | None
    last_mentioned_at: datetime | None
    distinct_source_days: int
    is_dirty: bool
    created_by: str
    created_at: datetime
    updated_at: datetime
    last_accessed_at: datetime | None
    access_count: int
    notes_snippets: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class EdgeShown:
    id: str
    from_entity_key: str
    to_entity_key: str
    from_name: str
    to_name: str
    relationship_kind: EdgeKind
    relationship_type: str
    description: str
    attitude: int
    attitude_word: str
    proximity: int
    proximity_word: str
    confidence: float
    salience: float
    state: SalienceState
    valid_from: datetime
    valid_to: datetime | None
    recorded_at: datetime
    invalidated_at: datetime | None
    recorded_by: str
    notes_snippets: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class NodePage:
    nodes: tuple[NodeShown, ...]
    next: str | None


@dataclass(frozen=True, slots=True)
class EdgePage:
    edges: tuple[EdgeShown, ...]
    next: str | None


@dataclass(frozen=True, slots=True)
class Mentioning:
    """A source that mentions a node or supports an edge."""

    id: str
    title: str
    summary: str
    said_at: datetime


@dataclass(frozen=True, slots=True)
class WholeNode:
    node: NodeShown
    edges: tuple[EdgeShown, ...]  # currently valid
    others: tuple[EdgeShown, ...]  # ended or future
    notes: tuple[Note, ...]
    sources: tuple[Mentioning, ...]  # newest first


@dataclass(frozen=True, slots=True)
class WholeEdge:
    edge: EdgeShown
    notes: tuple[Note, ...]
    sources: tuple[Mentioning, ...]  # that assert it, newest first; empty: asserted by users only


def list_nodes(
    engine: EngineContext,
    principal: Principal,
    types: Sequence[NodeType],
    *,
    subtypes: Sequence[str] = (),
    limit: int,
    after: str | None,
    include_archived: bool,
) -> NodePage:
    """The most salient first."""
    snapshot, now = visible_graph(engine, principal).snapshot, engine.clock()
    shown = [
        present_node(snapshot, node, now)
        for node in snapshot.nodes.values()
        if node.type in types and (not subtypes or node.subtype in subtypes)
    ]
    kept = [n for n in shown if include_archived or n.state is not SalienceState.ARCHIVED]
    kept.sort(key=lambda node: (-node.salience, node.name, node.id))
    page = take_page(kept, after, limit + 1)
    return NodePage(tuple(page[:limit]), page[limit - 1].id if len(page) > limit else None)


def list_edges(
    engine: EngineContext,
    principal: Principal,
    node: str | None,
    types: Sequence[str],
    then: PointInTime,
    *,
    limit: int,
    after: str | None,
    past: bool,
) -> EdgePage:
    """The most salient first; ``past``: include ended ones."""
    now = engine.clock()
    snapshot = graph_as_of(
        engine, principal.own_scope, visible_graph(engine, principal).snapshot, then
    )
    node_id = (
        find_node(build_name_index(snapshot.nodes.values()), node, "node").id if node else None
    )
    edges = [
        edge
        for edge in snapshot.edges.values()
        if (node_id is None or node_id in edge.ends)
        and (not types or edge.type in types)
        and (past or edge.holds(then, now))
    ]
    shown = present_edges(snapshot, edges, now, then)
    page = take_page(shown, after, limit + 1)
    return EdgePage(tuple(page[:limit]), page[limit - 1].id if len(page) > limit else None)


def show_node(
    engine: EngineContext, principal: Principal, named: str, then: PointInTime = NOW
) -> WholeNode:
    """By id, including sensitive nodes that lists hide; by name, without these."""
    now = engine.clock()
    whole = _load_visible(engine, principal, named).snapshot
    id = _merge_root(engine, principal, named)
    snapshot = graph_as_of(engine, principal.own_scope, whole, then)
    node = find_node(build_name_index(snapshot.nodes.values()), id, "id")
    mine = [edge for edge in snapshot.edges.values() if node.id in edge.ends]
    if not then.is_now:
        mine = [e for e in mine if e.holds(then, now) or _has_ended_by(e, then, now)]
    holding = [edge for edge in mine if edge.holds(then, now)]
    return WholeNode(
        present_node(snapshot, node, now, then),
        tuple(present_edges(snapshot, holding, now, then)),
        tuple(present_edges(snapshot, [e for e in mine if e not in holding], now, then)),
        live_notes_of(snapshot, node.id, then.known_at or now),
        _sources_mentioning(snapshot, node),
    )


def show_edge(engine: EngineContext, principal: Principal, id: str) -> WholeEdge:
    visible, now = _load_visible(engine, principal, id), engine.clock()
    edge = visible.snapshot.edges.get(id)
    if edge is None:
        raise NotFound(f"There is no {id!r} in the graph.", remedy=EDGE_IDS_REMEDY, field="id")
    shown = present_edges(visible.snapshot, [edge], now)[0]
    assertions = engine.store.assertions(
        principal.own_scope,
        AssertionQuery(ends=[edge.a, edge.b], types=equivalent_types(edge.type)),
    ).edges
    cited = [each.source for each in assertions if each.edge == id and each.stands and each.source]
    sources = present_sources(visible.snapshot, [(each.id, each.said_at) for each in cited])
    return WholeEdge(shown, live_notes_of(visible.snapshot, id, now), sources)


def _load_visible(engine: EngineContext, principal: Principal, named: str) -> VisibleGraph:
    """An id asks for exactly this item, so sensitive items are included."""
    return visible_graph(engine, principal, whole=":" in named, sources=True)


def _merge_root(engine: EngineContext, principal: Principal, id: str) -> str:
    """The merge root of a merged node."""
    visited: set[str] = set()
    while id not in visited and (
        found := engine.store.graph_items(principal.own_scope, GraphQuery(nodes=[id])).nodes
    ):
        visited.add(id)
        id = found[0].merged_into or id
    return id


def _has_ended_by(edge: Edge, then: PointInTime, now: datetime) -> bool:
    """Whether the edge was known and had begun by then."""
    is_known = then.known_at is None or edge.recorded_at <= then.known_at
    return is_known and edge.valid_from <= (then.as_of or max(now, edge.recorded_at))


def live_notes_of(snapshot: GraphSnapshot, id: str, at: datetime) -> tuple[Note, ...]:
    return tuple(notes_live_at(snapshot.notes.get(id, ()), at))


def _sources_mentioning(snapshot: GraphSnapshot, node: Node) -> tuple[Mentioning, ...]:
    mentions = [(each.source, each.said_at) for each in snapshot.mentions if each.node == node.id]
    return present_sources(snapshot, mentions)


def present_sources(
    snapshot: GraphSnapshot, cited: Iterable[tuple[str, datetime]]
) -> tuple[Mentioning, ...]:
    """Each readable source once."""
    found = [
        Mentioning(source.id, source.title, source.summary, said_at)
        for id, said_at in dict(cited).items()
        if (source := snapshot.sources.get(id)) is not None
    ]
    return tuple(sorted(found, key=lambda each: each.said_at, reverse=True))


def present_node(
    snapshot: GraphSnapshot, node: Node, now: datetime, then: PointInTime = NOW
) -> NodeShown:
    """With the current salience and the notes that were live at ``then``."""
    marks = snapshot.marks_of(node.id)
    current = current_salience(node, marks, now)
    return NodeShown(
        id=node.id,
        entity_key=node.id,
        node_type=node.type,
        type=node.subtype,
        name=node.name,
        aliases=node.aliases,
        addresses=node.addresses,
        description=node.description,
        is_owner=node.is_owner,
        confidence=node.confidence,
        salience=current.salience,
        state=current.state,
        ttl_policy=node.ttl_policy,
        source_count=node.mentioned.source_count,
        promotion_score=node.mentioned.promotion_score,
        first_mentioned_at=node.mentioned.first_at,
        last_mentioned_at=node.mentioned.last_at,
        distinct_source_days=node.mentioned.distinct_days,
        is_dirty=node.is_dirty,
        created_by=node.created_by,
        created_at=node.created_at,
        updated_at=node.updated_at,
        last_accessed_at=marks.touched_at,
        access_count=marks.access_count,
        notes_snippets=note_snippets(snapshot.notes.get(node.id, ()), then.known_at or now),
    )


def present_edges(
    snapshot: GraphSnapshot, edges: Iterable[Edge], now: datetime, then: PointInTime = NOW
) -> list[EdgeShown]:
    """The most salient first, then the newest."""
    shown = [_present_edge(snapshot, edge, now, then) for edge in edges]
    return sorted(shown, key=lambda e: (-e.salience, -e.valid_from.timestamp(), e.id))


def _present_edge(
    snapshot: GraphSnapshot, edge: Edge, now: datetime, then: PointInTime
) -> EdgeShown:
    current = current_salience(edge, snapshot.marks_of(edge.id), now)
    return EdgeShown(
        id=edge.id,
        from_entity_key=edge.a,
        to_entity_key=edge.b,
        from_name=snapshot.nodes[edge.a].name,
        to_name=snapshot.nodes[edge.b].name,
        relationship_kind=edge.kind,
        relationship_type=edge.type,
        description=edge.description,
        attitude=edge.attitude,
        attitude_word=attitude_word(edge.kind, edge.attitude),
        proximity=edge.proximity,
        proximity_word=proximity_word(edge.kind, edge.proximity),
        confidence=edge.confidence,
        salience=current.salience,
        state=current.state,
        valid_from=edge.valid_from,
        valid_to=edge.valid_to,
        recorded_at=edge.recorded_at,
        invalidated_at=edge.invalidated_at,
        recorded_by=edge.recorded_by,
        notes_snippets=note_snippets(snapshot.notes.get(edge.id, ()), then.known_at or now),
    )


@dataclass(frozen=True, slots=True)
class Contribution:
    """A node, an edge or a note, with its author and date."""

    id: str
    what: str  # node, edge or note
    about: str  # the node or edge
    text: str
    by: str
    at: datetime
    source_id: str | None = None


def list_contributions(
    engine: EngineContext,
    principal: Principal,
    by: str | None,
    limit: int,
    after: str | None = None,
) -> tuple[Contribution, ...]:
    """Newest first; without ``by``, of all authors."""
    snapshot, now = visible_graph(engine, principal, sources=True).snapshot, engine.clock()
    owner = principal.user_id
    found = (
        *_node_contributions(snapshot, owner),
        *_edge_contributions(snapshot, owner),
        *_note_contributions(snapshot, owner, now),
    )
    wanted = [each for each in found if by is None or _is_author(each.by, by)]
    wanted.sort(key=lambda each: (each.at, each.id), reverse=True)
    return tuple(take_page(wanted, after, limit))


def _node_contributions(snapshot: GraphSnapshot, owner: str) -> Iterator[Contribution]:
    for node in snapshot.nodes.values():
        by = display_author(node.created_by, owner)
        yield Contribution(node.id, "node", node.id, node.name, by, node.created_at)


def _edge_contributions(snapshot: GraphSnapshot, owner: str) -> Iterator[Contribution]:
    for edge in snapshot.edges.values():
        ends = f"{snapshot.nodes[edge.a].name} {edge.type} {snapshot.nodes[edge.b].name}"
        by = display_author(edge.recorded_by, owner)
        yield Contribution(edge.id, "edge", edge.id, ends, by, edge.recorded_at)


def _note_contributions(
    snapshot: GraphSnapshot, owner: str, now: datetime
) -> Iterator[Contribution]:
    for about, notes in snapshot.notes.items():
        for note in notes_live_at(notes, now):
            by = note_author(note, snapshot, owner)
            source = note.source.id if note.source else None
            yield Contribution(note.id, "note", about, note.content, by, note.date_added, source)


def _is_author(author: str, by: str) -> bool:
    """``by``: an author as shown (ana, agent:planner), as in the journal (user:ana), or without the
    prefix (planner)."""
    return by in (author, OWNER_ACTOR_PREFIX + author) or author.partition(":")[2] == by

"""Nodes and edges as they are shown: a page of them, one with all that is known of it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from commonplace.desk import Desk
from commonplace.errors import NotFound
from commonplace.graph.find import EDGES_ARE_LISTED, find_node
from commonplace.graph.known import known
from commonplace.graph.seen import Seen, seen
from commonplace.graph.then import as_known
from commonplace.model.graph.edge import Edge
from commonplace.model.graph.node import Node
from commonplace.model.graph.note import Note, live_at, snippets
from commonplace.model.graph.picture import Picture
from commonplace.model.graph.relationships import spellings
from commonplace.model.graph.standing import standing
from commonplace.model.graph.words import EdgeKind, NodeType, attitude_word, proximity_word
from commonplace.model.paging import page
from commonplace.model.salience import Presence
from commonplace.model.scope import Principal
from commonplace.model.time_travel import NOW, Then
from commonplace.model.ttl_policy import TtlPolicy


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeShown:
    """A node in a list."""

    id: str
    entity_key: str  # the same, as the graph's own documents call it
    node_type: NodeType
    type: str  # of an Entity
    name: str
    aliases: tuple[str, ...]
    addresses: tuple[str, ...]
    description: str
    is_owner: bool
    confidence: float
    salience: float
    state: Presence
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
    state: Presence
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
    """A source that speaks of a node."""

    id: str
    title: str
    summary: str
    said_at: datetime


@dataclass(frozen=True, slots=True)
class WholeNode:
    node: NodeShown
    edges: tuple[EdgeShown, ...]  # those that hold
    others: tuple[EdgeShown, ...]  # that are over, or to come
    notes: tuple[Note, ...]
    sources: tuple[Mentioning, ...]  # newest first


@dataclass(frozen=True, slots=True)
class WholeEdge:
    edge: EdgeShown
    notes: tuple[Note, ...]
    sources: tuple[Mentioning, ...]  # that tell of it, newest first; none: somebody's own word


def list_nodes(
    desk: Desk,
    principal: Principal,
    types: Sequence[NodeType],
    *,
    subtypes: Sequence[str] = (),
    limit: int,
    after: str | None,
    include_archived: bool,
) -> NodePage:
    """The most salient first."""
    picture, now = seen(desk, principal).picture, desk.clock()
    shown = [
        node_shown(picture, node, now)
        for node in picture.nodes.values()
        if node.type in types and (not subtypes or node.subtype in subtypes)
    ]
    kept = [n for n in shown if include_archived or n.state is not Presence.ARCHIVED]
    kept.sort(key=lambda node: (-node.salience, node.name, node.id))
    found = page(kept, after, limit + 1)
    return NodePage(tuple(found[:limit]), found[limit - 1].id if len(found) > limit else None)


def list_edges(
    desk: Desk,
    principal: Principal,
    node: str | None,
    types: Sequence[str],
    then: Then,
    *,
    limit: int,
    after: str | None,
    past: bool,
) -> EdgePage:
    """The most salient first; with ``past`` those that are over, too."""
    now = desk.clock()
    picture = as_known(desk, principal.home, seen(desk, principal).picture, then)
    one = find_node(known(picture.nodes.values()), node, "node").id if node else None
    edges = [
        edge
        for edge in picture.edges.values()
        if (one is None or one in edge.ends)
        and (not types or edge.type in types)
        and (past or edge.holds(then, now))
    ]
    shown = edges_shown(picture, edges, now, then)
    found = page(shown, after, limit + 1)
    return EdgePage(tuple(found[:limit]), found[limit - 1].id if len(found) > limit else None)


def show_node(desk: Desk, principal: Principal, named: str, then: Then = NOW) -> WholeNode:
    """By its id, also one that is hidden from lists; by its name, one that is not."""
    now = desk.clock()
    whole = _with(desk, principal, named).picture
    id = _spoken_for(desk, principal, named)
    picture = as_known(desk, principal.home, whole, then)
    node = find_node(known(picture.nodes.values()), id, "id")
    mine = [edge for edge in picture.edges.values() if node.id in edge.ends]
    if not then.is_now:
        mine = [e for e in mine if e.holds(then, now) or _is_over(e, then, now)]
    holding = [edge for edge in mine if edge.holds(then, now)]
    return WholeNode(
        node_shown(picture, node, now, then),
        tuple(edges_shown(picture, holding, now, then)),
        tuple(edges_shown(picture, [e for e in mine if e not in holding], now, then)),
        live_notes(picture, node.id, then.known_at or now),
        _mentioning(picture, node),
    )


def show_edge(desk: Desk, principal: Principal, id: str) -> WholeEdge:
    at_hand, now = _with(desk, principal, id), desk.clock()
    edge = at_hand.picture.edges.get(id)
    if edge is None:
        raise NotFound(f"There is no {id!r} in the graph.", remedy=EDGES_ARE_LISTED, field="id")
    shown = edges_shown(at_hand.picture, [edge], now)[0]
    told = desk.store.edge_tellings(principal.home, [edge.a, edge.b], spellings(edge.type))
    cited = [each.source for each in told if each.edge == id and each.stands and each.source]
    sources = _mentioned_in(at_hand.picture, [(each.id, each.said_at) for each in cited])
    return WholeEdge(shown, live_notes(at_hand.picture, id, now), sources)


def _with(desk: Desk, principal: Principal, named: str) -> Seen:
    """Who names an id asks for just this."""
    return seen(desk, principal, whole=":" in named, sources=True)


def _spoken_for(desk: Desk, principal: Principal, id: str) -> str:
    """Of a node that was merged, the one that speaks for it."""
    met: set[str] = set()
    while id not in met and (found := desk.store.nodes(principal.home, [id])):
        met.add(id)
        id = found[0].merged_into or id
    return id


def _is_over(edge: Edge, then: Then, now: datetime) -> bool:
    """Known then, and no longer true."""
    known_by, at = then.known_at or now, then.as_of or now
    return edge.recorded_at <= known_by and edge.valid_from <= at


def live_notes(picture: Picture, id: str, at: datetime) -> tuple[Note, ...]:
    return tuple(live_at(picture.notes.get(id, ()), at))


def _mentioning(picture: Picture, node: Node) -> tuple[Mentioning, ...]:
    mine = [(each.source, each.said_at) for each in picture.mentions if each.node == node.id]
    return _mentioned_in(picture, mine)


def _mentioned_in(
    picture: Picture, cited: Iterable[tuple[str, datetime]]
) -> tuple[Mentioning, ...]:
    """Each source once, where it may be read."""
    found = [
        Mentioning(source.id, source.title, source.summary, said_at)
        for id, said_at in dict(cited).items()
        if (source := picture.sources.get(id)) is not None
    ]
    return tuple(sorted(found, key=lambda each: each.said_at, reverse=True))


def node_shown(picture: Picture, node: Node, now: datetime, then: Then = NOW) -> NodeShown:
    """As present as it is now, with the notes that counted ``then``."""
    marks = picture.marks_of(node.id)
    now_is = standing(node, marks, now)
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
        salience=now_is.salience,
        state=now_is.state,
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
        notes_snippets=snippets(picture.notes.get(node.id, ()), then.known_at or now),
    )


def edges_shown(
    picture: Picture, edges: Iterable[Edge], now: datetime, then: Then = NOW
) -> list[EdgeShown]:
    """The most salient first, then the newest."""
    shown = [_edge_shown(picture, edge, now, then) for edge in edges]
    return sorted(shown, key=lambda e: (-e.salience, -e.valid_from.timestamp(), e.id))


def _edge_shown(picture: Picture, edge: Edge, now: datetime, then: Then) -> EdgeShown:
    now_is = standing(edge, picture.marks_of(edge.id), now)
    return EdgeShown(
        id=edge.id,
        from_entity_key=edge.a,
        to_entity_key=edge.b,
        from_name=picture.nodes[edge.a].name,
        to_name=picture.nodes[edge.b].name,
        relationship_kind=edge.kind,
        relationship_type=edge.type,
        description=edge.description,
        attitude=edge.attitude,
        attitude_word=attitude_word(edge.kind, edge.attitude),
        proximity=edge.proximity,
        proximity_word=proximity_word(edge.kind, edge.proximity),
        confidence=edge.confidence,
        salience=now_is.salience,
        state=now_is.state,
        valid_from=edge.valid_from,
        valid_to=edge.valid_to,
        recorded_at=edge.recorded_at,
        invalidated_at=edge.invalidated_at,
        recorded_by=edge.recorded_by,
        notes_snippets=snippets(picture.notes.get(edge.id, ()), then.known_at or now),
    )

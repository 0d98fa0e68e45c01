"""The graph as it was at another time, or as it was known then.

What is told later changes how a node is called, since when a relation holds and whether it is over;
so the rows of now cannot say what was known before, and the tellings can.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace

from commonplace.engine.context import EngineContext
from commonplace.engine.graph.edge_diff import canonical_assertion
from commonplace.engine.graph.names import name_key
from commonplace.model.access.principal import Scope
from commonplace.model.graph.assertion import EdgeAssertion, NodeAssertion
from commonplace.model.graph.edge_fold import EdgePeriod, fold_edges
from commonplace.model.graph.elements import Edge, Node
from commonplace.model.graph.node_fold import FoldedNode, fold_node
from commonplace.model.graph.snapshot import GraphSnapshot
from commonplace.model.graph.types import edge_kind_between
from commonplace.model.memory.lifecycle import PointInTime
from commonplace.store.queries import AssertionQuery, GraphQuery

MergeRoots = Mapping[str, str]  # each node → the one that speaks for it


def graph_as_of(
    engine: EngineContext, scope: Scope, snapshot: GraphSnapshot, then: PointInTime
) -> GraphSnapshot:
    """``picture``: of now, with what the caller may see; nothing comes into it here."""
    known_at = then.known_at
    if known_at is None:
        return snapshot
    speakers = merge_roots_of(engine, scope, snapshot)
    found = engine.store.assertions(scope, AssertionQuery(nodes=[*speakers], ends=[*speakers]))
    told = [t for t in found.nodes if t.recorded_at <= known_at]
    nodes = _nodes_as_of(snapshot, told, speakers)
    related = [
        t
        for t in found.edges
        if t.recorded_at <= known_at and {speakers.get(t.a), speakers.get(t.b)} <= nodes.keys()
    ]
    mentioned = {(t.source.id, speakers[t.node]) for t in told if t.source and t.stands}
    return replace(
        snapshot,
        nodes=nodes,
        edges=_edges_as_of(snapshot, related, speakers, nodes),
        notes={
            id: tuple(note for note in notes if note.date_added <= known_at)
            for id, notes in snapshot.notes.items()
        },
        mentions=tuple(m for m in snapshot.mentions if (m.source, m.node) in mentioned),
        artifacts={id: a for id, a in snapshot.artifacts.items() if a.created_at <= known_at},
    )


def merge_roots_of(engine: EngineContext, scope: Scope, snapshot: GraphSnapshot) -> MergeRoots:
    """Of all that is merged into one of its nodes, too."""
    speakers = {id: id for id in snapshot.nodes}
    wanted = list(speakers)
    while wanted:
        found = engine.store.graph_items(scope, GraphQuery(merged_into=wanted)).nodes
        wanted = [node.id for node in found if node.id not in speakers]
        speakers |= {node.id: speakers[str(node.merged_into)] for node in found}
    return speakers


def _nodes_as_of(
    snapshot: GraphSnapshot, told: Sequence[NodeAssertion], speakers: MergeRoots
) -> dict[str, Node]:
    by_node: dict[str, list[NodeAssertion]] = defaultdict(list)
    for assertion in told:
        by_node[speakers[assertion.node]].append(assertion)
    found: dict[str, Node] = {}
    for id, node in snapshot.nodes.items():
        was = fold_node(by_node[id], root=id, key_of=name_key)
        if node.is_owner:
            found[id] = node
        elif was is not None:
            found[id] = node.evolve(**{name: getattr(was, name) for name in FoldedNode.__slots__})
    return found


def _edges_as_of(
    snapshot: GraphSnapshot,
    told: Sequence[EdgeAssertion],
    speakers: MergeRoots,
    nodes: Mapping[str, Node],
) -> dict[str, Edge]:
    """Under the ids that they have now; of one that is another's by now, under its own."""
    drawn = {
        t.id: canonical_assertion(t, speakers.__getitem__, lambda id: nodes[id].type) for t in told
    }
    home = {t.id: t.edge for t in told}
    found: dict[str, Edge] = {}
    for stretch in fold_edges(t for t in drawn.values() if t.a != t.b):
        votes = Counter(home[id] for id in stretch.assertions if home[id] not in found)
        id = votes.most_common(1)[0][0] if votes else stretch.assertions[0]
        if id in snapshot.edges or not votes:
            found[id] = _edge_as_of(id, stretch, snapshot, nodes)
    return found


def _edge_as_of(
    id: str, stretch: EdgePeriod, snapshot: GraphSnapshot, nodes: Mapping[str, Node]
) -> Edge:
    kind = edge_kind_between(nodes[stretch.a].type, nodes[stretch.b].type)
    fields = stretch.edge_fields | {"kind": kind}
    if id in snapshot.edges:
        return snapshot.edges[id].evolve(**fields)
    owner = next(iter(nodes.values())).user_id
    at = stretch.recorded_at
    return Edge(id=id, user_id=owner, created_at=at, updated_at=at, **fields)

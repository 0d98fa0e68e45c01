"""The graph as it was known at an earlier time.

Later assertions change a node's name and a relation's validity, so the current rows cannot show
what was known before. Nodes and edges are computed from the assertions recorded until then.
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

MergeRoots = Mapping[str, str]  # node id → the id of its merge root


def graph_as_of(
    engine: EngineContext, scope: Scope, snapshot: GraphSnapshot, then: PointInTime
) -> GraphSnapshot:
    """``snapshot``: the current one, limited to the caller's visibility; no item is added to it.
    Storylines and macros tell what is known today: of another moment there are none."""
    known_at = then.known_at
    if not then.is_now:
        snapshot = replace(snapshot, storylines={}, macros={})
    if known_at is None:
        return snapshot
    roots = merge_roots_of(engine, scope, snapshot)
    found = engine.store.assertions(scope, AssertionQuery(nodes=[*roots], ends=[*roots]))
    node_assertions = [t for t in found.nodes if t.recorded_at <= known_at]
    nodes = _nodes_as_of(snapshot, node_assertions, roots)
    edge_assertions = [
        t
        for t in found.edges
        if t.recorded_at <= known_at and {roots.get(t.a), roots.get(t.b)} <= nodes.keys()
    ]
    mentioned = {(t.source.id, roots[t.node]) for t in node_assertions if t.source and t.stands}
    return replace(
        snapshot,
        nodes=nodes,
        edges=_edges_as_of(snapshot, edge_assertions, roots, nodes),
        notes={
            id: tuple(note for note in notes if note.date_added <= known_at)
            for id, notes in snapshot.notes.items()
        },
        mentions=tuple(m for m in snapshot.mentions if (m.source, m.node) in mentioned),
        artifacts={id: a for id, a in snapshot.artifacts.items() if a.created_at <= known_at},
    )


def merge_roots_of(engine: EngineContext, scope: Scope, snapshot: GraphSnapshot) -> MergeRoots:
    """The merge roots of the snapshot's nodes and of all nodes merged into them."""
    roots = {id: id for id in snapshot.nodes}
    pending = list(roots)
    while pending:
        found = engine.store.graph_items(scope, GraphQuery(merged_into=pending)).nodes
        pending = [node.id for node in found if node.id not in roots]
        roots |= {node.id: roots[str(node.merged_into)] for node in found}
    return roots


def _nodes_as_of(
    snapshot: GraphSnapshot, assertions: Sequence[NodeAssertion], roots: MergeRoots
) -> dict[str, Node]:
    by_node: dict[str, list[NodeAssertion]] = defaultdict(list)
    for assertion in assertions:
        by_node[roots[assertion.node]].append(assertion)
    found: dict[str, Node] = {}
    for id, node in snapshot.nodes.items():
        folded = fold_node(by_node[id], root=id, key_of=name_key)
        if node.is_owner:
            found[id] = node
        elif folded is not None:
            found[id] = node.evolve(
                **{name: getattr(folded, name) for name in FoldedNode.__slots__}
            )
    return found


def _edges_as_of(
    snapshot: GraphSnapshot,
    assertions: Sequence[EdgeAssertion],
    roots: MergeRoots,
    nodes: Mapping[str, Node],
) -> dict[str, Edge]:
    """Edges keep their current ids. An edge that is part of another one now gets the id of its
    first assertion."""
    canonical = {
        t.id: canonical_assertion(t, roots.__getitem__, lambda id: nodes[id].type)
        for t in assertions
    }
    edge_of = {t.id: t.edge for t in assertions}
    found: dict[str, Edge] = {}
    for period in fold_edges(t for t in canonical.values() if t.a != t.b):
        votes = Counter(edge_of[id] for id in period.assertions if edge_of[id] not in found)
        id = votes.most_common(1)[0][0] if votes else period.assertions[0]
        if id in snapshot.edges or not votes:
            found[id] = _edge_as_of(id, period, snapshot, nodes)
    return found


def _edge_as_of(
    id: str, period: EdgePeriod, snapshot: GraphSnapshot, nodes: Mapping[str, Node]
) -> Edge:
    kind = edge_kind_between(nodes[period.a].type, nodes[period.b].type)
    fields = period.edge_fields | {"kind": kind}
    if id in snapshot.edges:
        return snapshot.edges[id].evolve(**fields)
    owner = next(iter(nodes.values())).user_id
    at = period.recorded_at
    return Edge(id=id, user_id=owner, created_at=at, updated_at=at, **fields)

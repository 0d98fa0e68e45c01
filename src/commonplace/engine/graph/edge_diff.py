"""Edge diff: compute edges from their assertions and match them to the stored edges.

Assertions that can contradict each other share a thread. Folding the connected threads gives
periods, and each period becomes an edge.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace

from commonplace.engine.graph.unit_of_work import GraphUnitOfWork
from commonplace.model.graph.assertion import EdgeAssertion
from commonplace.model.graph.edge_fold import (
    AssertionThread,
    EdgePeriod,
    assertion_threads,
    best_description,
    fold_edges,
)
from commonplace.model.graph.elements import EDGE_PREFIX, Edge
from commonplace.model.graph.types import (
    NodeType,
    canonical_relationship,
    edge_kind_between,
    equivalent_types,
    is_type_order,
)


@dataclass(frozen=True, slots=True)
class EdgeChange:
    before: Edge | None
    after: Edge
    assertions: tuple[EdgeAssertion, ...] = ()  # new or changed
    removed_assertions: tuple[str, ...] = ()


@dataclass(slots=True)
class EdgeDiff:
    edges: list[EdgeChange] = field(default_factory=list)
    removed: list[Edge] = field(default_factory=list)


TypeOf = Callable[[str], NodeType]
ByEdge = Mapping[str, list[EdgeAssertion]]


def diff_edges(work: GraphUnitOfWork, type_of: TypeOf) -> EdgeDiff:
    """All edges whose assertions changed, with the edges that these could contradict."""
    moved = work.edge_assertions.values() if work.changed_nodes else ()
    with_moved_ends = [t for t in moved if _has_moved_ends(work, t)]
    touched = [*work.touched_relations(), *with_moved_ends]
    if not touched:
        return EdgeDiff()
    canonical = _load_threads(work, touched, type_of)
    threads = _connected_threads(
        canonical.values(), [_canonical(work, t, type_of) for t in touched]
    )
    connected = {t.id: t for t in canonical.values() if _thread_set(t) & threads}
    periods = _match_edges(fold_edges(t for t in connected.values() if t.a != t.b), connected, work)
    return _compare_edges(work, periods, {*connected, *(t.id for t in touched)}, type_of)


def _has_moved_ends(work: GraphUnitOfWork, assertion: EdgeAssertion) -> bool:
    """Nodes were merged or split, so the edge of this assertion may have other ends now."""
    edge = work.edges.get(assertion.edge)
    ends = {assertion.a, assertion.b, work.root(assertion.a), work.root(assertion.b)}
    return bool((ends | set(edge.ends if edge else ())) & work.changed_nodes.keys())


def canonical_assertion(
    assertion: EdgeAssertion, root: Callable[[str], str], type_of: TypeOf
) -> EdgeAssertion:
    """The assertion between the merge roots of its ends, with the stored direction and type."""
    a, b, type = canonical_relationship(root(assertion.a), root(assertion.b), assertion.type)
    if not is_type_order(type_of(a), type_of(b)):
        a, b = b, a
    if (a, b, type) == (assertion.a, assertion.b, assertion.type):
        return assertion
    return replace(assertion, a=a, b=b, type=type)


def _canonical(work: GraphUnitOfWork, assertion: EdgeAssertion, type_of: TypeOf) -> EdgeAssertion:
    return canonical_assertion(assertion, work.root, type_of)


def _thread_set(assertion: EdgeAssertion) -> frozenset[AssertionThread]:
    return frozenset(assertion_threads(assertion.a, assertion.b, assertion.type))


def _connected_threads(
    canonical: Iterable[EdgeAssertion], touched: Iterable[EdgeAssertion]
) -> set[AssertionThread]:
    """The threads of these assertions, and all that are connected with them."""
    threads = {thread for assertion in touched for thread in _thread_set(assertion)}
    thread_sets = {_thread_set(assertion) for assertion in canonical}  # a set: most are equal
    while grown := [each for each in thread_sets if each & threads and not each <= threads]:
        threads.update(*grown)
    return threads


def _load_threads(
    work: GraphUnitOfWork, touched: Iterable[EdgeAssertion], type_of: TypeOf
) -> dict[str, EdgeAssertion]:
    """Load the assertions of all connected threads, until there are no new ones. Returns all
    loaded edge assertions in canonical form, by id."""
    touched = list(touched)
    work.load_identities(end for assertion in touched for end in (assertion.a, assertion.b))
    threads: set[AssertionThread] = set()
    canonical: dict[str, EdgeAssertion] = {}
    while True:
        for id, assertion in work.edge_assertions.items():
            if id not in canonical:
                canonical[id] = _canonical(work, assertion, type_of)
        grown = _connected_threads(
            canonical.values(), [_canonical(work, t, type_of) for t in touched]
        )
        if grown <= threads:
            return canonical
        ends_by_types: dict[frozenset[str], set[str]] = {}  # one read for all threads of a type
        for thread in grown - threads:
            types = frozenset(equivalent_types(thread[-1]))
            ends_by_types.setdefault(types, set()).update(thread[:-1])
        for types, ends in ends_by_types.items():
            work.load_relations(sorted(ends), sorted(types))
        threads |= grown


def _match_edges(
    periods: Iterable[EdgePeriod], assertions: Mapping[str, EdgeAssertion], work: GraphUnitOfWork
) -> list[tuple[str, EdgePeriod]]:
    """A period keeps the id of the edge that most of its assertions belonged to."""
    taken: set[str] = set()
    matched = []
    for period in periods:
        votes = Counter(
            assertions[id].edge for id in period.assertions if assertions[id].edge in work.edges
        )
        known = [id for id, _ in votes.most_common() if id not in taken]
        id = known[0] if known else EDGE_PREFIX + work.engine.new_id()
        taken.add(id)
        matched.append((id, period))
    return matched


def _compare_edges(
    work: GraphUnitOfWork,
    periods: list[tuple[str, EdgePeriod]],
    assertion_ids: set[str],
    type_of: TypeOf,
) -> EdgeDiff:
    edge_of = {each: id for id, period in periods for each in period.assertions}
    for id in edge_of:
        if work.edge_assertions[id].edge != edge_of[id]:
            work.edge_assertions[id] = replace(work.edge_assertions[id], edge=edge_of[id])
    loaded = [t for t in work.before.values() if isinstance(t, EdgeAssertion)]
    changed = _group_by_edge(work.changed_relations())
    removed = _group_by_edge(t for t in loaded if t.id not in work.edge_assertions)
    diff = EdgeDiff()
    for id, period in periods:
        before = work.edges.get(id)
        after = _build_edge(work, id, period, before, type_of)
        removed_ids = tuple(t.id for t in removed.get(id, ()))
        diff.edges.append(EdgeChange(before, after, tuple(changed.get(id, ())), removed_ids))
    edge_ids = {id for id, _ in periods}
    for id in sorted({t.edge for t in loaded if t.id in assertion_ids} - edge_ids):
        _drop_unsupported(work, id, changed, removed, diff)
    return diff


def _drop_unsupported(
    work: GraphUnitOfWork, id: str, changed: ByEdge, removed: ByEdge, diff: EdgeDiff
) -> None:
    """No active assertion supports this edge. It is hidden while forgotten assertions remain, with
    a description from these: no text of an erased source may stay in it. Else it is removed."""
    edge = work.edges.get(id)
    if edge is None:
        return
    forgotten = [assertion for assertion in work.edge_assertions.values() if assertion.edge == id]
    if forgotten:
        removed_ids = tuple(t.id for t in removed.get(id, ()))
        moved = work.changed_edges.get(id, edge)
        hidden = moved.evolve(stands=False, description=best_description(forgotten))
        diff.edges.append(EdgeChange(edge, hidden, tuple(changed.get(id, ())), removed_ids))
    else:
        diff.removed.append(edge)


def _build_edge(
    work: GraphUnitOfWork, id: str, period: EdgePeriod, before: Edge | None, type_of: TypeOf
) -> Edge:
    kind = edge_kind_between(type_of(period.a), type_of(period.b))
    fields = period.edge_fields | {"kind": kind, "stands": True}
    if before is not None:
        if before.purge_at and _is_reasserted(work, period):
            fields["purge_at"] = None
        return work.changed_edges.get(id, before).evolve(**fields)
    return Edge(id=id, user_id=work.scope.name, created_at=work.at, updated_at=work.at, **fields)


def _is_reasserted(work: GraphUnitOfWork, period: EdgePeriod) -> bool:
    """True if a person asserted it again after it was forgotten."""
    new = (work.edge_assertions[id] for id in period.assertions if id not in work.before)
    return any(assertion.source is None and not assertion.ends for assertion in new)


def _group_by_edge(assertions: Iterable[EdgeAssertion]) -> dict[str, list[EdgeAssertion]]:
    grouped: dict[str, list[EdgeAssertion]] = defaultdict(list)
    for assertion in assertions:
        grouped[assertion.edge].append(assertion)
    return grouped

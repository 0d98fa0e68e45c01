"""Edge diff: which edges the relation assertions amount to, matched to the old ones."""

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
    told: tuple[EdgeAssertion, ...] = ()
    removed_assertions: tuple[str, ...] = ()


@dataclass(slots=True)
class EdgeDiff:
    edges: list[EdgeChange] = field(default_factory=list)
    gone: list[Edge] = field(default_factory=list)


TypeOf = Callable[[str], NodeType]
ByEdge = Mapping[str, list[EdgeAssertion]]


def diff_edges(work: GraphUnitOfWork, type_of: TypeOf) -> EdgeDiff:
    """All edges whose tellings are other than they were, with those that these could contradict."""
    moved = work.related.values() if work.changed_nodes else ()
    redrawn = [t for t in moved if _has_moved_ends(work, t)]
    touched = [*work.touched_relations(), *redrawn]
    if not touched:
        return EdgeDiff()
    related = _load_threads(work, touched, type_of)
    threads = _connected_threads(related.values(), [_canonical(work, t, type_of) for t in touched])
    met = {t.id: t for t in related.values() if _thread_set(t) & threads}
    made = _match_edges(fold_edges(t for t in met.values() if t.a != t.b), met, work)
    return _compare_edges(work, made, {*met, *(t.id for t in touched)}, type_of)


def _has_moved_ends(work: GraphUnitOfWork, assertion: EdgeAssertion) -> bool:
    """Nodes were merged or split: its edge has other ends now than it had."""
    edge = work.edges.get(assertion.edge)
    ends = {assertion.a, assertion.b, work.root(assertion.a), work.root(assertion.b)}
    return bool((ends | set(edge.ends if edge else ())) & work.changed_nodes.keys())


def canonical_assertion(
    assertion: EdgeAssertion, root: Callable[[str], str], type_of: TypeOf
) -> EdgeAssertion:
    """Between the nodes that speak for its ends, in the one form that a relation is kept in."""
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
    placed: Iterable[EdgeAssertion], touched: Iterable[EdgeAssertion]
) -> set[AssertionThread]:
    """The threads of these, and those that hang together with them."""
    threads = {thread for assertion in touched for thread in _thread_set(assertion)}
    rest = {_thread_set(assertion) for assertion in placed}  # most tell of the same relations
    while grown := [each for each in rest if each & threads and not each <= threads]:
        threads.update(*grown)
    return threads


def _load_threads(
    work: GraphUnitOfWork, touched: Iterable[EdgeAssertion], type_of: TypeOf
) -> dict[str, EdgeAssertion]:
    """Everybody who takes part in one of the threads, until no one is new. All that is related, as
    it is placed."""
    touched = list(touched)
    work.load_identities(end for assertion in touched for end in (assertion.a, assertion.b))
    threads: set[AssertionThread] = set()
    related: dict[str, EdgeAssertion] = {}
    while True:
        for id, assertion in work.related.items():
            if id not in related:
                related[id] = _canonical(work, assertion, type_of)
        grown = _connected_threads(
            related.values(), [_canonical(work, t, type_of) for t in touched]
        )
        if grown <= threads:
            return related
        for thread in grown - threads:
            work.load_relations(thread[:-1], equivalent_types(thread[-1]))
        threads |= grown


def _match_edges(
    made: Iterable[EdgePeriod], met: Mapping[str, EdgeAssertion], work: GraphUnitOfWork
) -> list[tuple[str, EdgePeriod]]:
    """A stretch keeps the id of the edge that most of its tellings were part of."""
    taken: set[str] = set()
    matched = []
    for stretch in made:
        votes = Counter(met[id].edge for id in stretch.assertions if met[id].edge in work.edges)
        known = [id for id, _ in votes.most_common() if id not in taken]
        id = known[0] if known else EDGE_PREFIX + work.engine.new_id()
        taken.add(id)
        matched.append((id, stretch))
    return matched


def _compare_edges(
    work: GraphUnitOfWork, made: list[tuple[str, EdgePeriod]], met: set[str], type_of: TypeOf
) -> EdgeDiff:
    home = {assertion: id for id, stretch in made for assertion in stretch.assertions}
    for id in home:
        if work.related[id].edge != home[id]:
            work.related[id] = replace(work.related[id], edge=home[id])
    old = [t for t in work.before.values() if isinstance(t, EdgeAssertion)]
    told = _group_by_edge(work.changed_relations())
    left = _group_by_edge(t for t in old if t.id not in work.related)
    found = EdgeDiff()
    for id, stretch in made:
        before = work.edges.get(id)
        after = _build_edge(work, id, stretch, before, type_of)
        untold = tuple(t.id for t in left.get(id, ()))
        found.edges.append(EdgeChange(before, after, tuple(told.get(id, ())), untold))
    drawn = {id for id, _ in made}
    for id in sorted({t.edge for t in old if t.id in met} - drawn):
        _drop_unsupported(work, id, told, left, found)
    return found


def _drop_unsupported(
    work: GraphUnitOfWork, id: str, told: ByEdge, left: ByEdge, found: EdgeDiff
) -> None:
    """All that tells of it is forgotten, gone, or tells of one node's relation to itself. Hidden,
    it says what those say that are left: no word of an erased one stays in it."""
    edge = work.edges.get(id)
    if edge is None:
        return
    forgotten = [assertion for assertion in work.related.values() if assertion.edge == id]
    if forgotten:
        untold = tuple(t.id for t in left.get(id, ()))
        hidden = edge.evolve(stands=False, description=best_description(forgotten))
        found.edges.append(EdgeChange(edge, hidden, tuple(told.get(id, ())), untold))
    else:
        found.gone.append(edge)


def _build_edge(
    work: GraphUnitOfWork, id: str, stretch: EdgePeriod, before: Edge | None, type_of: TypeOf
) -> Edge:
    kind = edge_kind_between(type_of(stretch.a), type_of(stretch.b))
    fields = stretch.edge_fields | {"kind": kind, "stands": True}
    if before is not None:
        if before.purge_at and _is_reasserted(work, stretch):
            fields["purge_at"] = None
        return work.changed_edges.get(id, before).evolve(**fields)
    return Edge(id=id, user_id=work.scope.name, created_at=work.at, updated_at=work.at, **fields)


def _is_reasserted(work: GraphUnitOfWork, stretch: EdgePeriod) -> bool:
    """By somebody themself, after it was forgotten: then it is there again."""
    new = (work.related[id] for id in stretch.assertions if id not in work.before)
    return any(assertion.source is None and not assertion.ends for assertion in new)


def _group_by_edge(assertions: Iterable[EdgeAssertion]) -> dict[str, list[EdgeAssertion]]:
    grouped: dict[str, list[EdgeAssertion]] = defaultdict(list)
    for assertion in assertions:
        grouped[assertion.edge].append(assertion)
    return grouped

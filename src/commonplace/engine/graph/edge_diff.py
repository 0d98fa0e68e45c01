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


def diff_edges(canvas: GraphUnitOfWork, type_of: TypeOf) -> EdgeDiff:
    """All edges whose tellings are other than they were, with those that these could contradict."""
    moved = canvas.related.values() if canvas.changed_nodes else ()
    redrawn = [t for t in moved if _has_moved_ends(canvas, t)]
    touched = [*canvas.touched_relations(), *redrawn]
    if not touched:
        return EdgeDiff()
    related = _load_threads(canvas, touched, type_of)
    threads = _connected_threads(
        related.values(), [_canonical(canvas, t, type_of) for t in touched]
    )
    met = {t.id: t for t in related.values() if _thread_set(t) & threads}
    made = _match_edges(fold_edges(t for t in met.values() if t.a != t.b), met, canvas)
    return _compare_edges(canvas, made, {*met, *(t.id for t in touched)}, type_of)


def _has_moved_ends(canvas: GraphUnitOfWork, telling: EdgeAssertion) -> bool:
    """Nodes were merged or split: its edge has other ends now than it had."""
    edge = canvas.edges.get(telling.edge)
    ends = {telling.a, telling.b, canvas.root(telling.a), canvas.root(telling.b)}
    return bool((ends | set(edge.ends if edge else ())) & canvas.changed_nodes.keys())


def canonical_assertion(
    telling: EdgeAssertion, root: Callable[[str], str], type_of: TypeOf
) -> EdgeAssertion:
    """Between the nodes that speak for its ends, in the one form that a relation is kept in."""
    a, b, type = canonical_relationship(root(telling.a), root(telling.b), telling.type)
    if not is_type_order(type_of(a), type_of(b)):
        a, b = b, a
    if (a, b, type) == (telling.a, telling.b, telling.type):
        return telling
    return replace(telling, a=a, b=b, type=type)


def _canonical(canvas: GraphUnitOfWork, telling: EdgeAssertion, type_of: TypeOf) -> EdgeAssertion:
    return canonical_assertion(telling, canvas.root, type_of)


def _thread_set(telling: EdgeAssertion) -> frozenset[AssertionThread]:
    return frozenset(assertion_threads(telling.a, telling.b, telling.type))


def _connected_threads(
    placed: Iterable[EdgeAssertion], touched: Iterable[EdgeAssertion]
) -> set[AssertionThread]:
    """The threads of these, and those that hang together with them."""
    threads = {thread for telling in touched for thread in _thread_set(telling)}
    rest = {_thread_set(telling) for telling in placed}  # most tell of the same relations
    while grown := [each for each in rest if each & threads and not each <= threads]:
        threads.update(*grown)
    return threads


def _load_threads(
    canvas: GraphUnitOfWork, touched: Iterable[EdgeAssertion], type_of: TypeOf
) -> dict[str, EdgeAssertion]:
    """Everybody who takes part in one of the threads, until no one is new. All that is related, as
    it is placed."""
    touched = list(touched)
    canvas.load_identities(end for telling in touched for end in (telling.a, telling.b))
    threads: set[AssertionThread] = set()
    related: dict[str, EdgeAssertion] = {}
    while True:
        for id, telling in canvas.related.items():
            if id not in related:
                related[id] = _canonical(canvas, telling, type_of)
        grown = _connected_threads(
            related.values(), [_canonical(canvas, t, type_of) for t in touched]
        )
        if grown <= threads:
            return related
        for thread in grown - threads:
            canvas.load_relations(thread[:-1], equivalent_types(thread[-1]))
        threads |= grown


def _match_edges(
    made: Iterable[EdgePeriod], met: Mapping[str, EdgeAssertion], canvas: GraphUnitOfWork
) -> list[tuple[str, EdgePeriod]]:
    """A stretch keeps the id of the edge that most of its tellings were part of."""
    taken: set[str] = set()
    matched = []
    for stretch in made:
        votes = Counter(met[id].edge for id in stretch.tellings if met[id].edge in canvas.edges)
        known = [id for id, _ in votes.most_common() if id not in taken]
        id = known[0] if known else EDGE_PREFIX + canvas.engine.new_id()
        taken.add(id)
        matched.append((id, stretch))
    return matched


def _compare_edges(
    canvas: GraphUnitOfWork, made: list[tuple[str, EdgePeriod]], met: set[str], type_of: TypeOf
) -> EdgeDiff:
    home = {telling: id for id, stretch in made for telling in stretch.tellings}
    for id in home:
        if canvas.related[id].edge != home[id]:
            canvas.related[id] = replace(canvas.related[id], edge=home[id])
    old = [t for t in canvas.before.values() if isinstance(t, EdgeAssertion)]
    told = _group_by_edge(canvas.changed_relations())
    left = _group_by_edge(t for t in old if t.id not in canvas.related)
    found = EdgeDiff()
    for id, stretch in made:
        before = canvas.edges.get(id)
        after = _build_edge(canvas, id, stretch, before, type_of)
        untold = tuple(t.id for t in left.get(id, ()))
        found.edges.append(EdgeChange(before, after, tuple(told.get(id, ())), untold))
    drawn = {id for id, _ in made}
    for id in sorted({t.edge for t in old if t.id in met} - drawn):
        _drop_unsupported(canvas, id, told, left, found)
    return found


def _drop_unsupported(
    canvas: GraphUnitOfWork, id: str, told: ByEdge, left: ByEdge, found: EdgeDiff
) -> None:
    """All that tells of it is forgotten, gone, or tells of one node's relation to itself. Hidden,
    it says what those say that are left: no word of an erased one stays in it."""
    edge = canvas.edges.get(id)
    if edge is None:
        return
    forgotten = [telling for telling in canvas.related.values() if telling.edge == id]
    if forgotten:
        untold = tuple(t.id for t in left.get(id, ()))
        hidden = edge.evolve(stands=False, description=best_description(forgotten))
        found.edges.append(EdgeChange(edge, hidden, tuple(told.get(id, ())), untold))
    else:
        found.gone.append(edge)


def _build_edge(
    canvas: GraphUnitOfWork, id: str, stretch: EdgePeriod, before: Edge | None, type_of: TypeOf
) -> Edge:
    fields = {name: getattr(stretch, name) for name in EdgePeriod.__slots__ if name != "tellings"}
    fields |= {"kind": edge_kind_between(type_of(stretch.a), type_of(stretch.b)), "stands": True}
    if before is not None:
        if before.purge_at and _is_reasserted(canvas, stretch):
            fields["purge_at"] = None
        return canvas.changed_edges.get(id, before).evolve(**fields)
    return Edge(
        id=id, user_id=canvas.scope.name, created_at=canvas.at, updated_at=canvas.at, **fields
    )


def _is_reasserted(canvas: GraphUnitOfWork, stretch: EdgePeriod) -> bool:
    """By somebody themself, after it was forgotten: then it is there again."""
    new = (canvas.related[id] for id in stretch.tellings if id not in canvas.before)
    return any(telling.source is None and not telling.ends for telling in new)


def _group_by_edge(tellings: Iterable[EdgeAssertion]) -> dict[str, list[EdgeAssertion]]:
    grouped: dict[str, list[EdgeAssertion]] = defaultdict(list)
    for telling in tellings:
        grouped[telling.edge].append(telling)
    return grouped

"""Which edges the tellings of relations come to, and which of the old ones they are."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace

from commonplace.graph.canvas import Canvas
from commonplace.model.graph.edge import PREFIX, Edge
from commonplace.model.graph.relationships import as_kept, spellings
from commonplace.model.graph.telling import EdgeTelling
from commonplace.model.graph.timeline import Stretch, Thread, description_of, stretches, threads_of
from commonplace.model.graph.words import NodeType, is_in_order, kind_between


@dataclass(frozen=True, slots=True)
class Woven:
    before: Edge | None
    after: Edge
    told: tuple[EdgeTelling, ...] = ()
    untold: tuple[str, ...] = ()


@dataclass(slots=True)
class Edges:
    edges: list[Woven] = field(default_factory=list)
    gone: list[Edge] = field(default_factory=list)


TypeOf = Callable[[str], NodeType]
ByEdge = Mapping[str, list[EdgeTelling]]


def edges_of(canvas: Canvas, type_of: TypeOf) -> Edges:
    """All edges whose tellings are other than they were, with those that these could contradict."""
    moved = canvas.related.values() if canvas.changed_nodes else ()
    redrawn = [t for t in moved if _is_drawn_elsewhere(canvas, t)]
    touched = [*canvas.other_relations(), *redrawn]
    if not touched:
        return Edges()
    related = _load_threads(canvas, touched, type_of)
    threads = _closure(related.values(), [_placed(canvas, t, type_of) for t in touched])
    met = {t.id: t for t in related.values() if _threads(t) & threads}
    made = _matched(stretches(t for t in met.values() if t.a != t.b), met, canvas)
    return _compared(canvas, made, {*met, *(t.id for t in touched)}, type_of)


def _is_drawn_elsewhere(canvas: Canvas, telling: EdgeTelling) -> bool:
    """Nodes were merged or split: its edge has other ends now than it had."""
    edge = canvas.edges.get(telling.edge)
    ends = {telling.a, telling.b, canvas.root(telling.a), canvas.root(telling.b)}
    return bool((ends | set(edge.ends if edge else ())) & canvas.changed_nodes.keys())


def placed(telling: EdgeTelling, root: Callable[[str], str], type_of: TypeOf) -> EdgeTelling:
    """Between the nodes that speak for its ends, in the one form that a relation is kept in."""
    a, b, type = as_kept(root(telling.a), root(telling.b), telling.type)
    if not is_in_order(type_of(a), type_of(b)):
        a, b = b, a
    if (a, b, type) == (telling.a, telling.b, telling.type):
        return telling
    return replace(telling, a=a, b=b, type=type)


def _placed(canvas: Canvas, telling: EdgeTelling, type_of: TypeOf) -> EdgeTelling:
    return placed(telling, canvas.root, type_of)


def _threads(telling: EdgeTelling) -> frozenset[Thread]:
    return frozenset(threads_of(telling.a, telling.b, telling.type))


def _closure(placed: Iterable[EdgeTelling], touched: Iterable[EdgeTelling]) -> set[Thread]:
    """The threads of these, and those that hang together with them."""
    threads = {thread for telling in touched for thread in _threads(telling)}
    rest = {_threads(telling) for telling in placed}  # most tell of the same relations
    while grown := [each for each in rest if each & threads and not each <= threads]:
        threads.update(*grown)
    return threads


def _load_threads(
    canvas: Canvas, touched: Iterable[EdgeTelling], type_of: TypeOf
) -> dict[str, EdgeTelling]:
    """Everybody who takes part in one of the threads, until no one is new. All that is related, as
    it is placed."""
    touched = list(touched)
    canvas.meet(end for telling in touched for end in (telling.a, telling.b))
    threads: set[Thread] = set()
    related: dict[str, EdgeTelling] = {}
    while True:
        for id, telling in canvas.related.items():
            if id not in related:
                related[id] = _placed(canvas, telling, type_of)
        grown = _closure(related.values(), [_placed(canvas, t, type_of) for t in touched])
        if grown <= threads:
            return related
        for thread in grown - threads:
            canvas.load_relations(thread[:-1], spellings(thread[-1]))
        threads |= grown


def _matched(
    made: Iterable[Stretch], met: Mapping[str, EdgeTelling], canvas: Canvas
) -> list[tuple[str, Stretch]]:
    """A stretch keeps the id of the edge that most of its tellings were part of."""
    taken: set[str] = set()
    matched = []
    for stretch in made:
        votes = Counter(met[id].edge for id in stretch.tellings if met[id].edge in canvas.edges)
        known = [id for id, _ in votes.most_common() if id not in taken]
        id = known[0] if known else PREFIX + canvas.desk.new_id()
        taken.add(id)
        matched.append((id, stretch))
    return matched


def _compared(
    canvas: Canvas, made: list[tuple[str, Stretch]], met: set[str], type_of: TypeOf
) -> Edges:
    home = {telling: id for id, stretch in made for telling in stretch.tellings}
    for id in home:
        if canvas.related[id].edge != home[id]:
            canvas.related[id] = replace(canvas.related[id], edge=home[id])
    old = [t for t in canvas.before.values() if isinstance(t, EdgeTelling)]
    told = _by_edge(canvas.changed_relations())
    left = _by_edge(t for t in old if t.id not in canvas.related)
    found = Edges()
    for id, stretch in made:
        before = canvas.edges.get(id)
        after = _edge(canvas, id, stretch, before, type_of)
        untold = tuple(t.id for t in left.get(id, ()))
        found.edges.append(Woven(before, after, tuple(told.get(id, ())), untold))
    drawn = {id for id, _ in made}
    for id in sorted({t.edge for t in old if t.id in met} - drawn):
        _without_a_stretch(canvas, id, told, left, found)
    return found


def _without_a_stretch(canvas: Canvas, id: str, told: ByEdge, left: ByEdge, found: Edges) -> None:
    """All that tells of it is forgotten, gone, or tells of one node's relation to itself. Hidden,
    it says what those say that are left: no word of an erased one stays in it."""
    edge = canvas.edges.get(id)
    if edge is None:
        return
    forgotten = [telling for telling in canvas.related.values() if telling.edge == id]
    if forgotten:
        untold = tuple(t.id for t in left.get(id, ()))
        hidden = edge.evolve(stands=False, description=description_of(forgotten))
        found.edges.append(Woven(edge, hidden, tuple(told.get(id, ())), untold))
    else:
        found.gone.append(edge)


def _edge(canvas: Canvas, id: str, stretch: Stretch, before: Edge | None, type_of: TypeOf) -> Edge:
    fields = {name: getattr(stretch, name) for name in Stretch.__slots__ if name != "tellings"}
    fields |= {"kind": kind_between(type_of(stretch.a), type_of(stretch.b)), "stands": True}
    if before is not None:
        if before.purge_at and _is_said_anew(canvas, stretch):
            fields["purge_at"] = None
        return canvas.changed_edges.get(id, before).evolve(**fields)
    return Edge(
        id=id, user_id=canvas.scope.name, created_at=canvas.at, updated_at=canvas.at, **fields
    )


def _is_said_anew(canvas: Canvas, stretch: Stretch) -> bool:
    """By somebody themself, after it was forgotten: then it is there again."""
    new = (canvas.related[id] for id in stretch.tellings if id not in canvas.before)
    return any(telling.source is None and not telling.ends for telling in new)


def _by_edge(tellings: Iterable[EdgeTelling]) -> dict[str, list[EdgeTelling]]:
    grouped: dict[str, list[EdgeTelling]] = defaultdict(list)
    for telling in tellings:
        grouped[telling.edge].append(telling)
    return grouped

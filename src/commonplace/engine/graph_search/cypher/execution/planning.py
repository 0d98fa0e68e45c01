"""Plan the order in which a pattern is matched; adjacency for that order."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from commonplace.engine.graph_search.cypher.syntax.tree import (
    BinaryOperation,
    ComparisonChain,
    Expression,
    LabelTest,
    NodePattern,
    PathPattern,
    PropertyAccess,
    RelationshipPattern,
    VariableRef,
    variables_in,
)
from commonplace.engine.graph_search.cypher.values import (
    CypherGraph,
    CypherNode,
    CypherRelationship,
)

_UNREACHABLE = 1e18
_LABEL_SHARE = 0.3  # estimated selectivity of a condition


@dataclass(frozen=True, slots=True)
class PatternHop:
    """A relationship of a pattern between two nodes, by their names."""

    name: str
    left: str
    right: str
    pattern: RelationshipPattern
    shortest: str | None = None

    @property
    def is_long(self) -> bool:
        return self.pattern.hops is not None


@dataclass(frozen=True, slots=True)
class PlanStep:
    """One step of a match, and the conditions to test after it."""

    kind: str  # check, scan, relationships, expand, walk, shortest, path
    hop: PatternHop | None = None
    node: str = ""  # scan
    label: str | None = None  # scan
    key: str | None = None  # scan: the property to look up
    value: Expression | None = None
    origin: str = ""  # expand: the end to start from
    path: PathPattern | None = None
    known: frozenset[str] = frozenset()  # names bound before the step
    tests: tuple[Expression, ...] = ()


@dataclass(slots=True)
class PatternParts:
    """The nodes and relationships of one MATCH, each with a unique name."""

    prefix: str = "\0"  # of generated names; no query can contain this character
    nodes: dict[str, None] = field(default_factory=dict)
    hops: list[PatternHop] = field(default_factory=list)
    paths: list[tuple[PathPattern, str, tuple[PatternHop, ...]]] = field(default_factory=list)
    conditions: list[Expression] = field(default_factory=list)
    generated: int = 0

    def take(self, paths: Iterable[PathPattern]) -> None:
        for path in paths:
            at = start = self._node(path.start)
            hops = []
            for relationship, node in path.steps:
                following = self._node(node)
                name = relationship.variable or self._name()
                hops.append(PatternHop(name, at, following, relationship, path.shortest))
                if relationship.properties and not relationship.hops:
                    self.conditions += _equalities(name, relationship.properties.items)
                at = following
            self.hops += hops
            if path.variable:
                self.paths.append((path, start, tuple(hops)))

    def _node(self, node: NodePattern) -> str:
        name = node.variable or self._name()
        self.nodes[name] = None
        if node.labels:
            self.conditions.append(LabelTest(VariableRef(name), node.labels))
        if node.properties:
            self.conditions += _equalities(name, node.properties.items)
        return name

    def _name(self) -> str:
        self.generated += 1
        return f"{self.prefix}.{self.generated}"


def _equalities(name: str, items: Sequence[tuple[str, Expression]]) -> Iterator[Expression]:
    for key, value in items:
        yield ComparisonChain((PropertyAccess(VariableRef(name), key), value), ("=",))


def conjuncts(condition: Expression | None) -> list[Expression]:
    """The operands of a AND b AND c."""
    if condition is None:
        return []
    if isinstance(condition, BinaryOperation) and condition.sign == "AND":
        return conjuncts(condition.left) + conjuncts(condition.right)
    return [condition]


class MatchPlanner:
    def __init__(
        self, graph: CypherGraph, parts: PatternParts, where: Expression | None, known: set[str]
    ) -> None:
        self._graph = graph
        self._parts = parts
        self._bound = set(known)
        self._names = known | parts.nodes.keys() | {hop.name for hop in parts.hops}
        self._names |= {path.variable or "" for path, _, _ in parts.paths}
        self._pending = [*parts.conditions, *conjuncts(where)]
        self._hops = list(parts.hops)
        self._nodes = [name for name in parts.nodes if name not in known]
        self._given = frozenset(known)

    def steps(self) -> list[PlanStep]:
        found = [self._with_tests(PlanStep("check"))]
        while self._hops or self._nodes:
            known = frozenset(self._bound)
            found.append(self._with_tests(replace(self._next(), known=known)))
        for path, _, _ in self._parts.paths:
            self._bound.add(path.variable or "")
            found.append(self._with_tests(PlanStep("path", path=path)))
        return found

    def _with_tests(self, step: PlanStep) -> PlanStep:
        """Add the conditions whose variables are all bound."""
        ready: list[Expression] = []
        pending: list[Expression] = []
        for condition in self._pending:
            needed = variables_in(condition) & self._names
            (ready if needed <= self._bound else pending).append(condition)
        self._pending = pending
        return replace(step, tests=tuple(ready))

    def _next(self) -> PlanStep:
        costs = [(self._cost(hop), number) for number, hop in enumerate(self._hops)]
        cost, number = min(costs, default=(_UNREACHABLE, 0))
        if cost < _UNREACHABLE:
            return self._expansion(self._hops.pop(number))
        return self._start()

    # ——— expand from bound nodes ———

    def _cost(self, hop: PatternHop) -> float:
        """Estimated rows per input row; a large number if neither end is bound."""
        ends = (hop.left in self._bound) + (hop.right in self._bound)
        if hop.name in self._given:
            return 0.0
        if hop.shortest:
            return 500.0 if ends == 2 else _UNREACHABLE
        if not ends or not self._is_ready(hop):
            return _UNREACHABLE
        if ends == 2 and not hop.is_long:
            return 0.01
        degree = self._degree(hop)
        if not hop.is_long:
            target = hop.right if hop.left in self._bound else hop.left
            return degree * self._share(target, hop)
        assert hop.pattern.hops
        most = hop.pattern.hops.most
        return 1000.0 + min(1e9, max(degree, 1.1) ** (10 if most is None else min(most, 10)))

    def _is_ready(self, hop: PatternHop) -> bool:
        """Whether the properties of a variable-length hop can be evaluated."""
        return variables_in(hop.pattern.properties) & self._names <= self._bound

    def _degree(self, hop: PatternHop) -> float:
        count = self._graph.count_of_types(hop.pattern.types) / max(1, len(self._graph.nodes))
        return count * (2 if hop.pattern.arrow == "-" else 1)

    def _share(self, node: str, hop: PatternHop) -> float:
        about = [one for one in self._pending if variables_in(one) & {node, hop.name}]
        return _LABEL_SHARE ** len(about)

    def _expansion(self, hop: PatternHop) -> PlanStep:
        origin = hop.left if hop.left in self._bound else hop.right
        self._bind(hop)
        if hop.name in self._given:
            return PlanStep("relationships", hop)
        if hop.shortest:
            return PlanStep("shortest", hop)
        return PlanStep("walk" if hop.is_long else "expand", hop, origin=origin)

    def _bind(self, hop: PatternHop) -> None:
        self._bound |= {hop.name, hop.left, hop.right}
        self._nodes = [name for name in self._nodes if name not in self._bound]

    # ——— start without bound nodes ———

    def _start(self) -> PlanStep:
        scans = [self._scan(name) for name in self._nodes]
        cost, step = min(scans, key=lambda one: one[0], default=(_UNREACHABLE, PlanStep("check")))
        plain = [h for h in self._hops if not h.is_long and not h.shortest and self._is_free(h)]
        for hop in plain:
            count = float(self._graph.count_of_types(hop.pattern.types))
            if count < cost:
                cost, step = count, PlanStep("relationships", hop)
        if step.hop is not None:
            self._hops.remove(step.hop)
            self._bind(step.hop)
        else:
            self._nodes.remove(step.node)
            self._bound.add(step.node)
        return step

    def _is_free(self, hop: PatternHop) -> bool:
        return hop.left not in self._bound and hop.right not in self._bound

    def _scan(self, name: str) -> tuple[float, PlanStep]:
        """The cheapest way to find a node: by a property, by a label, or all of them."""
        label = self._label(name)
        count = float(len(self._graph.labelled(label)))
        for condition in self._pending:
            if (found := _equality(condition, name)) is None:
                continue
            key, value = found
            if variables_in(value) & self._names <= self._bound:
                step = PlanStep("scan", node=name, label=label, key=key, value=value)
                return min(1.0, count), step
        has_hops = any(name in (hop.left, hop.right) for hop in self._hops)
        follows = min((self._degree(h) for h in self._hops if name in (h.left, h.right)), default=0)
        cost = count * (1 + follows) if has_hops else count
        return cost, PlanStep("scan", node=name, label=label)

    def _label(self, name: str) -> str | None:
        """The rarest of the labels that the node must have."""
        must = [
            group[0]
            for condition in self._pending
            if isinstance(condition, LabelTest) and condition.of == VariableRef(name)
            for group in condition.labels
            if len(group) == 1
        ]
        return min(must, key=lambda one: len(self._graph.labelled(one)), default=None)


def _equality(condition: Expression, name: str) -> tuple[str, Expression] | None:
    """name.key = value, in either order."""
    if not isinstance(condition, ComparisonChain) or condition.signs != ("=",):
        return None
    for one, other in (condition.operands, condition.operands[::-1]):
        if isinstance(one, PropertyAccess) and one.of == VariableRef(name):
            return (one.key, other) if name not in variables_in(other) else None
    return None


Sources = Callable[[CypherNode], Sequence[tuple[Sequence[CypherRelationship], bool]]]
_REVERSED = {"->": "<-", "<-": "->", "-": "-"}


def oriented(
    relationships: Iterable[CypherRelationship], arrow: str
) -> Iterator[tuple[CypherRelationship, CypherNode, CypherNode]]:
    """Each relationship with its left and right end; without an arrow, in both directions."""
    for one in relationships:
        if arrow != "<-":
            yield one, one.start, one.end
        if arrow == "<-" or (arrow == "-" and one.start is not one.end):
            yield one, one.end, one.start


def oriented_list(
    value: list[CypherRelationship], hop: PatternHop
) -> Iterator[tuple[list[CypherRelationship], CypherNode, CypherNode]]:
    """A bound list, if it is a path of the required length and direction."""
    hops = hop.pattern.hops
    assert hops
    if not value or len(value) < hops.least or len(value) > (hops.most or len(value)):
        return
    for _, first, _ in oriented(value[:1], hop.pattern.arrow):
        at = first
        for one in value:
            ends = {start: end for _, start, end in oriented((one,), hop.pattern.arrow)}
            if at not in ends:
                break
            at = ends[at]
        else:
            yield value, first, at


def sources_of(hop: PatternHop, forwards: bool) -> Sources:
    """The relationship lists of a node to search, each with whether they are outgoing."""
    arrow = hop.pattern.arrow if forwards else _REVERSED[hop.pattern.arrow]
    types, outwards, inwards = hop.pattern.types, arrow != "<-", arrow != "->"

    def of_types(node: CypherNode) -> list[tuple[Sequence[CypherRelationship], bool]]:
        found: list[tuple[Sequence[CypherRelationship], bool]] = []
        for type in types:
            if outwards and type in node.outgoing:
                found.append((node.outgoing[type], True))
            if inwards and type in node.incoming:
                found.append((node.incoming[type], False))
        return found

    def of_all(node: CypherNode) -> list[tuple[Sequence[CypherRelationship], bool]]:
        found: list[tuple[Sequence[CypherRelationship], bool]] = []
        if outwards:
            found += [(each, True) for each in node.outgoing.values()]
        if inwards:
            found += [(each, False) for each in node.incoming.values()]
        return found

    return of_types if types else of_all


def neighbours_of(
    hop: PatternHop, forwards: bool
) -> Callable[[CypherNode], Iterator[tuple[CypherRelationship, CypherNode]]]:
    sources, both_ways = sources_of(hop, forwards), hop.pattern.arrow == "-"

    def neighbours(node: CypherNode) -> Iterator[tuple[CypherRelationship, CypherNode]]:
        for relationships, outgoing in sources(node):
            for one in relationships:
                other = one.end if outgoing else one.start
                if not (both_ways and not outgoing and other is node):
                    yield one, other

    return neighbours


def trace_shortest_paths(
    reached: dict[CypherNode, list[tuple[CypherRelationship, CypherNode]]],
    start: CypherNode,
    end: CypherNode,
    tick: Callable[[], None],
) -> Iterator[list[CypherRelationship]]:
    """All shortest paths from start to end, traced back by the predecessors in ``reached``; the
    nodes on the way are counted by ``tick``."""
    pending: list[tuple[CypherNode, tuple[CypherRelationship, ...]]] = [(end, ())]
    while pending:
        node, trail = pending.pop()
        tick()
        if node is start and trail:
            yield list(trail)
            continue
        for one, before in reached[node]:
            pending.append((before, (one, *trail)))

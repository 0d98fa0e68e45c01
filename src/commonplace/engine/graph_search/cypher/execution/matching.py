"""Match patterns: each step of a plan becomes a generator that binds slots of a row.

A row is changed in place, once for each match. Within one MATCH no relationship is matched twice: a
slot of the row holds the set of used ones.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from commonplace.engine.graph_search.cypher.execution.budget import QueryBudget
from commonplace.engine.graph_search.cypher.execution.expressions import ExpressionCompiler
from commonplace.engine.graph_search.cypher.execution.operators import truth
from commonplace.engine.graph_search.cypher.execution.planning import (
    MatchPlanner,
    PatternHop,
    PatternParts,
    PlanStep,
    neighbours_of,
    oriented,
    oriented_list,
    sources_of,
    trace_shortest_paths,
)
from commonplace.engine.graph_search.cypher.execution.rows import (
    Evaluate,
    Row,
    Search,
    VariableScope,
)
from commonplace.engine.graph_search.cypher.syntax.tree import Expression, MapLiteral, PathPattern
from commonplace.engine.graph_search.cypher.values import (
    CypherGraph,
    CypherNode,
    CypherPath,
    CypherRelationship,
    equals,
    type_name,
)
from commonplace.errors import BadCypher

Step = Callable[[Row], Iterator[Any]]  # binds slots of the row, and yields once per match


class MatchCompiler:
    def __init__(self, graph: CypherGraph, budget: QueryBudget) -> None:
        self._graph = graph
        self._budget = budget

    def search(
        self,
        paths: Iterable[PathPattern],
        where: Expression | None,
        scope: VariableScope,
        expressions: ExpressionCompiler,
    ) -> Search:
        """Adds the variables of the patterns to the scope."""
        parts = PatternParts(f"\0{scope.layout.size}")  # distinct from an outer MATCH
        parts.take(paths)
        known = set(scope.slots)
        checked = [name for name in parts.nodes if name in known]
        hop_names = [hop.name for hop in parts.hops]
        path_names = [path.variable for path, _, _ in parts.paths]
        for name in (*parts.nodes, *hop_names, *path_names):
            if name not in scope.slots:
                scope.add(name)
        plan = MatchPlanner(self._graph, parts, where, known).steps()
        inner = PatternSteps(self._graph, self._budget, scope, expressions, parts)
        steps = [inner.step(each) for each in plan]
        for name in [name for name in scope.slots if name.startswith("\0")]:
            del scope.slots[name]
        return _chained(inner.prepared([*checked]), steps)


def _chained(prepare: Callable[[Row], bool], steps: list[Step]) -> Search:
    run = steps[-1]
    for step in reversed(steps[:-1]):
        run = _joined(step, run)

    def search(row: Row) -> Iterator[Any]:
        return run(row) if prepare(row) else iter(())

    return search


def _joined(first: Step, second: Step) -> Step:
    def run(row: Row) -> Iterator[Any]:
        for _ in first(row):
            yield from second(row)

    return run


class PatternSteps:
    """Compiles the steps of one MATCH."""

    def __init__(
        self,
        graph: CypherGraph,
        budget: QueryBudget,
        scope: VariableScope,
        expressions: ExpressionCompiler,
        parts: PatternParts,
    ) -> None:
        self._graph = graph
        self._budget = budget
        self._scope = scope.inner()
        self._expressions = expressions
        self._parts = parts
        self._used = scope.layout.add()
        self._tracks = len(parts.hops) > 1

    def prepared(self, nodes: Sequence[str]) -> Callable[[Row], bool]:
        """Check that bound values can match, and reset the used relationships."""
        slots = [(self._scope.slots[name], name) for name in nodes]
        used = self._used

        def prepare(row: Row) -> bool:
            row[used] = set()
            for slot, name in slots:
                value = row[slot]
                if type(value) is not CypherNode:
                    if value is None:
                        return False
                    raise BadCypher(f"{name} is {type_name(value)}, and is matched as a node.")
            return True

        return prepare

    def step(self, step: PlanStep) -> Step:
        test = self._test(step.tests)
        if step.kind == "check":
            return _filter(test)
        if step.kind == "path":
            assert step.path
            return self._path(step.path, test)
        if step.kind == "scan":
            return self._scan(step, test)
        assert step.hop
        if step.kind == "relationships":
            return self._relationships(step.hop, step.known, test)
        if step.kind == "shortest":
            return self._shortest(step.hop, test)
        if step.kind == "walk":
            return self._walk(step, test)
        return self._expand(step, test)

    def _test(self, conditions: Sequence[Expression]) -> Evaluate | None:
        tests = [self._expressions.compile(each, self._scope) for each in conditions]
        if not tests:
            return None
        if len(tests) == 1:
            only = tests[0]
            return lambda row: truth(only(row))

        def all_hold(row: Row) -> bool:
            return all(truth(test(row)) for test in tests)

        return all_hold

    def _slot(self, name: str) -> int:
        return self._scope.slots[name]

    # ——— nodes ———

    def _scan(self, step: PlanStep, test: Evaluate | None) -> Step:
        slot, tick = self._slot(step.node), self._budget.step
        candidates = self._candidates(step)

        def scan(row: Row) -> Iterator[Any]:
            for node in candidates(row):
                tick()
                row[slot] = node
                if test is None or test(row):
                    yield None

        return scan

    def _candidates(self, step: PlanStep) -> Callable[[Row], Sequence[CypherNode]]:
        label, key, graph = step.label, step.key, self._graph
        if key is None or step.value is None:
            nodes = graph.labelled(label)
            return lambda row: nodes
        value, name = self._expressions.compile(step.value, self._scope), key
        return lambda row: graph.lookup(label, name, value(row))

    # ——— one relationship ———

    def _expand(self, step: PlanStep, test: Evaluate | None) -> Step:
        hop = step.hop
        assert hop
        origin, slot = self._slot(step.origin), self._slot(hop.name)
        end = hop.right if step.origin == hop.left else hop.left
        target, known = self._slot(end), end in step.known
        sources, both_ways = sources_of(hop, step.origin == hop.left), hop.pattern.arrow == "-"
        used_slot, tracks, tick = self._used, self._tracks, self._budget.steps

        def expand(row: Row) -> Iterator[Any]:
            node, used = row[origin], row[used_slot]
            for relationships, outgoing in sources(node):
                tick(len(relationships))
                for one in relationships:
                    other = one.end if outgoing else one.start
                    if tracks and one in used:
                        continue
                    if other is node and both_ways and not outgoing:
                        continue
                    if known:
                        if row[target] is not other:
                            continue
                    else:
                        row[target] = other
                    row[slot] = one
                    if test is not None and not test(row):
                        continue
                    if tracks:
                        used.add(one)
                        yield None
                        used.discard(one)
                    else:
                        yield None

        return expand

    def _relationships(self, hop: PatternHop, bound: frozenset[str], test: Evaluate | None) -> Step:
        """All relationships of the types, or the bound one."""
        if not bound & {hop.name, hop.left, hop.right} and hop.left != hop.right:
            return self._all_relationships(hop, test)
        slot, left, right = self._slot(hop.name), self._slot(hop.left), self._slot(hop.right)
        candidates, bind = self._oriented_candidates(hop, hop.name in bound), _binder(left, right)
        used_slot, tick, is_long = self._used, self._budget.step, hop.is_long
        known = (hop.left in bound, hop.right in bound)

        def each(row: Row) -> Iterator[Any]:
            used, before = row[used_slot], [row[left], row[right]]
            for value, start, end in candidates(row):
                tick()
                taken = value if is_long else (value,)
                if not bind(row, before, known, start, end) or any(o in used for o in taken):
                    continue
                row[slot] = value
                if test is None or test(row):
                    used.update(taken)
                    yield None
                    used.difference_update(taken)

        return each

    def _all_relationships(self, hop: PatternHop, test: Evaluate | None) -> Step:
        slot, left, right = self._slot(hop.name), self._slot(hop.left), self._slot(hop.right)
        arrow, everything = hop.pattern.arrow, self._graph.typed(hop.pattern.types)
        used_slot, tracks, tick = self._used, self._tracks, self._budget.step

        def each(row: Row) -> Iterator[Any]:
            used = row[used_slot]
            for one, start, end in oriented(everything, arrow):
                tick()
                row[slot], row[left], row[right] = one, start, end
                if tracks and one in used:
                    continue
                if test is None or test(row):
                    if tracks:
                        used.add(one)
                    yield None
                    used.discard(one)

        return each

    def _oriented_candidates(
        self, hop: PatternHop, is_given: bool
    ) -> Callable[[Row], Iterator[tuple[Any, Any, Any]]]:
        slot, types, arrow = self._slot(hop.name), hop.pattern.types, hop.pattern.arrow
        graph, fits = self._graph, self._fits(hop)
        if not is_given:
            everything = graph.typed(types)
            return lambda row: oriented(everything, arrow)

        def given(row: Row) -> Iterator[tuple[Any, Any, Any]]:
            value = row[slot]
            if value is None:
                return
            if hop.is_long:
                if isinstance(value, list) and all(fits(one, row) for one in value):
                    yield from oriented_list(value, hop)
                return
            if not isinstance(value, CypherRelationship):
                raise BadCypher(f"{hop.name} is {type_name(value)}, matched as a relationship.")
            if not types or value.type in types:
                yield from oriented((value,), arrow)

        return given

    # ——— several relationships ———

    def _fits(self, hop: PatternHop) -> Callable[[Any, Row], bool]:
        """Whether a relationship has the properties that a variable-length pattern requires."""
        properties: MapLiteral | None = hop.pattern.properties
        types, budget = hop.pattern.types, self._budget
        items = [
            (key, self._expressions.compile(value, self._scope))
            for key, value in (properties.items if properties and hop.is_long else ())
        ]

        def fits(one: CypherRelationship, row: Row) -> bool:
            if types and one.type not in types:
                return False
            return all(equals(budget, one.get(key), value(row)) is True for key, value in items)

        return fits

    def _walk(self, step: PlanStep, test: Evaluate | None) -> Step:
        hop = step.hop
        assert hop
        assert hop.pattern.hops
        origin, slot = self._slot(step.origin), self._slot(hop.name)
        forwards = step.origin == hop.left
        last = hop.right if forwards else hop.left
        target, known = self._slot(last), last in step.known
        trails, tick = self._trails(hop, forwards), self._budget.steps

        def walk(row: Row) -> Iterator[Any]:
            expected = row[target] if known else None
            for trail, end in trails(row[origin], row):
                if known and end is not expected:
                    continue
                tick(1 + len(trail))
                row[target] = end
                row[slot] = trail[:] if forwards else trail[::-1]
                if test is None or test(row):
                    yield None

        return walk

    def _trails(
        self, hop: PatternHop, forwards: bool
    ) -> Callable[[CypherNode, Row], Iterator[tuple[list[CypherRelationship], CypherNode]]]:
        assert hop.pattern.hops
        least, most = hop.pattern.hops.least, hop.pattern.hops.most
        neighbours, fits = neighbours_of(hop, forwards), self._fits(hop)
        used_slot, tick = self._used, self._budget.step
        plain = hop.pattern.properties is None

        def trails(
            start: CypherNode, row: Row
        ) -> Iterator[tuple[list[CypherRelationship], CypherNode]]:
            used: set[CypherRelationship] = row[used_slot]
            trail: list[CypherRelationship] = []
            if least == 0:
                yield trail, start
            waiting = [neighbours(start)] if most is None or most > 0 else []
            while waiting:
                for one, other in waiting[-1]:
                    tick()
                    if one in used or not (plain or fits(one, row)):
                        continue
                    used.add(one)
                    trail.append(one)
                    if len(trail) >= least:
                        yield trail, other
                    if most is None or len(trail) < most:
                        waiting.append(neighbours(other))
                        break
                    used.discard(trail.pop())
                else:
                    waiting.pop()
                    if trail:
                        used.discard(trail.pop())

        return trails

    def _shortest(self, hop: PatternHop, test: Evaluate | None) -> Step:
        slot, left, right = self._slot(hop.name), self._slot(hop.left), self._slot(hop.right)
        hops = hop.pattern.hops
        least, most = (hops.least, hops.most) if hops else (1, 1)
        neighbours, fits, tick = neighbours_of(hop, True), self._fits(hop), self._budget.step
        only_one, single = hop.shortest == "ONE", hops is None

        def shortest(row: Row) -> Iterator[Any]:
            start, end = row[left], row[right]
            if least == 0 and start is end:
                found: Iterable[list[CypherRelationship]] = [[]]
            else:
                found = _shortest_trails(start, end, row)
            for trail in found:
                if len(trail) < least:
                    continue
                row[slot] = trail[0] if single else trail
                if test is None or test(row):
                    yield None
                    if only_one:
                        return

        def _shortest_trails(
            start: CypherNode, end: CypherNode, row: Row
        ) -> Iterator[list[CypherRelationship]]:
            """Breadth first; each node is stored with all its shortest predecessors."""
            level: dict[CypherNode, list[tuple[CypherRelationship, CypherNode]]] = {start: []}
            reached = dict(level)
            length = 0
            while end not in level or length == 0:
                length += 1
                if not level or (most is not None and length > most):
                    return
                following: dict[CypherNode, list[tuple[CypherRelationship, CypherNode]]] = {}
                for node in level:
                    for one, other in neighbours(node):
                        tick()
                        if other not in reached and fits(one, row):
                            following.setdefault(other, []).append((one, node))
                reached.update(following)
                level = following
            yield from trace_shortest_paths(reached, start, end, tick)

        return shortest

    # ——— paths ———

    def _path(self, path: PathPattern, test: Evaluate | None) -> Step:
        start, hops = next((s, h) for one, s, h in self._parts.paths if one is path)
        slot, first = self._slot(path.variable or ""), self._slot(start)
        slots = [(self._slot(hop.name), hop.is_long) for hop in hops]

        def build(row: Row) -> Iterator[Any]:
            found: list[CypherRelationship] = []
            for place, is_long in slots:
                if is_long:
                    found.extend(row[place])
                else:
                    found.append(row[place])
            row[slot] = CypherPath(row[first], found)
            if test is None or test(row):
                yield None

        return build


def _filter(test: Evaluate | None) -> Step:
    def check(row: Row) -> Iterator[Any]:
        if test is None or test(row):
            yield None

    return check


def _binder(left: int, right: int) -> Callable[..., bool]:
    def bind(
        row: Row, before: list[Any], known: tuple[bool, bool], start: CypherNode, end: CypherNode
    ) -> bool:
        """Set the free ends; False if a bound end differs."""
        if (known[0] and before[0] is not start) or (known[1] and before[1] is not end):
            return False
        if left == right and start is not end:
            return False
        row[left], row[right] = start, end
        return True

    return bind

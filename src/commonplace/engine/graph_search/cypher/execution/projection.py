"""WITH and RETURN: projection, grouping, DISTINCT, ORDER BY, SKIP, LIMIT and WHERE."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from commonplace.engine.graph_search.cypher.execution.budget import (
    QueryBudget,
    sorted_in_turns,
)
from commonplace.engine.graph_search.cypher.execution.expressions import ExpressionCompiler
from commonplace.engine.graph_search.cypher.execution.operators import truth
from commonplace.engine.graph_search.cypher.execution.rows import Evaluate, Row, VariableScope
from commonplace.engine.graph_search.cypher.functions.aggregation import Accumulator, accumulator
from commonplace.engine.graph_search.cypher.syntax.tree import (
    CypherLiteral,
    Expression,
    FunctionCall,
    ParameterRef,
    ProjectionClause,
    ProjectionItem,
    VariableRef,
    has_aggregate,
    is_aggregate,
    replaced,
)
from commonplace.engine.graph_search.cypher.values import (
    group_key,
    key_weight,
    row_weight,
    sort_key,
)
from commonplace.errors import BadCypher

Rows = Iterator[Row]
Operator = Callable[[Rows], Rows]
HeldRow = tuple[tuple[Any, ...], Row, int]  # sort keys, row, and bytes of both
Taker = tuple[Evaluate | None, Evaluate | None, Callable[[Any, Any], None]]


def projected_items(clause: ProjectionClause, names: Iterable[str]) -> list[ProjectionItem]:
    """The items, with * expanded in the order in which variables were bound."""
    items = [ProjectionItem(VariableRef(name), name, name) for name in names] if clause.star else []
    return [*items, *clause.items]


@dataclass(frozen=True, slots=True)
class CompiledAggregate:
    slot: int
    name: str
    distinct: bool
    argument: Evaluate | None  # None: count(*)
    extra: Evaluate | None


@dataclass(frozen=True, slots=True)
class AggregatedGroup:
    """The first row of a group, and its accumulators."""

    row: Row
    accumulators: list[Accumulator]
    takers: list[Taker]


class ProjectionCompiler:
    """Compiles one WITH or RETURN. Rows keep their old slots until the last step, because ORDER BY
    and WHERE may use variables that are not projected."""

    def __init__(
        self,
        clause: ProjectionClause,
        scope: VariableScope,
        expressions: ExpressionCompiler,
        budget: QueryBudget,
    ) -> None:
        self._clause = clause
        self._scope = scope
        self._expressions = expressions
        self._budget = budget
        self._items = projected_items(clause, scope.slots)
        self._aggregates: dict[FunctionCall, str] = {}
        self._combined = scope.inner()
        self._slots = [scope.layout.add() for _ in self._items]
        self._is_grouped = any(has_aggregate(item.expression) for item in self._items)

    @property
    def columns(self) -> tuple[str, ...]:
        return tuple(item.name for item in self._items)

    def operator(self, following: VariableScope) -> Operator:
        """Returns rows of the following scope."""
        for item in self._items:
            following.add(item.name)
        steps = [self._grouping() if self._is_grouped else self._plain()]
        for item, slot in zip(self._items, self._slots, strict=True):
            self._combined.slots[item.name] = slot
        if self._clause.distinct:
            steps.append(self._distinct())
        steps += self._ordered_and_cut()
        if self._clause.where is not None:
            steps.append(self._where(self._clause.where))
        steps.append(self._renewed(following))
        return _composed(steps)

    # ——— columns ———

    def _plain(self) -> Operator:
        compiled = [self._expressions.compile(item.expression, self._scope) for item in self._items]
        columns, budget = list(zip(self._slots, compiled, strict=True)), self._budget

        def project(rows: Rows) -> Rows:
            long = 0  # bytes of the long values of a row
            try:
                for row in rows:
                    if long:
                        budget.release(long)
                        long = 0
                    values = []
                    for slot, column in columns:
                        value = column(row)
                        values.append((slot, value))
                        if type(value) in LONG_TYPES and len(value) > LONG_LENGTH:
                            size = sys.getsizeof(value)
                            long += size
                            budget.keep(size)
                    for slot, value in values:
                        row[slot] = value
                    yield row
            finally:
                budget.release(long)

        return project

    def _grouping(self) -> Operator:
        pairs, scope = list(zip(self._items, self._slots, strict=True)), self._scope
        keys = [
            (slot, self._expressions.compile(item.expression, self._scope))
            for item, slot in pairs
            if not has_aggregate(item.expression)
        ]
        results = [
            (slot, self._expressions.compile(self._without_aggregates(item.expression), scope))
            for item, slot in pairs
            if has_aggregate(item.expression)
        ]
        for each in self._clause.order:  # aggregates used only in ORDER BY
            self._order_item(each.expression)
        aggregates = [self._aggregate(call, name) for call, name in self._aggregates.items()]
        return _Grouping(keys, aggregates, results, self._scope, self._budget)

    def _without_aggregates(self, expression: Expression) -> Any:
        """Replace each aggregate by a variable with its result."""
        return replaced(expression, self._named_aggregate)

    def _named_aggregate(self, node: Any) -> Any:
        if not is_aggregate(node):
            return None
        if node not in self._aggregates:
            name = f"\0aggregate{len(self._aggregates)}"
            self._aggregates[node] = name
            slot = self._scope.add(name)
            self._combined.slots[name] = slot
        return VariableRef(self._aggregates[node])

    def _aggregate(self, call: FunctionCall, name: str) -> CompiledAggregate:
        arguments = [self._expressions.compile(each, self._scope) for each in call.arguments]
        first = arguments[0] if arguments else None
        extra = arguments[1] if len(arguments) > 1 else None
        return CompiledAggregate(self._scope.slots[name], call.name, call.distinct, first, extra)

    def _distinct(self) -> Operator:
        slots, budget = self._slots, self._budget

        def once(rows: Rows) -> Rows:
            seen: set[Any] = set()
            for row in rows:
                values = [row[slot] for slot in slots]
                key = tuple([group_key(budget, value) for value in values])
                if key not in seen:
                    budget.keep(row_weight(budget, values))
                    seen.add(key)
                    yield row

        return once

    # ——— order ———

    def _order_item(self, expression: Expression) -> Expression:
        """An expression that ORDER BY repeats is read from its column."""
        columns = {item.expression: item.name for item in self._items}

        def column(node: Any) -> Any:
            name = columns.get(node) if not isinstance(node, CypherLiteral | ParameterRef) else None
            return VariableRef(name) if name is not None else None

        found: Expression = replaced(expression, column)
        return self._without_aggregates(found) if self._is_grouped else found

    def _ordered_and_cut(self) -> list[Operator]:
        clause = self._clause
        skip, limit = self._count(clause.skip, "SKIP"), self._count(clause.limit, "LIMIT")
        steps: list[Operator] = []
        if clause.order:
            keys = [self._order_key(each.expression) for each in clause.order]
            directions = [each.descending for each in clause.order]
            most = None if limit is None else (skip or 0) + limit
            steps.append(_Sorting(keys, directions, most, self._budget))
        if skip or limit is not None:
            steps.append(_cut(skip or 0, limit))
        return steps

    def _order_key(self, expression: Expression) -> Evaluate:
        return self._expressions.compile(self._order_item(expression), self._combined)

    def _count(self, expression: Expression | None, word: str) -> int | None:
        if expression is None:
            return None
        value = self._expressions.compile(expression, VariableScope())([])
        if type(value) is not int or value < 0:
            raise BadCypher(f"{word} takes an integer that is not negative.")
        return value

    # ——— conditions, and the following row ———

    def _where(self, condition: Expression) -> Operator:
        test = self._expressions.compile(condition, self._combined)

        def filtered(rows: Rows) -> Rows:
            return (row for row in rows if truth(test(row)) is True)

        return filtered

    def _renewed(self, following: VariableScope) -> Operator:
        slots, layout = self._slots, following.layout

        def renew(rows: Rows) -> Rows:
            spare = [None] * (layout.size - len(slots))
            for row in rows:
                yield [row[slot] for slot in slots] + spare

        return renew


class _Grouping:
    """Groups rows by keys; each group gives one row."""

    def __init__(
        self,
        keys: list[tuple[int, Evaluate]],
        aggregates: list[CompiledAggregate],
        results: list[tuple[int, Evaluate]],
        scope: VariableScope,
        budget: QueryBudget,
    ) -> None:
        self._keys = keys
        self._aggregates = aggregates
        self._results = results
        self._layout = scope.layout
        self._budget = budget

    def __call__(self, rows: Rows) -> Rows:
        groups: dict[Any, AggregatedGroup] = {}
        keys, budget = self._keys, self._budget
        step = budget.step
        before: Row = []
        only = keys[0][1] if len(keys) == 1 else None
        for row in rows:
            step()
            if only is not None:
                value = only(row)
                values, key = (value,), group_key(budget, value)
            else:
                values = tuple([evaluate(row) for _, evaluate in keys])
                key = tuple([group_key(budget, value) for value in values])
            group = groups.get(key)
            if group is None:
                budget.keep(key_weight(budget, values) + row_weight(budget, row, before))
                group = groups[key] = self._group(row, values)
                before = group.row
            for argument, extra, take in group.takers:
                value = True if argument is None else argument(row)
                if value is not None:
                    take(value, extra(row) if extra else None)
        if not groups and not keys:
            groups[()] = self._group([None] * self._layout.size, ())
        yield from self._rows(groups.values())

    def _group(self, row: Row, values: tuple[Any, ...]) -> AggregatedGroup:
        first_row = row[:]
        for (slot, _), value in zip(self._keys, values, strict=True):
            first_row[slot] = value
        accumulators = [
            accumulator(one.name, one.distinct, self._budget) for one in self._aggregates
        ]
        takers: list[Taker] = [
            (one.argument, one.extra, each.take)
            for one, each in zip(self._aggregates, accumulators, strict=True)
        ]
        return AggregatedGroup(first_row, accumulators, takers)

    def _rows(self, groups: Iterable[AggregatedGroup]) -> Rows:
        for group in groups:
            row = group.row
            for one, each in zip(self._aggregates, group.accumulators, strict=True):
                row[one.slot] = each.result()
            for slot, evaluate in self._results:
                row[slot] = evaluate(row)
            yield row


LONG_TYPES = (str, list)
LONG_LENGTH = 8_192  # of a string or list; shorter ones in a row that is passed on do not count


class _Sorting:
    """Sorts rows; with a limit it holds at most about twice that number."""

    def __init__(
        self,
        keys: list[Evaluate],
        descending: list[bool],
        most: int | None,
        budget: QueryBudget,
    ) -> None:
        self._keys = keys
        self._descending = descending
        self._most = most
        self._budget = budget

    def __call__(self, rows: Rows) -> Rows:
        held: list[HeldRow] = []
        capacity = None if self._most is None else 2 * self._most + 1_000
        if self._most == 0:
            return
        budget = self._budget
        before: Row = []
        last: Any = None  # the first key of the last row that the limit lets through
        descending = self._descending[0]
        for row in rows:
            values = [key(row) for key in self._keys]
            keys = tuple([sort_key(budget, value) for value in values])
            if last is not None and (keys[0] < last if descending else keys[0] > last):
                continue
            size = row_weight(budget, row, before) + key_weight(budget, values)
            budget.keep(size)
            before = row[:]
            held.append((keys, before, size))
            if capacity is not None and len(held) >= capacity:
                held = self._sorted(held)
                budget.release(sum(size for _, _, size in held[self._most :]))
                del held[self._most :]
                last = held[-1][0][0]
        yield from (row for _, row, _ in self._sorted(held))

    def _sorted(self, held: list[HeldRow]) -> list[HeldRow]:
        """Sorts by the last key first, because sorting is stable."""
        for number in reversed(range(len(self._keys))):

            def key(one: HeldRow, number: int = number) -> Any:
                return one[0][number]

            held = sorted_in_turns(held, key, self._budget, self._descending[number])
        return held


def _cut(skip: int, limit: int | None) -> Operator:
    def cut(rows: Rows) -> Rows:
        if limit == 0:
            return
        last = None if limit is None else skip + limit
        for number, row in enumerate(rows, 1):
            if number > skip:
                yield row
            if number == last:
                return

    return cut


def _composed(steps: list[Operator]) -> Operator:
    def run(rows: Rows) -> Rows:
        for step in steps:
            rows = step(rows)
        return rows

    return run

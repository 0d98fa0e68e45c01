"""Compile expressions into closures on a row, a list with one slot per variable."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol

from commonplace.engine.graph_search.cypher.execution.budget import (
    MIN_COUNTED_LENGTH,
    QueryBudget,
)
from commonplace.engine.graph_search.cypher.execution.operators import (
    at_index,
    binary_operators,
    comparisons,
    negate,
    property_of,
    sliced,
    truth,
    unchanged,
)
from commonplace.engine.graph_search.cypher.execution.rows import (
    QUANTIFIERS,
    Evaluate,
    Row,
    Search,
    VariableScope,
    first_known,
    junction,
    null_or_call,
)
from commonplace.engine.graph_search.cypher.functions.catalog import (
    FUNCTIONS,
    numbers_of_range,
    properties_of,
)
from commonplace.engine.graph_search.cypher.functions.scalars import FunctionContext
from commonplace.engine.graph_search.cypher.syntax.tree import (
    BinaryOperation,
    CaseExpression,
    ComparisonChain,
    CypherLiteral,
    CypherQuery,
    Expression,
    FunctionCall,
    IndexAccess,
    LabelTest,
    ListComprehension,
    ListLiteral,
    MapLiteral,
    MapProjection,
    NullTest,
    ParameterRef,
    PathPattern,
    PatternComprehension,
    PatternPredicate,
    PropertyAccess,
    QuantifierExpression,
    ReduceExpression,
    SliceAccess,
    SubqueryExpression,
    UnaryOperation,
    VariableRef,
)
from commonplace.engine.graph_search.cypher.temporal.construction import parse_datetime
from commonplace.engine.graph_search.cypher.temporal.types import UTC_ZONE, CypherDateTime
from commonplace.engine.graph_search.cypher.values import (
    CypherNode,
    CypherRelationship,
    equals,
    type_name,
    weight,
)
from commonplace.errors import BadCypher


class PatternCompiler(Protocol):
    """Compiles the patterns and subqueries in expressions."""

    def search(self, path: PathPattern, where: Expression | None, scope: VariableScope) -> Search:
        """Adds the variables of the pattern to the scope."""

    def subquery(self, query: CypherQuery, scope: VariableScope) -> Search: ...


@dataclass(frozen=True, slots=True)
class CompilerContext:
    budget: QueryBudget
    functions: FunctionContext
    parameters: Mapping[str, Any]
    moments: frozenset[str] = frozenset()  # properties that hold moments


class ExpressionCompiler:
    def __init__(self, context: CompilerContext, patterns: PatternCompiler) -> None:
        self._context = context
        self._budget = context.budget
        self._patterns = patterns
        self._operators = binary_operators(context.budget)
        self._comparisons = comparisons(context.budget)

    def compile(self, expression: Expression, scope: VariableScope) -> Evaluate:
        return _COMPILERS[type(expression)](self, expression, scope)

    def optional(self, expression: Expression | None, scope: VariableScope) -> Evaluate | None:
        return None if expression is None else self.compile(expression, scope)

    def iterated(self, expression: Expression, scope: VariableScope) -> Evaluate:
        """The value of an expression that is only iterated over: range() makes no list."""
        if not (isinstance(expression, FunctionCall) and expression.name == "range"):
            return self.compile(expression, scope)
        arguments = [self.compile(each, scope) for each in expression.arguments]

        def numbers(row: Row) -> range | None:
            bounds = [argument(row) for argument in arguments]
            return None if None in bounds else numbers_of_range(*bounds)

        return numbers

    # ——— atoms ———

    def _literal(self, node: CypherLiteral, scope: VariableScope) -> Evaluate:
        value = node.value
        return lambda row: value

    def _parameter(self, node: ParameterRef, scope: VariableScope) -> Evaluate:
        value = self._context.parameters[node.name]
        return lambda row: value

    def _variable(self, node: VariableRef, scope: VariableScope) -> Evaluate:
        slot = scope.slots[node.name]
        return lambda row: row[slot]

    def _property(self, node: PropertyAccess, scope: VariableScope) -> Evaluate:
        key = node.key
        if isinstance(node.of, VariableRef):
            slot = scope.slots[node.of.name]

            def read(row: Row) -> Any:
                value = row[slot]
                kind = type(value)
                if kind is CypherNode or kind is CypherRelationship:
                    return value.reader.get(value.thing, key)
                return property_of(value, key)

            return read
        of = self.compile(node.of, scope)
        return lambda row: property_of(of(row), key)

    def _index(self, node: IndexAccess, scope: VariableScope) -> Evaluate:
        of, index = self.compile(node.of, scope), self.compile(node.index, scope)
        return lambda row: at_index(of(row), index(row))

    def _slice(self, node: SliceAccess, scope: VariableScope) -> Evaluate:
        of = self.compile(node.of, scope)
        first, last = self.optional(node.first, scope), self.optional(node.last, scope)
        budget = self._budget

        def cut(row: Row) -> Any:
            value = of(row)
            end = len(value) if isinstance(value, list) else 0
            return sliced(budget, value, first(row) if first else 0, last(row) if last else end)

        return cut

    def _list(self, node: ListLiteral, scope: VariableScope) -> Evaluate:
        items, budget = [self.compile(each, scope) for each in node.items], self._budget

        def listed(row: Row) -> list[Any]:
            found = []
            for item in items:
                value = item(row)
                if type(value) in _LONG and len(value) > MIN_COUNTED_LENGTH:
                    _keep_shallow(budget, value)
                found.append(value)
            return found

        return listed

    def _map(self, node: MapLiteral, scope: VariableScope) -> Evaluate:
        items = [(key, self.compile(value, scope)) for key, value in node.items]
        budget = self._budget

        def mapped(row: Row) -> dict[str, Any]:
            found = {}
            for key, item in items:
                value = item(row)
                if type(value) in _LONG and len(value) > MIN_COUNTED_LENGTH:
                    _keep_shallow(budget, value)
                found[key] = value
            return found

        return mapped

    def _map_projection(self, node: MapProjection, scope: VariableScope) -> Evaluate:
        of = self.compile(node.of, scope)
        items = [(key, self.compile(value, scope)) for key, value in node.items]

        def project(row: Row) -> Any:
            if of(row) is None:
                return None
            found: dict[str, Any] = {}
            for key, value in items:
                if key is None:
                    found.update(properties_of(value(row)))
                else:
                    found[key] = value(row)
            return found

        return project

    # ——— operators ———

    def _unary(self, node: UnaryOperation, scope: VariableScope) -> Evaluate:
        of = self.compile(node.of, scope)
        if node.sign == "NOT":

            def inverted(row: Row) -> bool | None:
                value = truth(of(row))
                return None if value is None else not value

            return inverted
        call = negate if node.sign == "-" else unchanged
        return lambda row: call(of(row))

    def _binary(self, node: BinaryOperation, scope: VariableScope) -> Evaluate:
        left, right = self.compile(node.left, scope), self.compile(node.right, scope)
        if node.sign in ("AND", "OR"):
            return junction(left, right, decisive=node.sign == "OR")
        call = self._operators[node.sign]
        return lambda row: call(left(row), right(row))

    def _comparison(self, node: ComparisonChain, scope: VariableScope) -> Evaluate:
        operands = [self.compile(each, scope) for each in self._as_moments(node)]
        calls = [self._comparisons[sign] for sign in node.signs]
        if len(calls) == 1:
            (left, right), call = operands, calls[0]
            return lambda row: call(left(row), right(row))

        def chain(row: Row) -> bool | None:
            found: bool | None = True
            before = operands[0](row)
            for call, operand in zip(calls, operands[1:], strict=True):
                value = operand(row)
                answer = call(before, value)
                if answer is False:
                    return False
                found = None if answer is None else found
                before = value
            return found

        return chain

    def _as_moments(self, node: ComparisonChain) -> tuple[Expression, ...]:
        """Literal strings that are compared with a time property become datetimes."""
        moments = self._context.moments
        if not any(isinstance(e, PropertyAccess) and e.key in moments for e in node.operands):
            return node.operands
        return tuple(self._as_moment(each) for each in node.operands)

    def _as_moment(self, node: Expression) -> Any:
        if not isinstance(node, CypherLiteral | ParameterRef):
            return node
        value = self.compile(node, VariableScope())([])
        if not isinstance(value, str):
            return node
        try:
            moment = parse_datetime(value)
        except BadCypher:
            return node
        zoned = CypherDateTime(moment.days, moment.nanos, moment.zone or UTC_ZONE)
        return CypherLiteral(zoned)  # type: ignore[arg-type]

    def _null_test(self, node: NullTest, scope: VariableScope) -> Evaluate:
        of = self.compile(node.of, scope)
        if node.negated:
            return lambda row: of(row) is not None
        return lambda row: of(row) is None

    def _label_test(self, node: LabelTest, scope: VariableScope) -> Evaluate:
        of, groups = self.compile(node.of, scope), node.labels

        def test(row: Row) -> bool | None:
            value = of(row)
            if value is None:
                return None
            if isinstance(value, CypherNode):
                return all(any(one in value.labels for one in group) for group in groups)
            if isinstance(value, CypherRelationship):
                return all(value.type in group for group in groups)
            raise BadCypher(f"A node or a relationship has labels, not {type_name(value)}.")

        return test

    def _case(self, node: CaseExpression, scope: VariableScope) -> Evaluate:
        subject = self.optional(node.subject, scope)
        branches = [
            (self.compile(condition, scope), self.compile(value, scope))
            for condition, value in node.branches
        ]
        otherwise = self.optional(node.otherwise, scope) or (lambda row: None)
        budget = self._budget

        def choose(row: Row) -> Any:
            for condition, value in branches:
                if truth(condition(row)) is True:
                    return value(row)
            return otherwise(row)

        def choose_by(row: Row) -> Any:
            wanted = subject(row) if subject else None
            for condition, value in branches:
                if equals(budget, wanted, condition(row)) is True:
                    return value(row)
            return otherwise(row)

        return choose_by if subject else choose

    # ——— functions ———

    def _call(self, node: FunctionCall, scope: VariableScope) -> Evaluate:
        arguments = [self.compile(each, scope) for each in node.arguments]
        if node.name == "coalesce":
            return first_known(arguments)
        if node.name == "exists":
            is_pattern = isinstance(node.arguments[0], PatternPredicate)
            test = arguments[0]
            return test if is_pattern else lambda row: test(row) is not None
        function = FUNCTIONS[node.name]
        call = function.call
        if function.takes_context:
            call = partial(call, self._context.functions)
        if function.is_linear:
            call = _counted_by_length(self._budget, call)
        if function.takes_null:
            return lambda row: call(*[argument(row) for argument in arguments])
        if len(arguments) == 1:
            return null_or_call(call, arguments[0])

        def called(row: Row) -> Any:
            values = [argument(row) for argument in arguments]
            return None if any(value is None for value in values) else call(*values)

        return called

    # ——— lists ———

    def _items(self, node: Expression, scope: VariableScope) -> Callable[[Row], list[Any] | None]:
        of, budget = self.compile(node, scope), self._budget

        def items(row: Row) -> list[Any] | None:
            value = of(row)
            if value is not None and not isinstance(value, list):
                raise BadCypher(f"A list is expected, not {type_name(value)}.")
            budget.step()
            return value

        return items

    def _list_comprehension(self, node: ListComprehension, scope: VariableScope) -> Evaluate:
        items = self._items(node.items, scope)
        inner = scope.inner()
        slot = inner.add(node.variable)
        where, result = self.optional(node.where, inner), self.optional(node.result, inner)
        budget, most = self._budget, self._budget.value_limit

        def listed(row: Row) -> list[Any] | None:
            values = items(row)
            if values is None:
                return None
            found = []
            size = 0
            for value in budget.counted(values):
                row[slot] = value
                if where is None or truth(where(row)) is True:
                    made = result(row) if result else value
                    size += 40 if type(made) is int else 8 + weight(budget, made)
                    if size > most:
                        budget.check_value(size)
                    found.append(made)
            budget.build(size)
            return found

        return listed

    def _quantifier(self, node: QuantifierExpression, scope: VariableScope) -> Evaluate:
        items = self._items(node.items, scope)
        inner = scope.inner()
        slot = inner.add(node.variable)
        where = self.compile(node.where or VariableRef(node.variable), inner)
        decide, budget = QUANTIFIERS[node.word], self._budget

        def quantified(row: Row) -> bool | None:
            values = items(row)
            return None if values is None else decide(_answers(values, row))

        def _answers(values: list[Any], row: Row) -> Iterator[bool | None]:
            for value in budget.counted(values):
                row[slot] = value
                yield truth(where(row))

        return quantified

    def _reduce(self, node: ReduceExpression, scope: VariableScope) -> Evaluate:
        items, start = self._items(node.items, scope), self.compile(node.start, scope)
        inner = scope.inner()
        total, slot = inner.add(node.total), inner.add(node.variable)
        step, budget = self.compile(node.step, inner), self._budget

        def reduced(row: Row) -> Any:
            values, found = items(row), start(row)
            if values is None:
                return None
            for number, value in enumerate(budget.counted(values), 1):
                row[total], row[slot] = found, value
                found = step(row)
                if number % REDUCE_CHECK_INTERVAL == 0 and type(found) in _NESTED:
                    weight(budget, found)
            return found

        return reduced

    # ——— patterns ———

    def _pattern_predicate(self, node: PatternPredicate, scope: VariableScope) -> Evaluate:
        search = self._patterns.search(node.path, None, scope.inner())
        return lambda row: any(True for _ in search(row))

    def _pattern_comprehension(self, node: PatternComprehension, scope: VariableScope) -> Evaluate:
        inner = scope.inner()
        search = self._patterns.search(node.path, node.where, inner)
        result, budget = self.compile(node.result, inner), self._budget

        def listed(row: Row) -> list[Any]:
            found = []
            size = 0
            for _ in search(row):
                made = result(row)
                size += 8 + weight(budget, made)
                budget.check_value(size)
                found.append(made)
            budget.build(size)
            return found

        return listed

    def _subquery(self, node: SubqueryExpression, scope: VariableScope) -> Evaluate:
        search = self._patterns.subquery(node.query, scope.inner())
        if node.counted:
            return lambda row: sum(1 for _ in search(row))
        return lambda row: any(True for _ in search(row))


REDUCE_CHECK_INTERVAL = 1_024  # items after which the result of reduce() is weighed
_NESTED = (list, dict)
_LONG = (str, list)


def _keep_shallow(budget: QueryBudget, value: Any) -> None:
    """Count a long string or list that becomes part of another value; what is in the list was
    counted when it was built."""
    budget.keep(sys.getsizeof(value))


def _counted_by_length(budget: QueryBudget, call: Callable[..., Any]) -> Callable[..., Any]:
    """A function that looks at all of its arguments, or copies them."""

    def counted(*values: Any) -> Any:
        for value in values:
            if type(value) in _LONG and len(value) > MIN_COUNTED_LENGTH:
                budget.build(sys.getsizeof(value))
        return call(*values)

    return counted


_COMPILERS: dict[type, Callable[[ExpressionCompiler, Any, VariableScope], Evaluate]] = {
    CypherLiteral: ExpressionCompiler._literal,
    ParameterRef: ExpressionCompiler._parameter,
    VariableRef: ExpressionCompiler._variable,
    PropertyAccess: ExpressionCompiler._property,
    IndexAccess: ExpressionCompiler._index,
    SliceAccess: ExpressionCompiler._slice,
    FunctionCall: ExpressionCompiler._call,
    ListLiteral: ExpressionCompiler._list,
    MapLiteral: ExpressionCompiler._map,
    MapProjection: ExpressionCompiler._map_projection,
    UnaryOperation: ExpressionCompiler._unary,
    BinaryOperation: ExpressionCompiler._binary,
    ComparisonChain: ExpressionCompiler._comparison,
    NullTest: ExpressionCompiler._null_test,
    LabelTest: ExpressionCompiler._label_test,
    CaseExpression: ExpressionCompiler._case,
    ListComprehension: ExpressionCompiler._list_comprehension,
    PatternComprehension: ExpressionCompiler._pattern_comprehension,
    QuantifierExpression: ExpressionCompiler._quantifier,
    ReduceExpression: ExpressionCompiler._reduce,
    PatternPredicate: ExpressionCompiler._pattern_predicate,
    SubqueryExpression: ExpressionCompiler._subquery,
}

"""The syntax tree of a query. Values only; an item's source text is stored as its column name."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any

# ——— expressions ———


@dataclass(frozen=True, slots=True)
class CypherLiteral:
    value: str | int | float | bool | None


@dataclass(frozen=True, slots=True)
class ParameterRef:
    name: str


@dataclass(frozen=True, slots=True)
class VariableRef:
    name: str


@dataclass(frozen=True, slots=True)
class PropertyAccess:
    of: Expression
    key: str


@dataclass(frozen=True, slots=True)
class IndexAccess:
    of: Expression
    index: Expression


@dataclass(frozen=True, slots=True)
class SliceAccess:
    of: Expression
    first: Expression | None
    last: Expression | None


@dataclass(frozen=True, slots=True)
class FunctionCall:
    name: str  # lower case, may have a dot: duration.between
    arguments: tuple[Expression, ...]
    distinct: bool = False
    star: bool = False  # count(*)


@dataclass(frozen=True, slots=True)
class ListLiteral:
    items: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class MapLiteral:
    items: tuple[tuple[str, Expression], ...]


@dataclass(frozen=True, slots=True)
class MapProjection:
    """n {.name, .*, x: 1}; a key of None means .*"""

    of: VariableRef
    items: tuple[tuple[str | None, Expression], ...]


@dataclass(frozen=True, slots=True)
class UnaryOperation:
    sign: str  # NOT, -, +
    of: Expression


@dataclass(frozen=True, slots=True)
class BinaryOperation:
    left: Expression
    sign: str  # AND, OR, XOR, =~, IN, CONTAINS, STARTS WITH, ENDS WITH, +, -, *, /, %, ^
    right: Expression


@dataclass(frozen=True, slots=True)
class ComparisonChain:
    """a < b <= c: each operand is evaluated once."""

    operands: tuple[Expression, ...]
    signs: tuple[str, ...]  # =, <>, <, >, <=, >=


@dataclass(frozen=True, slots=True)
class NullTest:
    of: Expression
    negated: bool


@dataclass(frozen=True, slots=True)
class LabelTest:
    of: Expression
    labels: LabelGroups


@dataclass(frozen=True, slots=True)
class CaseExpression:
    subject: Expression | None
    branches: tuple[tuple[Expression, Expression], ...]
    otherwise: Expression | None


@dataclass(frozen=True, slots=True)
class ListComprehension:
    variable: str
    items: Expression
    where: Expression | None
    result: Expression | None


@dataclass(frozen=True, slots=True)
class PatternComprehension:
    path: PathPattern
    where: Expression | None
    result: Expression


@dataclass(frozen=True, slots=True)
class QuantifierExpression:
    word: str  # ALL, ANY, NONE, SINGLE
    variable: str
    items: Expression
    where: Expression | None


@dataclass(frozen=True, slots=True)
class ReduceExpression:
    total: str
    start: Expression
    variable: str
    items: Expression
    step: Expression


@dataclass(frozen=True, slots=True)
class PatternPredicate:
    """(a)-->(b) where a truth value is expected."""

    path: PathPattern


@dataclass(frozen=True, slots=True)
class SubqueryExpression:
    """EXISTS { … } or COUNT { … }."""

    query: CypherQuery
    counted: bool


Expression = (
    CypherLiteral
    | ParameterRef
    | VariableRef
    | PropertyAccess
    | IndexAccess
    | SliceAccess
    | FunctionCall
    | ListLiteral
    | MapLiteral
    | MapProjection
    | UnaryOperation
    | BinaryOperation
    | ComparisonChain
    | NullTest
    | LabelTest
    | CaseExpression
    | ListComprehension
    | PatternComprehension
    | QuantifierExpression
    | ReduceExpression
    | PatternPredicate
    | SubqueryExpression
)

# ——— patterns ———

LabelGroups = tuple[tuple[str, ...], ...]  # all groups must match, each by any of its labels


@dataclass(frozen=True, slots=True)
class NodePattern:
    variable: str | None
    labels: LabelGroups
    properties: MapLiteral | None


@dataclass(frozen=True, slots=True)
class HopRange:
    least: int
    most: int | None  # None: no bound


@dataclass(frozen=True, slots=True)
class RelationshipPattern:
    variable: str | None
    types: tuple[str, ...]
    hops: HopRange | None  # None: one relationship
    properties: MapLiteral | None
    arrow: str  # ->, <- or -


@dataclass(frozen=True, slots=True)
class PathPattern:
    variable: str | None
    start: NodePattern
    steps: tuple[tuple[RelationshipPattern, NodePattern], ...]
    shortest: str | None = None  # ONE or ALL


# ——— clauses ———


@dataclass(frozen=True, slots=True)
class MatchClause:
    paths: tuple[PathPattern, ...]
    where: Expression | None
    optional: bool


@dataclass(frozen=True, slots=True)
class UnwindClause:
    items: Expression
    variable: str


@dataclass(frozen=True, slots=True)
class ProjectionItem:
    expression: Expression
    alias: str | None  # AS
    spelt: str  # the column's name without an alias

    @property
    def name(self) -> str:
        return self.alias if self.alias is not None else self.spelt


@dataclass(frozen=True, slots=True)
class SortItem:
    expression: Expression
    descending: bool


@dataclass(frozen=True, slots=True)
class ProjectionClause:
    """WITH or RETURN."""

    items: tuple[ProjectionItem, ...]
    star: bool
    distinct: bool
    order: tuple[SortItem, ...]
    skip: Expression | None
    limit: Expression | None
    where: Expression | None
    is_return: bool


Clause = MatchClause | UnwindClause | ProjectionClause


@dataclass(frozen=True, slots=True)
class CypherQuery:
    parts: tuple[tuple[Clause, ...], ...]
    keeps_duplicates: bool = False  # UNION ALL


# ——— tree traversal ———

AGGREGATES = frozenset(
    [
        "count",
        "collect",
        "sum",
        "avg",
        "min",
        "max",
        "stdev",
        "stdevp",
        "percentilecont",
        "percentiledisc",
    ]
)


def children(node: Any) -> Iterator[Any]:
    """The child nodes of a node, also those in tuples."""
    if is_dataclass(node):
        for field in fields(node):
            yield from _nodes_in(getattr(node, field.name))


def _nodes_in(value: Any) -> Iterator[Any]:
    if isinstance(value, tuple):
        for each in value:
            yield from _nodes_in(each)
    elif is_dataclass(value):
        yield value


def is_aggregate(node: Any) -> bool:
    return isinstance(node, FunctionCall) and node.name in AGGREGATES


def has_aggregate(node: Any) -> bool:
    """Whether an expression contains an aggregate, outside of subqueries."""
    if is_aggregate(node):
        return True
    if isinstance(node, SubqueryExpression):
        return False
    return any(has_aggregate(each) for each in children(node))


def variables_in(node: Any) -> frozenset[str]:
    """All variable names that occur, also those bound by inner expressions."""
    found: set[str] = set()
    waiting = [node]
    while waiting:
        one = waiting.pop()
        if isinstance(one, VariableRef):
            found.add(one.name)
        elif isinstance(one, NodePattern | RelationshipPattern) and one.variable:
            found.add(one.variable)
        waiting.extend(children(one))
    return frozenset(found)


def depth_of(node: Any) -> int:
    """The maximum nesting of nodes."""
    deepest = 0
    waiting = [(node, 1)]
    while waiting:
        one, depth = waiting.pop()
        deepest = max(deepest, depth)
        waiting.extend((each, depth + 1) for each in children(one))
    return deepest


def names_of_paths(paths: tuple[PathPattern, ...]) -> list[str]:
    """Variables that patterns bind, in the order of the text, each once."""
    found: dict[str, None] = {}
    for path in paths:
        for name in (path.variable, path.start.variable):
            found[name or ""] = None
        for relationship, node in path.steps:
            found[relationship.variable or ""] = None
            found[node.variable or ""] = None
    found.pop("", None)
    return list(found)


def replaced(node: Any, change: Callable[[Any], Any], *, inner_first: bool = False) -> Any:
    """The tree with every node replaced for which ``change`` gives another one. Subqueries are left
    alone unless inner nodes come first."""
    if isinstance(node, tuple):
        return tuple(replaced(each, change, inner_first=inner_first) for each in node)
    if not is_dataclass(node):
        return node
    if not inner_first:
        if isinstance(node, SubqueryExpression):
            return node
        if (other := change(node)) is not None:
            return other
    parts = {field.name: getattr(node, field.name) for field in fields(node)}
    changed = {k: replaced(value, change, inner_first=inner_first) for k, value in parts.items()}
    if any(changed[name] != value for name, value in parts.items()):
        node = replace(node, **changed)  # type: ignore[type-var]
    if not inner_first:
        return node
    other = change(node)
    return node if other is None else other

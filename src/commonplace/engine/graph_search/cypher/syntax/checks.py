"""Static checks of a query: variables, kinds of values, aggregates, functions, names of the schema.

They run before execution, so that a wrong query is an error even if nothing matches.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Protocol

from commonplace.engine.graph_search.cypher.syntax.kinds import (
    LIST,
    NODE,
    NULL,
    PATH,
    RELATIONSHIP,
    RELATIONSHIPS,
    SCALARS,
    UNKNOWN,
    Kinds,
    check_argument,
    check_truth,
    kind_of,
)
from commonplace.engine.graph_search.cypher.syntax.tree import (
    AGGREGATES,
    BinaryOperation,
    CaseExpression,
    Clause,
    CypherLiteral,
    CypherQuery,
    Expression,
    FunctionCall,
    ListComprehension,
    MatchClause,
    NodePattern,
    ParameterRef,
    PathPattern,
    PatternComprehension,
    PatternPredicate,
    ProjectionClause,
    ProjectionItem,
    PropertyAccess,
    QuantifierExpression,
    ReduceExpression,
    RelationshipPattern,
    SubqueryExpression,
    UnaryOperation,
    UnwindClause,
    VariableRef,
    children,
    has_aggregate,
    is_aggregate,
    names_of_paths,
    replaced,
)
from commonplace.errors import BadCypher

MAX_RELATIONSHIPS = 20  # of one MATCH


class NameCheck(Protocol):
    """The names that a schema declares. Each raises BadCypher for an unknown name."""

    def label(self, name: str) -> str: ...

    def type(self, name: str) -> str: ...

    def property(self, key: str) -> None: ...


@dataclass(frozen=True, slots=True)
class CheckedFunctions:
    """The minimum and maximum number of arguments of each function."""

    arguments: Mapping[str, tuple[int, int]]
    names: Collection[str]  # as documented


def checked(
    query: CypherQuery,
    parameters: Mapping[str, Any],
    functions: CheckedFunctions,
    names: NameCheck | None,
) -> CypherQuery:
    """The query with the schema's spelling of names. Raises BadCypher."""
    if names is not None:
        query = _with_known_names(query, names)
    QueryChecker(parameters, functions, names).query(query, {})
    return query


def _with_known_names(query: CypherQuery, names: NameCheck) -> CypherQuery:
    def change(node: Any) -> Any:
        if isinstance(node, RelationshipPattern):
            return replace(node, types=tuple(names.type(each) for each in node.types))
        if isinstance(node, NodePattern):
            groups = tuple(tuple(names.label(each) for each in group) for group in node.labels)
            return replace(node, labels=groups)
        return None

    found: CypherQuery = replaced(query, change, inner_first=True)
    return found


class QueryChecker:
    def __init__(
        self,
        parameters: Mapping[str, Any],
        functions: CheckedFunctions,
        names: NameCheck | None,
    ) -> None:
        self._parameters = parameters
        self._functions = functions
        self._names = names

    def query(self, query: CypherQuery, outer: Kinds) -> None:
        columns = [self._part(part, dict(outer)) for part in query.parts]
        for other in columns[1:]:
            if other != columns[0]:
                raise BadCypher(
                    f"UNION joins columns of the same names: {', '.join(columns[0])} and "
                    f"{', '.join(other)} are not.",
                    remedy="Name them in each RETURN, in the same order: RETURN p.name AS name.",
                )

    def _part(self, clauses: Iterable[Clause], scope: Kinds) -> list[str]:
        for clause in clauses:
            if isinstance(clause, MatchClause):
                self._match(clause, scope)
            elif isinstance(clause, UnwindClause):
                self._unwind(clause, scope)
            else:
                scope = self._projection(clause, scope)
        return list(scope)

    # ——— MATCH and UNWIND ———

    def _match(self, clause: MatchClause, scope: Kinds) -> None:
        count = sum(len(path.steps) for path in clause.paths)
        if count > MAX_RELATIONSHIPS:
            raise BadCypher(
                f"A MATCH has {count} relationships; the limit is {MAX_RELATIONSHIPS}.",
                remedy="Write it as several MATCH clauses.",
            )
        self._bind(clause.paths, scope)
        if clause.where is not None:
            self._condition(clause.where, scope)

    def _bind(self, paths: Iterable[PathPattern], scope: Kinds) -> None:
        """Adds the variables of patterns to the scope."""
        paths = tuple(paths)
        once: set[str] = set()
        for path in paths:
            if path.variable is not None:
                if path.variable in scope or path.variable in names_of_paths((path,))[1:]:
                    raise BadCypher(f"The variable {path.variable} is bound already.")
                scope[path.variable] = PATH
            self._bind_node(path.start, scope)
            for relationship, node in path.steps:
                self._bind_relationship(relationship, scope, once)
                self._bind_node(node, scope)
        for path in paths:
            for pattern in (path.start, *(one for step in path.steps for one in step)):
                if pattern.properties is not None:
                    self._plain(pattern.properties, scope, "a pattern")
                    self._properties(pattern, pattern.properties.items)

    def _properties(self, pattern: Any, items: Iterable[tuple[str, Expression]]) -> None:
        if self._names is not None:
            for key, _ in items:
                self._names.property(key)

    def _bind_node(self, node: NodePattern, scope: Kinds) -> None:
        if node.variable is not None:
            known = scope.setdefault(node.variable, NODE)
            if known not in (NODE, UNKNOWN, NULL):
                raise BadCypher(f"The variable {node.variable} is {known}, and no node.")

    def _bind_relationship(
        self, relationship: RelationshipPattern, scope: Kinds, once: set[str]
    ) -> None:
        name = relationship.variable
        if name is None:
            return
        if name in once:
            raise BadCypher(
                f"The relationship {name} is named twice in one MATCH.",
                remedy="Within one MATCH no relationship is matched twice.",
            )
        once.add(name)
        wanted = RELATIONSHIPS if relationship.hops else RELATIONSHIP
        known = scope.setdefault(name, wanted)
        if known not in (wanted, UNKNOWN, NULL) and not (relationship.hops and known == LIST):
            raise BadCypher(f"The variable {name} is {known}, and no relationship.")

    def _unwind(self, clause: UnwindClause, scope: Kinds) -> None:
        self._plain(clause.items, scope, "UNWIND")
        if clause.variable in scope:
            raise BadCypher(f"The variable {clause.variable} is bound already.")
        scope[clause.variable] = UNKNOWN

    # ——— WITH and RETURN ———

    def _projection(self, clause: ProjectionClause, scope: Kinds) -> Kinds:
        if clause.star and not scope:
            raise BadCypher("There is no variable that * could stand for.")
        starred = [ProjectionItem(VariableRef(name), name, name) for name in scope]
        items = [*(starred if clause.star else ()), *clause.items]
        following: Kinds = {}
        for item in items:
            self._item(item, clause, scope)
            if item.name in following:
                raise BadCypher(
                    f"The column {item.name} is there twice.", remedy="Give it a name with AS."
                )
            following[item.name] = kind_of(item.expression, scope)
        grouped = any(has_aggregate(item.expression) for item in items)
        if grouped:
            self._check_grouping(items, [item.expression for item in items], frozenset())
        self._order(clause, items, scope, following, grouped)
        self._counts(clause)
        if clause.where is not None:
            visible = following if grouped else scope | following
            self._condition(clause.where, visible)
        return following

    def _item(self, item: ProjectionItem, clause: ProjectionClause, scope: Kinds) -> None:
        self._expression(item.expression, scope)
        is_named = item.alias is not None or isinstance(item.expression, VariableRef)
        if not is_named and not clause.is_return:
            raise BadCypher(
                f"The expression {item.spelt[:60]} in WITH has no name.",
                remedy="Give it a name with AS.",
            )

    def _order(
        self,
        clause: ProjectionClause,
        items: list[ProjectionItem],
        scope: Kinds,
        following: Kinds,
        grouped: bool,
    ) -> None:
        for each in clause.order:
            columns = _repeatable(items, has_aggregate(each.expression))

            def column(node: Any, columns: Mapping[Any, str] = columns) -> Any:
                name = columns.get(node)
                return None if name is None else VariableRef(name)

            if not grouped and has_aggregate(each.expression):
                raise BadCypher(
                    "ORDER BY has an aggregate, and what is projected has none.",
                    remedy="Name the aggregate in WITH or RETURN, and order by its name.",
                )
            expression = replaced(each.expression, column)
            if grouped:
                self._expression(expression, scope | following)
                self._check_grouping(items, [expression], frozenset(following))
            else:
                self._expression(expression, following if clause.distinct else scope | following)

    def _check_grouping(
        self, items: list[ProjectionItem], expressions: list[Expression], columns: frozenset[str]
    ) -> None:
        """Next to an aggregate, only grouping keys, columns and constants are allowed."""
        keys = [one.expression for one in items if not has_aggregate(one.expression)]
        simple = {one for one in keys if isinstance(one, VariableRef | PropertyAccess)}
        for expression in expressions:
            if columns or has_aggregate(expression):
                self._check_ungrouped(expression, simple, columns)

    def _check_ungrouped(self, node: Any, keys: set[Any], columns: frozenset[str]) -> None:
        if is_aggregate(node) or node in keys:
            return
        if isinstance(node, VariableRef) and node.name not in columns:
            raise BadCypher(
                f"The variable {node.name} beside an aggregate is no grouping key.",
                remedy="Project it in a WITH before, or as a column of its own.",
            )
        local = _local_names(node)
        for each in children(node):
            self._check_ungrouped(each, keys, columns | local)

    def _counts(self, clause: ProjectionClause) -> None:
        for word, expression in (("SKIP", clause.skip), ("LIMIT", clause.limit)):
            if expression is None:
                continue
            if has_aggregate(expression):
                raise BadCypher(f"{word} takes no aggregate.")
            try:
                self._plain(expression, {}, word)
            except BadCypher as error:
                if "not defined" not in error.message:
                    raise
                raise BadCypher(f"{word} takes a constant: no variable stands in it.") from None
            if isinstance(expression, CypherLiteral):
                value = expression.value
                if type(value) is not int or value < 0:
                    raise BadCypher(f"{word} takes an integer that is not negative.")

    # ——— expressions ———

    def _condition(self, node: Expression, scope: Kinds) -> None:
        """An expression that must be true, false or null: WHERE, AND, NOT …"""
        if isinstance(node, PatternPredicate):
            self._pattern(node.path, scope)
        elif isinstance(node, BinaryOperation) and node.sign in ("AND", "OR", "XOR"):
            self._condition(node.left, scope)
            self._condition(node.right, scope)
        elif isinstance(node, UnaryOperation) and node.sign == "NOT":
            self._condition(node.of, scope)
        else:
            self._plain(node, scope, "WHERE")
            check_truth(node, scope)

    def _plain(self, node: Expression, scope: Kinds, where: str) -> None:
        """An expression that must not contain an aggregate."""
        if has_aggregate(node):
            raise BadCypher(
                f"An aggregate does not stand in {where}.",
                remedy="Compute it in a WITH before: WITH n, count(*) AS c WHERE c > 1.",
            )
        self._expression(node, scope)

    def _expression(self, node: Any, scope: Kinds) -> None:
        special = _SPECIAL.get(type(node))
        if special is not None:
            special(self, node, scope)
            return
        for each in children(node):
            self._expression(each, scope)

    def _variable(self, node: VariableRef, scope: Kinds) -> None:
        if node.name not in scope:
            known = f"Variables: {', '.join(scope)}." if scope else None
            raise BadCypher(f"The variable {node.name[:60]} is not defined.", remedy=known)

    def _parameter(self, node: ParameterRef, scope: Kinds) -> None:
        if node.name not in self._parameters:
            raise BadCypher(
                f"The parameter ${node.name[:60]} is not given.",
                remedy=f"Give params={{'{node.name[:60]}': …}}.",
            )

    def _property(self, node: PropertyAccess, scope: Kinds) -> None:
        self._expression(node.of, scope)
        kind = kind_of(node.of, scope)
        if kind in (PATH, RELATIONSHIPS, LIST, *SCALARS):
            raise BadCypher(
                f"The query asks for the property '{node.key[:40]}' of {kind}.",
                remedy="Nodes, relationships, maps and temporal values have properties.",
            )
        if self._names is not None and kind in (NODE, RELATIONSHIP):
            self._names.property(node.key)

    def _logical(self, node: BinaryOperation | UnaryOperation, scope: Kinds) -> None:
        if node.sign in ("AND", "OR", "XOR", "NOT"):
            for each in children(node):
                if isinstance(each, PatternPredicate):
                    self._pattern(each.path, scope)
                else:
                    self._expression(each, scope)
                    check_truth(each, scope)
            return
        for each in children(node):
            self._expression(each, scope)

    def _case(self, node: CaseExpression, scope: Kinds) -> None:
        for part in (node.subject, node.otherwise):
            if part is not None:
                self._expression(part, scope)
        for condition, value in node.branches:
            if isinstance(condition, PatternPredicate):
                self._pattern(condition.path, scope)
            else:
                self._expression(condition, scope)
            self._expression(value, scope)

    def _call(self, node: FunctionCall, scope: Kinds) -> None:
        known = self._functions.arguments.get(node.name)
        if known is None:
            names = ", ".join(sorted(self._functions.names, key=str.lower))
            raise BadCypher(
                f"There is no function {node.name[:60]}.", remedy=f"Functions: {names}."
            )
        least, most = known
        if not least <= len(node.arguments) <= most and not node.star:
            raise BadCypher(f"{node.name}() does not take {len(node.arguments)} arguments.")
        if node.distinct and node.name not in AGGREGATES:
            raise BadCypher(f"DISTINCT has no meaning in {node.name}().")
        for each in node.arguments:
            if node.name in AGGREGATES and has_aggregate(each):
                raise BadCypher("An aggregate does not stand in another one.")
            if node.name in AGGREGATES and _has_random(each):
                raise BadCypher(f"rand() does not stand in {node.name}().")
            if node.name == "exists" and isinstance(each, PatternPredicate):
                self._pattern(each.path, scope)
            else:
                self._expression(each, scope)
                check_argument(node.name, each, scope)
        if node.name == "exists" and not isinstance(
            node.arguments[0], PropertyAccess | PatternPredicate
        ):
            raise BadCypher("exists() asks for a property, exists(n.name), or a pattern.")

    # ——— expressions that bind variables ———

    def _list_comprehension(self, node: ListComprehension, scope: Kinds) -> None:
        self._expression(node.items, scope)
        inner = {**scope, node.variable: UNKNOWN}
        if node.where is not None:
            self._condition(node.where, inner)
        if node.result is not None:
            self._plain(node.result, inner, "a list comprehension")

    def _quantifier(self, node: QuantifierExpression, scope: Kinds) -> None:
        self._expression(node.items, scope)
        if node.where is not None:
            self._condition(node.where, {**scope, node.variable: UNKNOWN})

    def _reduce(self, node: ReduceExpression, scope: Kinds) -> None:
        self._expression(node.start, scope)
        self._expression(node.items, scope)
        inner = {**scope, node.total: UNKNOWN, node.variable: UNKNOWN}
        self._plain(node.step, inner, "reduce()")

    def _pattern_comprehension(self, node: PatternComprehension, scope: Kinds) -> None:
        inner = dict(scope)
        self._bind((node.path,), inner)
        if node.where is not None:
            self._condition(node.where, inner)
        self._plain(node.result, inner, "a pattern comprehension")

    def _misplaced_pattern(self, node: PatternPredicate, scope: Kinds) -> None:
        raise BadCypher(
            "A pattern is no value here.",
            remedy="It stands in WHERE; elsewhere write EXISTS { … } or COUNT { … }.",
        )

    def _pattern(self, path: PathPattern, scope: Kinds) -> None:
        for name in names_of_paths((path,)):
            if name not in scope:
                raise BadCypher(
                    f"The variable {name} is not defined.",
                    remedy="A pattern in WHERE binds no variables; EXISTS { … } does.",
                )
        self._bind((path,), dict(scope))

    def _subquery(self, node: SubqueryExpression, scope: Kinds) -> None:
        self.query(node.query, scope)


def _repeatable(items: list[ProjectionItem], beside_aggregate: bool) -> dict[Any, str]:
    """The expressions that ORDER BY may repeat, with their columns. With an aggregate these are
    only variables, properties and aggregates."""
    return {
        item.expression: item.name
        for item in items
        if not beside_aggregate
        or has_aggregate(item.expression)
        or isinstance(item.expression, VariableRef | PropertyAccess)
    }


def _has_random(node: Any) -> bool:
    if isinstance(node, FunctionCall) and node.name == "rand":
        return True
    return any(_has_random(each) for each in children(node))


def _local_names(node: Any) -> frozenset[str]:
    """The variables that an expression binds locally."""
    if isinstance(node, ListComprehension | QuantifierExpression):
        return frozenset({node.variable})
    if isinstance(node, ReduceExpression):
        return frozenset({node.variable, node.total})
    if isinstance(node, PatternComprehension):
        return frozenset(names_of_paths((node.path,)))
    return frozenset()


_SPECIAL: dict[type, Callable[[QueryChecker, Any, Kinds], None]] = {
    VariableRef: QueryChecker._variable,
    ParameterRef: QueryChecker._parameter,
    PropertyAccess: QueryChecker._property,
    BinaryOperation: QueryChecker._logical,
    UnaryOperation: QueryChecker._logical,
    CaseExpression: QueryChecker._case,
    FunctionCall: QueryChecker._call,
    ListComprehension: QueryChecker._list_comprehension,
    QuantifierExpression: QueryChecker._quantifier,
    ReduceExpression: QueryChecker._reduce,
    PatternComprehension: QueryChecker._pattern_comprehension,
    PatternPredicate: QueryChecker._misplaced_pattern,
    SubqueryExpression: QueryChecker._subquery,
}

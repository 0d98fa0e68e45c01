"""Compile a query into operators on rows, and run it.

Operators change one row in place and pass it on. Each writes only its own slots; operators that
store rows (ORDER BY, grouping) store copies.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from commonplace.engine.graph_search.cypher.execution.budget import QueryBudget
from commonplace.engine.graph_search.cypher.execution.expressions import (
    CompilerContext,
    ExpressionCompiler,
)
from commonplace.engine.graph_search.cypher.execution.matching import MatchCompiler
from commonplace.engine.graph_search.cypher.execution.projection import (
    Operator,
    ProjectionCompiler,
    Rows,
)
from commonplace.engine.graph_search.cypher.execution.rows import (
    Row,
    RowLayout,
    Search,
    VariableScope,
)
from commonplace.engine.graph_search.cypher.syntax.tree import (
    Clause,
    CypherQuery,
    Expression,
    MatchClause,
    PathPattern,
    ProjectionClause,
    UnwindClause,
)
from commonplace.engine.graph_search.cypher.values import CypherGraph, group_key, row_weight


@dataclass(frozen=True, slots=True)
class CompiledQuery:
    columns: tuple[str, ...]
    rows: Iterator[Row]


class QueryCompiler:
    def __init__(self, graph: CypherGraph, context: CompilerContext) -> None:
        self._budget: QueryBudget = context.budget
        self._matches = MatchCompiler(graph, context.budget)
        self._expressions = ExpressionCompiler(context, self)

    def query(self, query: CypherQuery) -> CompiledQuery:
        """Rows are computed lazily; errors in the query are raised before the first row."""
        parts = []
        columns: tuple[str, ...] = ()
        for part in query.parts:
            layout = RowLayout()
            operators, columns = self._part(part, VariableScope(layout))
            parts.append((operators, layout))
        rows = self._run_parts(parts)
        is_union = len(parts) > 1 and not query.keeps_duplicates
        return CompiledQuery(columns, self._distinct(rows) if is_union else rows)

    def _run_parts(self, parts: list[tuple[list[Operator], RowLayout]]) -> Rows:
        """The rows of all parts. The checks ensure that their columns are equal."""
        for operators, layout in parts:
            yield from _run(operators, iter([[None] * layout.size]))

    def _distinct(self, rows: Rows) -> Rows:
        seen: set[Any] = set()
        for row in rows:
            key = tuple([group_key(self._budget, value) for value in row])
            if key not in seen:
                self._budget.keep(row_weight(self._budget, row))
                seen.add(key)
                yield row

    def _part(
        self, clauses: tuple[Clause, ...], scope: VariableScope
    ) -> tuple[list[Operator], tuple[str, ...]]:
        operators: list[Operator] = []
        columns: tuple[str, ...] = ()
        for clause in clauses:
            if isinstance(clause, ProjectionClause):
                compiled = ProjectionCompiler(clause, scope, self._expressions, self._budget)
                columns, scope = compiled.columns, VariableScope()
                operators.append(compiled.operator(scope))
            elif isinstance(clause, MatchClause):
                operators.append(self._match(clause, scope))
            else:
                operators.append(self._unwind(clause, scope))
        return operators, columns

    # ——— clauses ———

    def _match(self, clause: MatchClause, scope: VariableScope) -> Operator:
        before = set(scope.slots)
        search = self._matches.search(clause.paths, clause.where, scope, self._expressions)
        new = [slot for name, slot in scope.slots.items() if name not in before]
        optional, step = clause.optional, self._budget.step

        def match(rows: Rows) -> Rows:
            for row in rows:
                found = False
                for _ in search(row):
                    found = True
                    yield row
                if optional and not found:
                    step()
                    for slot in new:
                        row[slot] = None
                    yield row

        return match

    def _unwind(self, clause: UnwindClause, scope: VariableScope) -> Operator:
        items = self._expressions.iterated(clause.items, scope)
        slot, step = scope.add(clause.variable), self._budget.step

        def unwind(rows: Rows) -> Rows:
            for row in rows:
                value = items(row)
                if value is None:
                    continue
                for each in value if isinstance(value, list | range) else (value,):
                    step()
                    row[slot] = each
                    yield row

        return unwind

    # ——— patterns and subqueries in expressions ———

    def search(self, path: PathPattern, where: Expression | None, scope: VariableScope) -> Search:
        return self._matches.search((path,), where, scope, self._expressions)

    def subquery(self, query: CypherQuery, scope: VariableScope) -> Search:
        parts = [self._part(part, scope.inner())[0] for part in query.parts]
        is_union = len(parts) > 1 and not query.keeps_duplicates

        def run(row: Row) -> Rows:
            for operators in parts:
                yield from _run(operators, iter([row[:]]))

        return (lambda row: self._distinct(run(row))) if is_union else run


def _run(operators: list[Operator], rows: Rows) -> Rows:
    for operator in operators:
        rows = operator(rows)
    return rows

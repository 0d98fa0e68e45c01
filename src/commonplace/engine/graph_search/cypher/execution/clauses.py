"""Compilation of a query into operators on rows, and its run.

Operators pass one row on and change it in place: each writes only slots of its own, and who keeps
rows (ORDER BY, grouping) keeps copies.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from commonplace.engine.graph_search.cypher.execution.budget import CELL, QueryBudget
from commonplace.engine.graph_search.cypher.execution.expressions import (
    CompilerContext,
    ExpressionCompiler,
)
from commonplace.engine.graph_search.cypher.execution.graph import CypherGraph
from commonplace.engine.graph_search.cypher.execution.matching import MatchCompiler
from commonplace.engine.graph_search.cypher.execution.projection import (
    Operator,
    ProjectionCompiler,
    Rows,
)
from commonplace.engine.graph_search.cypher.execution.rows import Row, Search, VariableScope
from commonplace.engine.graph_search.cypher.syntax.tree import (
    Clause,
    CypherQuery,
    Expression,
    MatchClause,
    PathPattern,
    ProjectionClause,
    UnwindClause,
)
from commonplace.engine.graph_search.cypher.values import group_key


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
        """The rows come as they are asked for; errors of the query are raised before the first."""
        parts = []
        for part in query.parts:
            scope = VariableScope()
            first = scope.layout
            operators, columns = self._part(part, scope)
            parts.append((operators, first))
        rows = self._united(parts, query.keeps_duplicates)
        return CompiledQuery(columns, rows)

    def _united(self, parts: list[Any], keeps_duplicates: bool) -> Iterator[Row]:
        """Columns are compared by name in the checks, and have one order in all parts."""
        seen: set[Any] = set()
        for operators, layout in parts:
            for row in _run(operators, iter([[None] * layout.size])):
                if len(parts) > 1 and not keeps_duplicates:
                    key = tuple(map(group_key, row))
                    if key in seen:
                        continue
                    self._budget.keep(CELL * (1 + len(row)))
                    seen.add(key)
                self._budget.step()
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
        items = self._expressions.compile(clause.items, scope)
        slot, step = scope.add(clause.variable), self._budget.step

        def unwind(rows: Rows) -> Rows:
            for row in rows:
                value = items(row)
                if value is None:
                    continue
                for each in value if isinstance(value, list) else (value,):
                    step()
                    row[slot] = each
                    yield row

        return unwind

    # ——— what expressions ask for ———

    def search(self, path: PathPattern, where: Expression | None, scope: VariableScope) -> Search:
        return self._matches.search((path,), where, scope, self._expressions)

    def subquery(self, query: CypherQuery, scope: VariableScope) -> Search:
        parts = [self._part(part, scope.inner())[0] for part in query.parts]

        def search(row: Row) -> Iterator[Row]:
            for operators in parts:
                yield from _run(operators, iter([row[:]]))

        return search


def _run(operators: list[Operator], rows: Rows) -> Rows:
    for operator in operators:
        rows = operator(rows)
    return rows

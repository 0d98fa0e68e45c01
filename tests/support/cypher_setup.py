"""A graph made by CREATE statements: the set-up of tests, which the interpreter itself refuses."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from commonplace.engine.graph_search.cypher.execution.budget import QueryBudget, QueryLimits
from commonplace.engine.graph_search.cypher.execution.clauses import QueryCompiler
from commonplace.engine.graph_search.cypher.execution.expressions import CompilerContext
from commonplace.engine.graph_search.cypher.execution.rows import VariableScope
from commonplace.engine.graph_search.cypher.functions.scalars import FunctionContext
from commonplace.engine.graph_search.cypher.syntax.parser import QueryParser
from commonplace.engine.graph_search.cypher.syntax.tokens import TokenKind
from commonplace.engine.graph_search.cypher.syntax.tree import (
    Clause,
    Expression,
    MapLiteral,
    PathPattern,
    PropertyAccess,
)
from commonplace.engine.graph_search.cypher.values import CypherGraph, CypherNode

NOW = datetime(2026, 3, 1, 9, tzinfo=UTC)


class MappingReader:
    """Properties that are held in a mapping."""

    def get(self, thing, key):
        return thing.get(key)

    def all(self, thing):
        return {key: value for key, value in thing.items() if value is not None}


_READER = MappingReader()
_PATIENT = QueryLimits(seconds=60)


@dataclass(frozen=True)
class Create:
    paths: tuple[PathPattern, ...]


@dataclass(frozen=True)
class SetProperty:
    of: Expression
    key: str | None  # None: all of a map
    value: Expression


@dataclass(frozen=True)
class Delete:
    items: tuple[Expression, ...]


class SetupParser(QueryParser):
    def statement(self) -> list[Any]:
        found: list[Any] = []
        while self.here.kind is not TokenKind.END and not self.takes(";"):
            if self.takes_word("CREATE"):
                paths = [self.path()]
                while self.takes(","):
                    paths.append(self.path())
                found.append(Create(tuple(paths)))
            elif self.takes_word("SET"):
                found.append(self._set())
                while self.takes(","):
                    found.append(self._set())
            elif self.sees_word("DELETE", "DETACH"):
                self.takes_word("DETACH")
                self.take()
                items = [self.expression()]
                while self.takes(","):
                    items.append(self.expression())
                found.append(Delete(tuple(items)))
            else:
                found.append(self._clause())
        return found

    def _set(self) -> SetProperty:
        target = self._postfixed(self.atom())
        self.takes("+=", "=")
        value = self.expression()
        if isinstance(target, PropertyAccess):
            return SetProperty(target.of, target.key, value)
        return SetProperty(target, None, value)


@dataclass
class GraphSetup:
    graph: CypherGraph = field(default_factory=CypherGraph)

    def run(self, statement: str, parameters: Mapping[str, Any] | None = None) -> None:
        budget = QueryBudget(_PATIENT)
        context = CompilerContext(budget, FunctionContext(budget, NOW), parameters or {})
        names: dict[str, Any] = {}
        rows: list[dict[str, Any]] = [names]
        for clause in SetupParser(statement).statement():
            compiler = QueryCompiler(self.graph, context)
            if isinstance(clause, Create):
                for row in rows:
                    for path in clause.paths:
                        self._create(path, row, compiler)
            elif isinstance(clause, SetProperty):
                self._set(clause, rows, compiler)
            elif isinstance(clause, Delete):
                gone = [_value(compiler, one, row) for row in rows for one in clause.items]
                self._delete(gone)
            else:
                rows = [found for row in rows for found in _read(compiler, clause, row)]

    def _create(self, path: PathPattern, row: dict[str, Any], compiler: QueryCompiler) -> None:
        at = self._node(path.start, row, compiler)
        for relationship, node in path.steps:
            following = self._node(node, row, compiler)
            ends = (following, at) if relationship.arrow == "<-" else (at, following)
            told = _map(compiler, relationship.properties, row)
            number = len(self.graph.relationships)
            one = self.graph.add_relationship(number, relationship.types[0], *ends, told, _READER)
            if relationship.variable:
                row[relationship.variable] = one
            at = following

    def _node(self, node: Any, row: dict[str, Any], compiler: QueryCompiler) -> CypherNode:
        if node.variable in row:
            found: CypherNode = row[node.variable]
            return found
        labels = [label for group in node.labels for label in group]
        told = _map(compiler, node.properties, row)
        made = self.graph.add_node(len(self.graph.nodes), labels, told, _READER)
        if node.variable:
            row[node.variable] = made
        return made

    def _set(self, clause: SetProperty, rows: list[Any], compiler: QueryCompiler) -> None:
        for row in rows:
            thing, value = _value(compiler, clause.of, row), _value(compiler, clause.value, row)
            thing.thing.update(value if clause.key is None else {clause.key: value})

    def _delete(self, gone: list[Any]) -> None:
        for one in [each for each in self.graph.relationships if each in gone]:
            self.graph.relationships.remove(one)
            self.graph.by_type[one.type].remove(one)
            one.start.outgoing[one.type].remove(one)
            one.end.incoming[one.type].remove(one)
        for node in [each for each in self.graph.nodes if each in gone]:
            self.graph.nodes.remove(node)
            for label in node.labels:
                self.graph.by_label[label].remove(node)


def graph_of(*statements: str) -> CypherGraph:
    setup = GraphSetup()
    for statement in statements:
        setup.run(statement)
    return setup.graph


def _scope(row: Mapping[str, Any]) -> VariableScope:
    scope = VariableScope()
    for name in row:
        scope.add(name)
    return scope


def _value(compiler: QueryCompiler, expression: Expression, row: Mapping[str, Any]) -> Any:
    scope = _scope(row)
    evaluate = compiler._expressions.compile(expression, scope)
    return evaluate([*row.values(), *[None] * (scope.layout.size - len(row))])


def _map(compiler: QueryCompiler, told: MapLiteral | None, row: Mapping[str, Any]) -> Any:
    found = _value(compiler, told, row) if told else {}
    return {key: value for key, value in found.items() if value is not None}


def _read(compiler: QueryCompiler, clause: Clause, row: Mapping[str, Any]) -> list[dict[str, Any]]:
    scope = _scope(row)
    names = scope
    operators, columns = compiler._part((clause,), scope)
    rows = iter([[*row.values(), *[None] * (scope.layout.size - len(row))]])
    for operator in operators:
        rows = operator(rows)
    found = []
    for each in rows:
        slots = names.slots if not columns else {name: at for at, name in enumerate(columns)}
        found.append({name: each[slot] for name, slot in slots.items()})
    return found

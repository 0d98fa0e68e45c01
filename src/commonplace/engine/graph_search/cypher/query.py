"""Run Cypher queries over a cached snapshot of the graph."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

from commonplace.engine.graph_search.cypher.execution.budget import (
    DEFAULT_LIMITS,
    QueryBudget,
    QueryLimits,
)
from commonplace.engine.graph_search.cypher.execution.clauses import CompiledQuery, QueryCompiler
from commonplace.engine.graph_search.cypher.execution.expressions import CompilerContext
from commonplace.engine.graph_search.cypher.functions.catalog import FUNCTIONS, SPECIAL
from commonplace.engine.graph_search.cypher.functions.scalars import FunctionContext
from commonplace.engine.graph_search.cypher.schema import MOMENTS, SchemaNames
from commonplace.engine.graph_search.cypher.snapshot import graph_of
from commonplace.engine.graph_search.cypher.syntax.checks import CheckedFunctions, checked
from commonplace.engine.graph_search.cypher.syntax.parser import parse
from commonplace.engine.graph_search.cypher.syntax.tree import AGGREGATES, CypherQuery
from commonplace.engine.graph_search.cypher.temporal.types import (
    CypherDateTime,
    Temporal,
    from_python,
)
from commonplace.engine.graph_search.cypher.values import (
    LARGEST,
    SMALLEST,
    CypherGraph,
    CypherNode,
    CypherPath,
    CypherRelationship,
)
from commonplace.errors import BadCypher, QueryTooCostly
from commonplace.model.graph.snapshot import GraphSnapshot
from commonplace.store.cache.bounded_cache import BoundedCache

_ARGUMENTS = {
    **{name: (one.least, one.most) for name, one in FUNCTIONS.items()},
    **SPECIAL,
    **dict.fromkeys(AGGREGATES, (1, 1)),
    **dict.fromkeys(("percentilecont", "percentiledisc"), (2, 2)),
}
_AGGREGATE_NAMES = {
    "stdev": "stDev",
    "stdevp": "stDevP",
    "percentilecont": "percentileCont",
    "percentiledisc": "percentileDisc",
}
FUNCTION_NAMES = tuple(
    sorted(
        (
            *(one.name for one in FUNCTIONS.values()),
            *SPECIAL,
            *(_AGGREGATE_NAMES.get(name, name) for name in AGGREGATES),
        ),
        key=str.lower,
    )
)
_NAMES = SchemaNames()
CHECKED_FUNCTIONS = CheckedFunctions(_ARGUMENTS, FUNCTION_NAMES)


class CypherQueries:
    """Runs queries. Graphs are cached by key."""

    def __init__(self, graphs: BoundedCache[Hashable, CypherGraph]) -> None:
        self._graphs = graphs

    def run(
        self,
        key: str,
        load: Callable[[], GraphSnapshot],
        now: datetime,
        query: str,
        params: Mapping[str, Any] | None = None,
        verbose: bool = False,
        limits: QueryLimits = DEFAULT_LIMITS,
    ) -> CypherAnswer:
        """``key``: the cache key of the snapshot: owner, graph revision, visibility and day."""
        given = {name: checked_parameter(name, value) for name, value in (params or {}).items()}
        try:
            tree = checked(parse(query), given, CHECKED_FUNCTIONS, _NAMES)
            graph = self._graph(key, load, now)
            return _run_checked(graph, tree, given, now, verbose, limits)
        except RecursionError:
            raise QueryTooCostly("The query, or a value of it, is nested too deeply.") from None
        except MemoryError:
            raise QueryTooCostly("The machine has not enough memory for the query.") from None

    def _graph(self, key: str, load: Callable[[], GraphSnapshot], now: datetime) -> CypherGraph:
        graph = self._graphs.get(key)
        if graph is None:
            graph = graph_of(load(), now)
            self._graphs.put(key, graph, nbytes=graph.nbytes)
        return graph


RUN_TIME_REMEDY = (
    "Correct the expression, or leave out the rows for which it has no value, by WHERE or CASE."
)


def _run_checked(
    graph: CypherGraph,
    tree: CypherQuery,
    parameters: Mapping[str, Any],
    now: datetime,
    verbose: bool,
    limits: QueryLimits,
) -> CypherAnswer:
    budget = QueryBudget(limits)
    context = CompilerContext(budget, FunctionContext(budget, now), parameters, MOMENTS)
    try:
        compiled = QueryCompiler(graph, context).query(tree)
        rows, truncated = _answer_rows(compiled.rows, budget, verbose, limits)
    except BadCypher as error:
        if error.remedy != BadCypher.default_remedy:
            raise
        raise BadCypher(error.message, remedy=RUN_TIME_REMEDY) from None
    return CypherAnswer(compiled.columns, tuple(rows), truncated)


def _answer_rows(
    rows: Iterable[list[Any]], budget: QueryBudget, verbose: bool, limits: QueryLimits
) -> tuple[list[tuple[Any, ...]], bool]:
    """Rows within the limits of count and size, and whether there are more."""
    found: list[tuple[Any, ...]] = []
    values = AnswerValues(budget, limits.size, verbose)
    for row in rows:
        if len(found) >= limits.rows:
            return found, True
        try:
            found.append(tuple([values.plain(value) for value in row]))
        except _AnswerFullError:
            if found:
                return found, True
            raise QueryTooCostly(
                f"The first row is larger than an answer may be, {limits.size:,} characters.",
                remedy="Return single properties and shorter lists.",
            ) from None
    return found, False


@dataclass(frozen=True, slots=True)
class CypherAnswer:
    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    truncated: bool


def run_query(
    graph: CypherGraph,
    query: str,
    parameters: Mapping[str, Any],
    now: datetime,
    limits: QueryLimits = DEFAULT_LIMITS,
) -> CompiledQuery:
    """Over any graph, without a schema check; rows hold the interpreter's values."""
    given = {name: checked_parameter(name, value) for name, value in parameters.items()}
    tree = checked(parse(query), given, CHECKED_FUNCTIONS, None)
    budget = QueryBudget(limits)
    context = CompilerContext(budget, FunctionContext(budget, now), given)
    return QueryCompiler(graph, context).query(tree)


# ——— parameters ———

_MAX_PARAMETER_DEPTH = 10
_MAX_PARAMETER_ITEMS = 10_000  # items of one parameter
_KEY = re.compile(r"\w+")


def checked_parameter(name: str, value: Any) -> Any:
    """The interpreter's value of a parameter. Raises BadCypher for unsupported types."""
    return _parameter(f"${name[:60]}", value, 0)


def _parameter(name: str, value: Any, depth: int) -> Any:
    if depth > _MAX_PARAMETER_DEPTH:
        raise BadCypher(f"The parameter {name} is nested more than {_MAX_PARAMETER_DEPTH} deep.")
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        if "\0" in value or any("\ud800" <= char <= "\udfff" for char in value):
            raise BadCypher(f"The parameter {name} holds a NUL or half a surrogate pair.")
        return str(value)
    if isinstance(value, int):
        if not SMALLEST <= value <= LARGEST:
            raise BadCypher(f"The parameter {name} is too large a number.")
        return int(value)
    if isinstance(value, float):
        if not math.isfinite(value):
            raise BadCypher(f"The parameter {name} is no finite number.")
        return float(value)
    if isinstance(value, date):
        return from_python(value)
    if isinstance(value, list | tuple | Mapping):
        return _nested_parameter(name, value, depth)
    raise BadCypher(f"The parameter {name} is a {type(value).__name__}, which has no meaning.")


def _nested_parameter(name: str, value: Any, depth: int) -> Any:
    if len(value) > _MAX_PARAMETER_ITEMS:
        raise BadCypher(
            f"The parameter {name} has {len(value):,} items; the limit is {_MAX_PARAMETER_ITEMS:,}."
        )
    if not isinstance(value, Mapping):
        return [_parameter(name, each, depth + 1) for each in value]
    for key in value:
        if not isinstance(key, str) or not _KEY.fullmatch(key):
            raise BadCypher(f"The parameter {name} has a key that is no plain name.")
    return {key: _parameter(name, each, depth + 1) for key, each in value.items()}


# ——— answers ———

MAX_ANSWER_DEPTH = 50  # nested lists and maps
SHORT_TEXT_LENGTH = 500  # characters


class _AnswerFullError(Exception):
    """The value would exceed the size of the answer."""


class AnswerValues:
    """Makes JSON values of an answer, up to a number of characters in all. Long texts are cut,
    also in lists and maps, unless the answer is verbose."""

    def __init__(self, budget: QueryBudget, size: int, verbose: bool) -> None:
        self._budget = budget
        self._remaining = size
        self._verbose = verbose

    def plain(self, value: Any, depth: int = 0) -> Any:
        """Nodes and relationships as maps, temporal values as strings."""
        if depth > MAX_ANSWER_DEPTH:
            raise QueryTooCostly("A value of the answer is nested too deeply.")
        self._budget.step()
        if isinstance(value, str):
            return self._text(value)
        self._take(4)
        if value is None or isinstance(value, bool | int):
            return value
        if isinstance(value, float):
            return value if math.isfinite(value) else None
        if isinstance(value, list):
            return [self.plain(each, depth + 1) for each in value]
        if isinstance(value, dict):
            return self._map(value, depth)
        if isinstance(value, CypherNode):
            label = value.labels[0] if value.labels else None
            return {"_label": label, **self._map(value.properties(), 0)}
        if isinstance(value, CypherRelationship):
            return {"_label": value.type, **self._map(value.properties(), 0)}
        if isinstance(value, CypherPath):
            nodes, relationships = list(value.nodes), list(value.relationships)
            return {"nodes": self.plain(nodes), "relationships": self.plain(relationships)}
        assert isinstance(value, Temporal)
        return self._text(value.iso_text if isinstance(value, CypherDateTime) else str(value))

    def _text(self, value: str) -> str:
        if not self._verbose and len(value) > SHORT_TEXT_LENGTH:
            value = value[: SHORT_TEXT_LENGTH - 1] + "…"
        self._take(len(value) + 2)
        return value

    def _map(self, value: dict[str, Any], depth: int) -> dict[str, Any]:
        self._take(sum(map(len, value)) + 2 * len(value))
        return {key: self.plain(each, depth + 1) for key, each in value.items()}

    def _take(self, characters: int) -> None:
        self._remaining -= characters
        if self._remaining < 0:
            raise _AnswerFullError

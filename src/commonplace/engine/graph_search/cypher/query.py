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
from commonplace.engine.graph_search.cypher.syntax.tree import AGGREGATES
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
            budget = QueryBudget(limits)
            context = CompilerContext(budget, FunctionContext(budget, now), given, MOMENTS)
            compiled = QueryCompiler(graph, context).query(tree)
            rows, truncated = _cut_rows(compiled.rows, limits)
        except RecursionError:
            raise QueryTooCostly("The query, or a value of it, is nested too deeply.") from None
        shown = [shortened(row) for row in rows] if not verbose else rows
        return CypherAnswer(compiled.columns, tuple(map(tuple, shown)), truncated)

    def _graph(self, key: str, load: Callable[[], GraphSnapshot], now: datetime) -> CypherGraph:
        graph = self._graphs.get(key)
        if graph is None:
            graph = graph_of(load(), now)
            self._graphs.put(key, graph, nbytes=graph.nbytes)
        return graph


def _cut_rows(rows: Iterable[list[Any]], limits: QueryLimits) -> tuple[list[list[Any]], bool]:
    """Rows within the limits of count and size, and whether there are more."""
    found: list[list[Any]] = []
    remaining = limits.size
    for row in rows:
        if len(found) >= limits.rows:
            return found, True
        shown = [plain(value) for value in row]
        remaining -= sum(map(size_of, shown))
        if remaining < 0:
            return found, True
        found.append(shown)
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


def plain(value: Any, depth: int = 0) -> Any:
    """A JSON value: nodes and relationships as maps, temporal values as strings."""
    if depth > MAX_ANSWER_DEPTH:
        raise QueryTooCostly("A value of the answer is nested too deeply.")
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, list):
        return [plain(each, depth + 1) for each in value]
    if isinstance(value, dict):
        return {key: plain(each, depth + 1) for key, each in value.items()}
    if isinstance(value, CypherNode):
        return {"_label": value.labels[0] if value.labels else None, **plain(value.properties())}
    if isinstance(value, CypherRelationship):
        return {"_label": value.type, **plain(value.properties())}
    if isinstance(value, CypherPath):
        nodes, relationships = list(value.nodes), list(value.relationships)
        return {"nodes": plain(nodes), "relationships": plain(relationships)}
    assert isinstance(value, Temporal)
    return value.iso_text if isinstance(value, CypherDateTime) else str(value)


def size_of(value: Any) -> int:
    """The approximate length in characters."""
    if isinstance(value, str):
        return len(value) + 2
    if isinstance(value, list):
        return 2 + sum(size_of(each) for each in value)
    if isinstance(value, dict):
        return 2 + sum(len(key) + 2 + size_of(each) for key, each in value.items())
    return 8


def shortened(value: Any) -> Any:
    """The value with all long texts cut, also in lists and maps."""
    if isinstance(value, str):
        return value if len(value) <= SHORT_TEXT_LENGTH else value[: SHORT_TEXT_LENGTH - 1] + "…"
    if isinstance(value, list):
        return [shortened(each) for each in value]
    if isinstance(value, dict):
        return {key: shortened(each) for key, each in value.items()}
    return value

"""The catalog of functions: those on lists, the graph and time here, scalars in scalars.py."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from commonplace.engine.graph_search.cypher.execution.budget import CELL_BYTES, sorted_in_turns
from commonplace.engine.graph_search.cypher.functions.scalars import (
    SCALARS,
    FunctionContext,
    FunctionTable,
    integer_argument,
    list_argument,
    text_argument,
    wrong_argument,
)
from commonplace.engine.graph_search.cypher.temporal.arithmetic import between, truncate
from commonplace.engine.graph_search.cypher.temporal.construction import (
    MAKERS,
    make_duration,
    parse_zone,
)
from commonplace.engine.graph_search.cypher.temporal.types import (
    SECOND,
    UTC_ZONE,
    CypherDateTime,
    CypherTime,
    Instant,
    Temporal,
    at_instant,
    from_python,
)
from commonplace.engine.graph_search.cypher.values import (
    CypherNode,
    CypherPath,
    CypherRelationship,
    group_key,
    is_in,
    sort_key,
    weight,
)
from commonplace.errors import BadCypher

FUNCTIONS = FunctionTable(SCALARS)
add = FUNCTIONS.add
# Compiled by the expression compiler; the values are argument counts.
SPECIAL = {"coalesce": (1, 100), "exists": (1, 1)}

# ——— lists ———


def numbers_of_range(first: Any, last: Any, step: Any = 1) -> range:
    """The numbers of range(), without a list of them."""
    first, last, step = (integer_argument("range", each) for each in (first, last, step))
    if step == 0:
        raise BadCypher("range() takes a step that is not 0.")
    return range(first, last + (1 if step > 0 else -1), step)


def _range(context: FunctionContext, *bounds: Any) -> list[int]:
    numbers = numbers_of_range(*bounds)
    step, sign = numbers.step, 1 if numbers.step > 0 else -1
    count = max(0, (numbers.stop - numbers.start + step - sign) // step)  # may be beyond len()
    context.budget.build(32 * count)
    return list(numbers)


def _distinct(context: FunctionContext, value: Any) -> list[Any]:
    budget, items = context.budget, list_argument("list_distinct", value)
    found: dict[Any, Any] = {}
    size = 0
    for item in budget.counted(items):
        key = group_key(budget, item)
        if key not in found:
            size += CELL_BYTES + weight(budget, item)
            budget.check_value(size)
            found[key] = item
    return list(found.values())


def _sorted(context: FunctionContext, value: Any) -> list[Any]:
    budget, items = context.budget, list_argument("list_sort", value)
    budget.check_value(weight(budget, items))
    return sorted_in_turns(items, partial(sort_key, budget), budget)


def _contains(context: FunctionContext, items: Any, value: Any) -> bool | None:
    return is_in(context.budget, value, list_argument("list_contains", items))


def _null_if(context: FunctionContext, one: Any, other: Any) -> Any:
    budget = context.budget
    return None if group_key(budget, one) == group_key(budget, other) else one


def _head(value: Any) -> Any:
    return list_argument("head", value)[0] if list_argument("head", value) else None


def _last(value: Any) -> Any:
    return list_argument("last", value)[-1] if list_argument("last", value) else None


add("head", 1, 1, _head)
add("last", 1, 1, _last)
add("tail", 1, 1, lambda value: list_argument("tail", value)[1:], is_linear=True)
add("range", 2, 3, _range, takes_context=True)
add("list_sort", 1, 1, _sorted, takes_context=True)
add("list_distinct", 1, 1, _distinct, takes_context=True)
add("list_contains", 2, 2, _contains, takes_context=True)
add("nullIf", 2, 2, _null_if, takes_context=True, takes_null=True)


# ——— nodes, relationships, paths, maps ———


def _labels(value: Any) -> list[str]:
    if not isinstance(value, CypherNode):
        raise wrong_argument("labels", "a node", value)
    return list(value.labels)


def _label(value: Any) -> str | None:
    if isinstance(value, CypherRelationship):
        return value.type
    found = _labels(value)
    return found[0] if found else None


def _type(value: Any) -> str:
    if not isinstance(value, CypherRelationship):
        raise wrong_argument("type", "a relationship", value)
    return value.type


def _key(name: str) -> Callable[[Any], Any]:
    def call(value: Any) -> Any:
        if not isinstance(value, CypherNode | CypherRelationship):
            raise wrong_argument(name, "a node or a relationship", value)
        return value.key

    return call


def properties_of(value: Any) -> dict[str, Any]:
    if isinstance(value, CypherNode | CypherRelationship):
        return value.properties()
    if isinstance(value, dict):
        return value
    raise wrong_argument("properties", "a node, a relationship or a map", value)


def _keys(value: Any) -> list[str]:
    if not isinstance(value, CypherNode | CypherRelationship | dict):
        raise wrong_argument("keys", "a node, a relationship or a map", value)
    return list(properties_of(value))


def _of_path(name: str, call: Callable[[CypherPath], Any]) -> None:
    def checked(value: Any) -> Any:
        if not isinstance(value, CypherPath):
            raise wrong_argument(name, "a path", value)
        return call(value)

    add(name, 1, 1, checked)


def _of_relationship(name: str, call: Callable[[CypherRelationship], Any]) -> None:
    def checked(value: Any) -> Any:
        if not isinstance(value, CypherRelationship):
            raise wrong_argument(name, "a relationship", value)
        return call(value)

    add(name, 1, 1, checked)


add("labels", 1, 1, _labels)
add("label", 1, 1, _label)
add("type", 1, 1, _type)
add("id", 1, 1, _key("id"))
add("elementId", 1, 1, _key("elementId"))
add("keys", 1, 1, _keys)
add("properties", 1, 1, properties_of)
_of_path("nodes", lambda path: list(path.nodes))
_of_path("relationships", lambda path: list(path.relationships))
_of_path("rels", lambda path: list(path.relationships))
_of_path("length", lambda path: len(path.relationships))
_of_relationship("startNode", lambda one: one.start)
_of_relationship("endNode", lambda one: one.end)


# ——— time ———


def _now(context: FunctionContext) -> CypherDateTime:
    found = from_python(context.now)
    assert isinstance(found, CypherDateTime)
    return found


def _made(kind: str, context: FunctionContext, value: Any = None) -> Any:
    """date(), time() …: the current time without an argument, or with a zone only."""
    if (
        isinstance(value, dict)
        and value.keys() == {"timezone"}
        and isinstance(value["timezone"], str)
    ):
        here = at_instant(_now(context).epoch_nanos, parse_zone(value["timezone"]))
        return MAKERS[kind](CypherTime(here.nanos, here.offset) if kind == "time" else here)
    return MAKERS[kind](_now(context) if value is None else value)


def _timestamp(context: FunctionContext, *value: Any) -> Any:
    return MAKERS["datetime"](value[0]) if value else _now(context).epoch_nanos // 1_000_000


def _truncated(kind: str, context: FunctionContext, unit: Any, *more: Any) -> Instant:
    return truncate(kind, unit, *(more or (_now(context),)))


def _date_part(unit: Any, value: Any) -> Any:
    if not isinstance(value, Temporal):
        raise wrong_argument("date_part", "a unit and a temporal value", value)
    return value.get(text_argument("date_part", unit))


def _from_epoch(size: int, seconds: Any, nanos: Any = 0) -> CypherDateTime:
    total = integer_argument("datetime.fromEpoch", seconds) * size + integer_argument(
        "datetime.fromEpoch", nanos
    )
    return at_instant(total, UTC_ZONE)


for _name in MAKERS:
    add(_name, 0, 1, partial(_made, _name), takes_context=True)
    add(f"{_name}.truncate", 1, 3, partial(_truncated, _name), takes_context=True)
    for _clock in ("transaction", "statement", "realtime"):
        add(f"{_name}.{_clock}", 0, 1, partial(_made, _name), takes_context=True)
add("datetime.fromEpoch", 2, 2, partial(_from_epoch, SECOND))
add("datetime.fromEpochMillis", 1, 1, partial(_from_epoch, 1_000_000))
add("timestamp", 0, 1, _timestamp, takes_context=True)
add("duration", 1, 1, make_duration)
for _name in ("between", "inMonths", "inDays", "inSeconds"):
    add(f"duration.{_name}", 2, 2, partial(between, _name.lower()))
add("date_part", 2, 2, _date_part)

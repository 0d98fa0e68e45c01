"""The functions that a query may call, except aggregates and those that are compiled specially."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from typing import Any

from commonplace.engine.graph_search.cypher.budget import QueryBudget
from commonplace.engine.graph_search.cypher.temporal import (
    SECOND,
    UTC_ZONE,
    CypherDateTime,
    CypherTime,
    Instant,
    Temporal,
    at_instant,
    from_python,
)
from commonplace.engine.graph_search.cypher.temporal_construction import (
    MAKERS,
    make_duration,
    parse_zone,
)
from commonplace.engine.graph_search.cypher.temporal_functions import between, truncate
from commonplace.engine.graph_search.cypher.values import (
    LARGEST,
    SMALLEST,
    CypherNode,
    CypherPath,
    CypherRelationship,
    group_key,
    is_in,
    is_number,
    sort_key,
    type_name,
)
from commonplace.errors import BadCypher

LONGEST_DISTANCE = 2_000  # characters of a text that levenshtein() takes


@dataclass(frozen=True, slots=True)
class FunctionContext:
    """What a function may use besides its arguments."""

    budget: QueryBudget
    now: datetime
    random: random.Random = field(default_factory=random.Random)


@dataclass(frozen=True, slots=True)
class CypherFunction:
    name: str  # as it is documented
    least: int  # arguments
    most: int
    call: Callable[..., Any]
    takes_null: bool = False  # else null in gives null out
    takes_context: bool = False


FUNCTIONS: dict[str, CypherFunction] = {}
# Compiled by the expression compiler, with the numbers of their arguments.
SPECIAL = {"coalesce": (1, 100), "exists": (1, 1)}


def _add(name: str, least: int, most: int, call: Callable[..., Any], **more: bool) -> None:
    FUNCTIONS[name.lower()] = CypherFunction(name, least, most, call, **more)


def _wrong(name: str, takes: str, value: Any) -> BadCypher:
    return BadCypher(f"{name}() takes {takes}, not {type_name(value)}.")


def _text(name: str, value: Any) -> str:
    if not isinstance(value, str):
        raise _wrong(name, "a string", value)
    return value


def _number(name: str, value: Any) -> Any:
    if not is_number(value):
        raise _wrong(name, "a number", value)
    return value


def _integer(name: str, value: Any) -> int:
    if type(value) is not int:
        raise _wrong(name, "an integer", value)
    return value


def _list(name: str, value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise _wrong(name, "a list", value)
    return value


# ——— strings ———


def _of_text(name: str, call: Callable[[str], Any]) -> None:
    _add(name, 1, 1, lambda value: call(_text(name, value)))


for _name, _call in {
    "toLower": str.lower,
    "toUpper": str.upper,
    "lower": str.lower,
    "upper": str.upper,
    "trim": str.strip,
    "lTrim": str.lstrip,
    "rTrim": str.rstrip,
}.items():
    _of_text(_name, _call)


def _replace(context: FunctionContext, text: Any, old: Any, new: Any) -> str:
    text, old, new = (_text("replace", each) for each in (text, old, new))
    if len(new) > len(old):
        context.budget.check_length(len(text) + text.count(old) * (len(new) - len(old)))
    return str(text.replace(old, new))


def _split(context: FunctionContext, text: Any, at: Any) -> list[str]:
    text, at = _text("split", text), _text("split", at)
    context.budget.check_length(64 * (text.count(at) + 1))
    return text.split(at) if at else list(text)


def _count(name: str, value: Any) -> int:
    count = _integer(name, value)
    if count < 0:
        raise BadCypher(f"{name}() counts from 0: its numbers are not negative.")
    return count


def _substring(text: Any, first: Any, length: Any = None) -> str:
    text, first = _text("substring", text), _count("substring", first)
    last = len(text) if length is None else first + _count("substring", length)
    return str(text[first:last])


def _left(text: Any, count: Any) -> str:
    return _text("left", text)[: _count("left", count)]


def _right(text: Any, count: Any) -> str:
    text = _text("right", text)
    return str(text[max(0, len(text) - _count("right", count)) :])


def _reverse(value: Any) -> Any:
    if isinstance(value, str | list):
        return value[::-1]
    raise _wrong("reverse", "a string or a list", value)


def _size(value: Any) -> int:
    if isinstance(value, str | list):
        return len(value)
    raise _wrong("size", "a string or a list", value)


def text_of(value: Any) -> str:
    """A value as toString() gives it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return {math.inf: "Infinity", -math.inf: "-Infinity"}.get(value, _float_text(value))
    if isinstance(value, str | int | Temporal):
        return str(value)
    raise _wrong("toString", "a string, a number, a boolean or a temporal value", value)


def _float_text(value: float) -> str:
    if value != value:
        return "NaN"
    mantissa, _, exponent = repr(value).partition("e")
    if not exponent:
        return mantissa
    return f"{mantissa if '.' in mantissa else mantissa + '.0'}E{int(exponent)}"


def _levenshtein(context: FunctionContext, left: Any, right: Any) -> int:
    left, right = _text("levenshtein", left), _text("levenshtein", right)
    if max(len(left), len(right)) > LONGEST_DISTANCE:
        raise BadCypher(f"levenshtein() takes at most {LONGEST_DISTANCE:,} characters.")
    before = list(range(len(right) + 1))
    for row, one in enumerate(left, 1):
        context.budget.steps(len(right) + 1)
        now = [row]
        for column, other in enumerate(right, 1):
            now.append(min(before[column] + 1, now[-1] + 1, before[column - 1] + (one != other)))
        before = now
    return before[-1]


_add("replace", 3, 3, _replace, takes_context=True)
_add("split", 2, 2, _split, takes_context=True)
_add("substring", 2, 3, _substring)
_add("left", 2, 2, _left)
_add("right", 2, 2, _right)
_add("reverse", 1, 1, _reverse)
_add("size", 1, 1, _size)
_add("char_length", 1, 1, lambda value: len(_text("char_length", value)))
_add("toString", 1, 1, text_of)
_add("levenshtein", 2, 2, _levenshtein, takes_context=True)


# ——— numbers ———


def in_range(value: int) -> int:
    if not SMALLEST <= value <= LARGEST:
        raise BadCypher("The number is too large for an integer of 64 bits.")
    return value


def _round(value: Any, precision: Any = 0) -> float:
    number, digits = float(_number("round", value)), _integer("round", precision)
    if not math.isfinite(number) or not 0 <= digits <= 300:
        return number
    if digits == 0:
        return float(math.floor(number + 0.5)) if abs(number) < 2**52 else number
    scaled = abs(number) * 10.0**digits
    if not math.isfinite(scaled) or scaled > 2**52:
        return number
    return math.copysign(math.floor(scaled + 0.5) / 10.0**digits, number)


def _real(name: str, call: Callable[[float], float]) -> None:
    def safe(value: Any) -> float:
        try:
            return call(float(_number(name, value)))
        except ValueError:
            return math.nan
        except OverflowError:
            return math.inf

    _add(name, 1, 1, safe)


def _logarithm(call: Callable[[float], float]) -> Callable[[float], float]:
    return lambda value: -math.inf if value == 0 else call(value)


def _floor(value: float) -> float:
    return float(math.floor(value)) if math.isfinite(value) else value


def _ceil(value: float) -> float:
    return float(math.ceil(value)) if math.isfinite(value) else value


for _name, _call_of_number in {
    "ceil": _ceil,
    "floor": _floor,
    "sqrt": math.sqrt,
    "exp": math.exp,
    "log": _logarithm(math.log),
    "log10": _logarithm(math.log10),
    "sin": math.sin,
    "cos": math.cos,
    "tan": math.tan,
    "cot": lambda value: 1 / math.tan(value) if value else math.inf,
    "asin": math.asin,
    "acos": math.acos,
    "atan": math.atan,
    "degrees": math.degrees,
    "radians": math.radians,
    "haversin": lambda value: (1 - math.cos(value)) / 2,
}.items():
    _real(_name, _call_of_number)


def _abs(value: Any) -> Any:
    number = abs(_number("abs", value))
    return in_range(number) if isinstance(number, int) else number


def _sign(value: Any) -> int:
    return (_number("sign", value) > 0) - (value < 0)


def _to_integer(value: Any) -> int | None:
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, str):
        return _integer_of_text(value.strip())
    number = _number("toInteger", value)
    if isinstance(number, float) and not math.isfinite(number):
        return None
    return in_range(int(number))


def _integer_of_text(text: str) -> int | None:
    try:
        value = int(text) if text.lstrip("+-").isdecimal() and len(text) < 30 else int(float(text))
    except (ValueError, OverflowError):
        return None
    return value if SMALLEST <= value <= LARGEST and "_" not in text else None


def _to_float(value: Any) -> float | None:
    if isinstance(value, str):
        try:
            return float(value) if "_" not in value and len(value) < 400 else None
        except ValueError:
            return None
    return float(_number("toFloat", value))


def _to_boolean(value: Any) -> bool | None:
    if isinstance(value, bool):
        return value
    if isinstance(value, str):
        return {"true": True, "false": False}.get(value.strip().lower())
    if type(value) is int:
        return value != 0
    raise _wrong("toBoolean", "a string, an integer or a boolean", value)


def _or_null(call: Callable[[Any], Any]) -> Callable[[Any], Any]:
    def safe(value: Any) -> Any:
        try:
            return call(value)
        except BadCypher:
            return None

    return safe


_add("abs", 1, 1, _abs)
_add("round", 1, 2, _round)
_add("sign", 1, 1, _sign)
_add("e", 0, 0, lambda: math.e)
_add("pi", 0, 0, lambda: math.pi)
_add("rand", 0, 0, lambda context: context.random.random(), takes_context=True)
_add("atan2", 2, 2, lambda y, x: math.atan2(_number("atan2", y), _number("atan2", x)))
_add("isNaN", 1, 1, lambda value: _number("isNaN", value) != value)
for _name, _convert in {
    "toInteger": _to_integer,
    "toFloat": _to_float,
    "toBoolean": _to_boolean,
}.items():
    _add(_name, 1, 1, _convert)
for _name, _convert in {
    "toIntegerOrNull": _to_integer,
    "toFloatOrNull": _to_float,
    "toBooleanOrNull": _to_boolean,
    "toStringOrNull": text_of,
}.items():
    _add(_name, 1, 1, _or_null(_convert))


# ——— lists ———


def _range(context: FunctionContext, first: Any, last: Any, step: Any = 1) -> list[int]:
    first, last, step = (_integer("range", each) for each in (first, last, step))
    if step == 0:
        raise BadCypher("range() takes a step that is not 0.")
    numbers = range(first, last + (1 if step > 0 else -1), step)
    count = max(0, (numbers.stop - numbers.start + step - (1 if step > 0 else -1)) // step)
    context.budget.check_length(32 * count)
    return list(numbers)


def _distinct(context: FunctionContext, value: Any) -> list[Any]:
    items = _list("list_distinct", value)
    context.budget.steps(len(items))
    return list({group_key(each): each for each in reversed(items)}.values())[::-1]


def _sorted(context: FunctionContext, value: Any) -> list[Any]:
    items = _list("list_sort", value)
    context.budget.steps(len(items))
    return sorted(items, key=sort_key)


def _head(value: Any) -> Any:
    return _list("head", value)[0] if _list("head", value) else None


def _last(value: Any) -> Any:
    return _list("last", value)[-1] if _list("last", value) else None


_add("head", 1, 1, _head)
_add("last", 1, 1, _last)
_add("tail", 1, 1, lambda value: _list("tail", value)[1:])
_add("range", 2, 3, _range, takes_context=True)
_add("list_sort", 1, 1, _sorted, takes_context=True)
_add("list_distinct", 1, 1, _distinct, takes_context=True)
_add("list_contains", 2, 2, lambda items, value: is_in(value, _list("list_contains", items)))
_add(
    "nullIf",
    2,
    2,
    lambda one, other: None if group_key(one) == group_key(other) else one,
    takes_null=True,
)


# ——— nodes, relationships, paths, maps ———


def _labels(value: Any) -> list[str]:
    if not isinstance(value, CypherNode):
        raise _wrong("labels", "a node", value)
    return list(value.labels)


def _label(value: Any) -> str | None:
    if isinstance(value, CypherRelationship):
        return value.type
    found = _labels(value)
    return found[0] if found else None


def _type(value: Any) -> str:
    if not isinstance(value, CypherRelationship):
        raise _wrong("type", "a relationship", value)
    return value.type


def _key(name: str) -> Callable[[Any], Any]:
    def call(value: Any) -> Any:
        if not isinstance(value, CypherNode | CypherRelationship):
            raise _wrong(name, "a node or a relationship", value)
        return value.key

    return call


def properties_of(value: Any) -> dict[str, Any]:
    if isinstance(value, CypherNode | CypherRelationship):
        return value.properties()
    if isinstance(value, dict):
        return value
    raise _wrong("properties", "a node, a relationship or a map", value)


def _keys(value: Any) -> list[str]:
    if not isinstance(value, CypherNode | CypherRelationship | dict):
        raise _wrong("keys", "a node, a relationship or a map", value)
    return list(properties_of(value))


def _of_path(name: str, call: Callable[[CypherPath], Any]) -> None:
    def checked(value: Any) -> Any:
        if not isinstance(value, CypherPath):
            raise _wrong(name, "a path", value)
        return call(value)

    _add(name, 1, 1, checked)


def _of_relationship(name: str, call: Callable[[CypherRelationship], Any]) -> None:
    def checked(value: Any) -> Any:
        if not isinstance(value, CypherRelationship):
            raise _wrong(name, "a relationship", value)
        return call(value)

    _add(name, 1, 1, checked)


_add("labels", 1, 1, _labels)
_add("label", 1, 1, _label)
_add("type", 1, 1, _type)
_add("id", 1, 1, _key("id"))
_add("elementId", 1, 1, _key("elementId"))
_add("keys", 1, 1, _keys)
_add("properties", 1, 1, properties_of)
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
    """date(), time() …: now where nothing is given, and now in a zone where only one is."""
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
        raise _wrong("date_part", "a unit and a temporal value", value)
    return value.get(_text("date_part", unit))


def _from_epoch(size: int, seconds: Any, nanos: Any = 0) -> CypherDateTime:
    total = _integer("datetime.fromEpoch", seconds) * size + _integer("datetime.fromEpoch", nanos)
    return at_instant(total, UTC_ZONE)


for _name in MAKERS:
    _add(_name, 0, 1, partial(_made, _name), takes_context=True)
    _add(f"{_name}.truncate", 1, 3, partial(_truncated, _name), takes_context=True)
    for _clock in ("transaction", "statement", "realtime"):
        _add(f"{_name}.{_clock}", 0, 1, partial(_made, _name), takes_context=True)
_add("datetime.fromEpoch", 2, 2, partial(_from_epoch, SECOND))
_add("datetime.fromEpochMillis", 1, 1, partial(_from_epoch, 1_000_000))
_add("timestamp", 0, 1, _timestamp, takes_context=True)
_add("duration", 1, 1, make_duration)
for _name in ("between", "inMonths", "inDays", "inSeconds"):
    _add(f"duration.{_name}", 2, 2, partial(between, _name.lower()))
_add("date_part", 2, 2, _date_part)

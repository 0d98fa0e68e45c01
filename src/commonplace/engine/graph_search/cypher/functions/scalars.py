"""Scalar and string functions, and the context of a function call."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from commonplace.engine.graph_search.cypher.execution.budget import QueryBudget
from commonplace.engine.graph_search.cypher.temporal.types import Temporal
from commonplace.engine.graph_search.cypher.values import LARGEST, SMALLEST, is_number, type_name
from commonplace.errors import BadCypher


@dataclass(frozen=True, slots=True)
class FunctionContext:
    """What a function may use in addition to its arguments."""

    budget: QueryBudget
    now: datetime
    random: random.Random = field(default_factory=random.Random)


@dataclass(frozen=True, slots=True)
class CypherFunction:
    name: str  # as documented
    least: int  # number of arguments
    most: int
    call: Callable[..., Any]
    takes_null: bool = False  # else a null argument gives null
    takes_context: bool = False
    is_linear: bool = False  # looks at all of a long string or list, or copies it


class FunctionTable(dict[str, CypherFunction]):
    """Functions by lower-case name."""

    def add(self, name: str, least: int, most: int, call: Callable[..., Any], **more: bool) -> None:
        self[name.lower()] = CypherFunction(name, least, most, call, **more)


def wrong_argument(name: str, takes: str, value: Any) -> BadCypher:
    return BadCypher(f"{name}() takes {takes}, not {type_name(value)}.")


def text_argument(name: str, value: Any) -> str:
    if not isinstance(value, str):
        raise wrong_argument(name, "a string", value)
    return value


def number_argument(name: str, value: Any) -> Any:
    if not is_number(value):
        raise wrong_argument(name, "a number", value)
    return value


def integer_argument(name: str, value: Any) -> int:
    if type(value) is not int:
        raise wrong_argument(name, "an integer", value)
    return value


def list_argument(name: str, value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise wrong_argument(name, "a list", value)
    return value


SCALARS = FunctionTable()
add = SCALARS.add
MAX_LEVENSHTEIN_LENGTH = 2_000  # characters of a text that levenshtein() takes


# ——— strings ———


def _of_text(name: str, call: Any) -> None:
    add(name, 1, 1, lambda value: call(text_argument(name, value)), is_linear=True)


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
    text, old, new = (text_argument("replace", each) for each in (text, old, new))
    if len(new) > len(old):
        width = 1 if text.isascii() and new.isascii() else 4  # bytes of a character
        length = len(text) + text.count(old) * (len(new) - len(old))
        context.budget.build(width * length)
    return str(text.replace(old, new))


def _split(context: FunctionContext, text: Any, at: Any) -> list[str]:
    text, at = text_argument("split", text), text_argument("split", at)
    context.budget.build(64 * ((text.count(at) if at else len(text)) + 1))
    return text.split(at) if at else list(text)


def _count(name: str, value: Any) -> int:
    count = integer_argument(name, value)
    if count < 0:
        raise BadCypher(f"{name}() counts from 0: its numbers are not negative.")
    return count


def _part(context: FunctionContext, text: str, first: int, last: int) -> str:
    context.budget.build(max(0, min(last, len(text)) - first))
    return text[first:last]


def _substring(context: FunctionContext, text: Any, first: Any, length: Any = None) -> str:
    text, first = text_argument("substring", text), _count("substring", first)
    last = len(text) if length is None else first + _count("substring", length)
    return _part(context, text, first, last)


def _left(context: FunctionContext, text: Any, count: Any) -> str:
    return _part(context, text_argument("left", text), 0, _count("left", count))


def _right(context: FunctionContext, text: Any, count: Any) -> str:
    text = text_argument("right", text)
    return _part(context, text, max(0, len(text) - _count("right", count)), len(text))


def _reverse(value: Any) -> Any:
    if isinstance(value, str | list):
        return value[::-1]
    raise wrong_argument("reverse", "a string or a list", value)


def _size(value: Any) -> int:
    if isinstance(value, str | list):
        return len(value)
    raise wrong_argument("size", "a string or a list", value)


def text_of(value: Any) -> str:
    """The result of toString()."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return {math.inf: "Infinity", -math.inf: "-Infinity"}.get(value, _float_text(value))
    if isinstance(value, str | int | Temporal):
        return str(value)
    raise wrong_argument("toString", "a string, a number, a boolean or a temporal value", value)


def _float_text(value: float) -> str:
    if value != value:
        return "NaN"
    mantissa, _, exponent = repr(value).partition("e")
    if not exponent:
        return mantissa
    return f"{mantissa if '.' in mantissa else mantissa + '.0'}E{int(exponent)}"


def _levenshtein(context: FunctionContext, left: Any, right: Any) -> int:
    left, right = text_argument("levenshtein", left), text_argument("levenshtein", right)
    if max(len(left), len(right)) > MAX_LEVENSHTEIN_LENGTH:
        raise BadCypher(f"levenshtein() takes at most {MAX_LEVENSHTEIN_LENGTH:,} characters.")
    before = list(range(len(right) + 1))
    for row, one in enumerate(left, 1):
        context.budget.steps(len(right) + 1)
        now = [row]
        for column, other in enumerate(right, 1):
            now.append(min(before[column] + 1, now[-1] + 1, before[column - 1] + (one != other)))
        before = now
    return before[-1]


add("replace", 3, 3, _replace, takes_context=True, is_linear=True)
add("split", 2, 2, _split, takes_context=True, is_linear=True)
add("substring", 2, 3, _substring, takes_context=True)
add("left", 2, 2, _left, takes_context=True)
add("right", 2, 2, _right, takes_context=True)
add("reverse", 1, 1, _reverse, is_linear=True)
add("size", 1, 1, _size)
add("char_length", 1, 1, lambda value: len(text_argument("char_length", value)))
add("toString", 1, 1, text_of)
add("levenshtein", 2, 2, _levenshtein, takes_context=True)


# ——— numbers ———


def in_range(value: int) -> int:
    if not SMALLEST <= value <= LARGEST:
        raise BadCypher("The number is too large for an integer of 64 bits.")
    return value


def _round(value: Any, precision: Any = 0) -> float:
    number, digits = float(number_argument("round", value)), integer_argument("round", precision)
    if digits < 0:
        raise BadCypher(f"round() takes a precision that is not negative; {digits} is.")
    if not math.isfinite(number) or digits > 300:
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
            return call(float(number_argument(name, value)))
        except ValueError:
            return math.nan
        except OverflowError:
            return math.inf

    add(name, 1, 1, safe)


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
    number = abs(number_argument("abs", value))
    return in_range(number) if isinstance(number, int) else number


def _atan2(y: Any, x: Any) -> float:
    return math.atan2(number_argument("atan2", y), number_argument("atan2", x))


def _sign(value: Any) -> int:
    number = number_argument("sign", value)
    return int(number > 0) - int(number < 0)


def _to_integer(value: Any) -> int | None:
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, str):
        return _integer_of_text(value.strip())
    number = number_argument("toInteger", value)
    if isinstance(number, float) and not math.isfinite(number):
        return None
    return int(number) if SMALLEST <= number <= LARGEST else None


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
    return float(number_argument("toFloat", value))


def _to_boolean(value: Any) -> bool | None:
    if isinstance(value, bool):
        return value
    if isinstance(value, str):
        return {"true": True, "false": False}.get(value.strip().lower())
    if type(value) is int:
        return value != 0
    raise wrong_argument("toBoolean", "a string, an integer or a boolean", value)


def _or_null(call: Callable[[Any], Any]) -> Callable[[Any], Any]:
    def safe(value: Any) -> Any:
        try:
            return call(value)
        except BadCypher:
            return None

    return safe


add("abs", 1, 1, _abs)
add("round", 1, 2, _round)
add("sign", 1, 1, _sign)
add("e", 0, 0, lambda: math.e)
add("pi", 0, 0, lambda: math.pi)
add("rand", 0, 0, lambda context: context.random.random(), takes_context=True)
add("atan2", 2, 2, _atan2)
add("isNaN", 1, 1, lambda value: number_argument("isNaN", value) != value)
for _name, _convert in {
    "toInteger": _to_integer,
    "toFloat": _to_float,
    "toBoolean": _to_boolean,
}.items():
    add(_name, 1, 1, _convert, is_linear=True)
for _name, _convert in {
    "toIntegerOrNull": _to_integer,
    "toFloatOrNull": _to_float,
    "toBooleanOrNull": _to_boolean,
}.items():
    add(_name, 1, 1, _or_null(_convert), is_linear=True)
add("toStringOrNull", 1, 1, _or_null(text_of))

"""Operators: arithmetic, comparison, string tests, access by index. None is null."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache, partial
from typing import Any

from commonplace.engine.graph_search.cypher.execution.budget import QueryBudget
from commonplace.engine.graph_search.cypher.temporal.arithmetic import add_durations, plus, scale
from commonplace.engine.graph_search.cypher.temporal.types import (
    CypherDate,
    CypherDateTime,
    CypherDuration,
    CypherTime,
    Instant,
)
from commonplace.engine.graph_search.cypher.values import (
    LARGEST,
    SMALLEST,
    CypherNode,
    CypherRelationship,
    compare,
    equals,
    is_in,
    is_nan,
    is_number,
    type_name,
)
from commonplace.errors import BadCypher, BadSettings, QueryTooCostly

try:
    import re2
except ImportError:  # the extra `graph` is not installed
    re2 = None

MAX_PATTERN_LENGTH = 1_000  # characters of a regular expression
MAX_MATCHED_LENGTH = 100_000  # characters of a string that is matched by one: up to 0.3 s
MATCH_COST = 16  # steps of matching, compared with searching for a string

Binary = Callable[[Any, Any], Any]


def _checked(value: int) -> int:
    if SMALLEST <= value <= LARGEST:
        return value
    raise BadCypher("The result is too large for an integer of 64 bits.")


def _not_defined(sign: str, left: Any, right: Any) -> BadCypher:
    return BadCypher(f"{sign} is not defined for {type_name(left)} and {type_name(right)}.")


# ——— arithmetic ———


def adder(budget: QueryBudget) -> Binary:
    def add(left: Any, right: Any) -> Any:
        kind, other = type(left), type(right)
        if kind is int and other is int:
            return _checked(left + right)
        if left is None or right is None:
            return None
        if is_number(left) and is_number(right):
            return left + right
        if kind is list or other is list:
            return _joined_lists(budget, left, right)
        if kind is str or other is str:
            return _joined_texts(budget, left, right)
        return _add_temporal(left, right)

    return add


def _joined_lists(budget: QueryBudget, left: Any, right: Any) -> list[Any]:
    one = left if isinstance(left, list) else [left]
    other = right if isinstance(right, list) else [right]
    budget.build(8 * (len(one) + len(other)))
    return one + other


def _joined_texts(budget: QueryBudget, left: Any, right: Any) -> str:
    one, other = (
        value if isinstance(value, str) else str(value) if is_number(value) else None
        for value in (left, right)
    )
    if one is None or other is None:
        raise _not_defined("+", left, right)
    width = 1 if one.isascii() and other.isascii() else 4  # bytes of a character
    budget.build(width * (len(one) + len(other)))
    return one + other


def _add_temporal(left: Any, right: Any) -> Any:
    if isinstance(left, CypherDuration) and isinstance(right, CypherDuration):
        return add_durations(left, right, 1)
    if isinstance(left, Instant) and isinstance(right, CypherDuration):
        return plus(left, right, 1)
    if isinstance(left, CypherDuration) and isinstance(right, Instant):
        return plus(right, left, 1)
    raise _not_defined("+", left, right)


def subtract(left: Any, right: Any) -> Any:
    if left is None or right is None:
        return None
    if is_number(left) and is_number(right):
        found = left - right
        return _checked(found) if type(found) is int else found
    if isinstance(right, CypherDuration):
        if isinstance(left, CypherDuration):
            return add_durations(left, right, -1)
        if isinstance(left, Instant):
            return plus(left, right, -1)
    raise _not_defined("-", left, right)


def multiply(left: Any, right: Any) -> Any:
    if left is None or right is None:
        return None
    if is_number(left) and is_number(right):
        found = left * right
        return _checked(found) if type(found) is int else found
    if isinstance(left, CypherDuration) and is_number(right):
        return scale(left, _fraction(right))
    if isinstance(right, CypherDuration) and is_number(left):
        return scale(right, _fraction(left))
    raise _not_defined("*", left, right)


def _fraction(value: float) -> Fraction:
    if not math.isfinite(value):
        raise BadCypher("A duration is not multiplied by a number that is not finite.")
    return Fraction(str(value))


def divide(left: Any, right: Any) -> Any:
    if left is None or right is None:
        return None
    if is_number(left) and is_number(right):
        if type(left) is int and type(right) is int:
            return _whole_quotient(left, right)
        return _float_quotient(float(left), float(right))
    if isinstance(left, CypherDuration) and is_number(right):
        if right == 0:
            raise BadCypher("Division by zero.")
        return scale(left, 1 / _fraction(right))
    raise _not_defined("/", left, right)


def _whole_quotient(left: int, right: int) -> int:
    if right == 0:
        raise BadCypher("Division by zero.")
    size = abs(left) // abs(right)
    return _checked(size if (left < 0) == (right < 0) else -size)


def _float_quotient(left: float, right: float) -> float:
    if right:
        return left / right
    if not left or left != left:
        return math.nan
    return math.copysign(math.inf, left) * math.copysign(1.0, right)


def remainder(left: Any, right: Any) -> Any:
    if left is None or right is None:
        return None
    if not (is_number(left) and is_number(right)):
        raise _not_defined("%", left, right)
    if type(left) is int and type(right) is int:
        return left - right * _whole_quotient(left, right)
    if not right or not math.isfinite(left):
        return math.nan
    return math.fmod(left, right)


def power(left: Any, right: Any) -> Any:
    if left is None or right is None:
        return None
    if not (is_number(left) and is_number(right)):
        raise _not_defined("^", left, right)
    try:
        found = float(left) ** float(right)
    except ZeroDivisionError:
        return math.inf
    except OverflowError:
        return math.inf
    return found if isinstance(found, float) else math.nan


def negate(value: Any) -> Any:
    if value is None:
        return None
    if type(value) is int:
        return _checked(-value)
    if type(value) is float:
        return -value
    if isinstance(value, CypherDuration):
        return scale(value, Fraction(-1))
    raise BadCypher(f"- is not defined for {type_name(value)}.")


def unchanged(value: Any) -> Any:
    if value is None or is_number(value) or isinstance(value, CypherDuration):
        return value
    raise BadCypher(f"+ is not defined for {type_name(value)}.")


# ——— truth ———


def truth(value: Any) -> bool | None:
    """The value itself if it is True, False or None; raises for other types."""
    if value is True or value is False or value is None:
        return value
    raise BadCypher(f"True or false is expected, not {type_name(value)}.")


def exclusive_or(left: Any, right: Any) -> bool | None:
    one, other = truth(left), truth(right)
    return None if one is None or other is None else one is not other


# ——— comparison ———


def _unequal(budget: QueryBudget, left: Any, right: Any) -> bool | None:
    found = equals(budget, left, right)
    return None if found is None else not found


def _ordered(budget: QueryBudget, holds: Callable[[int], bool]) -> Binary:
    def test(left: Any, right: Any) -> bool | None:
        found = compare(budget, left, right)
        if found is None:
            numbers = is_number(left) and is_number(right)
            return False if numbers and (is_nan(left) or is_nan(right)) else None
        return holds(found)

    return test


def comparisons(budget: QueryBudget) -> dict[str, Binary]:
    return {
        "=": partial(equals, budget),
        "<>": partial(_unequal, budget),
        "<": _ordered(budget, lambda sign: sign < 0),
        "<=": _ordered(budget, lambda sign: sign <= 0),
        ">": _ordered(budget, lambda sign: sign > 0),
        ">=": _ordered(budget, lambda sign: sign >= 0),
    }


# ——— strings and lists ———


def _of_texts(budget: QueryBudget, test: Callable[[str, str], bool]) -> Binary:
    def tested(left: Any, right: Any) -> bool | None:
        if not isinstance(left, str) or not isinstance(right, str):
            return None
        budget.scan(len(left))
        return test(left, right)

    return tested


def _contained(budget: QueryBudget, left: Any, right: Any) -> bool | None:
    if right is None:
        return None
    if not isinstance(right, list):
        raise BadCypher(f"IN takes a list, not {type_name(right)}.")
    return is_in(budget, left, right)


@lru_cache(maxsize=64)
def _pattern(text: str) -> Any:
    if re2 is None:
        raise BadSettings(
            "=~ needs the package 'google-re2', which is not installed.",
            remedy="pip install 'commonplace[graph]'",
        )
    if len(text) > MAX_PATTERN_LENGTH:
        raise BadCypher(f"A regular expression has at most {MAX_PATTERN_LENGTH:,} characters.")
    options = re2.Options()
    options.log_errors = False
    options.max_mem = 1 << 20
    try:
        return re2.compile(text, options)
    except re2.error:
        raise BadCypher(
            f"'{text[:40]}' is no regular expression here.",
            remedy="The syntax is RE2's: no lookaround and no back-references.",
        ) from None


def _matches(budget: QueryBudget, left: Any, right: Any) -> bool | None:
    if left is None or right is None:
        return None
    if not isinstance(right, str):
        raise BadCypher(f"=~ takes a string, not {type_name(right)}.")
    pattern = _pattern(right)
    if not isinstance(left, str):
        return None
    if len(left) > MAX_MATCHED_LENGTH:
        raise QueryTooCostly(
            f"=~ is asked of a string of {len(left):,} characters; the limit is "
            f"{MAX_MATCHED_LENGTH:,}.",
            remedy="Match a part of it, such as left(text, 1000), or use CONTAINS.",
        )
    budget.scan(MATCH_COST * len(left))
    return pattern.fullmatch(left) is not None


def binary_operators(budget: QueryBudget) -> dict[str, Binary]:
    return {
        "+": adder(budget),
        "-": subtract,
        "*": multiply,
        "/": divide,
        "%": remainder,
        "^": power,
        "XOR": exclusive_or,
        "IN": partial(_contained, budget),
        "=~": partial(_matches, budget),
        "STARTS WITH": _of_texts(budget, str.startswith),
        "ENDS WITH": _of_texts(budget, str.endswith),
        "CONTAINS": _of_texts(budget, lambda text, part: part in text),
    }


# ——— access ———


def at_index(value: Any, index: Any) -> Any:
    if value is None or index is None:
        return None
    if isinstance(value, list):
        if type(index) is not int:
            raise BadCypher(f"A list is indexed by an integer, not {type_name(index)}.")
        return value[index] if -len(value) <= index < len(value) else None
    if isinstance(value, dict | CypherNode | CypherRelationship):
        if not isinstance(index, str):
            raise BadCypher(f"A property is named by a string, not {type_name(index)}.")
        return value.get(index)
    raise BadCypher(f"[ ] is not defined for {type_name(value)}.")


def sliced(budget: QueryBudget, value: Any, first: Any, last: Any) -> Any:
    if value is None or first is None or last is None:
        return None
    if not isinstance(value, list) or type(first) is not int or type(last) is not int:
        raise BadCypher(f"A slice is taken of a list by integers, not of {type_name(value)}.")
    budget.build(8 * len(range(*slice(first, last).indices(len(value)))))
    return value[first:last]


_WITH_PROPERTIES = (
    CypherNode,
    CypherRelationship,
    dict,
    CypherDate,
    CypherTime,
    CypherDateTime,
    CypherDuration,
)


def property_of(value: Any, key: str) -> Any:
    if value is None:
        return None
    if isinstance(value, _WITH_PROPERTIES):
        return value.get(key)
    raise BadCypher(
        f"The query asks for the property '{key[:40]}' of {type_name(value)}.",
        remedy="Nodes, relationships, maps and temporal values have properties.",
    )

"""Values in a text by type: dates, weekdays, times, phone numbers, codes, numbers.

Two values of one type can be compared; a value is normalised, so that "tues" and "Tuesday" are
equal. The patterns are in typed_values.toml.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from functools import cache, lru_cache

from commonplace.language.text.lexicon import fill_word_lists, load_patterns

_CLOSE_NUMBERS = 3.5  # of two amounts of one thing, the higher one is at most this many times more
_CODE_DIGITS = 4  # numbers of this length may be codes, which can be far apart


class ValueKind(StrEnum):
    PHONE = "phone"
    DATE = "date"
    WEEKDAY = "weekday"
    TIME = "time"
    CODE = "code"
    NUMBER = "number"


@dataclass(frozen=True, slots=True)
class TypedValue:
    kind: ValueKind
    value: str  # normalised
    start: int
    end: int


@cache
def _patterns() -> tuple[tuple[str, re.Pattern[str]], ...]:
    data = load_patterns("text/typed_values")
    return tuple(
        (kind, re.compile(fill_word_lists(one, data["words"]), re.IGNORECASE))
        for kind, patterns in data["types"].items()
        for one in patterns
    )


@cache
def _month_numbers() -> dict[str, int]:
    return dict(load_patterns("text/typed_values")["month_numbers"])


@lru_cache(maxsize=4_096)
def find_typed_values(text: str) -> tuple[TypedValue, ...]:
    """In the order of the text; no two of them share a character."""
    found: list[TypedValue] = []
    rest = text
    for kind, pattern in _patterns():
        for match in pattern.finditer(rest):
            if kind != "ignored":
                typed = ValueKind(kind)
                found.append(TypedValue(typed, _normalise(typed, match), *match.span()))
        rest = pattern.sub(lambda match: " " * len(match[0]), rest)
    return tuple(sorted(found, key=lambda each: each.start))


def _normalise(kind: ValueKind, match: re.Match[str]) -> str:
    groups = {name: value.casefold() for name, value in match.groupdict().items() if value}
    if kind is ValueKind.PHONE:
        return "".join(filter(str.isdigit, match[0]))
    if kind is ValueKind.DATE:
        return f"{_group(groups, 'day')}.{_month(_group(groups, 'month'))}"
    if kind is ValueKind.WEEKDAY:
        return groups.get("weekday_he") or groups["weekday"][:3]
    if kind is ValueKind.TIME:
        return _time(groups)
    if kind is ValueKind.NUMBER:
        amount = float(groups["number"].replace(",", "") + groups.get("fraction", ""))
        return f"{amount * (1000 if 'thousand' in groups else 1):g}"
    return match[0].casefold()


def _group(groups: dict[str, str], prefix: str) -> str:
    return next((value for name, value in groups.items() if name.startswith(prefix)), "")


def _month(written: str) -> int:
    """0: not said."""
    if written.isdigit():
        return int(written)
    return _month_numbers().get(written) or _month_numbers().get(written[:3], 0)


def _time(groups: dict[str, str]) -> str:
    hour = int(_group(groups, "hour"))
    is_afternoon = _group(groups, "half").startswith("p")
    return f"{hour + 12 if is_afternoon and hour < 12 else hour}:{_group(groups, 'minute') or '00'}"


def differ(old: TypedValue, new: TypedValue) -> bool:
    """Whether both can be values of one thing, and are not the same."""
    if old.kind is not new.kind or old.value == new.value:
        return False
    if old.kind is ValueKind.DATE:
        (day, month), (other_day, other_month) = old.value.split("."), new.value.split(".")
        return day != other_day or "0" not in (month, other_month)
    if old.kind is ValueKind.NUMBER:
        return _are_close(old.value, new.value)
    return True


def _are_close(one: str, other: str) -> bool:
    if len(one) >= _CODE_DIGITS and len(one) == len(other):
        return True
    low, high = sorted((float(one), float(other)))
    return low > 0 and high <= _CLOSE_NUMBERS * low


def without_values(text: str, values: Iterable[TypedValue]) -> str:
    for each in values:
        text = text[: each.start] + " " * (each.end - each.start) + text[each.end :]
    return text

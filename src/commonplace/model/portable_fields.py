"""How each field of an imported line is read. A file may come from anywhere: it is checked."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import Any, TypeVar

from commonplace.errors import InvalidInput, TooLong
from commonplace.model import check

Reading = Callable[[Any, str], Any]
Key = TypeVar("Key")
Item = TypeVar("Item")


def read(record: Mapping[str, Any], readings: Mapping[str, Reading], what: str) -> dict[str, Any]:
    """All fields that ``readings`` names, and no others."""
    check.known_fields(record, readings, what)
    missing = [name for name in readings if name not in record]
    if missing:
        raise InvalidInput(f"{what} lacks {missing[0]}.")
    return {name: reading(record[name], name) for name, reading in readings.items()}


def once(items: dict[Key, Item], key: Key, item: Item) -> None:
    if key in items:
        raise InvalidInput(f"It repeats {key!r}.")
    items[key] = item


def whole_number(low: int, high: int = 2**62) -> Reading:
    return lambda value, field: check.integer(value, field, low, high)


def maybe(reading: Reading) -> Reading:
    return lambda value, field: None if value is None else reading(value, field)


def one_of(choices: type[StrEnum]) -> Reading:
    return lambda value, field: check.choice(value, field, choices, {})


def share(value: object, field: str) -> float:
    return check.number(value, field, 0, 1)


def metadata(value: object, field: str) -> dict[str, Any]:
    return check.metadata(value, field, check.MAX_KEPT_METADATA)


def reference(value: object, field: str) -> str:
    """An id with a prefix or a version number: a little longer than a word."""
    return check.text(value, field, 2 * check.MAX_WORD)


def exact(limit: int) -> Reading:
    """Text to the letter, not even trimmed: a path that is spelled otherwise is another one."""

    def reading(value: Any, field: str) -> str:
        check.text(value, field, limit)
        if len(value) > limit:
            raise TooLong(f"{field} has {len(value):,} characters; the limit is {limit:,}.")
        return str(value)

    return reading


count = whole_number(0)
word, when = maybe(check.word), maybe(check.when)

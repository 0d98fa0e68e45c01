"""Pages of lists and the cursors between them.

A cursor is one word, such as 1763291234567890~3f0c9a52: the creation time of a page's last item, in
microseconds, and its id. The holder of a cursor has seen both, so it discloses nothing.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Protocol, TypeVar

from commonplace.errors import NotFound


class Identified(Protocol):
    @property
    def id(self) -> str: ...


ItemT = TypeVar("ItemT", bound=Identified)


def take_page(items: Sequence[ItemT], after: str | None, limit: int) -> list[ItemT]:
    """The first ``limit`` items, or the first ones after the item with the id ``after``."""
    following = items_after(items, after)
    if following is None:
        raise NotFound(f"Unknown cursor: after={after!r}.", field="after")
    return following[:limit]


def items_after(items: Sequence[ItemT], after: str | None) -> list[ItemT] | None:
    """None: no item has the id ``after``."""
    if after is None:
        return list(items)
    positions = [position for position, item in enumerate(items) if item.id == after]
    return list(items[positions[0] + 1 :]) if positions else None


_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_TICK = timedelta(microseconds=1)
_CURSOR = re.compile(r"(-?\d{1,17})~(.+)", re.ASCII)


@dataclass(frozen=True, slots=True)
class PageCursor:
    at: datetime
    id: str

    def __str__(self) -> str:
        return f"{(self.at - _EPOCH) // _TICK}~{self.id}"

    @property
    def just_after(self) -> datetime:
        return self.at + _TICK


def parse_cursor(word: str) -> PageCursor | None:
    """None: not a cursor; it may be an item's id."""
    match = _CURSOR.fullmatch(word)
    if match is None:
        return None
    try:
        return PageCursor(_EPOCH + int(match[1]) * _TICK, match[2])
    except OverflowError:
        return None

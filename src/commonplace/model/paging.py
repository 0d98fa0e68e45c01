"""Pages of lists and the cursors between them.

It is told as one word, such as 1763291234567890~3f0c9a52: when the last item of a page came, in
microseconds, and its id. Both have been shown to whoever holds the word.
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


def take_page(found: Sequence[ItemT], after: str | None, limit: int) -> list[ItemT]:
    """So many, from the beginning or behind the item that is named."""
    behind = items_after(found, after)
    if behind is None:
        raise NotFound(f"Unknown cursor: after={after!r}.", field="after")
    return behind[:limit]


def items_after(found: Sequence[ItemT], after: str | None) -> list[ItemT] | None:
    """None: what is named is not among them."""
    if after is None:
        return list(found)
    places = [place for place, item in enumerate(found) if item.id == after]
    return list(found[places[0] + 1 :]) if places else None


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
    """None: it is no such word, and may be an item's id."""
    told = _CURSOR.fullmatch(word)
    if told is None:
        return None
    try:
        return PageCursor(_EPOCH + int(told[1]) * _TICK, told[2])
    except OverflowError:
        return None

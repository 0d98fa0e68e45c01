"""A place in a list that is read page by page: it outlives the item that it was taken from.

It is told as one word, such as 1763291234567890~3f0c9a52: when the last item of a page came, in
microseconds, and its id. Both have been shown to whoever holds the word.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

_BEGINNING = datetime(1970, 1, 1, tzinfo=UTC)
_TICK = timedelta(microseconds=1)
_WORD = re.compile(r"(-?\d{1,17})~(.+)", re.ASCII)


@dataclass(frozen=True, slots=True)
class Place:
    at: datetime
    id: str

    def __str__(self) -> str:
        return f"{(self.at - _BEGINNING) // _TICK}~{self.id}"

    @property
    def just_after(self) -> datetime:
        return self.at + _TICK


def place_in(word: str) -> Place | None:
    """None: it is no such word, and may be an item's id."""
    told = _WORD.fullmatch(word)
    if told is None:
        return None
    try:
        return Place(_BEGINNING + int(told[1]) * _TICK, told[2])
    except OverflowError:
        return None

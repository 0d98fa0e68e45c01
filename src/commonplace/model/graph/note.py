"""A note on a node or an edge: what fits nowhere else, who said it, and for how long it counts."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from commonplace.model.graph.telling import Cited
from commonplace.model.memory import Sensitivity

PREFIX = "note:"
MOST_SNIPPETS = 10
LONGEST_SNIPPET = 500
LONGEST_SNIPPETS = 5000  # all of them together


class Lifetime(StrEnum):
    WEEK = "week"
    MONTH = "month"
    YEAR = "year"
    FOREVER = "forever"


_DAYS = {Lifetime.WEEK: 7, Lifetime.MONTH: 30, Lifetime.YEAR: 365}


def expiry(lifetime: Lifetime, added: datetime) -> datetime | None:
    days = _DAYS.get(lifetime)
    return added + timedelta(days=days) if days else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Note:
    id: str  # note:<uuid>
    about: str  # a node or an edge
    content: str
    added_by: str
    date_added: datetime
    expires_at: datetime | None = None  # None: it never does
    source: Cited | None = None  # what it was read from
    sensitivity: Sensitivity = Sensitivity.NORMAL  # of an own word: that of what it is about
    stands: bool = True  # False: its source is forgotten, and may come back
    purge_at: datetime | None = None  # it was forgotten by hand, and is gone from then on

    def is_live(self, now: datetime) -> bool:
        return self.stands and (self.expires_at is None or now < self.expires_at)


def live_at(notes: Iterable[Note], at: datetime) -> list[Note]:
    """Those that were there at a moment, and counted; newest first."""
    live = [note for note in notes if note.date_added <= at and note.is_live(at)]
    return sorted(live, key=lambda note: note.date_added, reverse=True)


def snippets(notes: Iterable[Note], at: datetime) -> tuple[str, ...]:
    """The newest that are live at a moment, shortened, as far as they fit."""
    shown: list[str] = []
    room = LONGEST_SNIPPETS
    for note in live_at(notes, at)[:MOST_SNIPPETS]:
        text = note.content[: min(LONGEST_SNIPPET, room)]
        if text:
            shown.append(text)
        room -= len(text)
    return tuple(shown)

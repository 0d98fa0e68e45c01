"""How present a thing is: it rises when it is read and fades while it is not. Pure.

`salience_at` is a function of a row and a clock: reading needs no night, and a night that runs
twice changes nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from math import exp

START = 0.5
RISE_OF_A_TOP_HIT = 0.1
RISE = 0.05
TOP_HITS = 3
DAILY_RATE = 0.02
SURE_FROM = 0.8  # a candidate that is this sure does not fade before its first reading
LOWEST_GRADIENT = 0.5
ARCHIVED_BELOW = 0.01
CORE_FROM = 10  # readings
_DAY = 86_400.0


class Presence(StrEnum):
    """The seed's state of nodes, edges and sources."""

    CANDIDATE = "candidate"  # not read yet
    ACTIVE = "active"
    CORE = "core"
    ARCHIVED = "archived"


@dataclass(frozen=True, slots=True, kw_only=True)
class Marks:
    """What readings have left on a thing."""

    salience: float = START  # at the last touch
    touched_at: datetime | None = None  # None: when it was made
    access_count: int = 0
    recall_frequency: int = 0
    last_recall_interval: float | None = None  # days between the last two
    decay_gradient: float = 1.0


UNREAD = Marks()
_KEPT = 1.0


def salience_at(
    marks: Marks,
    made_at: datetime,
    now: datetime,
    *,
    confidence: float | None = None,
    keep_forever: bool = False,
) -> float:
    if keep_forever:
        return _KEPT
    rate = DAILY_RATE / (1 + marks.recall_frequency**marks.decay_gradient)
    if marks.access_count == 0 and confidence is not None:
        if confidence >= SURE_FROM:
            return marks.salience
        rate *= 1 + (1 - confidence) * 2
    return marks.salience * exp(-rate * _days(marks.touched_at or made_at, now))


def presence(marks: Marks, salience: float, *, keep_forever: bool = False) -> Presence:
    if salience < ARCHIVED_BELOW:
        return Presence.ARCHIVED
    if keep_forever or marks.access_count >= CORE_FROM:
        return Presence.CORE
    return Presence.ACTIVE if marks.access_count else Presence.CANDIDATE


def read_again(marks: Marks, salience: float, now: datetime, *, is_top: bool) -> Marks:
    """After a reading. ``salience``: as it is just before."""
    interval = _days(marks.touched_at, now) if marks.access_count and marks.touched_at else None
    return replace(
        marks,
        salience=min(1.0, salience + (RISE_OF_A_TOP_HIT if is_top else RISE)),
        touched_at=now,
        access_count=marks.access_count + 1,
        recall_frequency=marks.recall_frequency + 1,
        last_recall_interval=interval,
        decay_gradient=_gradient(marks, interval),
    )


def _gradient(marks: Marks, interval: float | None) -> float:
    """What is read at ever longer intervals is forgotten more slowly."""
    before = marks.last_recall_interval
    if interval is None or before is None or interval == before:
        return marks.decay_gradient
    if interval > before:
        return marks.decay_gradient + 0.1
    return max(LOWEST_GRADIENT, marks.decay_gradient - 0.05)


def _days(since: datetime, now: datetime) -> float:
    return max(0.0, (now - since).total_seconds() / _DAY)

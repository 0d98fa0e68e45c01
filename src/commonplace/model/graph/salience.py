"""Salience: rises when an item is read, decays while it is not.

`salience_at` computes the current value from a stored row and the clock. Reads therefore need no
maintenance run, and running maintenance twice changes nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum
from math import exp

from commonplace.model.graph.elements import Artifact, Edge, Node
from commonplace.model.graph.storylines import Macro, Storyline
from commonplace.model.memory.kinds import EPISODIC_DAYS, SEMANTIC_DAYS, TtlPolicy
from commonplace.model.sources.source import Source

INITIAL_SALIENCE = 0.5
TOP_HIT_RISE = 0.1
RISE = 0.05
TOP_HITS = 3
DAILY_RATE = 0.02
SURE_CONFIDENCE = (
    0.8  # a candidate with at least this confidence does not decay before its first read
)
MIN_GRADIENT = 0.5
ARCHIVED_BELOW = 0.01
CORE_MIN_READS = 10
_DAY = 86_400.0


class SalienceState(StrEnum):
    """State of a node, edge, source, storyline or macro, derived from its salience."""

    CANDIDATE = "candidate"  # not read yet
    ACTIVE = "active"
    CORE = "core"
    ARCHIVED = "archived"


@dataclass(frozen=True, slots=True, kw_only=True)
class AccessStats:
    """Access statistics of one item."""

    salience: float = INITIAL_SALIENCE  # at the last access
    touched_at: datetime | None = None  # the last access; None: never, decays from its creation
    access_count: int = 0
    recall_frequency: int = 0
    last_recall_interval: float | None = None  # days between the last two accesses
    decay_gradient: float = 1.0
    archived_at: datetime | None = None  # by maintenance; the next access makes it active again


NEVER_READ = AccessStats()
_MAX_SALIENCE = 1.0


def salience_at(
    marks: AccessStats,
    made_at: datetime,
    now: datetime,
    *,
    confidence: float | None = None,
    keep_forever: bool = False,
    last_source_at: datetime | None = None,
) -> float:
    """``last_source_at``: of a storyline or macro, which does not decay before its last source."""
    if keep_forever:
        return _MAX_SALIENCE
    rate = DAILY_RATE / (1 + marks.recall_frequency**marks.decay_gradient)
    if marks.access_count == 0 and confidence is not None:
        if confidence >= SURE_CONFIDENCE:
            return marks.salience
        rate *= 1 + (1 - confidence) * 2
    since = marks.touched_at or made_at
    if last_source_at is not None:
        since = max(since, last_source_at)
    return marks.salience * exp(-rate * _days(since, now))


def salience_state(
    marks: AccessStats, salience: float, *, keep_forever: bool = False, is_open: bool = False
) -> SalienceState:
    """``is_open``: an open storyline is not archived."""
    is_archived = salience < ARCHIVED_BELOW or marks.archived_at is not None
    if is_archived and not (keep_forever or is_open):
        return SalienceState.ARCHIVED
    if keep_forever or marks.access_count >= CORE_MIN_READS:
        return SalienceState.CORE
    return SalienceState.ACTIVE if marks.access_count else SalienceState.CANDIDATE


def add_access(marks: AccessStats, salience: float, now: datetime, *, is_top: bool) -> AccessStats:
    """The statistics after one more access. ``salience``: its value just before."""
    interval = _days(marks.touched_at, now) if marks.access_count and marks.touched_at else None
    return replace(
        marks,
        salience=min(1.0, salience + (TOP_HIT_RISE if is_top else RISE)),
        touched_at=now,
        access_count=marks.access_count + 1,
        recall_frequency=marks.recall_frequency + 1,
        last_recall_interval=interval,
        decay_gradient=_gradient(marks, interval),
        archived_at=None,
    )


def _gradient(marks: AccessStats, interval: float | None) -> float:
    """Decay slows down while the intervals between accesses grow."""
    before = marks.last_recall_interval
    if interval is None or before is None or interval == before:
        return marks.decay_gradient
    if interval > before:
        return marks.decay_gradient + 0.1
    return max(MIN_GRADIENT, marks.decay_gradient - 0.05)


def _days(since: datetime, now: datetime) -> float:
    return max(0.0, (now - since).total_seconds() / _DAY)


@dataclass(frozen=True, slots=True)
class CurrentSalience:
    salience: float
    state: SalienceState

    @property
    def is_archived(self) -> bool:
        return self.state is SalienceState.ARCHIVED


ItemWithSalience = Node | Edge | Source | Artifact | Storyline | Macro


def current_salience(item: ItemWithSalience, marks: AccessStats, now: datetime) -> CurrentSalience:
    """The owner's node and items with KEEP_FOREVER stay at the maximum. Ephemeral items are
    archived at their expiry, however often they were read."""
    policy = item.ttl_policy if isinstance(item, _WITH_TTL_POLICY) else TtlPolicy.DECAY
    is_kept = policy is TtlPolicy.KEEP_FOREVER or (isinstance(item, Node) and item.is_owner)
    confidence = item.confidence if isinstance(item, _WITH_CONFIDENCE) else None
    is_open = isinstance(item, Storyline) and item.goes_on(now)
    salience = salience_at(
        marks,
        item.created_at,
        now,
        confidence=confidence,
        keep_forever=is_kept,
        last_source_at=item.told_at if isinstance(item, Storyline | Macro) else None,
    )
    if policy is TtlPolicy.EPHEMERAL and not (is_kept or is_open) and now >= _last_day(item):
        return CurrentSalience(salience, SalienceState.ARCHIVED)
    state = salience_state(marks, salience, keep_forever=is_kept, is_open=is_open)
    return CurrentSalience(salience, state)


_WITH_CONFIDENCE = (Node, Edge)
_WITH_TTL_POLICY = (Node, Artifact, Source, Storyline, Macro)


def _last_day(item: ItemWithSalience) -> datetime:
    days = SEMANTIC_DAYS if isinstance(item, Node) else EPISODIC_DAYS
    return item.created_at + timedelta(days=days)

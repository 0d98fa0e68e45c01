"""Salience: rises when an item is read, decays while it is not.

`salience_at` is a function of a row and a clock: reading needs no night, and a night that runs
twice changes nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum
from math import exp

from commonplace.model.graph.elements import Artifact, Edge, Node
from commonplace.model.memory.kinds import EPISODIC_DAYS, SEMANTIC_DAYS, TtlPolicy
from commonplace.model.sources.source import Source

INITIAL_SALIENCE = 0.5
TOP_HIT_RISE = 0.1
RISE = 0.05
TOP_HITS = 3
DAILY_RATE = 0.02
SURE_CONFIDENCE = 0.8  # a candidate that is this sure does not fade before its first reading
MIN_GRADIENT = 0.5
ARCHIVED_BELOW = 0.01
CORE_MIN_READS = 10  # readings
_DAY = 86_400.0


class SalienceState(StrEnum):
    """The seed's state of nodes, edges and sources."""

    CANDIDATE = "candidate"  # not read yet
    ACTIVE = "active"
    CORE = "core"
    ARCHIVED = "archived"


@dataclass(frozen=True, slots=True, kw_only=True)
class AccessStats:
    """What readings have left on a thing."""

    salience: float = INITIAL_SALIENCE  # at the last touch
    touched_at: datetime | None = None  # None: when it was made
    access_count: int = 0
    recall_frequency: int = 0
    last_recall_interval: float | None = None  # days between the last two
    decay_gradient: float = 1.0


NEVER_READ = AccessStats()
_MAX_SALIENCE = 1.0


def salience_at(
    marks: AccessStats,
    made_at: datetime,
    now: datetime,
    *,
    confidence: float | None = None,
    keep_forever: bool = False,
) -> float:
    if keep_forever:
        return _MAX_SALIENCE
    rate = DAILY_RATE / (1 + marks.recall_frequency**marks.decay_gradient)
    if marks.access_count == 0 and confidence is not None:
        if confidence >= SURE_CONFIDENCE:
            return marks.salience
        rate *= 1 + (1 - confidence) * 2
    return marks.salience * exp(-rate * _days(marks.touched_at or made_at, now))


def salience_state(
    marks: AccessStats, salience: float, *, keep_forever: bool = False
) -> SalienceState:
    if salience < ARCHIVED_BELOW:
        return SalienceState.ARCHIVED
    if keep_forever or marks.access_count >= CORE_MIN_READS:
        return SalienceState.CORE
    return SalienceState.ACTIVE if marks.access_count else SalienceState.CANDIDATE


def add_access(marks: AccessStats, salience: float, now: datetime, *, is_top: bool) -> AccessStats:
    """After a reading. ``salience``: as it is just before."""
    interval = _days(marks.touched_at, now) if marks.access_count and marks.touched_at else None
    return replace(
        marks,
        salience=min(1.0, salience + (TOP_HIT_RISE if is_top else RISE)),
        touched_at=now,
        access_count=marks.access_count + 1,
        recall_frequency=marks.recall_frequency + 1,
        last_recall_interval=interval,
        decay_gradient=_gradient(marks, interval),
    )


def _gradient(marks: AccessStats, interval: float | None) -> float:
    """What is read at ever longer intervals is forgotten more slowly."""
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


def current_salience(
    thing: Node | Edge | Source | Artifact, marks: AccessStats, now: datetime
) -> CurrentSalience:
    """The owner, and what is kept for ever, stay as present as can be; what is ephemeral is
    archived on its day, however often it was read."""
    policy = thing.ttl_policy if isinstance(thing, _WITH_TTL_POLICY) else TtlPolicy.DECAY
    is_kept = policy is TtlPolicy.KEEP_FOREVER or (isinstance(thing, Node) and thing.is_owner)
    confidence = thing.confidence if isinstance(thing, _WITH_CONFIDENCE) else None
    salience = salience_at(
        marks, thing.created_at, now, confidence=confidence, keep_forever=is_kept
    )
    if policy is TtlPolicy.EPHEMERAL and not is_kept and now >= _last_day(thing):
        return CurrentSalience(salience, SalienceState.ARCHIVED)
    return CurrentSalience(salience, salience_state(marks, salience, keep_forever=is_kept))


_WITH_CONFIDENCE = (Node, Edge)
_WITH_TTL_POLICY = (Node, Artifact, Source)


def _last_day(thing: Node | Edge | Source | Artifact) -> datetime:
    days = SEMANTIC_DAYS if isinstance(thing, Node) else EPISODIC_DAYS
    return thing.created_at + timedelta(days=days)

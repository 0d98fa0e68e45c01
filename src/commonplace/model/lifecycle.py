"""When a memory ends: expiry, idleness, purge. Pure functions of a row and a clock."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from commonplace.model.kinds import POLICIES, Kind, KindPolicy, Stability
from commonplace.model.memory import Memory, State


@dataclass(frozen=True, slots=True)
class Lifetimes:
    """Every number of the lifecycle, at home here."""

    restorable: timedelta = timedelta(days=30)  # from forgetting to purging
    idle: timedelta = timedelta(days=60)  # unread for this long
    volatile: timedelta = timedelta(days=7)  # volatile without an end: merged after this
    proposed: timedelta = timedelta(days=7)  # what is proposed waits this long for the owner
    merge_batch: int = 5
    tidy_every: timedelta = timedelta(days=1)
    recall_log: timedelta = timedelta(days=30)  # what was asked is known for this long


LIFETIMES = Lifetimes()


def default_expiry(
    policy: KindPolicy, stability: Stability, ttl_days: float | None, now: datetime
) -> datetime | None:
    """The caller's life span; the kind's own only while the kind's own stability stands."""
    if ttl_days is None and stability is policy.stability:
        ttl_days = policy.ttl_days
    return None if ttl_days is None else now + timedelta(days=ttl_days)


def has_expired(memory: Memory, now: datetime) -> bool:
    return memory.state is State.ACTIVE and not memory.is_live(now)


def is_purgeable(memory: Memory, now: datetime) -> bool:
    return (
        memory.state is State.SOFT_DELETED
        and memory.purge_at is not None
        and memory.purge_at <= now
    )


def is_idle(memory: Memory, now: datetime, lifetimes: Lifetimes = LIFETIMES) -> bool:
    """Unimportant, unread for long, and not kept on purpose."""
    if memory.pinned or memory.stability is Stability.PERMANENT or not memory.is_live(now):
        return False
    if memory.importance >= POLICIES[memory.kind].idle_below:
        return False
    # A change counts as attention too, or what was just restored would go again the next night.
    last_seen = max(
        moment
        for moment in (memory.arrived_at, memory.last_accessed_at, memory.updated_at)
        if moment is not None
    )
    return now - last_seen >= lifetimes.idle


def is_mergeable(memory: Memory, now: datetime, lifetimes: Lifetimes = LIFETIMES) -> bool:
    """Volatile without an end of its own: folded into a summary once it is old enough."""
    return (
        memory.stability is Stability.VOLATILE
        and memory.expires_at is None
        and not memory.pinned
        and memory.is_live(now)
        and now - memory.created_at >= lifetimes.volatile
    )


IDLE_KINDS = tuple(kind for kind in Kind if POLICIES[kind].idle_below > 0)

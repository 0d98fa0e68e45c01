"""Lifecycle and time travel: expiry, idleness, purge; state at a past moment.

Memories are bitemporal. Valid time (the world): a memory is true from ``valid_from``, or else its
creation, until ``valid_to``; `as_of` selects by it. Transaction time (the engine): a version is
current from the moment it was recorded until the next one; `known_at` selects by it. `known_at`
selects the versions first, then `as_of` selects among them.

What is forgotten, overridden, expired or erased now is not visible at any past moment.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from commonplace.model.memory.kinds import POLICIES, Kind, KindPolicy, Stability
from commonplace.model.memory.memory import Memory, State, Version
from commonplace.model.sources.source import Source


@dataclass(frozen=True, slots=True)
class Lifetimes:
    """All durations and limits of the lifecycle."""

    restorable: timedelta = timedelta(days=30)  # from forgetting to purging
    idle: timedelta = timedelta(days=60)  # unread for this long
    volatile: timedelta = timedelta(days=7)  # volatile without an expiry: merged after this
    proposed: timedelta = timedelta(days=7)  # a proposal waits this long for the owner
    merge_batch: int = 5
    tidy_every: timedelta = timedelta(days=1)
    recall_log: timedelta = timedelta(days=30)  # retention of the recall log


LIFETIMES = Lifetimes()


def default_expiry(
    policy: KindPolicy, stability: Stability, ttl_days: float | None, now: datetime
) -> datetime | None:
    """From the caller's TTL; the kind's own TTL applies only with the kind's own stability."""
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
    """Unimportant, unread for long, and neither pinned nor permanent."""
    if memory.pinned or memory.stability is Stability.PERMANENT or not memory.is_live(now):
        return False
    if memory.importance >= POLICIES[memory.kind].idle_below:
        return False
    return now - last_used(memory) >= lifetimes.idle


def last_used(memory: Memory) -> datetime:
    """A change counts as use, or the next maintenance would forget a memory just restored."""
    moments = (memory.arrived_at, memory.last_accessed_at, memory.updated_at)
    return max(moment for moment in moments if moment is not None)


def is_mergeable(memory: Memory, now: datetime, lifetimes: Lifetimes = LIFETIMES) -> bool:
    """Volatile without an expiry: merged into a summary once it is old enough."""
    return (
        memory.stability is Stability.VOLATILE
        and memory.expires_at is None
        and not memory.pinned
        and memory.is_live(now)
        and now - (memory.arrived_at or memory.created_at) >= lifetimes.volatile
    )


IDLE_KINDS = tuple(kind for kind in Kind if POLICIES[kind].idle_below > 0)


@dataclass(frozen=True, slots=True)
class PointInTime:
    """The moments that a read is about. None: now."""

    as_of: datetime | None = None  # valid time
    known_at: datetime | None = None  # transaction time

    @property
    def is_now(self) -> bool:
        return self.as_of is None and self.known_at is None


NOW = PointInTime()


def memory_at(
    present: Memory, versions: Sequence[Version], then: PointInTime, now: datetime
) -> Memory | None:
    """The state of a memory ``then``; None where it was not visible.

    ``versions`` are all of its versions, oldest first. With `known_at` alone the result is what a
    read at that moment would have returned. With `as_of`, a superseded memory counts as active for
    the time it was true, and a memory that was changed in place (a profile field) has its older
    content for the time before the newer content became valid.
    """
    if present.state is State.SOFT_DELETED or has_ended(present, now):
        return None
    known = known_versions(present, versions, then)
    if not known or _is_gone(known[-1], then.known_at or now):
        return None
    if then.as_of is None:
        return known[-1]
    return _true_at(then.as_of, known)


def _true_at(moment: datetime, known: Sequence[Memory]) -> Memory | None:
    """The newest version that is valid by then. The expiry comes from the newest known version,
    because expiry is transaction time."""
    for version in reversed(known):
        if version.state is not State.SOFT_DELETED and valid_since(version) <= moment:
            holds = version.valid_to is None or moment < version.valid_to
            active = version.evolve(state=State.ACTIVE, expires_at=known[-1].ends_at)
            return active if holds else None
    return None


def known_versions(present: Memory, versions: Sequence[Version], then: PointInTime) -> list[Memory]:
    """The versions known by then, oldest first; none before it arrived in this store."""
    arrived = present.arrived_at or present.created_at
    if then.known_at is not None and then.known_at < arrived:
        return []
    return [
        _complete_version(present, version.memory)
        for version in visible_versions(versions)
        if then.known_at is None or version.recorded_at <= then.known_at
    ]


def visible_versions(versions: Sequence[Version]) -> Sequence[Version]:
    """Without the versions before an expiry, as if maintenance had run at once, and without those
    that were forgotten and then got new content: only a restore brings these back."""
    for index in range(len(versions) - 1, 0, -1):
        before, after = versions[index - 1].memory, versions[index]
        forgotten = before.state is State.SOFT_DELETED and before.content != after.memory.content
        if forgotten or has_expired(before, after.recorded_at):
            return versions[index:]
    return versions


def versions_visible_to(
    versions: Sequence[Version], then: PointInTime, sees: Callable[[Memory], bool]
) -> list[Version]:
    """The versions of a memory that a reader may see at a past moment."""
    return [
        version
        for version in visible_versions(versions)
        if then.known_at is None or version.recorded_at <= then.known_at
        if sees(version.memory) and sees(newest_with_content(version.memory, versions))
    ]


def newest_with_content(version: Memory, versions: Sequence[Version]) -> Memory:
    """The newest version with the same content. Sensitivity and category protect the content in
    all versions: a later version with other content does not make it visible again."""
    same = (v.memory for v in reversed(versions) if v.memory.content == version.content)
    return next(same, version)


def _complete_version(present: Memory, version: Memory) -> Memory:
    """Adds the fields that versions do not store. Accesses and conflicts belong to the present."""
    if version.version == present.version:
        return present.evolve(conflict=None, last_accessed_at=None, access_count=0)
    return version.evolve(arrived_at=present.arrived_at)


def _is_gone(memory: Memory, at: datetime) -> bool:
    return memory.state is State.SOFT_DELETED or has_ended(memory, at)


def has_ended(memory: Memory, at: datetime) -> bool:
    """Whether it has expired, even if maintenance has not removed it yet."""
    return memory.ends_at is not None and memory.ends_at <= at


def valid_since(memory: Memory) -> datetime:
    return memory.valid_from or memory.created_at


def source_date(source: Source) -> datetime:
    """The date of its content, not of its import."""
    return source.ended_at or source.started_at or source.updated_at


def source_existed(source: Source, then: PointInTime) -> bool:
    """Whether it was imported by that moment, and all its content was said by then."""
    was_imported = then.known_at is None or source.created_at <= then.known_at
    return was_imported and (then.as_of is None or source_date(source) <= then.as_of)


def source_at(source: Source, passages: int, then: PointInTime) -> Source:
    """A source with the passages of that moment. Its summary and keywords have no versions, so they
    are left out where they may be newer than the moment."""
    described = source.processing_completed_at
    if then.known_at is None or (described is not None and described <= then.known_at):
        return source.evolve(passages=passages)
    return source.evolve(passages=passages, summary="", keywords=())

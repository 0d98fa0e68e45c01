"""Lifecycle and time travel: expiry, idleness, purge; state at a past moment.

Two clocks. The *world's*: a memory holds from ``valid_from`` (or else since it was created) until
``valid_to``; `as_of` asks by it. The *engine's*: a version stands from the moment it was recorded
until the next one; `known_at` asks by it. First `known_at` chooses the versions, then `as_of` looks
at what they say of the world.

What is forgotten, overridden, ended or erased now is never seen, whichever moment is asked about.
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


@dataclass(frozen=True, slots=True)
class PointInTime:
    """The moments that are asked about. None: now."""

    as_of: datetime | None = None  # true in the world
    known_at: datetime | None = None  # known to the engine

    @property
    def is_now(self) -> bool:
        return self.as_of is None and self.known_at is None


NOW = PointInTime()


def memory_at(
    present: Memory, versions: Sequence[Version], then: PointInTime, now: datetime
) -> Memory | None:
    """What a memory said ``then``; None where there is nothing of it to be seen.

    ``versions`` are all of it, oldest first. With `known_at` alone it is as a look at it would have
    shown it at that moment. With `as_of`, what is superseded stands for the time it was true, and a
    memory that got new words in place (a field of the profile) says the older ones for the time
    before the newer ones held.
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
    """Of several versions that hold by then, the newest has the word. When the memory itself ends
    is for its newest version to say, which is of the engine's time."""
    for said in reversed(known):
        if said.state is not State.SOFT_DELETED and valid_since(said) <= moment:
            holds = said.valid_to is None or moment < said.valid_to
            stands = said.evolve(state=State.ACTIVE, expires_at=known[-1].ends_at)
            return stands if holds else None
    return None


def known_versions(present: Memory, versions: Sequence[Version], then: PointInTime) -> list[Memory]:
    """What was known of it by then, oldest first. Nothing was before it arrived in this store."""
    arrived = present.arrived_at or present.created_at
    if then.known_at is not None and then.known_at < arrived:
        return []
    return [
        _complete_version(present, version.memory)
        for version in visible_versions(versions)
        if then.known_at is None or version.recorded_at <= then.known_at
    ]


def visible_versions(versions: Sequence[Version]) -> Sequence[Version]:
    """Not what was said before the memory had ended, as if the night had come each time, nor what
    was forgotten and then given other words: these come back only by being restored."""
    for place in range(len(versions) - 1, 0, -1):
        before, after = versions[place - 1].memory, versions[place]
        forgotten = before.state is State.SOFT_DELETED and before.content != after.memory.content
        if forgotten or has_expired(before, after.recorded_at):
            return versions[place:]
    return versions


def versions_visible_to(
    versions: Sequence[Version], then: PointInTime, sees: Callable[[Memory], bool]
) -> list[Version]:
    """Of all that a memory said, what a reader is told at a look back."""
    return [
        version
        for version in visible_versions(versions)
        if then.known_at is None or version.recorded_at <= then.known_at
        if sees(version.memory) and sees(newest_with_content(version.memory, versions))
    ]


def newest_with_content(said: Memory, versions: Sequence[Version]) -> Memory:
    """The newest version with these words. Whoever made them sensitive, or moved them out of
    sight, meant the words wherever they stand: what came to say something else since does not
    open them again."""
    same = (v.memory for v in reversed(versions) if v.memory.content == said.content)
    return next(same, said)


def _complete_version(present: Memory, said: Memory) -> Memory:
    """With what a version does not hold. Reads and disputes are of today, and no part of it."""
    if said.version == present.version:
        return present.evolve(conflict=None, last_accessed_at=None, access_count=0)
    return said.evolve(arrived_at=present.arrived_at)


def _is_gone(memory: Memory, at: datetime) -> bool:
    return memory.state is State.SOFT_DELETED or has_ended(memory, at)


def has_ended(memory: Memory, at: datetime) -> bool:
    """Its time is over, though the night may be still to come."""
    return memory.ends_at is not None and memory.ends_at <= at


def valid_since(memory: Memory) -> datetime:
    return memory.valid_from or memory.created_at


def source_date(source: Source) -> datetime:
    """A source is as old as what it tells, not as its import."""
    return source.ended_at or source.started_at or source.updated_at


def source_existed(source: Source, then: PointInTime) -> bool:
    """Whether it had come by the moment asked about, with all that it tells said by then."""
    has_come = then.known_at is None or source.created_at <= then.known_at
    return has_come and (then.as_of is None or source_date(source) <= then.as_of)


def source_at(source: Source, passages: int, then: PointInTime) -> Source:
    """A source with as many of its passages as there were. Of its description no versions are
    kept: what may have been written after the moment is left out."""
    described = source.processing_completed_at
    if then.known_at is None or (described is not None and described <= then.known_at):
        return source.evolve(passages=passages)
    return source.evolve(passages=passages, summary="", keywords=())

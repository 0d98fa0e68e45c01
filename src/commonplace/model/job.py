"""A job: work that is owed. It waits in the database that it is about, and is done exactly once.

Whoever claims a job holds it for the length of a lease, and says now and then that it still does.
A lease that ran out is anybody's to take over; the number of the lease tells the old holder, when
it comes back, that its result is not wanted any more.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any, Self
from zlib import crc32

from commonplace.model.scope import Scope

LEASE = timedelta(seconds=60)
BEATS_PER_LEASE = 3  # so that one heartbeat may be lost
MAX_TRIES = 5
FIRST_WAIT = timedelta(seconds=10)
LONGEST_WAIT = timedelta(hours=1)
GROWTH = 4.0
JITTER = 0.2  # of the wait, so that what failed together does not come back together


class JobState(StrEnum):
    QUEUED = "queued"
    RUNNING = "running"
    DEAD = "dead"  # tried too often: a person decides. What is done has no row any more


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a job was not done. Never a word of the user's."""

    code: str
    told: str  # one sentence


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    id: str
    scope: Scope
    kind: str
    created_at: datetime
    updated_at: datetime
    due_at: datetime | None  # when it runs; while it runs: when its lease ends; dead: None
    key: str = ""  # what the work is about: of each kind and key one job waits at most
    payload: Mapping[str, Any] = field(default_factory=dict)  # ids and numbers, never text
    state: JobState = JobState.QUEUED
    tries: int = 0
    max_tries: int = MAX_TRIES
    lease: int = 0  # rises with each claim: whoever holds an older one has lost it
    worker: str | None = None  # who has or had it
    failure: Failure | None = None  # of the last try

    @property
    def user_id(self) -> str:
        return self.scope.name

    def lease_has_ended(self, now: datetime) -> bool:
        return self.state is JobState.RUNNING and self.due_at is not None and self.due_at <= now

    def evolve(self, **changes: Any) -> Self:
        return replace(self, **changes)


def wait_after(id: str, tries: int) -> timedelta:
    """How long after so many failures. The jitter comes from the id: the same again each time."""
    times = min(GROWTH ** min(max(tries - 1, 0), 32), LONGEST_WAIT / FIRST_WAIT)
    return FIRST_WAIT * times * (1 - JITTER * crc32(f"{id}/{tries}".encode()) / 2**32)


def next_try(job: Job, now: datetime) -> datetime | None:
    """When a job that has just failed is tried again. None: never, it is dead."""
    return None if job.tries >= job.max_tries else now + wait_after(job.id, job.tries)

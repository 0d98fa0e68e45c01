"""Jobs with leases, and idempotency claims: work that is done exactly once.

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

from commonplace.model.access.principal import Scope

LEASE = timedelta(seconds=60)
BEATS_PER_LEASE = 3  # so that one heartbeat may be lost
MAX_TRIES = 5
FIRST_WAIT = timedelta(seconds=10)
LONGEST_WAIT = timedelta(hours=1)
BACKOFF_GROWTH = 4.0
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


def retry_delay(id: str, tries: int) -> timedelta:
    """How long after so many failures. The jitter comes from the id: the same again each time."""
    times = min(BACKOFF_GROWTH ** min(max(tries - 1, 0), 32), LONGEST_WAIT / FIRST_WAIT)
    return FIRST_WAIT * times * (1 - JITTER * crc32(f"{id}/{tries}".encode()) / 2**32)


def next_retry(job: Job, now: datetime) -> datetime | None:
    """When a job that has just failed is tried again. None: never, it is dead."""
    return None if job.tries >= job.max_tries else now + retry_delay(job.id, job.tries)


ANSWER_RETENTION = timedelta(hours=24)
CLAIM_TIMEOUT = timedelta(seconds=10)  # after this, whoever was at it may be taken over from


class AnswerState(StrEnum):
    OPEN = "open"  # under way, or broken off before anything was changed
    MUTED = "muted"  # the same, and something was erased since: its answer will not be kept
    APPLIED = "applied"  # the change is made, in the same transaction; its answer is not there yet
    DONE = "done"
    SILENCED = "silenced"  # something was erased since, of which the answer may have told


@dataclass(frozen=True, slots=True)
class IdempotencyClaim:
    """Whoever is at a request. A change that carries one is made only while it is held, so that
    of two who are at the same request one alone changes anything."""

    scope: Scope
    name: str  # a digest of the caller and the caller's key
    holder: str


@dataclass(frozen=True, slots=True)
class StoredAnswer:
    request: str  # a digest of what was asked
    at: datetime
    state: AnswerState
    answer: str | None  # None: it is not kept


@dataclass(frozen=True, slots=True)
class KeepAnswer:
    """Unless something was erased since it was claimed. None: done, and its answer is secret."""

    claim: IdempotencyClaim
    answer: str | None


@dataclass(frozen=True, slots=True)
class KeepHarmlessAnswer:
    """In any case: it holds nothing that could be erased."""

    claim: IdempotencyClaim
    request: str
    answer: str


@dataclass(frozen=True, slots=True)
class ReleaseAnswer:
    """Nothing was changed: the next one may try."""

    claim: IdempotencyClaim


AnswerOutcome = KeepAnswer | KeepHarmlessAnswer | ReleaseAnswer

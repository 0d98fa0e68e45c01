"""Jobs with leases, and idempotency claims: work that is done exactly once.

A worker claims a job for the length of a lease and extends the lease by heartbeats. Any worker can
take over a job whose lease expired. Each claim raises the lease number (a fencing token), so the
result of the previous holder is refused.
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
JITTER = 0.2  # share of the wait, so that jobs that failed together are not retried together


class JobState(StrEnum):
    QUEUED = "queued"
    RUNNING = "running"
    DEAD = "dead"  # out of tries: a person decides. Finished jobs are deleted


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a job failed. Never contains user text."""

    code: str
    told: str  # one sentence


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    id: str
    scope: Scope
    kind: str
    created_at: datetime
    updated_at: datetime
    due_at: datetime | None  # queued: when it runs; running: when its lease ends; dead: None
    key: str = ""  # the subject of the work: at most one job of each kind and key is queued
    payload: Mapping[str, Any] = field(default_factory=dict)  # ids and numbers, never text
    state: JobState = JobState.QUEUED
    tries: int = 0
    max_tries: int = MAX_TRIES
    lease: int = 0  # rises with each claim: the holder of a lower number has lost it
    worker: str | None = None  # the current or last holder
    failure: Failure | None = None  # of the last try

    @property
    def user_id(self) -> str:
        return self.scope.name

    def lease_has_ended(self, now: datetime) -> bool:
        return self.state is JobState.RUNNING and self.due_at is not None and self.due_at <= now

    def evolve(self, **changes: Any) -> Self:
        return replace(self, **changes)


def retry_delay(id: str, tries: int) -> timedelta:
    """Exponential backoff after ``tries`` failures. The jitter is derived from the id, so it is
    reproducible."""
    times = min(BACKOFF_GROWTH ** min(max(tries - 1, 0), 32), LONGEST_WAIT / FIRST_WAIT)
    return FIRST_WAIT * times * (1 - JITTER * crc32(f"{id}/{tries}".encode()) / 2**32)


def next_retry(job: Job, now: datetime) -> datetime | None:
    """When a job that has just failed is retried; None: never, it is dead."""
    return None if job.tries >= job.max_tries else now + retry_delay(job.id, job.tries)


ANSWER_RETENTION = timedelta(hours=24)
CLAIM_TIMEOUT = timedelta(seconds=10)  # after this a claim may be taken over


class AnswerState(StrEnum):
    OPEN = "open"  # in progress, or aborted before anything was changed
    MUTED = "muted"  # open, and something was erased since: its answer will not be stored
    APPLIED = "applied"  # the change is committed (same transaction); the answer is not stored yet
    DONE = "done"
    SILENCED = "silenced"  # something was erased since that the answer may have contained


@dataclass(frozen=True, slots=True)
class IdempotencyClaim:
    """The right to process a request. A changeset that carries a claim is applied only while the
    claim is held, so that of two processes with the same request only one changes anything."""

    scope: Scope
    name: str  # a digest of the caller and the caller's key
    holder: str


@dataclass(frozen=True, slots=True)
class StoredAnswer:
    request: str  # a digest of the request
    at: datetime
    state: AnswerState
    answer: str | None  # None: not stored


@dataclass(frozen=True, slots=True)
class KeepAnswer:
    """Store the answer, unless something was erased since the claim. None: done, but the answer is
    secret."""

    claim: IdempotencyClaim
    answer: str | None


@dataclass(frozen=True, slots=True)
class KeepHarmlessAnswer:
    """Store the answer in any case: it contains nothing that could be erased."""

    claim: IdempotencyClaim
    request: str
    answer: str


@dataclass(frozen=True, slots=True)
class ReleaseAnswer:
    """Nothing was changed: release the claim."""

    claim: IdempotencyClaim


AnswerOutcome = KeepAnswer | KeepHarmlessAnswer | ReleaseAnswer

"""An answer that is kept, so that the same request again is not done twice."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from commonplace.model.scope import Scope

KEPT_FOR = timedelta(hours=24)
UNDER_WAY = timedelta(seconds=10)  # after this, whoever was at it may be taken over from


class AnswerState(StrEnum):
    OPEN = "open"  # under way, or broken off before anything was changed
    MUTED = "muted"  # the same, and something was erased since: its answer will not be kept
    APPLIED = "applied"  # the change is made, in the same transaction; its answer is not there yet
    DONE = "done"
    SILENCED = "silenced"  # something was erased since, of which the answer may have told


@dataclass(frozen=True, slots=True)
class Claim:
    """Whoever is at a request. A change that carries one is made only while it is held, so that
    of two who are at the same request one alone changes anything."""

    scope: Scope
    name: str  # a digest of the caller and the caller's key
    holder: str


@dataclass(frozen=True, slots=True)
class KeptAnswer:
    request: str  # a digest of what was asked
    at: datetime
    state: AnswerState
    answer: str | None  # None: it is not kept

"""An answer that is kept, so that the same request again is not done twice."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

KEPT_FOR = timedelta(hours=24)
UNDER_WAY = timedelta(minutes=2)  # after this, whoever was at it is not expected to come back


class AnswerState(StrEnum):
    OPEN = "open"  # under way, or broken off
    DONE = "done"
    SILENCED = "silenced"  # something was erased since, of which the answer may have told


@dataclass(frozen=True, slots=True)
class KeptAnswer:
    request: str  # a digest of what was asked
    at: datetime
    state: AnswerState
    answer: str | None  # None: it is not kept

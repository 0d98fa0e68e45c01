"""One turn of a conversation, as an agent hands it in."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum

_FIRST_DAY = datetime(1970, 1, 1, tzinfo=UTC)


class Role(StrEnum):
    """Who speaks. Only the user's turns tell of the user."""

    USER = "user"
    ASSISTANT = "assistant"
    TOOL = "tool"
    SYSTEM = "system"


@dataclass(frozen=True, slots=True, kw_only=True)
class Heard:
    text: str
    thread: str
    at: datetime  # when it was said
    is_dated: bool = False  # whoever hands it in says when: sent again, it is the same turn
    role: Role = Role.USER
    speaker: str | None = None  # a name, as people would say it
    session: str | None = None  # which sitting of the thread
    run_id: str | None = None
    job_id: str | None = None


def day_of(at: datetime) -> int:
    """The day of a moment by UTC, counted from 1970."""
    return (at - _FIRST_DAY).days

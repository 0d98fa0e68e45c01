"""A turn of a conversation as tests say it: on a known Wednesday, to an assistant."""

from __future__ import annotations

from datetime import UTC, datetime

from commonplace.language.observe.turn import find_candidates
from commonplace.model.memory.candidate import ForgetRequest, MemoryCandidate, TurnFinding

WEDNESDAY = datetime(2026, 3, 11, 10, tzinfo=UTC)


def said(text: str, role: str = "user") -> tuple[TurnFinding, ...]:
    return find_candidates(text, role=role, said_at=WEDNESDAY)


def stored(text: str, role: str = "user") -> list[MemoryCandidate]:
    """What would be stored or proposed."""
    return [one for one in said(text, role) if isinstance(one, MemoryCandidate) and one.is_stored]


def only(text: str, role: str = "user") -> MemoryCandidate:
    """The one thing that would be stored."""
    (one,) = stored(text, role)
    return one


def forgets(text: str) -> list[str]:
    return [one.query for one in said(text) if isinstance(one, ForgetRequest)]

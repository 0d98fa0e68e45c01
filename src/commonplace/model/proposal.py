"""What somebody would have the profile say: it waits until the owner, or enough signals, decide."""

from __future__ import annotations

from collections.abc import Container
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from commonplace.model.profile import ADDS_TO, field_of

PREFIX = "proposal:"


class SignalKind(StrEnum):
    HEARD = "heard"  # it was said, or can be read somewhere
    INSIGHT = "insight"  # it was inferred, with a confidence


@dataclass(frozen=True, slots=True, kw_only=True)
class Signal:
    """One reason to believe it: who says so, when, and on what it rests."""

    actor: str
    at: datetime
    kind: SignalKind = SignalKind.HEARD
    confidence: float | None = None
    thread: str | None = None
    evidence: tuple[str, ...] = ()  # the words that it was heard in
    source_id: str | None = None  # erased with either of these
    memory_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """One value of one field, with every signal for it."""

    id: str
    name: str  # as it was proposed: city, goals_add
    value: Any  # as whoever was first said it
    signals: tuple[Signal, ...]  # oldest first
    reason: str = ""
    proposed_at: datetime
    ends_at: datetime

    @property
    def field(self) -> str:
        return field_of(self.name)

    @property
    def by(self) -> str:
        """Who was the first to propose it."""
        return self.signals[0].actor

    @property
    def adds(self) -> bool:
        return self.name in ADDS_TO

    def is_open(self, now: datetime) -> bool:
        return now < self.ends_at

    def comes_from(self, ids: Container[str]) -> bool:
        return any(signal.source_id in ids or signal.memory_id in ids for signal in self.signals)

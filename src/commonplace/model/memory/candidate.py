"""Memory candidates and forget requests found in a conversation turn."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from commonplace.model.memory.kinds import Kind
from commonplace.model.memory.memory import Sensitivity
from commonplace.model.profile.consent import SENSITIVE_FIELDS

MIN_STORED_CONFIDENCE = 0.7  # confidence; what is below is told and not stored
MAX_CANDIDATES = 5
MAX_STORED = 3


@dataclass(frozen=True, slots=True)
class MemoryCandidate:
    """Something that may be worth keeping, with the words that say so."""

    kind: Kind
    content: str
    trigger: str  # the very words of the turn
    category: str | None = None  # None: the engine derives it
    facet: str = "fact"
    importance: int = 2
    confidence: float = 0.8
    metadata: Mapping[str, str] = field(default_factory=dict)
    evidence: tuple[str, ...] = ()  # for a rule: the turn that gave it
    ttl_days: int | None = None
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    profile_field: str | None = None  # what of the profile it is about
    profile_value: str | None = None
    sensitivity: Sensitivity = Sensitivity.NORMAL  # high: only who is cleared finds it
    asked: bool = False  # "remember that …": the user wants it kept
    otherwise: tuple[str, ...] = ()  # its content, with its speaker called otherwise

    @property
    def is_stored(self) -> bool:
        return self.confidence >= MIN_STORED_CONFIDENCE

    @property
    def is_sensitive(self) -> bool:
        """Whether it waits for the owner's consent instead of being stored."""
        return self.profile_field in SENSITIVE_FIELDS


@dataclass(frozen=True, slots=True)
class ForgetRequest:
    """The user wants something forgotten: it is looked up by `query`, and a person chooses."""

    query: str
    trigger: str


@dataclass(frozen=True, slots=True)
class StorableText:
    """What of a turn may be kept, and the words that ask for less."""

    text: str  # empty: nothing
    wishes: tuple[str, ...] = ()


TurnFinding = MemoryCandidate | ForgetRequest

"""Memory candidates and forget requests found in a conversation turn."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from commonplace.model.memory.kinds import Kind
from commonplace.model.memory.memory import Sensitivity
from commonplace.model.profile.consent import SENSITIVE_FIELDS

MIN_STORED_CONFIDENCE = 0.7  # candidates below it are reported, but not stored
MAX_CANDIDATES = 5
MAX_STORED = 3


@dataclass(frozen=True, slots=True)
class MemoryCandidate:
    """A possible memory, with the words that it was derived from."""

    kind: Kind
    content: str
    trigger: str  # the words of the turn, verbatim
    category: str | None = None  # None: the engine derives it
    facet: str = "fact"
    importance: int = 2
    confidence: float = 0.8
    metadata: Mapping[str, str] = field(default_factory=dict)
    evidence: tuple[str, ...] = ()  # for a rule: the turn that states it
    ttl_days: int | None = None
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    profile_field: str | None = None  # the profile field that it is about
    profile_value: str | None = None
    sensitivity: Sensitivity = Sensitivity.NORMAL  # high: visible only with clearance
    asked: bool = False  # "remember that …": the user requests storage
    otherwise: tuple[str, ...] = ()  # variants of its content with other names of the speaker
    corrects: str = ""  # what is not true any more, in words
    questions: tuple[str, ...] = ()  # that it answers
    replaces: tuple[str, ...] = ()  # ids of the memories that say it, as a model confirmed

    @property
    def is_stored(self) -> bool:
        return self.confidence >= MIN_STORED_CONFIDENCE

    @property
    def is_sensitive(self) -> bool:
        """Whether its profile field waits for the owner's consent."""
        return self.profile_field in SENSITIVE_FIELDS


@dataclass(frozen=True, slots=True)
class ForgetRequest:
    """The user wants something forgotten: `query` finds the candidates, a person chooses."""

    query: str
    trigger: str


@dataclass(frozen=True, slots=True)
class StorableText:
    """The text of a turn that may be stored, and the words that restrict it."""

    text: str  # empty: nothing
    wishes: tuple[str, ...] = ()


TurnFinding = MemoryCandidate | ForgetRequest

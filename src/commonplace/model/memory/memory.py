"""Memory: one item with versions and links; held values and conflicts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from datetime import datetime
from enum import StrEnum
from typing import Any

from commonplace.model.memory.kinds import Kind, Stability


class State(StrEnum):
    ACTIVE = "active"
    SUPERSEDED = "superseded"  # replaced by a newer one; kept as history
    SOFT_DELETED = "soft_deleted"  # forgotten or overridden; restorable until purge_at


class Sensitivity(StrEnum):
    LOW = "low"
    NORMAL = "normal"
    HIGH = "high"


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory:
    id: str  # a uuid, or profile:N and profile:<field> for the profile's own items
    user_id: str
    kind: Kind
    content: str
    summary: str
    category: str
    tags: tuple[str, ...] = ()
    metadata: Mapping[str, Any] = field(default_factory=dict)
    importance: int = 2  # 1–5
    confidence: float = 1.0  # 0–1
    stability: Stability = Stability.STABLE
    sensitivity: Sensitivity = Sensitivity.NORMAL
    pinned: bool = False
    evidence: tuple[str, ...] = ()
    facet: str | None = None  # fact, preference, note …
    source_type: str | None = None
    source_id: str | None = None
    job_id: str | None = None
    agent_id: str | None = None
    run_id: str | None = None
    actor_id: str | None = None
    role: str | None = None
    thread_id: str | None = None
    state: State = State.ACTIVE
    expires_at: datetime | None = None
    superseded_by: str | None = None
    purge_at: datetime | None = None
    valid_from: datetime | None = None  # in the world
    valid_to: datetime | None = None
    created_at: datetime
    updated_at: datetime
    version: int = 1  # the number of the version row that holds this state
    arrived_at: datetime | None = None  # when this store got it: later than created_at if imported
    last_accessed_at: datetime | None = None
    access_count: int = 0
    conflict: str | None = None  # the open question it is disputed in

    def evolve(self, **changes: Any) -> Memory:
        return replace(self, **changes)

    @property
    def ref(self) -> str:
        """How the journal names this version."""
        return f"{self.id}@{self.version}"

    @property
    def ends_at(self) -> datetime | None:
        """The instant it leaves every read: pinned and permanent outrank an expiry."""
        if self.pinned or self.stability is Stability.PERMANENT:
            return None
        return self.expires_at

    def is_live(self, now: datetime) -> bool:
        ends_at = self.ends_at
        return self.state is State.ACTIVE and (ends_at is None or ends_at > now)

    @property
    def told(self) -> str:
        """In one line, for those who hear of it."""
        return self.summary or self.content

    @property
    def searchable_text(self) -> str:
        """What it is found by: its words, and the particulars that its words may not repeat."""
        if not self.metadata:
            return self.content
        particulars = [
            f"{name} {value}"
            for name in _SEARCHED_METADATA
            if (value := _as_words(self.metadata.get(name))) and value not in self.content
        ]
        return "\n".join([self.content, *particulars])


def _as_words(value: object) -> str:
    listed = value if isinstance(value, list) else [value]
    return ", ".join(str(each) for each in listed if each)


_SEARCHED_METADATA = (
    "name",
    "aliases",
    "role",
    "phone",
    "email",
    "description",
    "subject",
    "value",
)

# Bookkeeping moves without a version: reading is not changing.
UNVERSIONED_FIELDS = frozenset(
    {
        "id",
        "user_id",
        "version",
        "updated_at",
        "arrived_at",
        "last_accessed_at",
        "access_count",
        "conflict",
    }
)
VERSIONED_FIELDS = tuple(f.name for f in fields(Memory) if f.name not in UNVERSIONED_FIELDS)


@dataclass(frozen=True, slots=True)
class Version:
    """What a memory said from ``recorded_at`` until ``invalidated_at``, in the engine's time."""

    memory: Memory
    recorded_at: datetime
    invalidated_at: datetime | None


class LinkType(StrEnum):
    RELATED_TO = "related_to"


@dataclass(frozen=True, slots=True)
class Link:
    """Two memories that speak of one thing. Unordered: ``a`` sorts before ``b``."""

    a: str
    b: str
    strength: float
    created_at: datetime
    relation: LinkType = LinkType.RELATED_TO

    @classmethod
    def between(cls, one: str, other: str, strength: float, at: datetime) -> Link:
        a, b = sorted((one, other))
        return cls(a, b, strength, at)


class ConflictResolution(StrEnum):
    """What a person can say to a conflict."""

    OVERRIDE = "override"  # the held value takes one target's place
    INSERT = "insert"  # both stand
    DISMISS = "dismiss"  # what was there stands, the held value goes


@dataclass(frozen=True, slots=True)
class HeldValue:
    """A memory as it would be stored, held back."""

    memory: Memory
    conflict: str | None  # the question it waits in; None: an alternative
    alternative_to: str | None  # a memory
    mentioned: frozenset[str]  # the fields that its teller gave: an override keeps the others
    reason: str  # which value differs, in words
    actor: str | None
    held_at: datetime
    contributes_to: str | None = None  # a memory that was merged from it; it waits for nothing


@dataclass(frozen=True, slots=True)
class Conflict:
    """One question: which of these is true? Its targets stay live, and disputed, meanwhile."""

    id: str
    targets: tuple[Memory, ...]  # as they stand now; some may have gone
    held: tuple[HeldValue, ...]  # oldest first

    @property
    def opened_at(self) -> datetime:
        return self.held[0].held_at


def group_conflicts(held: Iterable[HeldValue], targets: Iterable[Memory]) -> list[Conflict]:
    """Whole conflicts from their parts, the oldest first."""
    values: dict[str, list[HeldValue]] = {}
    for value in sorted(held, key=lambda value: (value.held_at, value.memory.id)):
        if value.conflict:
            values.setdefault(value.conflict, []).append(value)
    disputed: dict[str, list[Memory]] = {}
    for memory in targets:
        if memory.conflict:
            disputed.setdefault(memory.conflict, []).append(memory)
    return [
        Conflict(id, tuple(disputed.get(id, ())), tuple(waiting)) for id, waiting in values.items()
    ]

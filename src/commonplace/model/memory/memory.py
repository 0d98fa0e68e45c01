"""Memory: one item with versions and links; held values and conflicts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from datetime import datetime
from enum import StrEnum
from typing import Any

from commonplace.model.memory.kinds import Kind, Stability

MAX_QUESTIONS = 6  # of a memory
HEARSAY_FACET = "hearsay"  # the facet; hearsay does not change the owner's own statements


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
    id: str  # a uuid, or profile:N and profile:<field> for items of the profile
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
    questions: tuple[str, ...] = ()  # that it answers, in other words than its own
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
    valid_from: datetime | None = None  # valid time
    valid_to: datetime | None = None
    created_at: datetime
    updated_at: datetime
    version: int = 1  # the number of the version row that holds this state
    arrived_at: datetime | None = None  # when this store got it: later than created_at if imported
    last_accessed_at: datetime | None = None
    access_count: int = 0
    conflict: str | None = None  # the open conflict that disputes it

    def evolve(self, **changes: Any) -> Memory:
        return replace(self, **changes)

    @property
    def ref(self) -> str:
        """The reference of this version in the journal."""
        return f"{self.id}@{self.version}"

    @property
    def ends_at(self) -> datetime | None:
        """When it disappears from every read. Pinned and permanent memories never expire."""
        if self.pinned or self.stability is Stability.PERMANENT:
            return None
        return self.expires_at

    def is_live(self, now: datetime) -> bool:
        ends_at = self.ends_at
        return self.state is State.ACTIVE and (ends_at is None or ends_at > now)

    @property
    def headline(self) -> str:
        """One line for a delta header."""
        return self.summary or self.content

    @property
    def indexed_texts(self) -> tuple[str, ...]:
        """The text that is searched and compared, and the questions, which are only searched."""
        return (self.searchable_text, *self.questions)

    @property
    def searchable_text(self) -> str:
        """The content, and metadata values that it does not contain."""
        if not self.metadata:
            return self.content
        details = [
            f"{name} {value}"
            for name in _SEARCHED_METADATA
            if (value := _as_words(self.metadata.get(name))) and value not in self.content
        ]
        return "\n".join([self.content, *details])


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

# These change without a new version: a read is not a change.
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
    """The state of a memory from ``recorded_at`` until ``invalidated_at``, in transaction time."""

    memory: Memory
    recorded_at: datetime
    invalidated_at: datetime | None


class LinkType(StrEnum):
    RELATED_TO = "related_to"


@dataclass(frozen=True, slots=True)
class Link:
    """Two memories about the same subject. Undirected: ``a`` sorts before ``b``."""

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
    """How a person can resolve a conflict."""

    OVERRIDE = "override"  # the held value replaces one target
    INSERT = "insert"  # both are active
    DISMISS = "dismiss"  # the target stays active, the held value is deleted


@dataclass(frozen=True, slots=True)
class HeldValue:
    """A memory that is held back, as it would be stored."""

    memory: Memory
    conflict: str | None  # the conflict that it waits in; None: it is not in one
    alternative_to: str | None  # a memory
    mentioned: frozenset[str]  # the fields that the caller gave: an override keeps the others
    reason: str  # which value differs, in words
    actor: str | None
    held_at: datetime
    contributes_to: str | None = None  # a memory that was merged from it and others


@dataclass(frozen=True, slots=True)
class Conflict:
    """An open question which value is true. Its targets stay live, and disputed, until resolved."""

    id: str
    targets: tuple[Memory, ...]  # in their present state; some may be removed
    held: tuple[HeldValue, ...]  # oldest first

    @property
    def opened_at(self) -> datetime:
        return self.held[0].held_at


def group_conflicts(held: Iterable[HeldValue], targets: Iterable[Memory]) -> list[Conflict]:
    """Conflicts with their held values and targets, oldest first."""
    held_by_conflict: dict[str, list[HeldValue]] = {}
    for value in sorted(held, key=lambda value: (value.held_at, value.memory.id)):
        if value.conflict:
            held_by_conflict.setdefault(value.conflict, []).append(value)
    disputed: dict[str, list[Memory]] = {}
    for memory in targets:
        if memory.conflict:
            disputed.setdefault(memory.conflict, []).append(memory)
    return [
        Conflict(id, tuple(disputed.get(id, ())), tuple(pending))
        for id, pending in held_by_conflict.items()
    ]

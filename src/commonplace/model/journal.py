"""The append-only record of what happened: references and numbers, never text."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any, TypedDict


class Node(StrEnum):
    """Which part of the engine acted."""

    HOTPATH = "hotpath"
    CONTEXT = "context"
    EPISODIC = "episodic"
    WORKER = "worker"
    API = "api"


class Op(StrEnum):
    CLASSIFY = "classify"
    SEARCH = "search"
    CREATE = "create"
    UPDATE = "update"
    MERGE = "merge"
    DELETE = "delete"
    RESTORE = "restore"
    LINK = "link"
    EMBED = "embed"
    IMPORT = "import"
    HOLD = "hold"
    RESOLVE = "resolve"
    PROPOSE = "propose"
    GRANT = "grant"
    REVOKE = "revoke"


class Status(StrEnum):
    OK = "ok"
    ERROR = "error"
    SKIPPED = "skipped"


class Event(StrEnum):
    ADD = "ADD"
    UPDATE = "UPDATE"
    DELETE = "DELETE"
    MERGE = "MERGE"
    LINK = "LINK"
    TTL = "TTL"
    RESTORE = "RESTORE"
    OVERRIDE = "OVERRIDE"
    CONSENT = "CONSENT"
    ERASE = "ERASE"


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """What one step of a changeset, or one read, adds to the journal."""

    op: Op
    node: Node = Node.HOTPATH
    status: Status = Status.OK
    event: Event | None = None  # None: operational, such as a search
    subject: str | None = None  # the id it is about
    category: str | None = None
    old_ref: str | None = None
    new_ref: str | None = None
    similarity: float | None = None
    meta: Mapping[str, Any] = field(default_factory=dict)


class HistoryRow(TypedDict):
    """A line of one item's life."""

    id: str
    memory_id: str | None
    event: Event | None
    old_ref: str | None
    new_ref: str | None
    actor: str | None
    meta: dict[str, Any]
    ts: datetime


class ChangeRow(TypedDict):
    """A change that was made in one thread."""

    id: str
    thread_id: str | None
    rev: int
    memory_id: str | None
    event: Event | None
    meta: dict[str, Any]
    ts: datetime


class EventRow(TypedDict):
    """An operation, reads included."""

    id: str
    user_id: str
    thread_id: str | None
    node: Node
    op: Op
    status: Status
    memory_id: str | None
    category: str | None
    sim: float | None
    ts: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class JournalRow:
    """An entry in its place."""

    seq: int  # position in the user's journal
    ts: datetime
    user_id: str
    revision: int  # the user's change number when it was written
    thread_id: str | None
    actor: str | None
    entry: Entry

    @property
    def id(self) -> str:
        return f"{self.user_id}/{self.seq}"

    def as_history(self) -> HistoryRow:
        """One item's life."""
        return {
            "id": self.id,
            "memory_id": self.entry.subject,
            "event": self.entry.event,
            "old_ref": self.entry.old_ref,
            "new_ref": self.entry.new_ref,
            "actor": self.actor,
            "meta": dict(self.entry.meta),
            "ts": self.ts,
        }

    def as_change(self) -> ChangeRow:
        """One thread's changes."""
        return {
            "id": self.id,
            "thread_id": self.thread_id,
            "rev": self.revision,
            "memory_id": self.entry.subject,
            "event": self.entry.event,
            "meta": dict(self.entry.meta),
            "ts": self.ts,
        }

    def as_event(self) -> EventRow:
        """Operations."""
        return {
            "id": self.id,
            "user_id": self.user_id,
            "thread_id": self.thread_id,
            "node": self.entry.node,
            "op": self.entry.op,
            "status": self.entry.status,
            "memory_id": self.entry.subject,
            "category": self.entry.category,
            "sim": self.entry.similarity,
            "ts": self.ts,
        }

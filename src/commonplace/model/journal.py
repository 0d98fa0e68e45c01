"""Journal of changes and operations, and the recall log of searches and their hits.

The recall log is written only with the setting `recall_log`. It contains the query text as it was
asked, but of the answers only ids, never text.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any, TypedDict


class JournalNode(StrEnum):
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


class JournalStatus(StrEnum):
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
    node: JournalNode = JournalNode.HOTPATH
    status: JournalStatus = JournalStatus.OK
    event: Event | None = None  # None: operational, such as a search
    subject: str | None = None  # the id it is about
    category: str | None = None
    old_ref: str | None = None
    new_ref: str | None = None
    similarity: float | None = None
    meta: Mapping[str, Any] = field(default_factory=dict)


class HistoryRow(TypedDict):
    """A row of one item's history."""

    id: str
    memory_id: str | None
    event: Event | None
    old_ref: str | None
    new_ref: str | None
    actor: str | None
    meta: dict[str, Any]
    ts: datetime


class ChangeRow(TypedDict):
    """A change made in one thread."""

    id: str
    thread_id: str | None
    rev: int
    memory_id: str | None
    event: Event | None
    meta: dict[str, Any]
    ts: datetime


class EventRow(TypedDict):
    """An operation, including reads."""

    id: str
    user_id: str
    thread_id: str | None
    node: JournalNode
    op: Op
    status: JournalStatus
    memory_id: str | None
    category: str | None
    sim: float | None
    ts: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class JournalRow:
    """A stored entry: with its position, time, revision and actor."""

    seq: int  # position in the user's journal
    ts: datetime
    user_id: str
    revision: int  # the scope's revision when it was written
    thread_id: str | None
    actor: str | None
    entry: Entry

    @property
    def id(self) -> str:
        return f"{self.user_id}/{self.seq}"

    def as_history(self) -> HistoryRow:
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


MAIN_THREAD = "main"  # the default thread


@dataclass(frozen=True, slots=True)
class LoggedHit:
    """One hit of an answer."""

    id: str
    score: float
    why: str = ""
    parts: Mapping[str, float] = field(default_factory=dict)  # of the score


@dataclass(frozen=True, slots=True)
class LoggedSearch:
    """One query and its hits, best first."""

    verb: str  # recall, query, context
    asked: str
    returned: tuple[LoggedHit, ...]


@dataclass(frozen=True, slots=True)
class RecallTurn:
    """The searches of one turn of a conversation."""

    thread: str
    agent: str | None
    at: datetime
    searches: tuple[LoggedSearch, ...]
    number: int | None = None  # None: the next of its thread


@dataclass(frozen=True, slots=True)
class RecallLogEntry:
    """A stored search: with its thread, turn, agent and time."""

    id: str
    thread: str
    turn: int
    agent: str | None
    at: datetime
    search: LoggedSearch


@dataclass(frozen=True, slots=True)
class RecallLogQuery:
    """Searches that match all given fields."""

    thread: str | None = None
    turn: int | None = None
    agent: str | None = None
    newest_turn: bool = False  # only those of the last matching turn

"""Assertions: what one source or person states about a node or edge; notes.

Each source's assertions are stored; nodes and edges are computed (folded) from them. The result
does not depend on the order of import. Removing a source removes what only it asserts and leaves
everything else as if that source had never been imported.

Which node an assertion refers to is resolved when the source is imported, against the nodes known
then, and is not resolved again. An ambiguous name ("Sarah" for a friend Sarah, a Sarah Chen and a
Sarah Levi) can therefore resolve differently in another import order; merge and split correct it. A
source that only names a node mentions it if the node was known then.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Protocol

from commonplace.model.graph.types import NodeType
from commonplace.model.memory.memory import Sensitivity
from commonplace.model.sources.source import SourceType

SOURCE_WEIGHTS = {SourceType.SLACK_THREAD: 0.25, SourceType.EMAIL: 0.5}  # others: 1


def source_weight(source_type: SourceType) -> float:
    """What a mention in a source of this type adds to a promotion score."""
    return SOURCE_WEIGHTS.get(source_type, 1.0)


# The actor of assertions that keep a relation ended after what ended it was forgotten or erased.
KEPT_ENDED_BY = "worker:kept-ended"


@dataclass(frozen=True, slots=True, kw_only=True)
class CitedSource:
    """The source of an assertion. A team's source is owned by another scope."""

    scope: str  # its owner's key
    id: str  # source:<uuid>
    source_type: SourceType
    said_at: datetime  # the source's own date
    sensitivity: Sensitivity = Sensitivity.NORMAL
    passage: int | None = None  # the number of the passage that contains the words

    @property
    def weight(self) -> float:
        return source_weight(self.source_type)


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeAssertion:
    id: str
    node: str
    source: CitedSource | None  # None: asserted by a user
    by: str  # the actor that asserted it
    recorded_at: datetime
    type: NodeType
    name: str  # as it was written
    key: str  # the comparison key of the name; "": refers to the node without naming it
    subtype: str = ""
    aliases: tuple[str, ...] = ()
    not_called: tuple[str, ...] = ()  # user assertions only: rejected names and addresses
    addresses: tuple[str, ...] = ()
    description: str = ""
    confidence: float = 0.8
    sensitivity: Sensitivity = Sensitivity.NORMAL  # user assertions: that of the node
    stands: bool = True  # False: inactive, its source is forgotten and may be restored

    @property
    def said_at(self) -> datetime:
        return self.source.said_at if self.source else self.recorded_at

    @property
    def is_mention(self) -> bool:
        """The source names the node and says nothing of it. It counts as a mention, and keeps no
        node that nothing else asserts."""
        return self.source is not None and not self.key


@dataclass(frozen=True, slots=True, kw_only=True)
class EdgeAssertion:
    id: str
    edge: str  # the edge that it is folded into
    a: str
    b: str
    type: str
    source: CitedSource | None
    by: str
    recorded_at: datetime
    valid_from: datetime
    valid_to: datetime | None = None
    ends: bool = False  # asserts that the relation ended at valid_from
    # It holds in parallel with others, even for a single-valued type: it ends none of them, and
    # none of them ends it.
    beside: bool = False
    attitude: int | None = None  # None: not stated
    proximity: int | None = None
    description: str = ""
    confidence: float = 0.8
    sensitivity: Sensitivity = Sensitivity.NORMAL
    stands: bool = True

    @property
    def said_at(self) -> datetime:
        return self.source.said_at if self.source else self.recorded_at

    @property
    def keeps_ended(self) -> bool:
        return self.ends and self.by == KEPT_ENDED_BY


class SourcedStatement(Protocol):
    """An assertion or a note."""

    @property
    def source(self) -> CitedSource | None: ...

    @property
    def sensitivity(self) -> Sensitivity: ...


def is_sensitive(statement: SourcedStatement) -> bool:
    cited = statement.source is not None and statement.source.sensitivity is Sensitivity.HIGH
    return cited or statement.sensitivity is Sensitivity.HIGH


NOTE_PREFIX = "note:"
MAX_SNIPPETS = 10
MAX_SNIPPET_LENGTH = 500
MAX_SNIPPETS_LENGTH = 5000  # all of them together


class NoteLifetime(StrEnum):
    WEEK = "week"
    MONTH = "month"
    YEAR = "year"
    FOREVER = "forever"


_DAYS = {NoteLifetime.WEEK: 7, NoteLifetime.MONTH: 30, NoteLifetime.YEAR: 365}


def note_expiry(lifetime: NoteLifetime, added: datetime) -> datetime | None:
    days = _DAYS.get(lifetime)
    return added + timedelta(days=days) if days else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Note:
    id: str  # note:<uuid>
    about: str  # a node or an edge
    content: str
    added_by: str
    date_added: datetime
    expires_at: datetime | None = None  # None: never
    source: CitedSource | None = None  # None: added by a user
    sensitivity: Sensitivity = Sensitivity.NORMAL  # user notes: that of the node or edge
    stands: bool = True  # False: inactive, its source is forgotten and may be restored
    purge_at: datetime | None = None  # set when a user forgot it: the time of its removal

    def is_live(self, now: datetime) -> bool:
        return self.stands and (self.expires_at is None or now < self.expires_at)


def notes_live_at(notes: Iterable[Note], at: datetime) -> list[Note]:
    """The notes that existed and were live at a moment, newest first."""
    live = [note for note in notes if note.date_added <= at and note.is_live(at)]
    return sorted(live, key=lambda note: note.date_added, reverse=True)


def note_snippets(notes: Iterable[Note], at: datetime) -> tuple[str, ...]:
    """The newest notes live at a moment, shortened to the length limits."""
    shown: list[str] = []
    room = MAX_SNIPPETS_LENGTH
    for note in notes_live_at(notes, at)[:MAX_SNIPPETS]:
        text = note.content[: min(MAX_SNIPPET_LENGTH, room)]
        if text:
            shown.append(text)
        room -= len(text)
    return tuple(shown)

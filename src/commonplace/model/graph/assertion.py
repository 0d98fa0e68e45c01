"""Assertions: what one source or person says of a node or edge; notes.

Tellings are what is kept; nodes and edges are folded from them. So what a node's tellings come to
does not depend on the order in which sources came, what only one source told goes with it, and what
others tell, too, is as if that source had never been met.

Of whom a source tells is decided when it is taken in, by who is known then, and stays so. Where a
name could be several people's ("Sarah", of a friend Sarah, a Sarah Chen and a Sarah Levi) another
order may come to other nodes; a merge or a split says who is who.
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


@dataclass(frozen=True, slots=True, kw_only=True)
class CitedSource:
    """The source of a telling. It may be a team's: then it is owned elsewhere."""

    scope: str  # its owner's key
    id: str  # source:<uuid>
    source_type: SourceType
    said_at: datetime  # the source's own date
    sensitivity: Sensitivity = Sensitivity.NORMAL
    passage: int | None = None  # its number, where the words stand

    @property
    def weight(self) -> float:
        return SOURCE_WEIGHTS.get(self.source_type, 1.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeAssertion:
    id: str
    node: str
    source: CitedSource | None  # None: somebody's own word
    by: str  # who told it
    recorded_at: datetime
    type: NodeType
    name: str  # as it was written
    key: str  # as it is compared; "": it was only spoken of by that name, or by its id
    subtype: str = ""
    aliases: tuple[str, ...] = ()
    not_called: tuple[str, ...] = ()  # of an own word: names, addresses that are not its
    addresses: tuple[str, ...] = ()
    description: str = ""
    confidence: float = 0.8
    sensitivity: Sensitivity = Sensitivity.NORMAL  # of an own word: that of what it is about
    stands: bool = True  # False: its source is forgotten, and may come back

    @property
    def said_at(self) -> datetime:
        return self.source.said_at if self.source else self.recorded_at


@dataclass(frozen=True, slots=True, kw_only=True)
class EdgeAssertion:
    id: str
    edge: str  # which edge it is folded into
    a: str
    b: str
    type: str
    source: CitedSource | None
    by: str
    recorded_at: datetime
    valid_from: datetime
    valid_to: datetime | None = None
    ends: bool = False  # it tells that the relation is over, since valid_from
    # It holds beside others, also where one has only one at a time: it ends none, and none ends it.
    beside: bool = False
    attitude: int | None = None  # None: nothing is said of it
    proximity: int | None = None
    description: str = ""
    confidence: float = 0.8
    sensitivity: Sensitivity = Sensitivity.NORMAL
    stands: bool = True


class SourcedStatement(Protocol):
    """A telling, or a note."""

    @property
    def source(self) -> CitedSource | None: ...

    @property
    def sensitivity(self) -> Sensitivity: ...


def is_sensitive(told: SourcedStatement) -> bool:
    cited = told.source is not None and told.source.sensitivity is Sensitivity.HIGH
    return cited or told.sensitivity is Sensitivity.HIGH


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
    expires_at: datetime | None = None  # None: it never does
    source: CitedSource | None = None  # what it was read from
    sensitivity: Sensitivity = Sensitivity.NORMAL  # of an own word: that of what it is about
    stands: bool = True  # False: its source is forgotten, and may come back
    purge_at: datetime | None = None  # it was forgotten by hand, and is gone from then on

    def is_live(self, now: datetime) -> bool:
        return self.stands and (self.expires_at is None or now < self.expires_at)


def notes_live_at(notes: Iterable[Note], at: datetime) -> list[Note]:
    """Those that were there at a moment, and counted; newest first."""
    live = [note for note in notes if note.date_added <= at and note.is_live(at)]
    return sorted(live, key=lambda note: note.date_added, reverse=True)


def note_snippets(notes: Iterable[Note], at: datetime) -> tuple[str, ...]:
    """The newest that are live at a moment, shortened, as far as they fit."""
    shown: list[str] = []
    room = MAX_SNIPPETS_LENGTH
    for note in notes_live_at(notes, at)[:MAX_SNIPPETS]:
        text = note.content[: min(MAX_SNIPPET_LENGTH, room)]
        if text:
            shown.append(text)
        room -= len(text)
    return tuple(shown)

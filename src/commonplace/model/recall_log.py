"""The recall log: what was asked in a turn of a conversation, what came back, and why.

It is kept only where the setting `recall_log` is on. A text of the answer is never in it, only ids;
the question is, in the asker's own words.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

MAIN = "main"  # the thread of those who name none


@dataclass(frozen=True, slots=True)
class Returned:
    """One hit of an answer."""

    id: str
    score: float
    why: str = ""
    parts: Mapping[str, float] = field(default_factory=dict)  # of the score


@dataclass(frozen=True, slots=True)
class Search:
    """One question and what it was answered with, best first."""

    verb: str  # recall, query, context
    asked: str
    returned: tuple[Returned, ...]


@dataclass(frozen=True, slots=True)
class Turn:
    """What was looked for at one point of a conversation."""

    thread: str
    agent: str | None
    at: datetime
    searches: tuple[Search, ...]
    number: int | None = None  # None: the next of its thread


@dataclass(frozen=True, slots=True)
class Logged:
    """A search in its place."""

    id: str
    thread: str
    turn: int
    agent: str | None
    at: datetime
    search: Search


@dataclass(frozen=True, slots=True)
class LogQuery:
    """Searches of one thread and turn; of all that are not given, any."""

    thread: str | None = None
    turn: int | None = None
    agent: str | None = None
    newest_turn: bool = False  # of those that fit, only the last turn's

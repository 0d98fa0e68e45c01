"""Profile fields, abbreviations and proposals: names, forms and values.

A user's abbreviation is stored as a key-value memory named by its short form, so that it has
versions and is exported, forgotten, restored and erased like any memory. It affects how queries are
interpreted and is not an answer itself: recall leaves it out unless its facet is requested.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Container
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from functools import cache
from typing import Any
from zoneinfo import available_timezones

from commonplace.errors import InvalidInput
from commonplace.model import validation

ABBREVIATION_PREFIX = "abbreviation:"
ABBREVIATION_FACET = "abbreviation"
ABBREVIATION_CATEGORY = "knowledge"


@dataclass(frozen=True, slots=True)
class Abbreviation:
    short: str
    long: str
    own: bool = False  # the user's, not built in
    id: str | None = None  # of a user's own, to forget it


def is_abbreviation(id: str) -> bool:
    return id.startswith(ABBREVIATION_PREFIX)


PROFILE_PREFIX = "profile:"
LIST_ADDITIONS = {"goals_add": "goals"}  # names that append to a list instead of replacing it
MAX_FIELD_VALUE = 1000  # characters
# The predefined fields; a profile may have others.
KNOWN_FIELDS = ("preferred_name", "pronouns", "city", "language", "tone", "goals", "time_zone")

_FIELD_NAME = re.compile(r"[a-z][a-z0-9_]{0,39}")


def field_name(name: object) -> str:
    """The normalised name. It never begins with a digit: profile notes are numbered."""
    field = _spelled(validation.word(name, "name"))
    if not _FIELD_NAME.fullmatch(field):
        raise InvalidInput(
            f"{field!r} cannot be the name of a profile field.",
            remedy="Use letters, digits and underscores, beginning with a letter.",
            field="name",
        )
    return field


def _spelled(name: str) -> str:
    return name.strip().lower().replace("-", "_").replace(" ", "_")


def target_field(name: str) -> str:
    return LIST_ADDITIONS.get(name, name)


def read_any_value(value: object) -> Any:
    if isinstance(value, str):
        return read_text_value(value)
    if isinstance(value, bool):
        return value
    if isinstance(value, int):
        return validation.integer(
            value, "value", -validation.MAX_WHOLE_NUMBER, validation.MAX_WHOLE_NUMBER
        )
    if isinstance(value, float):
        return validation.number(value, "value", -sys.float_info.max, sys.float_info.max)
    return read_word_list(value)


def read_word_list(value: object) -> list[str]:
    words = list(validation.words([value] if isinstance(value, str) else value, "value"))
    if not words:
        raise InvalidInput(
            "The list is empty.",
            remedy="Give at least one value; to remove the field: forget profile:NAME.",
            field="value",
        )
    return words


def read_text_value(value: object) -> str:
    return validation.text(value, "value", MAX_FIELD_VALUE)


def read_list_addition(value: object) -> str:
    words = read_word_list(value)
    if len(words) != 1:
        raise InvalidInput("Goals are added one at a time.", field="value")
    return words[0]


def is_profile_item(id: str) -> bool:
    """Whether only the owner may write it: items of the profile and abbreviations."""
    return id.startswith((PROFILE_PREFIX, ABBREVIATION_PREFIX))


def read_field_value(name: str, value: object) -> Any:
    """The value as it is stored. For a list addition (goals_add) it is one text."""
    if name in LIST_ADDITIONS:
        return read_list_addition(value)
    return _FIELD_READERS.get(name, read_any_value)(value)


def _time_zone(value: object) -> str:
    zone = validation.word(value, "value")
    known = _zones()
    if known and zone not in known:  # empty where the system has no time zone database
        raise InvalidInput(
            f"Unknown time zone {zone!r}.",
            remedy="Use an IANA name, such as Europe/Berlin or Asia/Jerusalem.",
            field="value",
        )
    return zone


@cache
def _zones() -> frozenset[str]:
    return frozenset(available_timezones())


_FIELD_READERS: dict[str, Callable[[object], Any]] = {
    "time_zone": _time_zone,
    "tone": read_text_value,
    "goals": read_word_list,
}


def is_list_field(name: str) -> bool:
    """Whether the field has several values. Names that are not predefined have one."""
    return _spelled(name) in LIST_ADDITIONS.values()


def describe_field(name: str, value: Any) -> str:
    subject = name.replace("_", " ").capitalize()
    if isinstance(value, list):
        return f"{subject} are {'; '.join(map(str, value))}"
    return f"{subject} is {value}"


PROPOSAL_PREFIX = "proposal:"


class SignalKind(StrEnum):
    HEARD = "heard"  # stated in a conversation or a source
    INSIGHT = "insight"  # inferred, with a confidence


@dataclass(frozen=True, slots=True, kw_only=True)
class Signal:
    """One piece of support for a proposal: by whom, when, and on which evidence."""

    actor: str
    at: datetime
    kind: SignalKind = SignalKind.HEARD
    confidence: float | None = None
    thread: str | None = None
    evidence: tuple[str, ...] = ()  # quoted words
    source_id: str | None = None  # the signal is erased with this source or memory
    memory_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """One value of one field, with every signal for it."""

    id: str
    name: str  # as it was proposed: city, goals_add
    value: Any  # as it was first proposed
    signals: tuple[Signal, ...]  # oldest first
    reason: str = ""
    proposed_at: datetime
    ends_at: datetime

    @property
    def field(self) -> str:
        return target_field(self.name)

    @property
    def by(self) -> str:
        """The actor that proposed it first."""
        return self.signals[0].actor

    @property
    def adds(self) -> bool:
        return self.name in LIST_ADDITIONS

    def is_open(self, now: datetime) -> bool:
        return now < self.ends_at

    def comes_from(self, ids: Container[str]) -> bool:
        return any(signal.source_id in ids or signal.memory_id in ids for signal in self.signals)

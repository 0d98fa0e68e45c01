"""Fields of the profile: how they are called and what may stand in them."""

from __future__ import annotations

import re
import sys
from typing import Any

from commonplace.errors import InvalidInput
from commonplace.model import check
from commonplace.model.abbreviation import PREFIX as ABBREVIATION_PREFIX

PREFIX = "profile:"
ADDS_TO = {"goals_add": "goals"}  # under these names a value joins a list and replaces nothing
MAX_VALUE = 1000  # characters
# Those that everybody knows by their names; a profile may have others.
FIELDS = ("preferred_name", "pronouns", "city", "language", "tone", "goals", "time_zone")

_NAME = re.compile(r"[a-z][a-z0-9_]{0,39}")


def field_name(name: object) -> str:
    """Spelled one way. It never begins with a digit: notes have numbers."""
    field = check.word(name, "name").lower().replace("-", "_").replace(" ", "_")
    if not _NAME.fullmatch(field):
        raise InvalidInput(
            f"{field!r} cannot be the name of a profile field.",
            remedy="Use letters, digits and underscores, beginning with a letter.",
            field="name",
        )
    return field


def field_of(name: str) -> str:
    return ADDS_TO.get(name, name)


def any_value(value: object) -> Any:
    if isinstance(value, str):
        return one_text(value)
    if isinstance(value, bool):
        return value
    if isinstance(value, int):
        return check.integer(value, "value", -check.MAX_WHOLE_NUMBER, check.MAX_WHOLE_NUMBER)
    if isinstance(value, float):
        return check.number(value, "value", -sys.float_info.max, sys.float_info.max)
    return some_words(value)


def some_words(value: object) -> list[str]:
    words = list(check.words([value] if isinstance(value, str) else value, "value"))
    if not words:
        raise InvalidInput(
            "The list is empty.",
            remedy="Give at least one value; to remove the field: forget profile:NAME.",
            field="value",
        )
    return words


def one_text(value: object) -> str:
    return check.text(value, "value", MAX_VALUE)


def one_more(value: object) -> str:
    words = some_words(value)
    if len(words) != 1:
        raise InvalidInput("Goals are added one at a time.", field="value")
    return words[0]


def is_of_profile(id: str) -> bool:
    """What the owner alone says, under its own name: the profile's items, and abbreviations."""
    return id.startswith((PREFIX, ABBREVIATION_PREFIX))

"""Fields of the profile: how they are called, what may stand in them, and how they read.

Any name is allowed. Where a field has a form it is held to it: a time zone is one that computers
know, goals are a list.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from functools import cache
from typing import Any
from zoneinfo import available_timezones

from commonplace.errors import InvalidInput
from commonplace.model import check
from commonplace.model.proposal import ADDS_TO

PREFIX = "profile:"
MAX_VALUE = 1000  # characters

_NAME = re.compile(r"[a-z][a-z0-9_]{0,39}")


def field_name(name: object) -> str:
    field = check.word(name, "name").lower().replace("-", "_").replace(" ", "_")
    if not _NAME.fullmatch(field):
        raise InvalidInput(
            f"{field!r} cannot be the name of a profile field.",
            remedy="Use letters, digits and underscores, beginning with a letter.",
            field="name",
        )
    return field


def field_value(name: str, value: object) -> Any:
    """The value as it is kept. Under a name that adds (goals_add) it is one text."""
    if name in ADDS_TO:
        return _one_more(value)
    return _FORMS.get(name, _any_value)(value)


def _any_value(value: object) -> Any:
    if isinstance(value, str):
        return check.text(value, "value", MAX_VALUE)
    if isinstance(value, bool):
        return value
    if isinstance(value, int):
        return check.integer(value, "value", -check.MAX_WHOLE_NUMBER, check.MAX_WHOLE_NUMBER)
    if isinstance(value, float):
        return check.number(value, "value", -sys.float_info.max, sys.float_info.max)
    return list(check.words(value, "value"))


def _words(value: object) -> list[str]:
    return list(check.words([value] if isinstance(value, str) else value, "value"))


def _one_more(value: object) -> str:
    words = _words(value)
    if len(words) != 1:
        raise InvalidInput("Goals are added one at a time.", field="value")
    return words[0]


def _time_zone(value: object) -> str:
    zone = check.word(value, "value")
    known = _zones()
    if known and zone not in known:  # a machine without the list cannot tell
        raise InvalidInput(
            f"There is no time zone {zone!r}.",
            remedy="Name it as in the IANA list, such as Europe/Berlin or Asia/Jerusalem.",
            field="value",
        )
    return zone


@cache
def _zones() -> frozenset[str]:
    return frozenset(available_timezones())


_FORMS: dict[str, Callable[[object], Any]] = {"time_zone": _time_zone, "goals": _words}


def field_words(name: str, value: Any) -> str:
    subject = name.replace("_", " ").capitalize()
    if isinstance(value, list):
        return f"{subject} are {'; '.join(map(str, value))}"
    return f"{subject} is {value}"


def is_of_profile(id: str) -> bool:
    return id.startswith(PREFIX)

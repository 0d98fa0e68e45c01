"""Fields that have a form are held to it: a time zone is one that computers know, a tone is one
text, goals are a list. Any other name is allowed, and free."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any
from zoneinfo import available_timezones

from commonplace.errors import InvalidInput
from commonplace.model import check
from commonplace.model.profile import ADDS_TO, any_value, one_more, one_text, some_words


def field_value(name: str, value: object) -> Any:
    """The value as it is kept. Under a name that adds (goals_add) it is one text."""
    if name in ADDS_TO:
        return one_more(value)
    return _FORMS.get(name, any_value)(value)


def _time_zone(value: object) -> str:
    zone = check.word(value, "value")
    known = _zones()
    if known and zone not in known:  # a machine without the list cannot tell
        raise InvalidInput(
            f"Unknown time zone {zone!r}.",
            remedy="Use an IANA name, such as Europe/Berlin or Asia/Jerusalem.",
            field="value",
        )
    return zone


@cache
def _zones() -> frozenset[str]:
    return frozenset(available_timezones())


_FORMS: dict[str, Callable[[object], Any]] = {
    "time_zone": _time_zone,
    "tone": one_text,
    "goals": some_words,
}


def field_words(name: str, value: Any) -> str:
    subject = name.replace("_", " ").capitalize()
    if isinstance(value, list):
        return f"{subject} are {'; '.join(map(str, value))}"
    return f"{subject} is {value}"

"""What a clause says about a field of the speaker's profile: their name, city, language, tone."""

from __future__ import annotations

import re
from dataclasses import dataclass

from commonplace.language.observing.patterns import any_of, data

_DATA = data("profile")
_FIELDS = tuple(
    (field, any_of([pattern], _DATA["words"]))
    for field, patterns in _DATA["fields"].items()
    for pattern in patterns
)


@dataclass(frozen=True, slots=True)
class ProfileSaid:
    field: str
    value: str


def profile_in(clause: str) -> ProfileSaid | None:
    """The field and its value, when the clause begins with saying it."""
    for field, pattern in _FIELDS:
        found = pattern.match(clause)
        if found and (value := named_group(found, "value")):
            return ProfileSaid(field, value.strip(" .,!"))
    return None


def named_group(found: re.Match[str], prefix: str) -> str | None:
    """Of the groups whose names begin so, the one that holds something."""
    groups = found.groupdict()
    return next((held for name, held in groups.items() if name.startswith(prefix) and held), None)

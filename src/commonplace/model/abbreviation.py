"""What a short form stands for.

A user's own is a key-value of theirs under the name of the short form, so that it has versions and
is exported, forgotten, restored and erased like everything else. It says how a query is read, so it
is no answer to one: unless asked for by its facet, recall leaves it out.
"""

from __future__ import annotations

from dataclasses import dataclass

PREFIX = "abbreviation:"
FACET = "abbreviation"
CATEGORY = "knowledge"


@dataclass(frozen=True, slots=True)
class Abbreviation:
    short: str
    long: str
    own: bool = False  # the user's, not shipped
    id: str | None = None  # of a user's own, by which it is forgotten


def is_abbreviation(id: str) -> bool:
    return id.startswith(PREFIX)

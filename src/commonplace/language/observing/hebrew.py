"""Hebrew: the clauses of a sentence, and what a speaker says of themself retold of «המשתמש»."""

from __future__ import annotations

import re

_HEBREW = re.compile("[א-ת]")
FIELD_SAYS: dict[str, str] = {
    "preferred_name": "ל{who} קוראים {value}",
    "pronouns": "{who} מבקש פנייה ב{value}",
    "city": "{who} גר ב{value}",
    "language": "השפה המועדפת על {who} היא {value}",
    "tone": "{who} מעדיף סגנון {value}",
}


def is_hebrew(text: str) -> bool:
    return _HEBREW.search(text) is not None


def clauses(sentence: str) -> list[str]:
    return [sentence.strip(" .,!?")]


def user_of(clause: str) -> str:
    return "המשתמש"


def said_by(who: str) -> str:
    return "אמר"


def retold(clause: str, subject: str = "the user") -> str | None:
    return None

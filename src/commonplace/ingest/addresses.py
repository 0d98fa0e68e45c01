"""The people in a mail's header: "Ana Cohen <ana@x.org>, dan@x.org (Dan)".

Own work: the standard library's reader changed its mind about broken lists between patch releases,
and gives up on the whole list where one entry of it is wrong.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from commonplace.ingest.lenient import clean_word
from commonplace.ingest.mail_text import decoded_words

_CLOSES = {'"': '"', "<": ">", "(": ")"}
_ANGLE = re.compile(r"(.*?)<([^<>]*)>?.*", re.S)
_COMMENT = re.compile(r"\(([^()]*)\)")
_GROUP = re.compile(r"[^<>@\"]*:(?!//)")  # "Team: ana@x.org, dan@x.org;" names a list
_LONGEST = 50_000  # characters of a header that are looked at


@dataclass(frozen=True, slots=True)
class Person:
    name: str | None
    address: str | None

    @property
    def shown(self) -> str | None:
        return self.name or self.address


def people_in(header: str) -> list[Person]:
    found = [_person(entry) for entry in _entries(header[:_LONGEST])]
    return [person for person in found if person.shown]


def _entries(header: str) -> list[str]:
    """Split at commas, and at the semicolons of Outlook, that stand between two people."""
    entries, entry, closing = [], "", ""
    for character in header:
        if closing:
            closing = "" if character == closing else closing
        elif character in ",;":
            entries.append(entry)
            entry = ""
            continue
        else:
            closing = _CLOSES.get(character, "")
        entry += character
    return [*entries, entry]


def _person(entry: str) -> Person:
    entry = _GROUP.sub("", entry, count=1) if _GROUP.match(entry) else entry
    angle = _ANGLE.fullmatch(entry)
    if angle is not None:
        name, address = angle.groups()
    else:
        comment = _COMMENT.search(entry)
        rest = _COMMENT.sub("", entry).strip()
        name, address = (comment[1] if comment else "", rest) if "@" in rest else (rest, "")
    return Person(_plain(decoded_words(name)), clean_word(address))


def _plain(name: str) -> str | None:
    shown = clean_word(name.replace('\\"', "'").replace("\\", "")) or ""
    return shown.strip("\"' ") or None

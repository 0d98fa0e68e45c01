"""Whether somebody else speaks in a text that was not taken apart: "I" may be anybody. Pure."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise

from commonplace.language.extracting.people import PersonName, fuller_or_shorter, person_name
from commonplace.language.extracting.vocabulary import COMMON, GIVEN, HEBREW_GIVEN, NO_NAMES, data
from commonplace.language.names import bare

_WORD = r"[^\W\d_][\w.'’-]{0,30}"
_NAME = rf"(?P<name>[^\W\d_][\w.'’-]{{1,30}}(?: {_WORD}){{0,2}}?)"
_BEFORE = r"^[> \t]{0,8}(?:[-*•]\s{1,4}|\d{1,2}[.)]\s{1,4})?"
_CLOCK = r"[\d./:, -]{4,24}(?:[ap]\.?m\.?)?"
# "Ravi: …", "12/03/2026, 10:03 - Ravi: …", "> **Ravi Rao**: …", "- Ravi: …"
_NAMED = re.compile(
    rf"{_BEFORE}(?:[\[(]?{_CLOCK}[\])]?[ –—-]{{0,4}})?"
    rf"\*{{0,2}}{_NAME}(?: \d{{1,2}})?\*{{0,2}} ?:\*{{0,2}} (?P<said>[^\n]*)",
    re.MULTILINE | re.IGNORECASE,
)
# "Ravi  10:03 AM", "Ravi Rao [10:03]", "Ravi — Today at 10:03": what is said stands below.
_HEADED = re.compile(
    rf"{_BEFORE}{_NAME}(?: [–—|-]|,)?\s{{1,8}}[\[(]?"
    r"(?:(?:today|yesterday|at|היום|אתמול|בשעה|[\d./-]{6,10})[, ]{1,2}){0,3}"
    r"\d{1,2}:\d\d(?::\d\d)?(?: ?[ap]\.?m\.?)?[\])]?[ \t]*$",
    re.MULTILINE | re.IGNORECASE,
)
_LETTERS = data("voices")
_FROM = re.compile(
    rf"{_BEFORE}(?:{_LETTERS['from']}) {_NAME}[^\n:]{{0,30}}:?[ \t]*$"
    rf"|{_BEFORE}{_NAME.replace('name', 'writer')} (?:{_LETTERS['wrote']})[^\n:]{{0,30}}:[ \t]*$",
    re.MULTILINE | re.IGNORECASE,
)
_TO = re.compile(
    rf"{_BEFORE}(?:{_LETTERS['dear']}) {_NAME}[,!:]?[ \t]*$", re.MULTILINE | re.IGNORECASE
)
_SIGNED = re.compile(
    rf"^[ \t]{{0,8}}(?:{_LETTERS['regards']})(?:,[ \t]*\n?[ \t]*|[ \t]*\n[ \t]*){_NAME}[.!]?\s*\Z",
    re.MULTILINE | re.IGNORECASE,
)
_PARTS = frozenset(_LETTERS["parts"].split())
_FIRST_PERSON = re.compile(_LETTERS["first_person"], re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class _Line:
    """Who is named in front of a line, and what it says."""

    name: str  # folded
    said: str


def another_speaks(texts: Iterable[str], owner: Collection[str]) -> bool:
    """Whether "I" is, or may be, somebody other than the owner, who is called so."""
    whole = list(texts)
    me = [person_name(key) for name in owner if (key := bare(name).strip())]
    return (
        several_speak(whole)
        or _somebody_says_i(whole, me)
        or any(_is_a_letter_of_another(text, me) for text in whole)
    )


def several_speak(texts: Iterable[str]) -> bool:
    """Somebody is named in front of a line again after somebody else was."""
    known = (line.name.partition(" ")[0] for line in _lines(texts) if _is_given(line.name))
    turns = [one for one, other in pairwise([*known, ""]) if one != other]
    return len(turns) > len(set(turns)) > 1


def _somebody_says_i(texts: Iterable[str], me: Collection[PersonName]) -> bool:
    """ "Dana: I live in Haifa", and Dana is not the owner. "Monday: I met Dana" names nobody, and
    an unusual name is one beside names that are known."""
    lines = list(_lines(texts))
    is_talk = any(_is_given(line.name) or _is_one_of(line.name, me) for line in lines)
    return any(
        _FIRST_PERSON.search(line.said)
        and not _is_one_of(line.name, me)
        and (_is_somebody(line.name) or (is_talk and _may_be_a_name(line.name)))
        for line in lines
    )


def _is_a_letter_of_another(text: str, me: Collection[PersonName]) -> bool:
    """Its head or its end names somebody else; or it is written to the owner."""
    headed = [each["name"] or each["writer"] for each in _FROM.finditer(text)]
    names = [*headed, *(each["name"] for each in _HEADED.finditer(text))]
    if signed := _SIGNED.search(text):
        names.append(signed["name"])
    if any(_is_given(bare(name)) and not _is_one_of(bare(name), me) for name in names):
        return True
    return any(_is_one_of(bare(each["name"]), me) for each in _TO.finditer(text))


def _lines(texts: Iterable[str]) -> Iterator[_Line]:
    for text in texts:
        for found in _NAMED.finditer(text):
            yield _Line(bare(found["name"]), found["said"])


def _is_given(name: str) -> bool:
    first = name.partition(" ")[0]
    return (first in GIVEN and first not in NO_NAMES) or first in HEBREW_GIVEN


def _is_somebody(name: str) -> bool:
    """By a known name, a full one, or a part in a talk: "Guest", "Speaker 2"."""
    return _is_given(name) or name in _PARTS or (" " in name and _may_be_a_name(name))


def _may_be_a_name(name: str) -> bool:
    return name.isascii() and not any(word in COMMON or word in NO_NAMES for word in name.split())


def _is_one_of(name: str, me: Collection[PersonName]) -> bool:
    parts = person_name(name)
    return bool(parts.parts) and any(fuller_or_shorter(parts, each) for each in me)

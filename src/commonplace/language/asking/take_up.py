"""The question before, asked of another person, place or time: "when is Dan's birthday" + sarah."""

from __future__ import annotations

import re
from collections.abc import Collection

from commonplace.language.asking.persons import is_kin, persons_in

_TIME = re.compile(
    r"\b(?:last|next|this) (?:\w+)\b|\b(?:yesterday|today|tomorrow|tonight)\b", re.IGNORECASE
)
_OF_TIME = re.compile(
    r"\b(?:spring|summer|autumn|fall|winter|morning|evening|night|week|month|year|weekend|"
    r"january|february|march|april|may|june|july|august|september|october|november|december|"
    r"\w+day)\b|\b(?:19|20)\d\d\b",
    re.IGNORECASE,
)
_SPACES = re.compile(r"\s+")
_MOST_TAIL = 4  # words after a preposition that belong to it


def take_up(question: str, part: str, is_place: bool, known: Collection[str] = ()) -> str:
    """In the place of what the question was about; behind it, where no such place is found."""
    put = _place(question, part) if is_place else _person(question, part, known)
    return _SPACES.sub(" ", put or f"{question}, {part}").strip()


def _person(question: str, part: str, known: Collection[str]) -> str:
    """In the place of the first who is named; a time, in the place of a time."""
    if _OF_TIME.search(part):
        return _time(question, part)
    named = persons_in(question, known)
    if not named:
        return ""
    first = named[0]
    end = first.end
    if _is_of_the_same(part, first.text):  # "and her phone?": another thing of hers
        end = found.end() if (found := _OWNED.match(question, first.end)) else end
    return question[: first.start] + part + question[end:]


_OWNED = re.compile(r"['’]s\s+\w+")


def _is_of_the_same(part: str, person: str) -> bool:
    """Somebody of hers is another matter: of them the same is asked."""
    owned = re.fullmatch(rf"{re.escape(person)}['’]s\s+(\w+)", part, re.IGNORECASE)
    return owned is not None and not is_kin(owned[1])


def _place(question: str, part: str) -> str:
    glued = re.match("[בלמ](?=[א-ת]{3})", part)
    if glued:
        return _glued(question, part, glued[0])
    preposition = part.split()[0]
    at = _last_of(question, rf"\b{re.escape(preposition)}\s+(?=\w)")
    if at >= 0 and len(question[at:].split()) <= 1 + _MOST_TAIL:
        return question[:at] + part
    if _OF_TIME.search(part) and (put := _time(question, part)):
        return put
    other = _last_of(question, r"\b(?:in|at|on|near|from|for|during)\s+(?=\w)")
    if other >= 0 and len(question[other:].split()) <= 1 + _MOST_TAIL:
        return question[:other] + part
    return f"{question} {part}"


def _time(question: str, part: str) -> str:
    said = list(_TIME.finditer(question))
    return question[: said[-1].start()] + part + question[said[-1].end() :] if said else ""


def _glued(question: str, part: str, letter: str) -> str:
    """Hebrew writes "in" as a letter of the word."""
    at = _last_of(question, rf"(?<![א-ת]){letter}(?=[א-ת]{{3}})")
    if at >= 0 and len(question[at:].split()) <= _MOST_TAIL:
        return question[:at] + part
    return f"{question} {part}"


def _last_of(text: str, pattern: str) -> int:
    found = [match.start() for match in re.finditer(pattern, text, re.IGNORECASE)]
    return found[-1] if found else -1

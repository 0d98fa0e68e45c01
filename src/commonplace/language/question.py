"""What a question says beside its words: what it asks for, of which months, about itself. Pure."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass

from commonplace.language.normalise import fold_case
from commonplace.language.traits import Trait, ambiguous_months, listed, months
from commonplace.language.words import words

_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
_PREFIXED = re.compile(r"^[בלמהוכש](?=[א-ת]{3})")  # in, to, from … are letters of the word
_NUMBER_NEXT = re.compile(r"\s+\d")
_YEAR = re.compile(r"\b(?:19|20)\d\d\b")


@dataclass(frozen=True, slots=True)
class Question:
    asks_for: Trait  # what an answer would hold; nothing: it is not said
    months: frozenset[int]
    years: frozenset[int]
    of_the_user: bool  # who asks speaks of themself
    time_words: frozenset[str] = frozenset()  # by which months and years are said
    idle_words: frozenset[str] = frozenset()  # that it would have whatever it is about

    @property
    def is_dated(self) -> bool:
        return bool(self.months or self.years)


def read_question(text: str, names: Collection[str] = ()) -> Question:
    """``names`` are words of it that name somebody: April may be a person."""
    spoken = words(text)
    by_month = _months(text, names)
    years = _YEAR.findall(text)
    return Question(
        asks_for=_asked(spoken),
        months=frozenset(by_month.values()),
        years=frozenset(map(int, years)),
        of_the_user=bool(set(spoken) & listed("self")),
        time_words=frozenset((*by_month, *years)),
        idle_words=frozenset(spoken) & listed("anything"),
    )


def _asked(spoken: list[str]) -> Trait:
    held = set(spoken)
    if "how" in held and _after(spoken, "how") in listed("amount"):
        return Trait.NUMBER
    if "כמה" in held:
        return Trait.NUMBER
    if held & {"when", "מתי"} or _asks_what(spoken, listed("when")):
        return Trait.TIME
    if held & listed("name") or _asks_what(spoken, listed("named")):
        return Trait.NAME
    return Trait(0)


def _after(spoken: list[str], word: str) -> str:
    at = spoken.index(word) + 1
    return spoken[at] if at < len(spoken) else ""


def _asks_what(spoken: list[str], things: frozenset[str]) -> bool:
    """ "which city", "what kind of book": the thing follows soon."""
    for opener in ("which", "what", "איזה", "איזו", "באיזה", "באיזו"):
        if opener in spoken:
            at = spoken.index(opener)
            return bool(set(spoken[at + 1 : at + 4]) & things)
    return False


def _months(text: str, names: Collection[str]) -> dict[str, int]:
    """Words as written → the month that they name."""
    found: dict[str, int] = {}
    for match in _WORD.finditer(text):
        word = fold_case(match[0])
        if match[0] in names or (word in ambiguous_months() and not _is_a_month(match)):
            continue
        forms = {word, _PREFIXED.sub("", word)}
        for number, said in months().items():
            if forms & said:
                found[match[0]] = number
    return found


def _is_a_month(match: re.Match[str]) -> bool:
    """May with a capital; at the beginning everything has one, and a number must follow."""
    if not match[0][0].isupper():
        return False
    return match.start() > 0 or _NUMBER_NEXT.match(match.string, match.end()) is not None

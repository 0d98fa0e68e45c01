"""What a question says beside its words: what it asks for, of which months, about whom. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import lru_cache

from commonplace.language.normalise import fold_case
from commonplace.language.stopwords import stop_words
from commonplace.language.traits import Trait, ambiguous_months, listed, months
from commonplace.language.words import words

_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
_PREFIXED = re.compile(r"^[בלמהוכש](?=[א-ת]{3})")  # in, to, from … are letters of the word
_NUMBER_NEXT = re.compile(r"\s+\d")
_YEAR = re.compile(r"\b(?:19|20)\d\d\b")
_ALIKE = 0.8  # of a misspelt name
_SHORTEST_MISSPELT = 5  # Jon is not John
_SHORTEST_NICKNAME = 3
_MANY_NAMES = 500  # beyond this many, names are only matched as they are written

# Speakers that are no names: parts in a log.
ROLES = frozenset(
    ["user", "assistant", "system", "tool", "human", "ai", "bot", "agent", "speaker", "unknown"]
)


@dataclass(frozen=True, slots=True)
class Question:
    asks_for: Trait  # what an answer would hold; nothing: it is not said
    months: frozenset[int]
    years: frozenset[int]
    of_the_user: bool  # who asks speaks of themself


def read_question(text: str) -> Question:
    spoken = words(text)
    return Question(
        asks_for=_asked(spoken),
        months=_months(text),
        years=frozenset(int(year) for year in _YEAR.findall(text)),
        of_the_user=bool(set(spoken) & listed("self")),
    )


def _asked(spoken: list[str]) -> Trait:
    held = set(spoken)
    if held & {"how", "what"} and "how" in held and _after(spoken, "how") in listed("amount"):
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


def _months(text: str) -> frozenset[int]:
    found = set()
    for match in _WORD.finditer(text):
        word = fold_case(match[0])
        if word in ambiguous_months() and not _is_a_name(match):
            continue
        forms = {word, _PREFIXED.sub("", word)}
        found |= {number for number, names in months().items() if forms & names}
    return frozenset(found)


def _is_a_name(match: re.Match[str]) -> bool:
    """With a capital; at the beginning everything has one, and a number must follow: May 2026."""
    if not match[0][0].isupper():
        return False
    return match.start() > 0 or _NUMBER_NEXT.match(match.string, match.end()) is not None


@dataclass(frozen=True, slots=True)
class Named:
    """Who is named in a question, and the words that do it."""

    people: frozenset[str] = frozenset()
    words: frozenset[str] = frozenset()  # as they are written


def named_in(text: str, people: Iterable[str]) -> Named:
    """Of the people known, those whom the question names: in full, by first or last name, or
    misspelt a little."""
    known = [person for person in people if fold_case(person) not in ROLES]
    if not known:
        return Named()
    spoken = _spoken(text)
    found: set[str] = set()
    said: set[str] = set()
    for person in known:
        mine = _matching(person, spoken, misspelt=len(known) <= _MANY_NAMES)
        if mine:
            found.add(person)
            said |= mine
    return Named(frozenset(found), frozenset(said))


def _spoken(text: str) -> dict[str, str]:
    """Words that may be names, folded → as written: those with a capital, or all where there is
    none to go by."""
    written = [match[0] for match in _WORD.finditer(text)]
    capital = [word for word in written if word[0].isupper() and word != "I"]
    cased = any(word[0].isupper() or word[0].islower() for word in written)
    chosen = capital if capital and cased else written
    return {_bare(word): word for word in chosen if _bare(word) not in stop_words("en")}


def proper_words(text: str) -> list[str]:
    """Words with a capital that no beginning explains."""
    found = list(_WORD.finditer(text))
    return [match[0] for match in found[1:] if match[0][0].isupper() and not match[0].isupper()]


def _bare(word: str) -> str:
    """Folded, without a possessive."""
    folded = fold_case(word).replace("’", "'")
    return folded.removesuffix("'s").removesuffix("'")


@lru_cache(maxsize=65_536)
def name_parts(person: str) -> tuple[str, ...]:
    parts = [_bare(match[0]) for match in _WORD.finditer(person)]
    return tuple(part for part in parts if len(part) > 1 and part not in ROLES)


def _matching(person: str, spoken: dict[str, str], misspelt: bool) -> set[str]:
    parts = name_parts(person)
    if not parts:
        return set()
    exact = {spoken[part] for part in parts if part in spoken}
    if exact and (parts[0] in spoken or parts[-1] in spoken):
        return exact
    if not misspelt:
        return set()
    return {
        written
        for word, written in spoken.items()
        for part in (parts[0], parts[-1])
        if _alike(word, part) or _is_nickname(written, word, part)
    }


def _is_nickname(written: str, word: str, name: str) -> bool:
    """Mel for Melanie."""
    return len(word) >= _SHORTEST_NICKNAME and written[0].isupper() and name.startswith(word)


@lru_cache(maxsize=65_536)
def _alike(word: str, name: str) -> bool:
    if min(len(word), len(name)) < _SHORTEST_MISSPELT or word[0] != name[0]:
        return False
    return SequenceMatcher(None, word, name).ratio() >= _ALIKE


def without_names(text: str, named: Named) -> str:
    """The question without the names, as it is embedded for those who take part."""
    if not named.words:
        return text
    out = {_bare(word) for word in named.words}
    kept = _WORD.sub(lambda match: "" if _bare(match[0]) in out else match[0], text)
    return " ".join(kept.split())

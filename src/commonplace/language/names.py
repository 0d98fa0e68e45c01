"""Who is named in a question, of those who are known to take part in something. Pure.

A name that stands there as it is written counts in capitals or not, unless it is an ordinary word
as well (Will, May, Rose): then it takes a capital, and a month takes no preposition. Nicknames and
misspellings take a capital too. In Hebrew, prefixes are letters of the word.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cache, lru_cache

from commonplace.language.normalise import fold_case
from commonplace.language.statements.lexicon import name_words
from commonplace.language.stopwords import stop_words
from commonplace.language.traits import ambiguous_months, months
from commonplace.language.wordlists import word_lists

_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*['’]?")
_PREFIXED = re.compile(r"^[ולבמהכש](?=[א-ת]{2})")
_DOUBLED = re.compile(r"(.)\1")
_BEFORE_A_MONTH = frozenset(
    ("in", "on", "since", "until", "till", "during", "last", "next", "this", "of", "by", "before")
)
_ALIKE = 0.8
_SHORTEST_MISSPELT = 5  # Jon is not John
_SHORTEST_NICKNAME = 3
MANY_NAMES = 500  # beyond this many, names are only matched as they are written

# Speakers that are no names: parts in a log.
ROLES = frozenset(
    ["user", "assistant", "system", "tool", "human", "ai", "bot", "agent", "speaker", "unknown"]
)


@dataclass(frozen=True, slots=True)
class Named:
    """Whom a question names: one mention may fit several spellings of a person."""

    mentions: tuple[frozenset[str], ...] = ()
    words: frozenset[str] = frozenset()  # that name them, as they are written

    @property
    def people(self) -> frozenset[str]:
        return frozenset().union(*self.mentions)


@dataclass(frozen=True, slots=True)
class _Spoken:
    """A word of the question that may be a name."""

    written: str
    forms: tuple[str, ...]  # folded, and without a prefix
    has_capital: bool
    is_first: bool
    is_month: bool  # as it stands there


def named_in(text: str, people: Iterable[str]) -> Named:
    found = said_of(text, people)
    return Named(_mentions(found), frozenset().union(*found.values()))


def said_of(text: str, people: Iterable[str]) -> dict[str, frozenset[str]]:
    """Who is named, and by which words."""
    known = [person for person in people if fold_case(person) not in ROLES]
    spoken = list(_spoken(text)) if known else []
    said = {
        person: frozenset(_naming(person, spoken, guess=len(known) <= MANY_NAMES))
        for person in known
    }
    return {person: words for person, words in said.items() if words}


def _mentions(found: dict[str, frozenset[str]]) -> tuple[frozenset[str], ...]:
    """People who are named by one word are one mention."""
    groups: list[tuple[set[str], set[str]]] = []  # words, people
    for person, said in sorted(found.items()):
        mine = [group for group in groups if group[0] & said]
        words, people = set(said), {person}
        for group in mine:
            words |= group[0]
            people |= group[1]
            groups.remove(group)
        groups.append((words, people))
    return tuple(frozenset(people) for _, people in groups)


def _spoken(text: str) -> Iterator[_Spoken]:
    before = ""
    for place, match in enumerate(_WORD.finditer(text)):
        written, folded = match[0], bare(match[0])
        capital = written[0].isupper()
        if folded not in stop_words("en") or (capital and place and folded in _ordinary()):
            is_month = folded in _month_names() and (
                before in _BEFORE_A_MONTH or re.match(r"\s+\d", text[match.end() :]) is not None
            )
            forms = tuple(dict.fromkeys((folded, without_prefix(folded))))
            yield _Spoken(written, forms, capital and written != "I", place == 0, is_month)
        before = folded


def words_that_name(text: str) -> frozenset[str]:
    """Every form of every word of a text that may be a part of a name."""
    return frozenset(form for word in _spoken(text) for form in word.forms)


def without_prefix(word: str) -> str:
    """In Hebrew "to", "in", "and" … are letters of the word."""
    return _PREFIXED.sub("", word)


def _naming(person: str, spoken: Sequence[_Spoken], guess: bool) -> set[str]:
    """The words that name this person."""
    parts = name_parts(person)
    if not parts:
        return set()
    exact = {
        part: word.written
        for word in spoken
        for part in parts
        if part in word.forms
        and not word.is_month
        and (word.has_capital or part not in _ordinary())
    }
    if len(exact) == len(parts):
        return set(exact.values())
    if {parts[0], parts[-1]} & exact.keys() and not _is_a_role(parts):
        return set(exact.values())
    if not guess:
        return set()
    return {
        word.written
        for word in spoken
        if word.has_capital and not word.is_month and not word.written.isupper()
        for part in (parts[0], parts[-1])
        if _is_nickname(word, part) or _alike(word.forms[0], part)
    }


def _is_a_role(parts: Sequence[str]) -> bool:
    """ "Project Manager" is named by both its words: either alone is a word like others."""
    lists = word_lists("people.txt")
    roles = lists["en role"] | lists["en field"]
    return len(parts) > 1 and any(part in roles for part in parts)


def _is_nickname(word: _Spoken, name: str) -> bool:
    """Mel for Melanie. At the beginning everything has a capital, so it says nothing there."""
    form = word.forms[0]
    return (
        not word.is_first
        and len(form) >= _SHORTEST_NICKNAME
        and form not in _month_names()
        and name.startswith(form)
    )


@lru_cache(maxsize=65_536)
def _alike(word: str, name: str) -> bool:
    if not word or not name or word[0] != name[0]:
        return False
    if _DOUBLED.sub(r"\1", word) == _DOUBLED.sub(r"\1", name):  # Anna for Ana
        return True
    if min(len(word), len(name)) < _SHORTEST_MISSPELT:
        return False
    return SequenceMatcher(None, word, name).ratio() >= _ALIKE


@cache
def _ordinary() -> frozenset[str]:
    """Words that are names only with a capital."""
    return name_words("en") | ambiguous_months() | stop_words("en")


@cache
def _month_names() -> frozenset[str]:
    return frozenset().union(*months().values())


def proper_words(text: str) -> list[str]:
    """Words with a capital that no beginning explains."""
    found = list(_WORD.finditer(text))
    return [match[0] for match in found[1:] if match[0][0].isupper() and not match[0].isupper()]


def bare(word: str) -> str:
    """Folded, without accents and without a possessive."""
    folded = fold_case(word).replace("’", "'")
    folded = folded.removesuffix("'s").removesuffix("'")
    if folded.isascii():
        return folded
    apart = unicodedata.normalize("NFD", folded)
    return unicodedata.normalize("NFC", "".join(c for c in apart if not _is_accent(c)))


def _is_accent(character: str) -> bool:
    return "\u0300" <= character <= "\u036f"


@lru_cache(maxsize=65_536)
def name_parts(person: str) -> tuple[str, ...]:
    """Of an address, what stands before the sign."""
    parts = [bare(match[0]) for match in _WORD.finditer(person.partition("@")[0])]
    return tuple(part for part in parts if len(part) > 1 and part not in ROLES)


def without_names(text: str, named: Named) -> str:
    """The question without the names, as it is embedded for those who take part."""
    if not named.words:
        return text
    kept = _WORD.sub(lambda match: "" if match[0] in named.words else match[0], text)
    return " ".join(kept.split())

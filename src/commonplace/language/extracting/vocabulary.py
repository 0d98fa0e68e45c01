"""What is known of names before a text is read: gazetteers and lists, read once."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from functools import cache
from importlib import resources
from typing import Any

from commonplace.language.extracting.found import (
    EVENT,
    GROUP,
    LOCATION,
    ORGANIZATION,
    PRODUCT,
    PROJECT,
)
from commonplace.language.extracting.written import Word, in_a_row
from commonplace.language.names import bare
from commonplace.language.stopwords import stop_words
from commonplace.language.wordlists import word_lists

PERSON = "person"
Kinds = tuple[tuple[str, bool], ...]  # and whether the name is nothing else

_FIRST_NAMES = word_lists("asking/first_names.txt")
_NAME_WORDS = word_lists("extracting/name_words.txt")


@cache
def data(name: str) -> dict[str, Any]:
    """One of the TOML files of this folder."""
    file = resources.files(__package__).joinpath(f"{name}.toml")
    return tomllib.loads(file.read_text(encoding="utf-8"))


def listed(entry: str) -> tuple[str, ...]:
    """The phrases of a list with commas."""
    return tuple(dict.fromkeys(" ".join(bare(p).split()) for p in entry.split(",") if p.strip()))


def _names(*sections: str) -> frozenset[str]:
    lists = (
        file.get(name, frozenset()) for file in (_FIRST_NAMES, _NAME_WORDS) for name in sections
    )
    return frozenset(map(bare, frozenset().union(*lists)))


ORDINARY_GIVEN = _names("en ordinary", "en given ordinary")
GIVEN = _names("en", "en given") | ORDINARY_GIVEN
ONLY_GIVEN = GIVEN - ORDINARY_GIVEN
FAMILY = _names("en family")
TITLES = _NAME_WORDS["en titles"]
OFFICES = _NAME_WORDS["en offices"]
INSIDE = _NAME_WORDS["en inside"]
HEBREW_ORDINARY_GIVEN = _names("he ordinary", "he given ordinary")
HEBREW_GIVEN = _names("he", "he given")
HEBREW_FAMILY = _names("he family")
HEBREW_TITLES = _NAME_WORDS["he titles"]

COMMON = word_lists("extracting/common_words.txt")["en"] | stop_words("en")
CALENDAR = frozenset(data("no_names")["calendar"].split())
PEOPLES = frozenset(data("no_names")["peoples"].split())
NO_NAMES = (
    CALENDAR
    | PEOPLES
    | frozenset(data("no_names")["acronyms"].split())
    | frozenset(data("no_names")["others"].split())
)


@cache
def last_words(kind: str) -> frozenset[str]:
    """Words that make a thing of this kind of the words before them."""
    return _heads(kind, "last")


@cache
def after_a_name(kind: str) -> frozenset[str]:
    """Nouns that with a name before them name a thing of their own: "the Lyon offsite"."""
    return frozenset(data("phrases")["after_a_name"].get(kind, "").split())


@cache
def first_words(kind: str) -> frozenset[str]:
    return _heads(kind, "first")


def _heads(kind: str, place: str) -> frozenset[str]:
    section = {ORGANIZATION: ("organisations", "en"), LOCATION: ("places", "en")}.get(kind)
    file, name = section or ("things", kind)
    return frozenset(listed(data(file)[name].get(place, "")))


@cache
def gazetteer() -> dict[tuple[str, ...], Kinds]:
    """Known names as rows of words → kinds, and whether the name is nothing else."""
    places, organisations, things = data("places"), data("organisations"), data("things")
    found: dict[tuple[str, ...], dict[str, bool]] = {}

    def learn(kind: str, entries: tuple[str, ...], doubtful: frozenset[str] = frozenset()) -> None:
        for phrase in entries:
            found.setdefault(tuple(phrase.split()), {})[kind] = phrase not in doubtful

    for language in ("en", "he"):
        also = frozenset(listed(places[language]["also_names"]))
        for entry in ("countries", "cities", "regions"):
            learn(LOCATION, listed(places[language][entry]), also)
        learn(ORGANIZATION, listed(organisations[language]["known"]), COMMON)
    learn(PRODUCT, listed(things["he"]["products"]))
    for kind in (PRODUCT, PROJECT, EVENT, GROUP):
        learn(kind, listed(things[kind]["known"]), COMMON)
    return {row: tuple(kinds.items()) for row, kinds in found.items()}


@cache
def _lengths() -> dict[str, tuple[int, ...]]:
    """How many words known names have that begin with a word, the most first."""
    found: dict[str, set[int]] = {}
    for row in gazetteer():
        found.setdefault(row[0], set()).add(len(row))
    return {first: tuple(sorted(lengths, reverse=True)) for first, lengths in found.items()}


def known_at(words: Sequence[Word], at: int, glued: int = 0) -> tuple[int, Kinds]:
    """The longest known name that begins here, without the letters glued to its first word."""
    first = words[at].key[glued:]
    for length in _lengths().get(first, ()):
        row = words[at : at + length]
        kinds = gazetteer().get((first, *(word.key for word in row[1:])))
        if kinds is not None and in_a_row(row):
            return len(row), kinds
    return 0, ()

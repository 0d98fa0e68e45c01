"""Known names: gazetteers, given and family names, common words, and lookup in a text."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

from commonplace.language.extract.names.words import Word, are_adjacent
from commonplace.language.extract.values import (
    EVENT,
    GROUP,
    LOCATION,
    ORGANIZATION,
    PRODUCT,
    PROJECT,
)
from commonplace.language.fields.names import fold_name
from commonplace.language.text.lexicon import load_patterns, load_word_lists, stop_words

PERSON = "person"
KnownKinds = tuple[tuple[str, bool], ...]  # kind, and whether the name has no other meaning

_FIRST_NAMES = load_word_lists("query/first_names.txt")
_NAME_WORDS = load_word_lists("extract/names/name_words.txt")


def load_name_table(name: str) -> dict[str, Any]:
    return load_patterns(f"extract/names/{name}")


def split_list(entry: str) -> tuple[str, ...]:
    """Phrases of a comma-separated list."""
    return tuple(
        dict.fromkeys(" ".join(fold_name(p).split()) for p in entry.split(",") if p.strip())
    )


def _name_list(*sections: str) -> frozenset[str]:
    lists = (
        file.get(name, frozenset()) for file in (_FIRST_NAMES, _NAME_WORDS) for name in sections
    )
    return frozenset(map(fold_name, frozenset().union(*lists)))


AMBIGUOUS_GIVEN_NAMES = _name_list("en ordinary", "en given ordinary")
GIVEN_NAMES = _name_list("en", "en given") | AMBIGUOUS_GIVEN_NAMES
UNAMBIGUOUS_GIVEN_NAMES = GIVEN_NAMES - AMBIGUOUS_GIVEN_NAMES
FAMILY_NAMES = _name_list("en family")
TITLES = _NAME_WORDS["en titles"]
OFFICE_TITLES = _NAME_WORDS["en offices"]
NAME_PARTICLES = _NAME_WORDS["en inside"]
HEBREW_AMBIGUOUS_GIVEN_NAMES = _name_list("he ordinary", "he given ordinary")
HEBREW_GIVEN_NAMES = _name_list("he", "he given")
HEBREW_FAMILY_NAMES = _name_list("he family")
HEBREW_TITLES = _NAME_WORDS["he titles"]

COMMON_WORDS = load_word_lists("extract/names/common_words.txt")["en"] | stop_words("en")
CALENDAR_WORDS = frozenset(load_name_table("no_names")["calendar"].split())
NATIONALITIES = frozenset(load_name_table("no_names")["peoples"].split())
NON_NAMES = (
    CALENDAR_WORDS
    | NATIONALITIES
    | frozenset(load_name_table("no_names")["acronyms"].split())
    | frozenset(load_name_table("no_names")["others"].split())
)


@cache
def kind_suffix_words(kind: str) -> frozenset[str]:
    """Words that end the name of a thing of this kind."""
    return _head_words(kind, "last")


@cache
def kind_nouns_after_name(kind: str) -> frozenset[str]:
    """Nouns that form a name together with the name before them: "the Lyon offsite"."""
    return frozenset(load_name_table("phrases")["after_a_name"].get(kind, "").split())


@cache
def kind_prefix_words(kind: str) -> frozenset[str]:
    return _head_words(kind, "first")


def _head_words(kind: str, place: str) -> frozenset[str]:
    section = {ORGANIZATION: ("organisations", "en"), LOCATION: ("places", "en")}.get(kind)
    file, name = section or ("things", kind)
    return frozenset(split_list(load_name_table(file)[name].get(place, "")))


@cache
def known_names() -> dict[tuple[str, ...], KnownKinds]:
    """Known names by their words: kinds, and whether the name has no other meaning."""
    places, organisations, things = (
        load_name_table("places"),
        load_name_table("organisations"),
        load_name_table("things"),
    )
    found: dict[tuple[str, ...], dict[str, bool]] = {}

    def learn(kind: str, entries: tuple[str, ...], doubtful: frozenset[str] = frozenset()) -> None:
        for phrase in entries:
            found.setdefault(tuple(phrase.split()), {})[kind] = phrase not in doubtful

    for language in ("en", "he"):
        also = frozenset(split_list(places[language]["also_names"]))
        for entry in ("countries", "cities", "regions"):
            learn(LOCATION, split_list(places[language][entry]), also)
        learn(ORGANIZATION, split_list(organisations[language]["known"]), COMMON_WORDS)
    learn(PRODUCT, split_list(things["he"]["products"]))
    for kind in (PRODUCT, PROJECT, EVENT, GROUP):
        learn(kind, split_list(things[kind]["known"]), COMMON_WORDS)
    return {row: tuple(kinds.items()) for row, kinds in found.items()}


@cache
def _known_name_lengths() -> dict[str, tuple[int, ...]]:
    """Lengths in words of the known names by first word, longest first."""
    found: dict[str, set[int]] = {}
    for row in known_names():
        found.setdefault(row[0], set()).add(len(row))
    return {first: tuple(sorted(lengths, reverse=True)) for first, lengths in found.items()}


def find_known_name(
    words: Sequence[Word], at: int, prefix_length: int = 0
) -> tuple[int, KnownKinds]:
    """The longest known name that begins here, after the first word's prefix letters."""
    first = words[at].key[prefix_length:]
    for length in _known_name_lengths().get(first, ()):
        row = words[at : at + length]
        kinds = known_names().get((first, *(word.key for word in row[1:])))
        if kinds is not None and are_adjacent(row):
            return len(row), kinds
    return 0, ()

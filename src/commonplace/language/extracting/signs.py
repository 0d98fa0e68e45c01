"""What speaks for the kind of a name: the words in it, the words around it, and its shape."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from commonplace.language.extracting.cues import cues_around
from commonplace.language.extracting.described import described
from commonplace.language.extracting.found import (
    EVENT,
    GROUP,
    LOCATION,
    ORGANIZATION,
    PRODUCT,
    PROJECT,
)
from commonplace.language.extracting.mention import (
    DOUBTFUL,
    GUESSED,
    KNOWN,
    LEANING,
    LIKELY,
    SURE,
    Vote,
)
from commonplace.language.extracting.vocabulary import (
    COMMON,
    FAMILY,
    GIVEN,
    NO_NAMES,
    ONLY_GIVEN,
    ORDINARY_GIVEN,
    PERSON,
    TITLES,
    first_words,
    gazetteer,
    last_words,
)
from commonplace.language.extracting.written import Word

_BY_LAST = (GROUP, ORGANIZATION, LOCATION, EVENT, PROJECT, PRODUCT)
_BY_FIRST = (ORGANIZATION, LOCATION, PROJECT)
_LETTERS = 4
_YEAR = 4  # digits
_MOST_NAMES = 4  # words of a person's name
_AT_BEGINNING = 0.1  # a capital is worth less at the beginning of a sentence


def signs_of(words: Sequence[Word], start: int, end: int, office: bool = False) -> tuple[Vote, ...]:
    row = words[start:end]
    found = [*_known(row), *_heads(row)]
    if office:
        found.append(Vote(PERSON, SURE, "title"))
    headed = any(vote.by == "head" for vote in found)
    thing = start > 0 and words[start - 1].key == "the" and not words[start].first
    if not headed and not thing:  # people have no article
        found += _person(row)
    found += _trusted(row, cues_around(words, start, end), thing)
    found += described(words, start, end)
    found += _shape(row, thing)
    return tuple(found)


def _trusted(row: Sequence[Word], cues: Sequence[Vote], thing: bool) -> Iterator[Vote]:
    """Words around a name say less where it may be a word like others: "Setbacks can help"."""
    word = row[0]
    known = word.key in GIVEN or word.key in FAMILY or tuple(w.key for w in row) in gazetteer()
    firm = row[-1].key in last_words(ORGANIZATION) and len(row) > 1 and word.key not in ONLY_GIVEN
    plain = len(row) == 1 and not known and (word.key in COMMON or not word.tells)
    sure = {kind for kind, _ in gazetteer().get(tuple(w.key for w in row), ())}
    called = len(row) == 1 and word.key in ONLY_GIVEN and not sure and not thing
    for vote in cues:
        if sure and vote.kind == PERSON and word.key not in GIVEN:
            yield Vote(PERSON, LEANING, vote.by)  # "switched to Notion and I like it"
        elif sure and vote.kind == LOCATION and LOCATION not in sure:
            yield Vote(LOCATION, LEANING, vote.by)  # "all of it lives in Dropbox"
        elif firm and vote.kind == PERSON:
            yield Vote(PERSON, min(vote.weight, DOUBTFUL), vote.by)  # "spoke to Acme Logistics"
        elif called and vote.kind != PERSON:
            yield Vote(vote.kind, min(vote.weight, DOUBTFUL), vote.by)  # "Omar bought a car"
        elif not plain or vote.weight >= SURE:
            yield vote
        elif word.key not in COMMON:
            yield Vote(vote.kind, min(vote.weight, LEANING), vote.by)


def _known(row: Sequence[Word]) -> Iterator[Vote]:
    for kind, sure in gazetteer().get(tuple(word.key for word in row), ()):
        yield Vote(kind, KNOWN if sure else DOUBTFUL, "known")


def _heads(row: Sequence[Word]) -> Iterator[Vote]:
    """ "Hebrew University", "Bank of Israel", "Baker Street"."""
    if len(row) == 1:
        return
    known = tuple(word.key for word in row) in gazetteer()
    if row[0].key in ONLY_GIVEN and row[-1].key in FAMILY:
        return
    for kind in _BY_LAST:
        if row[-1].key in last_words(kind) and row[-1].capital and not known:
            yield Vote(kind, LIKELY + 0.05, "head")
            return
    if any(_is_of_one(*pair) for pair in pairwise(row)) and not known:
        yield Vote(ORGANIZATION, LIKELY + 0.05, "head")
        return
    for kind in _BY_FIRST:
        if row[0].key in first_words(kind) and not known:
            yield Vote(kind, LIKELY, "head")
            return


def _is_of_one(one: Word, other: Word) -> bool:
    """ "Leith School of Food"."""
    return other.key == "of" and one.capital and one.key in last_words(ORGANIZATION)


def _person(row: Sequence[Word]) -> Iterator[Vote]:
    if len(row) > _MOST_NAMES or _is_firm(row):
        return
    if len(row) == 1 and row[0].text.isupper() and len(row[0].text) <= _LETTERS and not row[0].mute:
        return  # ANA is an airline
    if row[0].key in TITLES and len(row) > 1:
        yield Vote(PERSON, SURE, "title")
        return
    first, last = row[0], row[-1]
    if len(row) > 1 and last.key in FAMILY:
        yield Vote(PERSON, LIKELY if first.key in GIVEN else DOUBTFUL, "family")
    if first.key in GIVEN:
        yield Vote(PERSON, _given(row), "given")
    elif len(row) == 1 and first.key in FAMILY and first.tells:
        yield Vote(PERSON, DOUBTFUL, "family")


def _given(row: Sequence[Word]) -> float:
    ordinary = row[0].key in ORDINARY_GIVEN
    if len(row) > 1:
        return KNOWN if ordinary else LIKELY + 0.05
    if not ordinary:
        return KNOWN
    return DOUBTFUL if row[0].tells else GUESSED - _AT_BEGINNING


def _shape(row: Sequence[Word], thing: bool) -> Iterator[Vote]:
    """What a capital alone is worth, and what it looks like."""
    if len(row) == 1 and (row[0].key in COMMON or row[0].key in NO_NAMES):
        return
    weight = GUESSED if row[0].tells or len(row) > 1 else GUESSED - _AT_BEGINNING
    text = "".join(word.text for word in row)
    if _is_firm(row):
        yield Vote(ORGANIZATION, KNOWN, "shape")
    elif len(row) > 1 and row[-1].key.isdigit() and len(row[-1].key) == _YEAR:
        yield Vote(EVENT, KNOWN, "shape")
    elif len(row) == 1 and text.isupper() and 1 < len(text) < 6:
        yield Vote(ORGANIZATION, weight, "shape")
    elif any(letter.isdigit() for letter in text) or _is_camel(row):
        yield Vote(PRODUCT, weight, "shape")
    elif thing or len(row) > 3 or any(word.key in ("of", "the", "&") for word in row):
        yield Vote(ORGANIZATION, weight, "shape")
    else:
        yield Vote(PERSON, weight + (LEANING - GUESSED if len(row) == 2 else 0), "shape")


def _is_firm(row: Sequence[Word]) -> bool:
    """ "Kelly & Sons", "Pickford and Daughters"."""
    return any(word.gap == " & " for word in row[1:]) or any(word.key == "and" for word in row)


def _is_camel(row: Sequence[Word]) -> bool:
    """ "GitLab", "iPod"; not "McDonald", nor "O'Brien"."""
    return any(
        any(letter.isupper() for letter in word.text[1:])
        and not word.text.isupper()
        and not word.text.startswith(("Mc", "Mac", "De", "O'", "O’", "Le", "Di"))
        and "-" not in word.text
        for word in row
    )

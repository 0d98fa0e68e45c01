"""What the words right before and after a name say it is. The table is cues.toml."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from itertools import product

from commonplace.language.extracting.mention import LEANING, LIKELY, SURE, Vote
from commonplace.language.extracting.vocabulary import data
from commonplace.language.extracting.written import Word

_WEIGHTS = {"sure": SURE, "likely": LIKELY - 0.1, "weak": LEANING}
_LONGEST = 4  # words of a cue
_OVERLOOKED = frozenset(data("phrases")["between"].split())
_NUMBER = "\\d+"

_Table = dict[tuple[str, ...], tuple[Vote, ...]]


@cache
def _table(side: str) -> _Table:
    found: dict[tuple[str, ...], dict[str, Vote]] = {}
    for kind, sides in data("cues").items():
        for strength in ("weak", "likely", "sure"):  # the strongest is kept
            for pattern in sides[side][strength]:
                for row in product(*(slot.split("|") for slot in pattern.split())):
                    found.setdefault(row, {})[kind] = Vote(kind, _WEIGHTS[strength], side)
    return {row: tuple(votes.values()) for row, votes in found.items()}


def cues_around(words: Sequence[Word], start: int, end: int) -> list[Vote]:
    """Of the name words[start:end]."""
    return [*_before(words, start), *_after(words, end)]


def _before(words: Sequence[Word], start: int) -> Iterator[Vote]:
    at = start
    while at > 0 and not words[at].first and words[at - 1].key in _OVERLOOKED:
        at -= 1
    places = (start,) if at == start else (start, at)
    for place in places:
        row: tuple[str, ...] = ()
        longest: tuple[Vote, ...] = ()
        for back in range(1, _LONGEST + 1):
            if place < back or _parted(words[place - back + 1]):
                break
            row = (words[place - back].key, *row)
            longest = _table("before").get(row, longest)
        yield from longest


def _after(words: Sequence[Word], end: int) -> Iterator[Vote]:
    row: tuple[str, ...] = ("'s",) if words[end - 1].owns else ()
    longest: tuple[Vote, ...] = ()
    for ahead in range(end, min(len(words), end + _LONGEST)):
        if _parted(words[ahead]):
            break
        row = (*row, _NUMBER if words[ahead].key.isdigit() else words[ahead].key)
        longest = _table("after").get(row, longest)
    yield from longest


def _parted(word: Word) -> bool:
    """Whether something other than space stands before a word."""
    return word.first or word.gap.strip() != ""

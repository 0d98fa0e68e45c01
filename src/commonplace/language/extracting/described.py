"""What a text says that a name is: "Lanternfish, an app for tides", "Kestrel is a club"."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache

from commonplace.language.extracting.mention import LIKELY, SURE, Vote
from commonplace.language.extracting.vocabulary import ONLY_GIVEN, PERSON, data
from commonplace.language.extracting.written import Word

_ARTICLES = frozenset(("a", "an", "our", "my", "the", "this", "another", "her", "his", "their"))
_CALLED = frozenset(("called", "named", "titled", "codenamed"))
_JUST = frozenset(("just", "also", "now", "so", "aptly"))
_IS = frozenset(("is", "was", "are"))
_MOST_BEFORE = 3  # words between the article and the noun
_DESCRIBED = LIKELY + 0.05


@cache
def kinds_of_nouns() -> dict[str, str]:
    return {noun: kind for kind, nouns in data("described").items() for noun in nouns.split()}


def described(words: Sequence[Word], start: int, end: int) -> Iterator[Vote]:
    """Of the name words[start:end]."""
    yield from _called(words, start)
    yield from _is_one(words, end, given=words[start].key in ONLY_GIVEN)


def _called(words: Sequence[Word], start: int) -> Iterator[Vote]:
    """ "a game called Ironvale", "the band is named Kestrel"."""
    at = start - 1
    if at < 1 or words[start].first or words[at].key not in _CALLED:
        return
    while at > 1 and words[at - 1].key in _IS | _JUST and not words[at].first:
        at -= 1
    kind = kinds_of_nouns().get(words[at - 1].key)
    if kind is not None and not words[at].first:
        yield Vote(kind, SURE, "described")


def _is_one(words: Sequence[Word], end: int, given: bool) -> Iterator[Vote]:
    """ "Lanternfish, an app", "Kestrel is a club"."""
    at = end
    if at < len(words) and words[at].key in _IS and words[at].gap.isspace():
        at += 1
    elif at == len(words) or words[at].gap.strip() not in (",", "(", "—", "–", "-"):
        return
    if at >= len(words) or words[at].key not in _ARTICLES:
        return
    for word in words[at + 1 : at + 2 + _MOST_BEFORE]:
        if word.first or word.gap.strip():
            return
        kind = kinds_of_nouns().get(word.key)
        if kind is not None:
            # "Hey Jon, my store is open" calls nobody a store.
            if kind == PERSON or not given:
                yield Vote(kind, _DESCRIBED, "described")
            return

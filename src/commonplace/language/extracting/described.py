"""What a text says that a name is: "Lanternfish, an app for tides", "Kestrel is a club"."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache

from commonplace.language.extracting.mention import LIKELY, Vote
from commonplace.language.extracting.vocabulary import data
from commonplace.language.extracting.written import Word

_ARTICLES = frozenset(("a", "an", "our", "my", "the", "this", "another", "her", "his", "their"))
_IS = frozenset(("is", "was", "are"))
_MOST_BEFORE = 3  # words between the article and the noun
_DESCRIBED = LIKELY + 0.05


@cache
def _nouns() -> dict[str, str]:
    return {noun: kind for kind, nouns in data("described").items() for noun in nouns.split()}


def described(words: Sequence[Word], end: int) -> Iterator[Vote]:
    """Of the name that ends before ``end``."""
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
        kind = _nouns().get(word.key)
        if kind is not None:
            yield Vote(kind, _DESCRIBED, "described")
            return

"""Which phrase stands for whom: "my manager, Dana", "my sister Noa", "Dana is my manager"."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from commonplace.language.extracting.mention import Mention
from commonplace.language.extracting.unnamed import words_for

_BEFORE_A_NAME = re.compile(
    r",? |'s name is |(?: is|,) (?:named|called) | is | \(|: | קוראים ל| שמה | היא | הוא |, "
)
_AFTER_A_NAME = re.compile(r", | is | \(|, who is | היא | הוא ")
_CLOSED = re.compile(r"\s*(?:$|[,.;:)!?\n—–])")
_IS = re.compile(r" is | היא | הוא ")


def same_as(text: str, mentions: Sequence[Mention]) -> Iterator[tuple[Mention, Mention]]:
    """Pairs of a phrase and the name that it stands for; mentions in the text's order."""
    for one, other in pairwise(_outermost(mentions)):
        if one.phrase == other.phrase:
            continue
        between = text[one.end : other.start]
        if one.phrase and _BEFORE_A_NAME.fullmatch(between):
            if not between.startswith(",") or _CLOSED.match(text, other.end):
                yield one, other
        elif other.phrase and _AFTER_A_NAME.fullmatch(between):
            listed = text[: one.start].endswith((", ", "and "))
            closed = _CLOSED.match(text, other.end) and not (between == ", " and listed)
            if closed or _IS.fullmatch(between):
                yield other, one


def _outermost(mentions: Sequence[Mention]) -> Iterator[Mention]:
    """Without the names inside phrases: of "Dana's husband Tom" the phrase and Tom."""
    reached = 0
    for each in mentions:
        if each.start >= reached:
            yield each
        reached = max(reached, each.end)


def says_who(phrase: Mention) -> bool:
    """Whether it can stand for one person alone: people have many friends."""
    return words_for("many").isdisjoint(phrase.key.split())

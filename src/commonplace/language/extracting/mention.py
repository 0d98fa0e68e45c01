"""A name where it stands, and what speaks for each kind of thing that it may be."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from commonplace.language.extracting.written import Passage

CERTAIN = 0.95  # those who take part
SURE = 0.9
LIKELY = 0.8
KNOWN = 0.75  # in a gazetteer, with nothing around it
DOUBTFUL = 0.65
GUESSED = 0.5  # a capital alone
AGREED = 0.05  # what a second, different sign adds
LEANING = 0.55

_COUNTS_FROM = 0.6  # what is weaker does not support another sign


@dataclass(frozen=True, slots=True)
class Vote:
    kind: str
    weight: float
    by: str = ""  # which sort of sign it is: signs of one sort do not support each other


@dataclass(frozen=True, slots=True)
class Mention:
    passage: int
    start: int
    end: int
    text: str
    key: str  # words folded, without a possessive
    votes: tuple[Vote, ...] = ()
    phrase: bool = False  # "my manager": no name


def mention(
    passage: Passage, start: int, end: int, votes: Iterable[Vote], phrase: bool = False
) -> Mention:
    """Of the words from ``start`` to ``end``."""
    row = passage.words[start:end]
    first, last = row[0].start, row[-1].end
    key = " ".join(
        f"{word.key}'s" if word.owns and word is not row[-1] else word.key for word in row
    )
    return Mention(passage.number, first, last, passage.text[first:last], key, tuple(votes), phrase)


def elected(votes: Iterable[Vote]) -> Vote:
    """The kind that the strongest sign speaks for; others that agree add a little."""
    best: dict[str, dict[str, float]] = {}
    for vote in votes:
        signs = best.setdefault(vote.kind, {})
        signs[vote.by] = max(signs.get(vote.by, 0.0), vote.weight)
    if not best:
        return Vote("", 0.0)
    weights = {kind: _weight(tuple(signs.values())) for kind, signs in best.items()}
    kind = max(weights, key=lambda each: weights[each])
    return Vote(kind, round(weights[kind], 2))


def _weight(signs: tuple[float, ...]) -> float:
    strongest, *others = sorted(signs, reverse=True)
    support = sum(weight >= _COUNTS_FROM for weight in others)
    return min(CERTAIN, strongest + AGREED * support)

"""What is relevant, and in which order. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from commonplace.model.reach import Reading
from commonplace.recall.explore.gather import ALL_WORDS

Floats = NDArray[np.floating]
Mask = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Floors:
    """Measured, not guessed: docs/benchmarks.md has the curve."""

    evidence: float = 0.65  # similarity and what is known of the query, together
    evidence_by_words: float = 0.325  # what is known of the query where similarity is unknown
    similarity: float = 0.5  # by itself enough for a memory
    of_the_best: float = 0.5  # share of the best passage's evidence that another must have


FLOORS = Floors()


def floors_at(evidence: float) -> Floors:
    """Where words are all there is, half as much is as telling."""
    return Floors(evidence, evidence / 2)


@dataclass(frozen=True)
class Evidence:
    """What speaks for each slot of one index. What is found in several is judged together."""

    similarities: Floats  # NaN: unknown
    held: Floats
    known: Floats
    passages: Mask
    named: Mask
    candidates: Mask

    @cached_property
    def nearest(self) -> float:
        """The best similarity of the candidates; NaN: none is known."""
        told = self.similarities
        told = told if self.candidates.all() else told[self.candidates]
        return float(np.fmax.reduce(told, initial=np.nan))

    @property
    def most_known(self) -> float:
        return float(self.known[self.candidates].max(initial=0.0))

    @property
    def of_passages(self) -> float:
        """The most that speaks for any passage that may be found: what is hidden or filtered out
        sets no bar for the others."""
        return float(self._together[self.passages & self.candidates].max(initial=0.0))

    @cached_property
    def _together(self) -> Floats:
        return self.known + np.nan_to_num(self.similarities)

    def beside(self, best: float, floors: Floors) -> Mask:
        """Which have their share of what speaks for the best passage."""
        evidence = self._together
        found: Mask = (evidence > 0) & (evidence >= floors.of_the_best * best)
        return found


def nearest(found: Sequence[Evidence]) -> float:
    return float(np.fmax.reduce([each.nearest for each in found]))


def can_be_answered(found: Sequence[Evidence], floors: Floors = FLOORS) -> bool:
    """Is there anything here that the question is about? The nearest in meaning and the one that
    knows most of the question's words speak for all; both may be silent about what was asked."""
    if not any(each.candidates.any() for each in found):
        return False
    best_known, best = max(each.most_known for each in found), nearest(found)
    if np.isnan(best):
        return best_known >= floors.evidence_by_words
    return best_known + best >= floors.evidence


def relevant(
    found: Sequence[Evidence], threshold: float | None, floors: Floors = FLOORS
) -> list[Mask]:
    """A memory stands alone, so there must be evidence in itself: near in meaning, every word, or
    enough of both; or the query calls it by name. A passage leans on its neighbours: it needs a
    share of the evidence that the best one has. A threshold cuts similarity itself."""
    if threshold is not None:
        return [_at_least(each, threshold, floors) for each in found]
    best = max(each.of_passages for each in found)
    return [
        np.where(each.passages, alone | each.beside(best, floors), alone)
        for each, alone in ((each, _alone(each, floors)) for each in found)
    ]


def _at_least(found: Evidence, threshold: float, floors: Floors) -> Mask:
    by_words = found.known >= floors.evidence_by_words
    unknown = np.isnan(found.similarities)
    return np.where(unknown, by_words | (threshold <= 0), found.similarities >= threshold)


def _alone(found: Evidence, floors: Floors) -> Mask:
    similarities, by_words = found.similarities, found.known >= floors.evidence_by_words
    unknown = np.isnan(similarities)
    both = np.where(unknown, by_words, found.known + similarities >= floors.evidence)
    enough: Mask = both | (similarities >= floors.similarity)
    return enough | (found.held > ALL_WORDS) | found.named


@dataclass(frozen=True, slots=True)
class Ranked:
    """One of the best: where it stands, and why."""

    id: str
    unit: int  # a number of its scope
    reading: Reading
    is_passage: bool
    similarity: float | None
    held: float
    score: float
    parts: Mapping[str, float]  # on request: of what the score is the sum
    has_neighbours: bool = False

    def lifted(self, name: str, by: float) -> Ranked:
        parts = {**self.parts, name: round(by, 6)} if self.parts else {}
        return replace(self, score=round(self.score + by, 6), parts=parts)


def in_order(ranked: list[Ranked]) -> list[Ranked]:
    return sorted(ranked, key=lambda each: (-each.score, each.id))


def best_slots(
    scores: Sequence[Floats], candidates: Sequence[Mask], most: int
) -> list[NDArray[np.int64]]:
    """The slots of the highest scores of all indexes; where the last place is tied, all of the
    tied."""
    slots = list(map(np.flatnonzero, candidates))
    ends = np.cumsum(list(map(len, slots)))
    if ends[-1] <= most:
        return slots
    values = np.concatenate([of[at] for of, at in zip(scores, slots, strict=True)])
    bar = np.partition(values, len(values) - most)[len(values) - most]
    tied = np.flatnonzero(values == bar)[: 4 * most]
    chosen = np.sort(np.concatenate([np.flatnonzero(values > bar), tied]))
    apart = np.split(chosen, np.searchsorted(chosen, ends[:-1]))
    firsts = [0, *ends[:-1].tolist()]
    return [at[mine - first] for at, mine, first in zip(slots, apart, firsts, strict=True)]

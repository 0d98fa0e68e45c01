"""Ranking: fuse signals into one score, judge relevance, sort. Pure.

Every signal runs from 0 to 1, or is NaN where it is unknown. Words and meaning are the base: words
catch names and numbers that vectors blur, vectors catch what is said in other words, and both are
asked of a unit alone and among its neighbours, for a chat turn alone says little. Where meaning is
unknown (no vector, or a model that is blind to the script), words carry the whole base. The other
parts say whether a unit could be the answer at all: who spoke, when, a time for "when …".

The weights were measured (docs/benchmarks.md); all of them could be 1 for half a point less.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from commonplace.engine.graph_search.explore_candidates import ALL_WORDS
from commonplace.model.access.principal import ReadableScope

Floats = NDArray[np.floating]
Signals = Mapping[str, Floats]


@dataclass(frozen=True, slots=True)
class SignalWeights:
    words: float = 1.0
    words_near: float = 1.5
    words_wide: float = 1.0
    meaning: float = 2.0
    meaning_near: float = 1.5
    meaning_session: float = 1.0
    speaker: float = 2.0
    date: float = 3.0
    answer: float = 1.0
    asks: float = -0.7
    length: float = 0.7
    recency: float = 0.4
    importance: float = 0.4
    relation: float = 0.4
    title: float = 2.4
    graph: float = 2.0  # of the best hit's score
    named: float = 1.5
    follows: float = 1.0

    def of(self, name: str) -> float:
        return float(getattr(self, name)) / self.base

    @property
    def base(self) -> float:
        """What words and meaning can reach together: a score of 1."""
        return float(sum(getattr(self, name) for name in (*WORD_SIGNALS, *MEANING_SIGNALS)))


WORD_SIGNALS = ("words", "words_near", "words_wide")
MEANING_SIGNALS = ("meaning", "meaning_near", "meaning_session")
WEIGHTS = SignalWeights()
SIGNAL_NAMES = tuple(field.name for field in fields(SignalWeights))


def weight_signals(signals: Signals, weights: SignalWeights = WEIGHTS) -> dict[str, Floats]:
    """What each signal adds to each score."""
    unknown = np.isnan(signals["meaning"]) if "meaning" in signals else np.array(True)
    alone = weights.base / sum(getattr(weights, name) for name in WORD_SIGNALS)
    parts = {}
    for name, signal in signals.items():
        part = weights.of(name) * _zero_if_unknown(signal)
        by_words = name in WORD_SIGNALS and unknown.any()
        parts[name] = np.where(unknown, part * alone, part) if by_words else part
    return parts


def _zero_if_unknown(signal: Floats) -> Floats:
    """What is unknown adds nothing; most signals are known of all."""
    unknown = np.isnan(signal)
    return np.where(unknown, 0.0, signal) if unknown.any() else signal


def sum_parts(parts: Mapping[str, Floats], size: int) -> Floats:
    total: Floats = np.zeros(size)
    for part in parts.values():
        total += part
    return total


def share_of_best(
    scores: Sequence[Floats], candidates: Sequence[NDArray[np.bool_]]
) -> list[Floats]:
    """For scores that have a natural zero. The best of all indexes is what each is measured by."""
    best = max(map(_highest, scores, candidates))
    return [each / best if best > _EPSILON else np.zeros_like(each) for each in scores]


_EPSILON = 1e-12


def _highest(scores: Floats, candidates: NDArray[np.bool_]) -> np.floating:
    highest: np.floating = _select_candidates(scores, candidates).max(initial=0.0)
    return highest


def _select_candidates(values: Floats, candidates: NDArray[np.bool_]) -> Floats:
    """Mostly everyone is one, and picking them out is slow."""
    return values if candidates.all() else values[candidates]


_COSINE_FLOOR = -0.1  # of cosines: as good as the lowest of all, and needs no look at all


def above_floor(cosines: Sequence[Floats], candidates: Sequence[NDArray[np.bool_]]) -> list[Floats]:
    """For cosines: how far above the floor, as a share of the best of all indexes."""
    best = max(map(_highest_cosine, cosines, candidates))
    if not best > _COSINE_FLOOR:
        return [np.where(np.isnan(each), np.nan, 0.0) for each in cosines]
    return [np.maximum((each - _COSINE_FLOOR) / (best - _COSINE_FLOOR), 0.0) for each in cosines]


def _highest_cosine(cosines: Floats, candidates: NDArray[np.bool_]) -> np.floating:
    nearest: np.floating = np.fmax.reduce(
        _select_candidates(cosines, candidates), initial=_COSINE_FLOOR
    )
    return nearest


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


def nearest_similarity(found: Sequence[Evidence]) -> float:
    return float(np.fmax.reduce([each.nearest for each in found]))


def is_answerable(found: Sequence[Evidence], floors: Floors = FLOORS) -> bool:
    """Is there anything here that the question is about? The nearest in meaning and the one that
    knows most of the question's words speak for all; both may be silent about what was asked."""
    if not any(each.candidates.any() for each in found):
        return False
    best_known, best = max(each.most_known for each in found), nearest_similarity(found)
    if np.isnan(best):
        return best_known >= floors.evidence_by_words
    return best_known + best >= floors.evidence


def select_relevant(
    found: Sequence[Evidence], threshold: float | None, floors: Floors = FLOORS
) -> list[Mask]:
    """A memory stands alone, so there must be evidence in itself: near in meaning, every word, or
    enough of both; or the query calls it by name. A passage leans on its neighbours: it needs a
    share of the evidence that the best one has. A threshold cuts similarity itself."""
    if threshold is not None:
        return [_above_threshold(each, threshold, floors) for each in found]
    best = max(each.of_passages for each in found)
    return [
        np.where(each.passages, alone | each.beside(best, floors), alone)
        for each, alone in ((each, _relevant_alone(each, floors)) for each in found)
    ]


def _above_threshold(found: Evidence, threshold: float, floors: Floors) -> Mask:
    by_words = found.known >= floors.evidence_by_words
    unknown = np.isnan(found.similarities)
    return np.where(unknown, by_words | (threshold <= 0), found.similarities >= threshold)


def _relevant_alone(found: Evidence, floors: Floors) -> Mask:
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
    reading: ReadableScope
    is_passage: bool
    similarity: float | None
    held: float
    score: float
    parts: Mapping[str, float]  # on request: of what the score is the sum
    has_neighbours: bool = False

    def lifted(self, name: str, by: float) -> Ranked:
        parts = {**self.parts, name: round(by, 6)} if self.parts else {}
        return replace(self, score=round(self.score + by, 6), parts=parts)


def sort_ranked(ranked: list[Ranked]) -> list[Ranked]:
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

"""Ranking: fuse signals into one score, judge relevance, sort. Pure.

Every signal is between 0 and 1, or NaN if unknown. The base is lexical and semantic: words match
names and numbers that vectors blur, vectors match paraphrases. Both are scored for the unit alone
and for its window, because a single chat turn has little content. If the semantic signal is unknown
(no vector, or a script that the model does not support), words carry the whole base. The other
signals estimate whether a unit can be the answer: its speaker, its date, a time for "when …".

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
        """The highest possible sum of the word and meaning signals: a score of 1."""
        return float(sum(getattr(self, name) for name in (*WORD_SIGNALS, *MEANING_SIGNALS)))


WORD_SIGNALS = ("words", "words_near", "words_wide")
MEANING_SIGNALS = ("meaning", "meaning_near", "meaning_session")
WEIGHTS = SignalWeights()
SIGNAL_NAMES = tuple(field.name for field in fields(SignalWeights))


def weight_signals(signals: Signals, weights: SignalWeights = WEIGHTS) -> dict[str, Floats]:
    """The weighted contribution of each signal to each score."""
    unknown = np.isnan(signals["meaning"]) if "meaning" in signals else np.array(True)
    alone = weights.base / sum(getattr(weights, name) for name in WORD_SIGNALS)
    parts = {}
    for name, signal in signals.items():
        part = weights.of(name) * _zero_if_unknown(signal)
        by_words = name in WORD_SIGNALS and unknown.any()
        parts[name] = np.where(unknown, part * alone, part) if by_words else part
    return parts


def _zero_if_unknown(signal: Floats) -> Floats:
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
    """Scores with a natural zero, as shares of the best one in all indexes."""
    best = max(map(_highest, scores, candidates))
    return [each / best if best > _EPSILON else np.zeros_like(each) for each in scores]


_EPSILON = 1e-12


def _highest(scores: Floats, candidates: NDArray[np.bool_]) -> np.floating:
    highest: np.floating = _select_candidates(scores, candidates).max(initial=0.0)
    return highest


def _select_candidates(values: Floats, candidates: NDArray[np.bool_]) -> Floats:
    """Skip the slow mask indexing if all are candidates, the usual case."""
    return values if candidates.all() else values[candidates]


_COSINE_FLOOR = -0.1  # a constant floor works as well as the lowest cosine, without a scan


def above_floor(cosines: Sequence[Floats], candidates: Sequence[NDArray[np.bool_]]) -> list[Floats]:
    """Cosines above the floor, as shares of the best one in all indexes."""
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
    """Relevance thresholds, measured: docs/benchmarks.md has the curve."""

    evidence: float = 0.65  # similarity + known
    evidence_by_words: float = 0.325  # known alone, if the similarity is unknown
    similarity: float = 0.5  # sufficient alone for a memory
    of_the_best: float = 0.5  # minimum share of the best passage's evidence


FLOORS = Floors()


def floors_at(evidence: float) -> Floors:
    """The floors for an evidence setting; half of it is enough if only words are known."""
    return Floors(evidence, evidence / 2)


@dataclass(frozen=True)
class Evidence:
    """The relevance evidence of each slot of one index. Several indexes are judged together."""

    similarities: Floats  # NaN: unknown
    held: Floats
    known: Floats
    passages: Mask
    named: Mask
    candidates: Mask

    @cached_property
    def nearest(self) -> float:
        """The best similarity of the candidates; NaN if all are unknown."""
        similarities = self.similarities
        similarities = similarities if self.candidates.all() else similarities[self.candidates]
        return float(np.fmax.reduce(similarities, initial=np.nan))

    @property
    def most_known(self) -> float:
        return float(self.known[self.candidates].max(initial=0.0))

    @property
    def of_passages(self) -> float:
        """The highest evidence of a candidate passage. Hidden or filtered passages do not count."""
        return float(self._combined[self.passages & self.candidates].max(initial=0.0))

    @cached_property
    def _combined(self) -> Floats:
        return self.known + np.nan_to_num(self.similarities)

    def near_best(self, best: float, floors: Floors) -> Mask:
        """Slots whose evidence is a sufficient share of the best passage's."""
        evidence = self._combined
        mask: Mask = (evidence > 0) & (evidence >= floors.of_the_best * best)
        return mask


def nearest_similarity(found: Sequence[Evidence]) -> float:
    return float(np.fmax.reduce([each.nearest for each in found]))


def is_answerable(found: Sequence[Evidence], floors: Floors = FLOORS) -> bool:
    """True if the best similarity and the best term coverage together reach the floor: else nothing
    stored is about the question."""
    if not any(each.candidates.any() for each in found):
        return False
    best_known, best = max(each.most_known for each in found), nearest_similarity(found)
    if np.isnan(best):
        return best_known >= floors.evidence_by_words
    return best_known + best >= floors.evidence


def select_relevant(
    found: Sequence[Evidence], threshold: float | None, floors: Floors = FLOORS
) -> list[Mask]:
    """A memory needs evidence of its own: high similarity, all terms, enough of both, or its name
    in the query. A passage is also relevant with a share of the best passage's evidence. A
    ``threshold`` applies to the similarity instead."""
    if threshold is not None:
        return [_above_threshold(each, threshold, floors) for each in found]
    best = max(each.of_passages for each in found)
    return [
        np.where(each.passages, alone | each.near_best(best, floors), alone)
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
    """A scored candidate."""

    id: str
    unit: int  # its number in its scope
    reading: ReadableScope
    is_passage: bool
    similarity: float | None
    held: float
    score: float
    parts: Mapping[str, float]  # the summands of the score, on request
    has_neighbours: bool = False

    def lifted(self, name: str, by: float) -> Ranked:
        parts = {**self.parts, name: round(by, 6)} if self.parts else {}
        return replace(self, score=round(self.score + by, 6), parts=parts)


def sort_ranked(ranked: list[Ranked]) -> list[Ranked]:
    return sorted(ranked, key=lambda each: (-each.score, each.id))


def best_slots(
    scores: Sequence[Floats], candidates: Sequence[Mask], most: int
) -> list[NDArray[np.int64]]:
    """The slots of the highest scores in all indexes, with those tied for the last place."""
    slots = list(map(np.flatnonzero, candidates))
    ends = np.cumsum(list(map(len, slots)))
    if ends[-1] <= most:
        return slots
    values = np.concatenate([of[at] for of, at in zip(scores, slots, strict=True)])
    lowest = np.partition(values, len(values) - most)[len(values) - most]
    tied = np.flatnonzero(values == lowest)[: 4 * most]
    chosen = np.sort(np.concatenate([np.flatnonzero(values > lowest), tied]))
    per_index = np.split(chosen, np.searchsorted(chosen, ends[:-1]))
    firsts = [0, *ends[:-1].tolist()]
    return [at[mine - first] for at, mine, first in zip(slots, per_index, firsts, strict=True)]

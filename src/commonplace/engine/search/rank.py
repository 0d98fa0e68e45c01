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

from commonplace.model.access.principal import ReadableScope
from commonplace.model.parameters import ALL_WORDS

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
    introduces: float = 3.0
    instructs: float = 4.0

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

    evidence: float = 0.65  # less is weak
    similarity: float = 0.5  # sufficient alone
    own_similarity: float = 0.2  # needed without any of the query's words
    of_the_best: float = 0.25  # minimum share of the best candidate's evidence
    least: float = 0.1  # below it nothing says that a unit is about the question
    least_of_words: float = 0.25  # the same for a query that asks nothing


FLOORS = Floors()
_WORDS_ALONE = 1.25  # what words count for, where nothing else is known


def floors_at(evidence: float, *, asks: bool = True, wide: bool = False) -> Floors:
    """``asks``: for a question, which is often put in other words than its answer. ``wide``: for a
    caller that has room for what may be chance."""
    own = min(FLOORS.own_similarity, evidence)
    floors = replace(FLOORS, evidence=evidence, own_similarity=own)
    if wide:
        return replace(floors, of_the_best=0.0, least=0.0)
    return floors if asks else replace(floors, least=floors.least_of_words)


@dataclass(frozen=True)
class Evidence:
    """The relevance evidence of each slot of one index. Several indexes are judged together."""

    similarities: Floats  # NaN: unknown
    held: Floats
    known: Floats
    named: Mask
    candidates: Mask
    fits: Mask | None = None  # has the kind of answer that the owner asks for
    follows: Mask | None = None  # answers a question that has the query's words

    @cached_property
    def nearest(self) -> float:
        """The best similarity of the candidates; NaN if all are unknown."""
        similarities = _select_candidates(self.similarities, self.candidates)
        return float(np.fmax.reduce(similarities, initial=np.nan))

    @cached_property
    def combined(self) -> Floats:
        """Similarity and known share of the query; where the similarity is unknown, the share
        counts for more, so that one scale holds for both."""
        unknown = np.isnan(self.similarities)
        alone = (_WORDS_ALONE - 1) * self.known
        combined: Floats = self.known + np.where(unknown, alone, self.similarities)
        return combined if self.fits is None else combined + FLOORS.least * self.fits

    @property
    def best(self) -> float:
        """Hidden or filtered units do not count."""
        return float(_select_candidates(self.combined, self.candidates).max(initial=0.0))

    def strong(self, floors: Floors) -> Mask:
        """Enough similarity and words together, some of it its own; high similarity, all words, or
        its name in the query. Words of the turns around a unit say that it is near the answer, not
        that it is the answer."""
        alike = self.similarities >= floors.similarity
        own: Mask = (self.held > 0) | ~(self.similarities < floors.own_similarity)
        if self.follows is not None:
            own = own | self.follows
        mask: Mask = ((self.combined >= floors.evidence) & own) | alike
        return mask | (self.held > ALL_WORDS) | self.named


@dataclass(frozen=True, slots=True)
class Relevance:
    relevant: Mask
    weak: Mask  # what little evidence there is may be chance


def nearest_similarity(found: Sequence[Evidence]) -> float:
    return float(np.fmax.reduce([each.nearest for each in found]))


def judge_relevance(
    found: Sequence[Evidence],
    threshold: float | None,
    floors: Floors = FLOORS,
    *,
    strict: bool = False,
) -> list[Relevance]:
    """Each candidate is judged by its own evidence, so that the size of the store does not decide.
    With little evidence it is weak; with a small share of the best candidate's it is left out.
    ``strict`` leaves out all that is weak. A ``threshold`` applies to the similarity instead."""
    best = max(each.best for each in found)
    judged = []
    for each in found:
        strong = each.strong(floors)
        if threshold is not None:
            relevant = _above_threshold(each, threshold, floors)
        else:
            relevant = strong | _near_best(each, best, floors)
        judged.append(Relevance(each.candidates & relevant & (strong | (not strict)), ~strong))
    return judged


def _near_best(found: Evidence, best: float, floors: Floors) -> Mask:
    """With no evidence at all, only units whose similarity is unknown are left: they may be about
    the question in other words."""
    if best < floors.least:
        return np.isnan(found.similarities)
    mask: Mask = found.combined >= max(floors.of_the_best * best, floors.least)
    return mask


def _above_threshold(found: Evidence, threshold: float, floors: Floors) -> Mask:
    by_words = found.combined >= floors.evidence
    unknown = np.isnan(found.similarities)
    return np.where(unknown, by_words | (threshold <= 0), found.similarities >= threshold)


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
    weak: bool = False  # little evidence

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

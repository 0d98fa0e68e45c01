"""Signals into one score: a sum of named parts. Pure.

Every signal runs from 0 to 1, or is NaN where it is unknown. Words and meaning are the base: words
catch names and numbers that vectors blur, vectors catch what is said in other words, and both are
asked of a unit alone and among its neighbours, for a chat turn alone says little. Where meaning is
unknown (no vector, or a model that is blind to the script), words carry the whole base. The other
parts say whether a unit could be the answer at all: who spoke, when, a time for "when …".

The weights were measured (docs/benchmarks.md); all of them could be 1 for half a point less.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.floating]
Signals = Mapping[str, Floats]


@dataclass(frozen=True, slots=True)
class Weights:
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
        return float(sum(getattr(self, name) for name in (*WORDS, *MEANING)))


WORDS = ("words", "words_near", "words_wide")
MEANING = ("meaning", "meaning_near", "meaning_session")
WEIGHTS = Weights()
NAMES = tuple(field.name for field in fields(Weights))


def parts_of(signals: Signals, weights: Weights = WEIGHTS) -> dict[str, Floats]:
    """What each signal adds to each score."""
    unknown = np.isnan(signals["meaning"]) if "meaning" in signals else np.array(True)
    alone = weights.base / sum(getattr(weights, name) for name in WORDS)
    parts = {}
    for name, signal in signals.items():
        part = weights.of(name) * _or_nothing(signal)
        by_words = name in WORDS and unknown.any()
        parts[name] = np.where(unknown, part * alone, part) if by_words else part
    return parts


def _or_nothing(signal: Floats) -> Floats:
    """What is unknown adds nothing; most signals are known of all."""
    unknown = np.isnan(signal)
    return np.where(unknown, 0.0, signal) if unknown.any() else signal


def totals(parts: Mapping[str, Floats], size: int) -> Floats:
    total: Floats = np.zeros(size)
    for part in parts.values():
        total += part
    return total


def share_of_best(
    scores: Sequence[Floats], candidates: Sequence[NDArray[np.bool_]]
) -> list[Floats]:
    """For scores that have a natural zero. The best of all indexes is what each is measured by."""
    best = max(map(_highest, scores, candidates))
    return [each / best if best > _NOTHING else np.zeros_like(each) for each in scores]


_NOTHING = 1e-12


def _highest(scores: Floats, candidates: NDArray[np.bool_]) -> np.floating:
    highest: np.floating = _of(scores, candidates).max(initial=0.0)
    return highest


def _of(values: Floats, candidates: NDArray[np.bool_]) -> Floats:
    """Mostly everyone is one, and picking them out is slow."""
    return values if candidates.all() else values[candidates]


_FLOOR = -0.1  # of cosines: as good as the lowest of all, and needs no look at all


def above_floor(cosines: Sequence[Floats], candidates: Sequence[NDArray[np.bool_]]) -> list[Floats]:
    """For cosines: how far above the floor, as a share of the best of all indexes."""
    best = max(map(_nearest, cosines, candidates))
    if not best > _FLOOR:
        return [np.where(np.isnan(each), np.nan, 0.0) for each in cosines]
    return [np.maximum((each - _FLOOR) / (best - _FLOOR), 0.0) for each in cosines]


def _nearest(cosines: Floats, candidates: NDArray[np.bool_]) -> np.floating:
    nearest: np.floating = np.fmax.reduce(_of(cosines, candidates), initial=_FLOOR)
    return nearest

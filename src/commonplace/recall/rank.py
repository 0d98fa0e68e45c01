"""What is relevant, and in which order. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.floating]
Mask = NDArray[np.bool_]

ALL_WORDS = 0.999  # the share of the query's terms that counts as all of them


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


def can_be_answered(
    similarities: Floats, known: Floats, candidates: Mask, floors: Floors = FLOORS
) -> bool:
    """Is there anything here that the question is about? The nearest in meaning and the one that
    knows most of the question's words speak for all; both may be silent about what was asked."""
    if not candidates.any():
        return False
    best_known = float(known[candidates].max())
    told = similarities[candidates]
    if np.isnan(told).all():
        return best_known >= floors.evidence_by_words
    return best_known + float(np.nanmax(told)) >= floors.evidence


def relevant(
    similarities: Floats,
    held: Floats,
    known: Floats,
    passages: Mask,
    named: Mask,
    threshold: float | None,
    floors: Floors = FLOORS,
) -> Mask:
    """A memory stands alone, so there must be evidence in itself: near in meaning, every word, or
    enough of both; or the query calls it by name. A passage leans on its neighbours: it needs a
    share of the evidence that the best one has. A threshold cuts similarity itself."""
    unknown = np.isnan(similarities)
    by_words = known >= floors.evidence_by_words
    if threshold is not None:
        return np.where(unknown, by_words | (threshold <= 0), similarities >= threshold)
    both = np.where(unknown, by_words, known + similarities >= floors.evidence)
    alone = both | (similarities >= floors.similarity) | (held > ALL_WORDS) | named
    return np.where(
        passages, alone | _beside_the_best(similarities, known, passages, floors), alone
    )


def _beside_the_best(similarities: Floats, known: Floats, passages: Mask, floors: Floors) -> Mask:
    evidence = known + np.nan_to_num(similarities)
    best = evidence[passages].max(initial=0.0)
    found: Mask = (evidence > 0) & (evidence >= floors.of_the_best * best)
    return found


@dataclass(frozen=True, slots=True)
class Ranked:
    """One of the best: where it stands in the index, and why."""

    id: str
    unit: int
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


def best_slots(scores: Floats, candidates: Mask, most: int) -> NDArray[np.int64]:
    """The slots of the highest scores; where the last place is tied, all of the tied."""
    slots = np.flatnonzero(candidates)
    if len(slots) <= most:
        return slots
    values = scores[slots]
    bar = np.partition(values, len(values) - most)[len(values) - most]
    tied = slots[values == bar][: 4 * most]
    chosen: NDArray[np.int64] = np.sort(np.concatenate([slots[values > bar], tied]))
    return chosen

"""One score for every candidate, as a sum of named parts. Pure.

0.7 similarity + 0.3 keywords is the base: words catch names and numbers that vectors blur, vectors
catch what is said in other words. Where similarity is unknown (the model is blind to the script, or
down), words carry the whole base. The small parts only order what the base leaves close together.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

import numpy as np
from numpy.typing import NDArray

from commonplace.model.kinds import POLICIES
from commonplace.model.memory import Memory


@dataclass(frozen=True, slots=True)
class Weights:
    similarity: float = 0.7
    keywords: float = 0.3
    relation: float = 0.05
    recency: float = 0.05
    importance: float = 0.05
    recency_days: float = 30.0  # after this long, recency is down to a third
    floor: float = 0.5  # similarity that counts as relevant
    words_floor: float = 0.5  # share of the query's terms where similarity is unknown


WEIGHTS = Weights()
ALL_WORDS = 0.999  # the share of the query's terms that counts as all of them

_WEIGHT_OF = {str(kind): policy.recall_weight for kind, policy in POLICIES.items()}
_ROUNDING = 1e-5  # parts are rounded one by one

Floats = NDArray[np.floating]


@dataclass(frozen=True, slots=True)
class Evidence:
    """All that is known of one candidate for one query."""

    memory: Memory
    similarity: float | None  # calibrated; None is unknown
    words: float
    held: float
    related: float = 0.0  # strength of its strongest link


@dataclass(frozen=True, slots=True)
class Ranked:
    memory: Memory
    similarity: float | None
    score: float
    parts: Mapping[str, float] = field(default_factory=dict)
    held: float = 0.0


def is_relevant(evidence: Evidence, threshold: float | None, weights: Weights = WEIGHTS) -> bool:
    """Above the floor, or every word of the query is there. A threshold cuts similarity itself."""
    if evidence.similarity is None:
        return evidence.held >= weights.words_floor
    if threshold is not None:
        return evidence.similarity >= threshold
    return evidence.similarity >= weights.floor or evidence.held > ALL_WORDS


@dataclass(frozen=True, slots=True)
class Promises:
    """What is known of all candidates before their rows are read, in columns."""

    similarities: Floats  # the query's side of them; NaN: unknown
    words: Floats
    held: Floats
    related: Floats
    age_days: Floats
    importance: NDArray[np.integer]
    kinds: Sequence[str]
    may_be_blind: bool  # are there scripts that the model cannot read?


def ceilings(
    promises: Promises, threshold: float | None = None, weights: Weights = WEIGHTS
) -> Floats:
    """The most that each candidate can score, whatever its row says; −inf: it cannot be relevant.

    A row can only lower its similarity, or, where the model is blind to its script, leave the
    base to the words.
    """
    similarities, words, held = promises.similarities, promises.words, promises.held
    unknown = np.isnan(similarities)
    if threshold is not None:
        seen = similarities >= threshold
    else:
        seen = (similarities >= weights.floor) | ((held > ALL_WORDS) & ~unknown)
    by_words = (unknown | promises.may_be_blind) & (held >= weights.words_floor)
    base = np.maximum(
        np.where(seen, weights.similarity * similarities + weights.keywords * words, -np.inf),
        np.where(by_words, (weights.similarity + weights.keywords) * words, -np.inf),
    )
    recency = weights.recency * np.exp(-np.maximum(promises.age_days, 0) / weights.recency_days)
    importance = weights.importance * (promises.importance - 1) / 4
    of_kind = np.array([_WEIGHT_OF[kind] for kind in promises.kinds])
    small_parts = weights.relation * promises.related + recency + importance
    highest: Floats = (base + small_parts) * of_kind + _ROUNDING
    return highest


def rank(
    candidates: Sequence[Evidence],
    now: datetime,
    threshold: float | None = None,
    weights: Weights = WEIGHTS,
) -> list[Ranked]:
    relevant = [each for each in candidates if is_relevant(each, threshold, weights)]
    ranked = [_score(each, now, weights) for each in relevant]
    return sorted(ranked, key=lambda each: (-each.score, each.memory.id))


def _score(evidence: Evidence, now: datetime, weights: Weights) -> Ranked:
    memory = evidence.memory
    if evidence.similarity is None:
        base = {"keywords": (weights.similarity + weights.keywords) * evidence.words}
    else:
        base = {
            "similarity": weights.similarity * evidence.similarity,
            "keywords": weights.keywords * evidence.words,
        }
    age_days = max((now - memory.updated_at).total_seconds() / 86_400, 0.0)
    parts = {
        **base,
        "relation": weights.relation * evidence.related,
        "recency": weights.recency * math.exp(-age_days / weights.recency_days),
        "importance": weights.importance * (memory.importance - 1) / 4,
    }
    weight = POLICIES[memory.kind].recall_weight
    weighted = {name: round(part * weight, 6) for name, part in parts.items()}
    return Ranked(memory, evidence.similarity, sum(weighted.values()), weighted, evidence.held)

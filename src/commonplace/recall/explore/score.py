"""One score of three signals, each from 0 to 1. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from math import exp

from commonplace.recall.explore.asked import Weights
from commonplace.recall.explore.explanation import Explanation, Match, Parts

FADING = 0.02  # a day: half is left after 35
RRF_K = 60
_DAY = 86_400.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Scored:
    id: str
    score: float
    explanation: Explanation


def recency(updated_at: datetime, now: datetime) -> float:
    return exp(-FADING * days_since(updated_at, now))


def days_since(moment: datetime, now: datetime) -> float:
    return max(0.0, (now - moment).total_seconds() / _DAY)


def scored(
    id: str,
    *,
    matches: Sequence[Match],
    semantic: float,
    updated_at: datetime,
    salience: float,
    weights: Weights,
    now: datetime,
) -> Scored:
    """Weights of more than 1 in all are shares, so that no score leaves the scale."""
    whole = max(1.0, weights.semantic + weights.time + weights.salience)
    recent = recency(updated_at, now)
    parts = Parts(
        semantic=weights.semantic * semantic / whole,
        time=weights.time * recent / whole,
        salience=weights.salience * salience / whole,
    )
    score = min(1.0, parts.semantic + parts.time + parts.salience)  # rounding may go beyond
    return Scored(
        id=id,
        score=score,
        explanation=Explanation(
            score=score,
            parts=parts,
            similarity=max((match.similarity for match in matches), default=0.0),
            semantic=semantic,
            recency=recent,
            salience=salience,
            days_since_update=days_since(updated_at, now),
            matches=tuple(matches),
        ),
    )


def in_order(hits: Iterable[Scored]) -> list[Scored]:
    return sorted(hits, key=lambda hit: (-hit.score, hit.id))


def fused(rankings: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """Reciprocal rank fusion of several queries. Only ranks count for the order; the best of all
    keeps the best similarity, so that the signal stays comparable with what was not fused."""
    totals: dict[str, float] = {}
    for ranking in rankings:
        ranked = sorted(ranking, key=lambda id: (-ranking[id], id))
        for rank, id in enumerate(ranked, 1):
            totals[id] = totals.get(id, 0.0) + 1 / (RRF_K + rank)
    highest = max(totals.values(), default=1.0)
    best = max((value for ranking in rankings for value in ranking.values()), default=0.0)
    return {id: best * total / highest for id, total in totals.items()}

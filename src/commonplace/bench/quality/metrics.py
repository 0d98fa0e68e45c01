"""Recall and nDCG of ranked hits against known evidence, in percent.

A hit counts for the single unit that it cites. Several hits of one unit count once, and each
takes up a rank; a hit that cites none takes up a rank too. So merging units gains nothing.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from commonplace.bench.quality.values import ADVERSARIAL

Ranking = Sequence[str | None]  # the unit that each hit cites, best first
Numbers = dict[str, float]

ALL = "all"


def recall_at(k: int, ranked: Ranking, gold: frozenset[str]) -> float:
    return len(gold & set(ranked[:k])) / len(gold)


def ndcg_at(k: int, ranked: Ranking, gold: frozenset[str]) -> float:
    gained, seen = 0.0, set()
    for rank, unit in enumerate(ranked[:k], 1):
        if unit in gold and unit not in seen:
            gained += 1 / math.log2(rank + 1)
            seen.add(unit)
    return gained / sum(1 / math.log2(rank + 1) for rank in range(1, min(k, len(gold)) + 1))


METRICS: dict[str, Callable[[Ranking, frozenset[str]], float]] = {
    "R@5": lambda ranked, gold: recall_at(5, ranked, gold),
    "R@10": lambda ranked, gold: recall_at(10, ranked, gold),
    "R@20": lambda ranked, gold: recall_at(20, ranked, gold),
    "nDCG@10": lambda ranked, gold: ndcg_at(10, ranked, gold),
}


@dataclass(frozen=True, slots=True)
class Outcome:
    """One question: what came back for it, and what that cost (tokens, milliseconds)."""

    category: str
    gold: frozenset[str]
    ranked: Ranking
    costs: Mapping[str, float] = field(default_factory=dict)


def summarise(outcomes: Iterable[Outcome]) -> dict[str, Numbers]:
    """The means of each category; `all` first, without the adversarial questions."""
    groups: dict[str, list[Outcome]] = {ALL: []}
    for outcome in outcomes:
        groups.setdefault(outcome.category, []).append(outcome)
        if outcome.category != ADVERSARIAL:
            groups[ALL].append(outcome)
    return {
        category: _means(groups[category])
        for category in (ALL, *sorted(groups.keys() - {ALL}))
        if groups[category]
    }


def _means(outcomes: Sequence[Outcome]) -> Numbers:
    told = {
        name: percent(sum(metric(o.ranked, o.gold) for o in outcomes) / len(outcomes))
        for name, metric in METRICS.items()
    }
    for name in outcomes[0].costs:
        told[name] = round(sum(o.costs[name] for o in outcomes) / len(outcomes), 2)
    return told


def percent(share: float) -> float:
    return round(100 * share, 2)

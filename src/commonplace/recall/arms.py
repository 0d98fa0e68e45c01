"""The two arms of recall: meaning (vectors) and words (BM25). Each names its best candidates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from commonplace.desk import Desk, Vector
from commonplace.language.analyse import analyse
from commonplace.model.filters import Filters, Visibility
from commonplace.model.scope import Scope

CANDIDATES_PER_ARM = 64


@dataclass(frozen=True, slots=True)
class Candidate:
    id: str
    cosine: float | None  # None: no vector on one of the two sides
    words: float  # BM25, as a share of the best
    held: float  # the share of the query's terms that it holds


@dataclass(frozen=True, slots=True)
class Found:
    candidates: tuple[Candidate, ...]
    terms: tuple[str, ...]
    degraded: bool  # meaning could not be asked


def ask_arms(
    desk: Desk,
    scope: Scope,
    query: str,
    vector: Vector | None,
    filters: Filters,
    visibility: Visibility,
    wanted: int,
) -> Found:
    """Visit 1: the best of each arm, every candidate filtered before it is scored."""
    terms = tuple(dict.fromkeys(analyse(query)))
    most = max(CANDIDATES_PER_ARM, wanted)
    with desk.index.reading(scope) as index:
        mask = index.candidates(filters, visibility, desk.clock())
        scores, held = index.bm25(terms, mask)
        cosines = _cosines(index.cosines(vector, mask), vector) if vector is not None else None
        slots = _best(scores, most, above=0.0)
        if cosines is not None:
            slots = np.union1d(slots, _best(cosines, most, above=-np.inf))
        ids = [index.ids[slot] for slot in slots]
    top = float(scores[slots].max()) if len(slots) else 0.0
    candidates = tuple(
        Candidate(
            id,
            _known(cosines, slot),
            float(scores[slot]) / top if top > 0 else 0.0,
            float(held[slot]),
        )
        for id, slot in zip(ids, slots.tolist(), strict=True)
    )
    return Found(candidates, terms, degraded=vector is None)


def _cosines(cosines: Vector, query: Vector) -> Vector | None:
    return cosines if query.any() else None


def _best(scores: NDArray[np.float32], most: int, above: float) -> NDArray[np.int64]:
    """The slots of the highest scores; where the last place is tied, all of the tied."""
    if len(scores) <= most:
        return np.flatnonzero(scores > above)
    bar = np.partition(scores, len(scores) - most)[len(scores) - most]
    chosen: NDArray[np.int64] = np.flatnonzero((scores >= bar) & (scores > above))
    return chosen[: 4 * most]


def _known(cosines: Sequence[float] | NDArray[np.float32] | None, slot: int) -> float | None:
    if cosines is None or not np.isfinite(cosines[slot]):
        return None
    return float(cosines[slot])

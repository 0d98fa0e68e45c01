"""The two arms of recall: meaning (vectors) and words (BM25). Each names its best candidates."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from commonplace.desk import Desk, Vector
from commonplace.language.analyse import analyse
from commonplace.model.filters import Filters, Visibility
from commonplace.model.scope import Scope

CANDIDATES_PER_ARM = 64

Floats = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Found:
    """The candidates of both arms, in columns: most are judged without looking at their rows."""

    ids: tuple[str, ...]
    cosines: Floats  # NaN: no vector on one of the two sides
    words: Floats  # BM25, as a share of the best
    held: Floats  # the share of the query's terms that each holds
    kinds: tuple[str, ...]
    importance: NDArray[np.int64]
    age_days: NDArray[np.float64]  # since the last change
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
    now = desk.clock()
    with desk.index.reading(scope) as index:
        mask = index.candidates(filters, visibility, now)
        scores, held = index.bm25(terms, mask)
        slots = _best(scores, most, above=0.0)
        cosines = None
        if vector is not None and vector.any():
            cosines = index.cosines(vector, mask)
            slots = np.union1d(slots, _best(cosines, most, above=-np.inf))
            with_vector = slots[np.isfinite(cosines[slots])]
            cosines[with_vector] = index.exact_cosines(vector, with_vector)
        ids = tuple(index.ids[slot] for slot in slots.tolist())
        kinds = tuple(index.words_at("kind", slots))
        importance = index.numeric["importance"][slots]
        age_days = index.age_days(slots, now)
    best = scores[slots]
    top = float(best.max()) if len(slots) else 0.0
    return Found(
        ids,
        _known(cosines, slots),
        best / top if top > 0 else np.zeros_like(best),
        held[slots],
        kinds,
        importance,
        age_days,
        degraded=vector is None,
    )


def _best(scores: Floats, most: int, above: float) -> NDArray[np.int64]:
    """The slots of the highest scores; where the last place is tied, all of the tied."""
    if len(scores) <= most:
        return np.flatnonzero(scores > above)
    likely = np.flatnonzero(scores >= _below_the_best(scores, most))
    values = scores[likely]
    bar = np.partition(values, len(values) - most)[len(values) - most]
    chosen: NDArray[np.int64] = likely[(values >= bar) & (values > above)]
    return chosen[: 4 * most]


def _below_the_best(scores: Floats, most: int) -> float:
    """A value that at least ``most`` scores reach and few do: the best of many groups are compared
    first, because a partition of all is slow, above all where many are tied."""
    groups = 4 * most
    rows = len(scores) // groups
    if rows < 2:
        return float(scores.min())
    tops = scores[: rows * groups].reshape(rows, groups).max(axis=0)
    return float(np.partition(tops, groups - most)[groups - most])


def _known(cosines: Floats | None, slots: NDArray[np.int64]) -> Floats:
    if cosines is None:
        return np.full(len(slots), np.nan, dtype=np.float32)
    found = cosines[slots]
    found[np.isinf(found)] = np.nan
    return found

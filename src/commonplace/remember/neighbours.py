"""What is already remembered nearby."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from commonplace.desk import Desk, Vector
from commonplace.language.models.embedder import Vectors
from commonplace.model.filters import NO_FILTERS, Filters, Visibility
from commonplace.model.kinds import POLICIES, Kind
from commonplace.model.memory import Memory
from commonplace.model.scope import Scope
from commonplace.store.index import Mask, ScopeIndex

NEAREST = 5
_AT_ONCE = 64


@dataclass(frozen=True, slots=True)
class Neighbour:
    id: str
    similarity: float  # calibrated


@dataclass(frozen=True, slots=True)
class Surroundings:
    """Visit 1 of a write: what the decision rests on, and as of which revision."""

    revision: int
    neighbours: Sequence[Sequence[Neighbour]]  # per new memory, nearest first
    live_by_kind: dict[Kind, int]


def look_around(
    desk: Desk, scope: Scope, memories: Sequence[Memory], vectors: Vectors | None
) -> Surroundings:
    with desk.index.reading(scope) as index:
        everything = Visibility(cleared=True)
        mask = index.candidates(NO_FILTERS, everything, desk.clock())
        if vectors is None:
            found: list[list[tuple[str, float]]] = [[] for _ in memories]
        else:
            found = _nearest_of_each(index, vectors, mask)
        limited = {m.kind for m in memories if POLICIES[m.kind].max_live is not None}
        live = {
            kind: int(index.candidates(Filters(kinds=(kind,)), everything, desk.clock()).sum())
            for kind in limited
        }
        revision = index.counters.revision
    return Surroundings(
        revision,
        [_calibrated(desk, memory, near) for memory, near in zip(memories, found, strict=True)],
        live,
    )


def _nearest_of_each(
    index: ScopeIndex, vectors: Vectors, mask: Mask
) -> list[list[tuple[str, float]]]:
    """In blocks: one product for many rows is far cheaper than a product for each."""
    return [
        _nearest(index.ids, cosines)
        for start in range(0, len(vectors), _AT_ONCE)
        for cosines in index.cosines_of_many(vectors[start : start + _AT_ONCE], mask)
    ]


def _nearest(ids: Sequence[str], cosines: Vector) -> list[tuple[str, float]]:
    count = min(NEAREST, len(cosines))
    if not count:
        return []
    best = np.argpartition(cosines, len(cosines) - count)[-count:]
    ranked = sorted(best.tolist(), key=lambda slot: (-cosines[slot], slot))
    return [(ids[slot], float(cosines[slot])) for slot in ranked if np.isfinite(cosines[slot])]


def _calibrated(
    desk: Desk, memory: Memory, near: Sequence[tuple[str, float]]
) -> tuple[Neighbour, ...]:
    cosines = np.array([cosine for _, cosine in near], dtype=np.float32)
    similarities = desk.similarities(cosines, memory.searchable_text)
    if similarities is None:
        return ()
    return tuple(
        Neighbour(id, value) for (id, _), value in zip(near, similarities.tolist(), strict=True)
    )

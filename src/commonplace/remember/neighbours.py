"""What is already remembered nearby."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from commonplace.desk import Desk, Vector
from commonplace.model.filters import Filters, Visibility
from commonplace.model.kinds import Kind
from commonplace.model.memory import Memory
from commonplace.model.scope import Scope

NEAREST = 5


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
    desk: Desk, scope: Scope, memories: Sequence[Memory], vectors: Sequence[Vector] | None
) -> Surroundings:
    with desk.index.reading(scope) as index:
        everything = Visibility(cleared=True)
        mask = index.candidates(Filters(), everything, desk.clock())
        found: list[list[tuple[str, float]]] = []
        for place in range(len(memories)):
            cosines = index.cosines(vectors[place], mask) if vectors is not None else None
            found.append([] if cosines is None else _nearest(index.ids, cosines))
        limited = {memory.kind for memory in memories}
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


def _nearest(ids: Sequence[str], cosines: Vector) -> list[tuple[str, float]]:
    count = min(NEAREST, len(cosines))
    if not count:
        return []
    best = np.argpartition(-cosines, count - 1)[:count]
    ranked = sorted(best.tolist(), key=lambda slot: (-cosines[slot], slot))
    return [(ids[slot], float(cosines[slot])) for slot in ranked if np.isfinite(cosines[slot])]


def _calibrated(
    desk: Desk, memory: Memory, near: Sequence[tuple[str, float]]
) -> tuple[Neighbour, ...]:
    known = ((id, desk.similarity(cosine, memory.searchable_text)) for id, cosine in near)
    return tuple(Neighbour(id, value) for id, value in known if value is not None)

"""Links between memories that speak of one thing."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime

from commonplace.desk import Desk, Vector
from commonplace.model.memory import Link, Memory
from commonplace.remember.neighbours import NEAREST, Neighbour

LINK_AT_LEAST = 0.75
MAX_LINKS = NEAREST


def links_for(memory: Memory, neighbours: Iterable[Neighbour], at: datetime) -> list[Link]:
    near = [n for n in neighbours if n.similarity >= LINK_AT_LEAST and n.id != memory.id]
    nearest = sorted(near, key=lambda n: (-n.similarity, n.id))[:MAX_LINKS]
    return [Link.between(memory.id, n.id, round(n.similarity, 4), at) for n in nearest]


def within_batch(
    desk: Desk, memories: Sequence[Memory], vectors: Sequence[Vector] | None, place: int
) -> list[Neighbour]:
    """Those of the same batch that come before: they are neighbours too, once stored."""
    if vectors is None:
        return []
    found = []
    for earlier in range(place):
        cosine = float(vectors[earlier] @ vectors[place])
        similarity = desk.similarity(cosine, memories[place].searchable_text)
        if similarity is not None:
            found.append(Neighbour(memories[earlier].id, similarity))
    return found

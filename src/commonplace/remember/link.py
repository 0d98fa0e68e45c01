"""Links between memories that speak of one thing."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime

import numpy as np

from commonplace.desk import Desk
from commonplace.language.models.embedder import Vectors
from commonplace.model.changes import Changeset, connected
from commonplace.model.journal import Node
from commonplace.model.memory import Link, Memory
from commonplace.model.scope import Principal
from commonplace.remember.neighbours import NEAREST, Neighbour, look_around

LINK_AT_LEAST = 0.75
MAX_LINKS = NEAREST


def links_for(memory: Memory, neighbours: Iterable[Neighbour], at: datetime) -> list[Link]:
    near = [n for n in neighbours if n.similarity >= LINK_AT_LEAST and n.id != memory.id]
    nearest = sorted(near, key=lambda n: (-n.similarity, n.id))[:MAX_LINKS]
    return [Link.between(memory.id, n.id, round(n.similarity, 4), at) for n in nearest]


def link_late(
    desk: Desk, principal: Principal, memories: Sequence[Memory], vectors: Vectors
) -> None:
    """Links of memories whose vectors came after they were stored."""

    def decide() -> tuple[Changeset, None]:
        now = desk.clock()
        around = look_around(desk, principal.scope, memories, vectors)
        steps = tuple(
            connected(link, node=Node.WORKER)
            for memory, near in zip(memories, around.neighbours, strict=True)
            if memory.is_live(now)
            for link in links_for(memory, near, now)
        )
        return Changeset(principal.scope, now, principal.actor, steps, around.revision), None

    desk.decide(decide)


def within_batch(
    desk: Desk, memories: Sequence[Memory], vectors: Vectors | None, place: int
) -> list[Neighbour]:
    """Those of the same batch that come before: near enough, they are linked once stored."""
    if vectors is None or not place:
        return []
    cosines = vectors[:place] @ vectors[place]
    text = memories[place].searchable_text
    similarities = desk.similarities(cosines, text)
    if similarities is None:
        return []
    return [
        Neighbour(memories[earlier].id, similarity)
        for earlier in np.flatnonzero(similarities >= LINK_AT_LEAST).tolist()
        if (other := memories[earlier].searchable_text)
        and (similarity := desk.similarity(float(cosines[earlier]), text, other)) is not None
    ]

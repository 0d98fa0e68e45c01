"""What is already remembered nearby: neighbours to link with, rivals to compare with."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from commonplace.desk import Desk, Vector
from commonplace.language.identity import NAME
from commonplace.language.models.embedder import Vectors
from commonplace.model.changes import Indexing
from commonplace.model.filters import NO_FILTERS, Filters, Visibility
from commonplace.model.kinds import POLICIES, Kind
from commonplace.model.memory import Memory
from commonplace.model.profile import is_of_profile
from commonplace.model.scope import Scope
from commonplace.store.index import Mask, ScopeIndex

NEAREST = 5
RIVALS = 6  # of each way of finding them
MAX_KNOWN = 24  # that share a key
_TERMS_ASKED = 32
_ENOUGH_WORDS = 0.34  # less in common, and two statements are about different things
_FEW_WORDS = 4
_ENOUGH_ALIKE = 0.75  # similarity: below what is near
_AT_ONCE = 64


@dataclass(frozen=True, slots=True)
class Neighbour:
    id: str
    similarity: float  # calibrated


@dataclass(frozen=True, slots=True)
class Rival:
    """Perhaps about the same."""

    id: str
    cosine: float | None  # None: without a vector


@dataclass(frozen=True, slots=True)
class Surroundings:
    """Visit 1 of a write: what the decision rests on, and as of which revision."""

    revision: int
    neighbours: Sequence[Sequence[Neighbour]]  # per new memory, nearest first
    rivals: Sequence[Sequence[Rival]]
    known: dict[str, Memory]  # all of these as they stand
    live_by_kind: dict[Kind, int]


def look_around(
    desk: Desk,
    scope: Scope,
    memories: Sequence[Memory],
    vectors: Vectors | None,
    indexes: Sequence[Indexing] = (),
) -> Surroundings:
    """With indexes also the rivals of each, found by keys, by words and by vectors."""
    with desk.index.reading(scope) as index:
        look = _Look(desk, index)
        found = [
            (
                look.nearest(cosines),
                look.rivals(memories[place], indexes[place], cosines) if indexes else [],
            )
            for place, cosines in enumerate(look.cosines(vectors, len(memories)))
        ]
        limited = {m.kind for m in memories if POLICIES[m.kind].max_live is not None}
        live = {kind: int(look.mask_of(kind).sum()) for kind in limited}
        revision = index.counters.revision
    ids = dict.fromkeys(each.id for near, rivals in found for each in (*near, *rivals))
    known = {memory.id: memory for memory in desk.store.fetch(scope, list(ids))}
    return Surroundings(
        revision,
        [_calibrated(desk, m, near, known) for m, (near, _) in zip(memories, found, strict=True)],
        [rivals for _, rivals in found],
        known,
        live,
    )


class _Look:
    """At one state of the index, for a batch."""

    def __init__(self, desk: Desk, index: ScopeIndex):
        self._desk = desk
        self._index = index
        self._now = desk.clock()
        self._everyone = Visibility(cleared=True)
        everything = index.candidates(NO_FILTERS, self._everyone, self._now)
        self._mask = everything & ~index.passages
        self._masks: dict[Kind, Mask] = {}

    def mask_of(self, kind: Kind) -> Mask:
        if kind not in self._masks:
            filters = Filters(kinds=(kind,))
            self._masks[kind] = self._index.candidates(filters, self._everyone, self._now)
        return self._masks[kind]

    def cosines(self, vectors: Vectors | None, count: int) -> Iterator[Vector | None]:
        """In blocks: one product for many rows is far cheaper than a product for each."""
        if vectors is None:
            yield from [None] * count
            return
        for start in range(0, len(vectors), _AT_ONCE):
            yield from self._index.cosines_of_many(vectors[start : start + _AT_ONCE], self._mask)

    def nearest(self, cosines: Vector | None) -> list[Rival]:
        """Of any kind."""
        slots = [] if cosines is None else _best(cosines, NEAREST)
        return [Rival(self._index.ids[slot], _cosine(cosines, slot)) for slot in slots]

    def rivals(self, memory: Memory, indexing: Indexing, cosines: Vector | None) -> list[Rival]:
        """Who shares a key; of the nearest by words and by vector those that share enough."""
        mask = self.mask_of(memory.kind)
        said = [key for key in indexing.keys if not key.startswith(NAME)]
        slots = self._index.known_by(said, mask)[-MAX_KNOWN:]
        terms = list(indexing.terms)[:_TERMS_ASKED]
        scores, held = self._index.bm25(terms, mask)
        slots += [
            slot
            for slot in _best(scores, RIVALS)
            if scores[slot] > 0  # others are of another kind, or share no word
            and self._overlap(slot, held, len(terms)) >= _ENOUGH_WORDS
        ]
        if cosines is not None:
            alike = self._desk.similarities(cosines, memory.searchable_text)
            slots += [
                slot
                for slot in _best(np.where(mask, cosines, -np.inf), RIVALS)
                if (alike is not None and alike[slot] >= _ENOUGH_ALIKE)
                or self._overlap(slot, held, len(terms)) >= _ENOUGH_WORDS
            ]
        return [
            Rival(self._index.ids[slot], _cosine(cosines, slot))
            for slot in dict.fromkeys(slots)
            if not is_of_profile(self._index.ids[slot])
        ]

    def _overlap(self, slot: int, held: Vector, asked: int) -> float:
        """The share of the shorter one's words that the other has too; too few say nothing."""
        shorter = min(asked, int(self._index.lengths[slot]))
        return float(held[slot]) * asked / shorter if shorter > _FEW_WORDS else 1.0


def _cosine(cosines: Vector | None, slot: int) -> float | None:
    return None if cosines is None or not np.isfinite(cosines[slot]) else float(cosines[slot])


def _best(scores: NDArray[np.floating], count: int) -> list[int]:
    """Slots, best first; among equals the older."""
    count = min(count, len(scores))
    if not count:
        return []
    best = np.argpartition(scores, len(scores) - count)[-count:].tolist()
    ranked: list[int] = sorted(best, key=lambda slot: (-scores[slot], slot))
    return [slot for slot in ranked if np.isfinite(scores[slot])]


def _calibrated(
    desk: Desk, memory: Memory, near: Sequence[Rival], known: dict[str, Memory]
) -> tuple[Neighbour, ...]:
    """Those whose similarity is known: the model reads both texts."""
    text = memory.searchable_text
    return tuple(
        Neighbour(each.id, similarity)
        for each in near
        if each.id in known
        and (similarity := desk.similarity(each.cosine, text, known[each.id].searchable_text))
        is not None
    )

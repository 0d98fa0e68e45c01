"""Comparing new memories with their rivals: rows are fetched and texts embedded for all at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from commonplace.desk import Desk
from commonplace.language.models.embedder import Vectors
from commonplace.language.statements.compare import Comparison
from commonplace.model.changes import Indexing
from commonplace.model.kinds import Kind
from commonplace.model.memory import Memory
from commonplace.remember.decide import Weighed
from commonplace.remember.neighbours import MAX_KNOWN, RIVALS, Rival, Surroundings
from commonplace.remember.relate import compared, relate, texts_to_liken

Texts = tuple[str, str]
_ALIKE_IN_A_BATCH = 0.5  # cosine from which two of one batch are compared


@dataclass(slots=True)
class Scales:
    """Similarities of texts, asked of the embedder once."""

    desk: Desk
    likened: dict[Texts, float | None] = field(default_factory=dict)
    compared: dict[Texts, Comparison | None] = field(default_factory=dict)

    def comparison(self, new: Memory, old: Memory) -> Comparison | None:
        pair = (new.ref, old.ref)
        if pair not in self.compared:
            self.compared[pair] = compared(new, old)
        return self.compared[pair]

    def prepare(self, pairs: Sequence[tuple[Memory, Memory]]) -> None:
        wanted = [
            texts
            for new, old in pairs
            if (texts := texts_to_liken(new, old, self.comparison(new, old)))
        ]
        missing = [texts for texts in dict.fromkeys(wanted) if texts not in self.likened]
        if not missing:
            return
        vectors = self.desk.embed([text for texts in missing for text in texts])
        for place, texts in enumerate(missing):
            cosine = None if vectors is None else float(vectors[2 * place] @ vectors[2 * place + 1])
            self.likened[texts] = self.desk.similarity(cosine, *texts)

    def weigh(self, new: Memory, old: Memory, cosine: float | None) -> Weighed:
        similarity = self.desk.similarity(cosine, new.searchable_text, old.searchable_text)
        comparison = self.comparison(new, old)
        texts = texts_to_liken(new, old, comparison)
        likened = self.likened.get(texts) if texts else None
        return Weighed(old, relate(new, old, similarity, likened, comparison), similarity)


def rivals_in_batch(
    memories: Sequence[Memory], indexes: Sequence[Indexing], vectors: Vectors | None
) -> list[list[Rival]]:
    """For each, those before it in the same batch that share a key or are alike."""
    known: dict[tuple[Kind, str], list[int]] = {}
    rivals: list[list[Rival]] = []
    for place, memory in enumerate(memories):
        earlier: set[int] = set()
        for key in indexes[place].keys:
            # The first may have been stored and the others held; the last may have superseded.
            same = known.get((memory.kind, key), [])
            earlier |= {*same[: MAX_KNOWN // 2], *same[-MAX_KNOWN // 2 :]}
        cosines = None if vectors is None or not place else vectors[:place] @ vectors[place]
        if cosines is not None:
            alike = [
                p
                for p in np.flatnonzero(cosines >= _ALIKE_IN_A_BATCH).tolist()
                if memories[p].kind is memory.kind
            ]
            earlier |= set(sorted(alike, key=lambda p: -cosines[p])[:RIVALS])
        rivals.append(
            [
                Rival(memories[p].id, None if cosines is None else float(cosines[p]))
                for p in sorted(earlier)
            ]
        )
        for key in indexes[place].keys:
            known.setdefault((memory.kind, key), []).append(place)
    return rivals


def pairs_of(
    memories: Sequence[Memory], rivals: Sequence[Sequence[Rival]], known: Mapping[str, Memory]
) -> list[tuple[Memory, Memory]]:
    return [
        (memory, known[rival.id])
        for memory, theirs in zip(memories, rivals, strict=True)
        for rival in theirs
        if rival.id in known
    ]


def weigh_all(desk: Desk, memories: Sequence[Memory], around: Surroundings) -> list[list[Weighed]]:
    """Each against what is stored."""
    scales, known = Scales(desk), around.known
    scales.prepare(pairs_of(memories, around.rivals, known))
    return [
        [
            scales.weigh(memory, known[rival.id], rival.cosine)
            for rival in rivals
            if rival.id in known
        ]
        for memory, rivals in zip(memories, around.rivals, strict=True)
    ]

"""What is known already and may be meant by new turns: given to the model with them.

A turn says "he moved it to Friday" weeks after it said who and what. With what is known, a model
writes full texts, and names what a correction takes back.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from commonplace.engine.access import visibility_of
from commonplace.engine.context import EngineContext
from commonplace.engine.prompt_injection import is_injected_memory
from commonplace.language.text.terms import analyse
from commonplace.model.access.principal import Principal
from commonplace.model.delta import shorten
from commonplace.model.filters import NO_FILTERS
from commonplace.model.memory.kinds import POLICIES
from commonplace.model.memory.memory import Memory
from commonplace.model.sources.source import Passage, SpeakerRole
from commonplace.store.cache.scope_index import Mask, ScopeIndex

MAX_KNOWN = 10
_OF_EACH_TURN = 3  # by words, and by meaning
_MAX_TEXT = 280  # characters


@dataclass(frozen=True, slots=True)
class KnownMemory:
    key: str  # in the prompt
    memory: Memory

    @property
    def text(self) -> str:
        return shorten(" ".join(self.memory.content.split()), _MAX_TEXT)


def find_known(
    engine: EngineContext, observer: Principal, passages: Sequence[Passage]
) -> tuple[KnownMemory, ...]:
    """The memories nearest to what the user says in these passages, the oldest first: those that
    the ``observer`` of the turns may see, since what comes of them is theirs, too. A model has no
    clearance."""
    said = [each for each in passages if each.role == SpeakerRole.USER]
    if not said or engine.model is None or not engine.model.sees_memories:
        return ()
    visibility = visibility_of(replace(observer, cleared=False))
    with engine.index.reading(observer.own_scope) as index:
        mask = index.candidates(NO_FILTERS, visibility, engine.clock()) & ~index.passages
        found = Counter(id for each in said for id in _nearest(index, mask, each))
    ids = [id for id, _ in sorted(found.items(), key=lambda each: (-each[1], each[0]))]
    own, last = {each.id for each in passages}, max(each.at for each in said)
    memories = [
        memory
        for memory in engine.store.fetch(observer.own_scope, ids)
        if visibility.admits(memory)
        and own.isdisjoint(memory.evidence)
        and memory.created_at <= last
        and (POLICIES[memory.kind].is_extracted or POLICIES[memory.kind].is_standing_instruction)
        and not is_injected_memory(engine, memory)
    ][:MAX_KNOWN]
    memories.sort(key=lambda memory: (memory.created_at, memory.content))
    return tuple(KnownMemory(f"k{n}", memory) for n, memory in enumerate(memories, 1))


def _nearest(index: ScopeIndex, mask: Mask, passage: Passage) -> Iterator[str]:
    terms = list(dict.fromkeys(analyse(passage.text)))
    scores, _ = index.bm25(terms, mask)
    yield from _best(index, np.where(scores > 0, scores, -np.inf), mask)
    slot = index.slot_of_id.get(passage.id)
    if slot is not None and index.has_vector[slot]:
        yield from _best(index, index.cosines(index.vectors[slot], mask), mask)


def _best(index: ScopeIndex, scores: np.ndarray, mask: Mask) -> list[str]:
    order = np.argsort(-scores, kind="stable")[:_OF_EACH_TURN].tolist()
    return [index.ids[slot] for slot in order if mask[slot] and np.isfinite(scores[slot])]

"""What is known already and may be meant by new turns: given to the model with them.

A turn says "he moved it to Friday" weeks after it said who and what. With what is known, a model
writes full texts, and names what a correction takes back.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice

import numpy as np

from commonplace.engine.access import visibility_of
from commonplace.engine.context import EngineContext
from commonplace.engine.prompt_injection import is_injected_memory
from commonplace.language.text.terms import analyse, query_synonyms
from commonplace.model.access.principal import Principal
from commonplace.model.delta import shorten
from commonplace.model.filters import NO_FILTERS
from commonplace.model.memory.kinds import POLICIES, Kind
from commonplace.model.memory.memory import Memory
from commonplace.model.sources.source import Passage, SpeakerRole
from commonplace.store.cache.scope_index import Mask, ScopeIndex

MAX_KNOWN = 30
MAX_CHARACTERS = 3_600  # of all of them
_RULES = 4  # the latest are always among them: turns change rules without their words
_OF_EACH_TURN = 6  # by words, and by meaning
_MAX_TEXT = 280  # characters
_SHORT_NAME = 3  # letters
_MAX_LONGER = 5


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
        rules = _latest(index, mask & index.of_kind(Kind.RULE))
        places = [place for each in said for place in _nearest(index, mask, each)]
    ids = list(dict.fromkeys([*rules, *_by_place(places)]))
    own, last = {each.id for each in passages}, max(each.at for each in said)
    memories = [
        memory
        for memory in engine.store.fetch(observer.own_scope, ids)
        if visibility.admits(memory)
        and own.isdisjoint(memory.evidence)
        and memory.created_at <= last
        and (POLICIES[memory.kind].is_extracted or POLICIES[memory.kind].is_standing_instruction)
        and not is_injected_memory(engine, memory)
    ]
    chosen = list(_that_fit(memories))
    chosen.sort(key=lambda memory: (memory.created_at, memory.content))
    return tuple(KnownMemory(f"k{n}", memory) for n, memory in enumerate(chosen, 1))


def _that_fit(memories: Iterable[Memory]) -> Iterator[Memory]:
    length = 0
    for memory in islice(memories, MAX_KNOWN):
        length += min(len(memory.content), _MAX_TEXT)
        if length <= MAX_CHARACTERS:
            yield memory


def _latest(index: ScopeIndex, mask: Mask) -> list[str]:
    slots = np.flatnonzero(mask)
    newest = slots[np.argsort(-index.numeric["created_at"][slots], kind="stable")]
    return [index.ids[slot] for slot in newest[:_RULES].tolist()]


def _by_place(places: Iterable[tuple[int, str]]) -> list[str]:
    """What is the nearest of one turn comes before what is the second of several."""
    best: dict[str, int] = {}
    times: Counter[str] = Counter()
    for place, id in places:
        best[id] = min(place, best.get(id, place))
        times[id] += 1
    return sorted(best, key=lambda id: (best[id], -times[id], id))


def _nearest(index: ScopeIndex, mask: Mask, passage: Passage) -> Iterator[tuple[int, str]]:
    """With their places, by words and by meaning."""
    terms = list(dict.fromkeys(_terms_or_longer(index, mask, passage.text)))
    scores, _ = index.bm25(terms, mask)
    yield from _best(index, np.where(scores > 0, scores, -np.inf), mask)
    slot = index.slot_of_id.get(passage.id)
    if slot is not None and index.has_vector[slot]:
        yield from _best(index, index.cosines(index.vectors[slot], mask), mask)


def _terms_or_longer(index: ScopeIndex, mask: Mask, text: str) -> Iterator[str]:
    """With other words for the same ("mama" and "mother"). Of a word that no memory has, those that
    begin with it: "doug" may be Dougal."""
    terms = analyse(text)
    yield from (term for others in query_synonyms(terms).values() for (term,) in others)
    for term in terms:
        yield term
        if len(term) >= _SHORT_NAME and not mask[index.postings.of(term)[0]].any():
            yield from index.postings.beginning_with(term)[:_MAX_LONGER]


def _best(index: ScopeIndex, scores: np.ndarray, mask: Mask) -> list[tuple[int, str]]:
    order = np.argsort(-scores, kind="stable")[:_OF_EACH_TURN].tolist()
    found = [slot for slot in order if mask[slot] and np.isfinite(scores[slot])]
    return [(place, index.ids[slot]) for place, slot in enumerate(found)]

"""Neighbours of new memories: find, compare and link similar stored ones."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

import numpy as np
from numpy.typing import NDArray

from commonplace.engine.context import EngineContext, Vector
from commonplace.engine.indexing import build_indexing, texts_of_memories
from commonplace.engine.memory_relation import (
    ComparedMemory,
    LiveCounts,
    compare_statements,
    limited_groups,
    relate_memories,
    texts_to_compare,
)
from commonplace.engine.transaction import run_transaction
from commonplace.language.compare.compare import Comparison
from commonplace.language.compare.keys import NAME_KEY_PREFIX
from commonplace.language.embedders.embedder import Vectors
from commonplace.model.access.principal import Principal, Scope
from commonplace.model.changeset import Changeset, IndexEntry, build_link
from commonplace.model.filters import NO_FILTERS, Visibility
from commonplace.model.journal import JournalNode
from commonplace.model.memory.kinds import Kind, MemoryRelation
from commonplace.model.memory.memory import Link, Memory
from commonplace.model.profile.fields import is_profile_item
from commonplace.store.cache.scope_index import Mask, ScopeIndex

MAX_NEIGHBOURS = 5
MAX_CANDIDATES = 6  # of each way of finding them
MAX_SHARING_KEY = 24  # that share a key
_MAX_QUERY_TERMS = 32
_MIN_WORD_OVERLAP = 0.34  # less in common, and two statements are about different things
_MIN_WORDS_FOR_OVERLAP = 4
_MIN_SIMILARITY = 0.75  # below the limit of near
_VECTOR_BLOCK = 64


@dataclass(frozen=True, slots=True)
class Neighbour:
    id: str
    similarity: float  # calibrated


@dataclass(frozen=True, slots=True)
class CompareCandidate:
    """A memory that may be about the same subject."""

    id: str
    cosine: float | None  # None: no vector


@dataclass(frozen=True, slots=True)
class StoredMemories:
    """Memories by id, as they are at one revision of their scope."""

    revision: int
    by_id: Mapping[str, Memory]


@dataclass(frozen=True, slots=True)
class Neighbourhood:
    """What a write's decision is based on, and as of which revision."""

    revision: int
    neighbours: Sequence[Sequence[Neighbour]]  # per new memory, nearest first
    candidates: Sequence[Sequence[CompareCandidate]]
    known: dict[str, Memory]  # the stored memories among them
    live: LiveCounts


def load_neighbourhood(
    engine: EngineContext,
    scope: Scope,
    memories: Sequence[Memory],
    vectors: Vectors | None,
    indexes: Sequence[IndexEntry] = (),
    loaded: StoredMemories | None = None,
) -> Neighbourhood:
    """Neighbours by vector; with ``indexes`` also candidates by keys, words and vectors.
    ``loaded`` memories are not read again unless the scope has changed since."""
    with engine.store.read_session():
        return _load_neighbourhood(engine, scope, memories, vectors, indexes, loaded)


def _load_neighbourhood(
    engine: EngineContext,
    scope: Scope,
    memories: Sequence[Memory],
    vectors: Vectors | None,
    indexes: Sequence[IndexEntry],
    loaded: StoredMemories | None,
) -> Neighbourhood:
    with engine.index.reading(scope) as index:
        search = _NeighbourSearch(engine, index)
        found = [
            (
                search.nearest(cosines),
                search.candidates(memories[place], indexes[place], cosines) if indexes else [],
            )
            for place, cosines in enumerate(search.cosines(vectors, len(memories)))
        ]
        live = {group: search.count_live(*group) for group in limited_groups(memories)}
        revision = index.counters.revision
    ids = dict.fromkeys(each.id for near, rivals in found for each in (*near, *rivals))
    before = loaded.by_id if loaded and loaded.revision == revision else {}
    known = {id: before[id] for id in ids if id in before}
    unread = [id for id in ids if id not in before]
    known |= {memory.id: memory for memory in engine.store.fetch(scope, unread)}
    return Neighbourhood(
        revision,
        [_calibrate(engine, m, near, known) for m, (near, _) in zip(memories, found, strict=True)],
        [rivals for _, rivals in found],
        known,
        live,
    )


def load_rivals(
    engine: EngineContext, scope: Scope, memories: Sequence[Memory], indexes: Sequence[IndexEntry]
) -> tuple[StoredMemories | None, list[tuple[Memory, Memory]]]:
    """Find by keys and words, before there are vectors, what each memory will probably be compared
    with: the stored memories, and pairs of a memory with a stored or an earlier one."""
    if not memories:
        return None, []
    with engine.store.read_session():
        with engine.index.reading(scope) as index:
            search = _NeighbourSearch(engine, index)
            found = [
                search.candidates(memory, indexing, None)
                for memory, indexing in zip(memories, indexes, strict=True)
            ]
            revision = index.counters.revision
        fetched = engine.store.fetch(scope, [each.id for rivals in found for each in rivals])
    stored = StoredMemories(revision, {memory.id: memory for memory in fetched})
    by_words = _sharing_words_in_batch(memories, indexes)
    rivals = [
        [*each, *others, *more]
        for each, others, more in zip(
            found, candidates_in_batch(memories, indexes, None), by_words, strict=True
        )
    ]
    known = {**stored.by_id, **{memory.id: memory for memory in memories}}
    return stored, pairs_to_compare(memories, rivals, known)


class _NeighbourSearch:
    """Searches one state of the index for a batch."""

    def __init__(self, engine: EngineContext, index: ScopeIndex):
        self._engine = engine
        self._index = index
        self._live = index.candidates(NO_FILTERS, Visibility(cleared=True), engine.clock())
        self._mask = self._live & ~index.passages
        self._masks: dict[Kind, Mask] = {}

    def mask_of(self, kind: Kind) -> Mask:
        if kind not in self._masks:
            self._masks[kind] = self._live & self._index.of_kind(kind)
        return self._masks[kind]

    def count_live(self, kind: Kind, agent: str | None) -> int:
        index = self._index
        owners = index.coded["agent_id"][: index.size]
        return int((self.mask_of(kind) & (owners == index.words["agent_id"].known(agent))).sum())

    def cosines(self, vectors: Vectors | None, count: int) -> Iterator[Vector | None]:
        """In blocks: one matrix product for many rows is far cheaper than one per row."""
        if vectors is None:
            yield from [None] * count
            return
        for start in range(0, len(vectors), _VECTOR_BLOCK):
            yield from self._index.cosines_of_many(
                vectors[start : start + _VECTOR_BLOCK], self._mask
            )

    def nearest(self, cosines: Vector | None) -> list[CompareCandidate]:
        """Nearest memories of any kind."""
        slots = [] if cosines is None else _best_slots(cosines, MAX_NEIGHBOURS)
        return [CompareCandidate(self._index.ids[slot], _cosine(cosines, slot)) for slot in slots]

    def candidates(
        self,
        memory: Memory,
        indexing: IndexEntry,
        cosines: Vector | None,
    ) -> list[CompareCandidate]:
        """Memories of the same kind that share a key, or enough words, or are similar."""
        mask = self.mask_of(memory.kind)
        keys = [key for key in indexing.keys if not key.startswith(NAME_KEY_PREFIX)]
        slots = self._index.slots_with_keys(keys, mask)[-MAX_SHARING_KEY:]
        terms = list(indexing.terms)[:_MAX_QUERY_TERMS]
        scores, held = self._index.bm25(terms, mask)
        slots += [
            slot
            for slot in _best_slots(scores, MAX_CANDIDATES)
            if scores[slot] > 0  # 0: another kind, or no shared word
            and self._overlap(slot, held, len(terms)) >= _MIN_WORD_OVERLAP
        ]
        if cosines is not None:
            alike = self._engine.similarities(cosines, memory.searchable_text)
            slots += [
                slot
                for slot in _best_slots(np.where(mask, cosines, -np.inf), MAX_CANDIDATES)
                if (alike is not None and alike[slot] >= _MIN_SIMILARITY)
                or self._overlap(slot, held, len(terms)) >= _MIN_WORD_OVERLAP
            ]
        return [
            CompareCandidate(self._index.ids[slot], _cosine(cosines, slot))
            for slot in dict.fromkeys(slots)
            if not is_profile_item(self._index.ids[slot])
        ]

    def _overlap(self, slot: int, held: Vector, asked: int) -> float:
        """Shared words as a fraction of the shorter text; 1 if that has too few words to tell."""
        shorter = min(asked, int(self._index.lengths[slot]))
        return float(held[slot]) * asked / shorter if shorter > _MIN_WORDS_FOR_OVERLAP else 1.0


def _cosine(cosines: Vector | None, slot: int) -> float | None:
    return None if cosines is None or not np.isfinite(cosines[slot]) else float(cosines[slot])


def _best_slots(scores: NDArray[np.floating], count: int) -> list[int]:
    """Slots, best first; older first among equals."""
    count = min(count, len(scores))
    if not count:
        return []
    best = np.argpartition(scores, len(scores) - count)[-count:].tolist()
    ranked: list[int] = sorted(best, key=lambda slot: (-scores[slot], slot))
    return [slot for slot in ranked if np.isfinite(scores[slot])]


def _calibrate(
    engine: EngineContext,
    memory: Memory,
    near: Sequence[CompareCandidate],
    known: dict[str, Memory],
) -> tuple[Neighbour, ...]:
    """Neighbours with calibrated similarity; without those where it is unknown."""
    text = memory.searchable_text
    return tuple(
        Neighbour(each.id, similarity)
        for each in near
        if each.id in known
        and (similarity := engine.similarity(each.cosine, text, known[each.id].searchable_text))
        is not None
    )


TextPair = tuple[str, str]
_MIN_BATCH_COSINE = 0.5  # cosine from which two of one batch are compared


@dataclass(slots=True)
class Comparer:
    """Compares memories of a batch. Embeds each text once, also when the batch is decided again;
    after the embedder has failed it is not called again."""

    engine: EngineContext
    compared: dict[TextPair, Comparison | None] = field(default_factory=dict)
    vectors: dict[str, Vector] = field(default_factory=dict)
    is_down: bool = False

    def embed(self, texts: Iterable[str]) -> None:
        """Embed the texts without a vector in one call."""
        missing = [text for text in dict.fromkeys(texts) if text not in self.vectors]
        if not missing or self.is_down:
            return
        rows = self.engine.embed_passages(missing)
        self.is_down = rows is None
        if rows is not None:
            self.vectors.update(zip(missing, np.asarray(rows, dtype=np.float32), strict=True))

    def vectors_of(self, texts: Sequence[str]) -> Vectors | None:
        """One row per text; None: the embedder is down."""
        self.embed(texts)
        if self.is_down:
            return None
        dimension = self.engine.embedder.dimension
        return np.array([self.vectors[text] for text in texts], np.float32).reshape(-1, dimension)

    def index(self, memories: Sequence[Memory]) -> list[IndexEntry]:
        self.embed(texts_of_memories(memories))
        return [self._entry(memory) for memory in memories]

    def _entry(self, memory: Memory) -> IndexEntry:
        rows = [self.vectors[text] for text in memory.indexed_texts if text in self.vectors]
        is_whole = len(rows) == len(memory.indexed_texts)
        return build_indexing(memory, rows if is_whole else None)

    def comparison(self, new: Memory, old: Memory) -> Comparison | None:
        pair = (new.ref, old.ref)
        if pair not in self.compared:
            self.compared[pair] = compare_statements(new, old)
        return self.compared[pair]

    def texts_of(self, pairs: Iterable[tuple[Memory, Memory]]) -> list[str]:
        """Texts whose vectors comparing these pairs needs."""
        found = (texts_to_compare(new, old, self.comparison(new, old)) for new, old in pairs)
        return [text for texts in found if texts for text in texts]

    def prepare(self, pairs: Sequence[tuple[Memory, Memory]]) -> None:
        self.embed(self.texts_of(pairs))

    def weigh(self, new: Memory, old: Memory, cosine: float | None) -> ComparedMemory:
        similarity = self.engine.similarity(cosine, new.searchable_text, old.searchable_text)
        comparison = self.comparison(new, old)
        texts = texts_to_compare(new, old, comparison)
        likened = self._likened(*texts) if texts else None
        return ComparedMemory(
            old, relate_memories(new, old, similarity, likened, comparison), similarity
        )

    def may_relate(self, new: Memory, old: Memory) -> MemoryRelation:
        """How they would relate if their texts were as similar as possible."""
        return relate_memories(new, old, 1.0, 1.0, self.comparison(new, old)).relation

    def _likened(self, one: str, other: str) -> float | None:
        if one not in self.vectors or other not in self.vectors:
            return None
        cosine = float(self.vectors[one] @ self.vectors[other])
        return self.engine.similarity(cosine, one, other)


def candidates_in_batch(
    memories: Sequence[Memory], indexes: Sequence[IndexEntry], vectors: Vectors | None
) -> list[list[CompareCandidate]]:
    """For each memory, earlier ones of the batch that share a key or are similar."""
    known: dict[tuple[Kind, str], list[int]] = {}
    rivals: list[list[CompareCandidate]] = []
    for place, memory in enumerate(memories):
        earlier: set[int] = set()
        for key in indexes[place].keys:
            # The first may be stored with the others held; the last may supersede.
            same = known.get((memory.kind, key), [])
            earlier |= {*same[: MAX_SHARING_KEY // 2], *same[-MAX_SHARING_KEY // 2 :]}
        cosines = None if vectors is None or not place else vectors[:place] @ vectors[place]
        if cosines is not None:
            alike = [
                p
                for p in np.flatnonzero(cosines >= _MIN_BATCH_COSINE).tolist()
                if memories[p].kind is memory.kind
            ]
            earlier |= set(sorted(alike, key=lambda p: -cosines[p])[:MAX_CANDIDATES])
        rivals.append(
            [
                CompareCandidate(memories[p].id, None if cosines is None else float(cosines[p]))
                for p in sorted(earlier)
            ]
        )
        for key in indexes[place].keys:
            known.setdefault((memory.kind, key), []).append(place)
    return rivals


def _sharing_words_in_batch(
    memories: Sequence[Memory], indexes: Sequence[IndexEntry]
) -> list[list[CompareCandidate]]:
    """For each memory, earlier ones of the batch that share enough of the shorter text's words."""
    known: dict[tuple[Kind, str], list[int]] = {}
    found: list[list[CompareCandidate]] = []
    for place, memory in enumerate(memories):
        terms = indexes[place].terms
        met = Counter(p for term in terms for p in known.get((memory.kind, term), ()))
        shares = {p: n / min(len(terms), len(indexes[p].terms)) for p, n in met.items()}
        best = sorted(shares, key=lambda p: (-shares[p], p))[:MAX_CANDIDATES]
        found.append(
            [CompareCandidate(memories[p].id, None) for p in best if shares[p] >= _MIN_WORD_OVERLAP]
        )
        for term in terms:
            places = known.setdefault((memory.kind, term), [])
            places.append(place)
            del places[:-MAX_SHARING_KEY]  # a word that many share distinguishes little
    return found


def pairs_to_compare(
    memories: Sequence[Memory],
    rivals: Sequence[Sequence[CompareCandidate]],
    known: Mapping[str, Memory],
) -> list[tuple[Memory, Memory]]:
    return [
        (memory, known[rival.id])
        for memory, theirs in zip(memories, rivals, strict=True)
        for rival in theirs
        if rival.id in known
    ]


def compare_all(
    engine: EngineContext, memories: Sequence[Memory], around: Neighbourhood
) -> list[list[ComparedMemory]]:
    """Compare each memory with its stored candidates."""
    comparer, known = Comparer(engine), around.known
    comparer.prepare(pairs_to_compare(memories, around.candidates, known))
    return [
        [
            comparer.weigh(memory, known[rival.id], rival.cosine)
            for rival in rivals
            if rival.id in known
        ]
        for memory, rivals in zip(memories, around.candidates, strict=True)
    ]


MIN_LINK_SIMILARITY = 0.75
MAX_LINKS = MAX_NEIGHBOURS


def build_links(memory: Memory, neighbours: Iterable[Neighbour], at: datetime) -> list[Link]:
    near = [n for n in neighbours if n.similarity >= MIN_LINK_SIMILARITY and n.id != memory.id]
    nearest = sorted(near, key=lambda n: (-n.similarity, n.id))[:MAX_LINKS]
    return [Link.between(memory.id, n.id, round(n.similarity, 4), at) for n in nearest]


def link_after_embedding(
    engine: EngineContext, principal: Principal, memories: Sequence[Memory], vectors: Vectors
) -> None:
    """Links of memories whose vectors came after they were stored."""

    def decide() -> tuple[Changeset, None]:
        now = engine.clock()
        around = load_neighbourhood(engine, principal.scope, memories, vectors)
        steps = tuple(
            build_link(link, node=JournalNode.WORKER)
            for memory, near in zip(memories, around.neighbours, strict=True)
            if memory.is_live(now)
            for link in build_links(memory, near, now)
        )
        return Changeset(principal.scope, now, principal.actor, steps, around.revision), None

    run_transaction(engine, None, decide)


def neighbours_in_batch(
    engine: EngineContext, memories: Sequence[Memory], vectors: Vectors | None, place: int
) -> list[Neighbour]:
    """Those of the same batch that come before: near enough, they are linked once stored."""
    if vectors is None or not place:
        return []
    cosines = vectors[:place] @ vectors[place]
    text = memories[place].searchable_text
    similarities = engine.similarities(cosines, text)
    if similarities is None:
        return []
    return [
        Neighbour(memories[earlier].id, similarity)
        for earlier in np.flatnonzero(similarities >= MIN_LINK_SIMILARITY).tolist()
        if (other := memories[earlier].searchable_text)
        and (similarity := engine.similarity(float(cosines[earlier]), text, other)) is not None
    ]

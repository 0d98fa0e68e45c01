"""Time travel: an engine context whose store and indexes show an earlier moment.

`context_at` returns a context whose store and indexes answer as of a point in time. Recall, lists
and other reads use it unchanged, so that the past is ranked by the same code.
"""

from __future__ import annotations

import threading
from collections.abc import Hashable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from typing import cast

import numpy as np

from commonplace.engine.access import visibility_of
from commonplace.engine.access_log import AccessLog
from commonplace.engine.context import EngineContext
from commonplace.engine.indexing import EMBED_BATCH_SIZE, index_memories
from commonplace.errors import NotFound
from commonplace.model.access.principal import Principal, ReadableScope, Scope
from commonplace.model.access.team import TeamAccess
from commonplace.model.changeset import Bookkeeping, IndexEntry
from commonplace.model.filters import UNCLEARED, Filters, Visibility
from commonplace.model.memory.lifecycle import (
    PointInTime,
    memory_at,
    newest_with_content,
    source_at,
)
from commonplace.model.memory.memory import HeldValue, Link, Memory, State, Version
from commonplace.model.profile.fields import PROFILE_PREFIX
from commonplace.model.sources.source import Passage, Source
from commonplace.store.cache.index_cache import IndexCache, PastIndex
from commonplace.store.cache.scope_index import NO_COUNTERS, ScopeIndex
from commonplace.store.port import Backend, Store
from commonplace.store.queries import (
    AssertionQuery,
    Assertions,
    CitingMemories,
    Counters,
    GrantedSources,
    GraphItems,
    GraphQuery,
    HeldQuery,
    IndexedRow,
    IndexPage,
    MemoryHistory,
    MemoryListing,
    PassageQuery,
    PassagesOf,
    SourceListing,
    SourceQuery,
)
from commonplace.store.sql.rows import memory_values, pack_terms


def load_past_index(
    engine: EngineContext, scope: Scope, then: PointInTime, visibility: Visibility
) -> PastIndex:
    """The index of what ``visibility`` admits today; its past fields are filtered by the caller."""
    now = engine.clock()
    key = _cache_key(scope, engine.store.counters(scope), then, visibility)
    cached = engine.caches.past_indexes.get(key)
    if cached is None or not cached.is_good(now):
        with engine.index.reading(scope) as present:
            index = present.copy()
        past = engine.store.past(scope, then, now, index.counters)
        index.absorb(past.missed)
        index.rewind(past.unchanged, past.cut)
        memories = list(_past_memories(past.histories, then, visibility, now))
        index.absorb(_with_rows(engine, past.page, memories))
        cached = PastIndex(index, now, past.next_end, threading.Lock())
        _cache_past_index(engine, _cache_key(scope, past.missed.counters, then, visibility), cached)
    return cached


def load_guest_past_index(
    engine: EngineContext, reading: ReadableScope, then: PointInTime
) -> PastIndex:
    """The index of the granted sources only."""
    scope, now = reading.scope, engine.clock()
    key = (reading.key, _cache_key(scope, engine.store.counters(scope), then, UNCLEARED))
    cached = engine.caches.past_indexes.get(key)
    if cached is None or not cached.is_good(now):
        granted = engine.live_sources(scope, sorted(reading.sources or ()))
        live = [source for source in granted if source.is_live(now)]
        ends = [source.ends_at for source in live if source.ends_at]
        sources = [source.id for source in live]
        page = engine.store.index_page(
            scope, NO_COUNTERS.seq, NO_COUNTERS.epoch, GrantedSources(sources, then)
        )
        index = ScopeIndex(engine.embedder.dimension)
        index.absorb(page)
        cached = PastIndex(index, now, min(ends, default=None), threading.Lock())
        _cache_past_index(
            engine, (reading.key, _cache_key(scope, page.counters, then, UNCLEARED)), cached
        )
    return cached


def _cache_past_index(engine: EngineContext, key: Hashable, past: PastIndex) -> None:
    """The key contains everything that the index depends on, including the scope's counters, so
    that no entry is ever stale."""
    engine.caches.past_indexes.put(key, past, nbytes=past.index.nbytes)


def list_past_ids(
    past: PastIndex, filters: Filters, visibility: Visibility, now: datetime
) -> list[str]:
    """The ids of all listed memories, newest first."""
    with past.lock:
        index = past.index
        slots = np.flatnonzero(index.listed(filters, visibility, now) & ~index.passages)
        units = np.array(index.units, dtype=np.int64)[slots]
        units = np.where(units < 0, ~units, units)  # reworded memories have inverted unit numbers
        order = np.lexsort((units, index.numeric["created_at"][slots]))
        return [index.ids[slot] for slot in slots[order][::-1].tolist()]


def _cache_key(
    scope: Scope, counters: Counters, then: PointInTime, visibility: Visibility
) -> tuple[object, ...]:
    """``seq`` grows with every change and every late vector, ``epoch`` with removals."""
    return (scope, counters.epoch, counters.seq, counters.generation, then, visibility)


@dataclass(frozen=True, slots=True)
class _PastMemory:
    unit: int
    memory: Memory
    is_reworded: bool  # its text was different then


def _past_memories(
    histories: Sequence[MemoryHistory], then: PointInTime, visibility: Visibility, now: datetime
) -> Iterator[_PastMemory]:
    """A memory with a different text gets an inverted unit number, which no stored row has."""
    for history in histories:
        past = memory_at(history.memory, history.versions, then, now)
        if past is None or past.state is not State.ACTIVE or not visibility.admits(history.memory):
            continue
        if not admits_past_text(visibility, past, history.versions):
            continue
        is_reworded = past.indexed_texts != history.memory.indexed_texts
        yield _PastMemory(~history.unit if is_reworded else history.unit, past, is_reworded)


def admits_past_text(visibility: Visibility, past: Memory, versions: Sequence[Version]) -> bool:
    """True if the memory is visible with its past fields and with the last version of that text."""
    return visibility.admits(past) and visibility.admits(newest_with_content(past, versions))


def _with_rows(
    engine: EngineContext, page: IndexPage, memories: Sequence[_PastMemory]
) -> IndexPage:
    reworded = [each for each in memories if each.is_reworded]
    terms, vectors = list(page.terms), list(page.vectors)
    indexes = _index_reworded(engine, [each.memory for each in reworded])
    for each, index in zip(reworded, indexes, strict=True):
        terms.append((each.unit, pack_terms(index.terms, index.keys), index.traits))
        if index.vector:
            vectors.append((each.unit, index.vector))
    rows = [_indexed_row(each.unit, each.memory) for each in memories]
    return replace(page, rows=rows, terms=terms, vectors=vectors)


def _index_reworded(engine: EngineContext, memories: Sequence[Memory]) -> list[IndexEntry]:
    """In batches. Without the embedder, the past texts are found by lexical search only."""
    return [
        index
        for start in range(0, len(memories), EMBED_BATCH_SIZE)
        for index in index_memories(engine, memories[start : start + EMBED_BATCH_SIZE])[0]
    ]


def _indexed_row(unit: int, memory: Memory) -> IndexedRow:
    """``ends_at`` is cleared: the caller has filtered out expired memories."""
    values = {**memory_values(memory), "unit": unit, "ends_at": None}
    return IndexedRow(**{name: values[name] for name in IndexedRow._fields})


def context_at(engine: EngineContext, principal: Principal, then: PointInTime) -> EngineContext:
    """A context as of ``then``; the same context for the present."""
    if then.is_now:
        return engine
    past = _PastMoment(engine, principal, then)
    return replace(
        engine,
        store=cast(Backend, PastStore(past)),
        index=cast(IndexCache, PastScopeIndexes(past)),
        access_log=cast(AccessLog, PastAccessLog(engine)),
        clock=lambda: then.known_at or engine.clock(),
        caches=engine.caches.without_understandings(),  # unit numbers differ from the present
        moment=then,
        model=None,  # its answers are kept and counted in the present
    )


@dataclass(frozen=True, slots=True)
class _PastMoment:
    """The caller and the moment. What is hidden from the caller today is hidden then, too."""

    engine: EngineContext
    principal: Principal
    then: PointInTime

    @property
    def store(self) -> Store:
        return self.engine.store

    @property
    def now(self) -> datetime:
        return self.engine.clock()

    @property
    def visibility(self) -> Visibility:
        return visibility_of(self.principal)

    @property
    def by_id(self) -> Visibility:
        """By id, the owner sees all items, including sensitive ones."""
        return Visibility(cleared=True) if self.principal.is_owner else self.visibility

    def memory_then(
        self, memory: Memory, versions: Sequence[Version], visibility: Visibility
    ) -> Memory | None:
        if not visibility.admits(memory):
            return None
        then = memory_at(memory, versions, self.then, self.now)
        return then if then and admits_past_text(visibility, then, versions) else None


class PastScopeIndexes:
    """Replaces the index cache by past indexes, which are kept for one call."""

    def __init__(self, past: _PastMoment):
        self._past = past
        self._indexes: dict[tuple[str, ...], PastIndex] = {}

    @contextmanager
    def reading(self, scope: Scope) -> Iterator[ScopeIndex]:
        with self.holding([ReadableScope(scope)]) as (index,):
            yield index

    @contextmanager
    def holding(self, readings: Sequence[ReadableScope]) -> Iterator[list[ScopeIndex]]:
        """Lock in key order, like the present indexes."""
        indexes = {reading.key: self._index_of(reading) for reading in readings}
        with ExitStack() as held:
            for key in sorted(indexes):
                held.enter_context(indexes[key].lock)
            yield [indexes[reading.key].index for reading in readings]

    def _index_of(self, reading: ReadableScope) -> PastIndex:
        if reading.key not in self._indexes:
            self._indexes[reading.key] = self._make(reading)
        return self._indexes[reading.key]

    def _make(self, reading: ReadableScope) -> PastIndex:
        past = self._past
        if reading.sources is not None:
            return load_guest_past_index(past.engine, reading, past.then)
        # A team's passages are the same for all members, so they share one index.
        visibility = past.visibility if reading.scope == past.principal.scope else UNCLEARED
        return load_past_index(past.engine, reading.scope, past.then, visibility)


class PastAccessLog:
    """Records searches, but no reads of memories and no cursor."""

    def __init__(self, engine: EngineContext):
        self._engine = engine

    def record_later(self, bookkeeping: Bookkeeping) -> None:
        now = self._engine.clock()
        turns = tuple(replace(turn, at=now) for turn in bookkeeping.turns)
        recorded = replace(bookkeeping, at=now, touched={}, cursor=None, turns=turns)
        self._engine.access_log.record_later(recorded)

    def flush(self) -> None:
        self._engine.access_log.flush()


class PastStore:
    """The store's read methods as of a point in time; no writes."""

    def __init__(self, past: _PastMoment):
        self._past = past
        self._store = past.store

    def read_session(self, scope: Scope | None = None) -> AbstractContextManager[None]:
        return self._store.read_session(scope)

    def end_read_transaction(self, *, renew: bool = False) -> None:
        self._store.end_read_transaction(renew=renew)

    def counters(self, scope: Scope) -> Counters:
        return self._store.counters(scope)

    def access(self, scope: Scope) -> TeamAccess:
        """Access is always checked as of today."""
        return self._store.access(scope)

    # ——— memories ———

    def fetch(self, scope: Scope, ids: Sequence[str]) -> list[Memory]:
        return self._memories_then(scope, ids, self._past.by_id)

    def _memories_then(
        self, scope: Scope, ids: Sequence[str], visibility: Visibility
    ) -> list[Memory]:
        versions = self._versions(scope, ids)
        found = (
            self._past.memory_then(memory, versions.get(memory.id, ()), visibility)
            for memory in self._store.fetch(scope, ids)
        )
        return [memory for memory in found if memory]

    def page(self, scope: Scope, listing: MemoryListing | CitingMemories) -> list[Memory]:
        """Active memories by the past index. Listing options for maintenance are not supported.
        Only the rows of the page are read."""
        if isinstance(listing, CitingMemories):
            citing = [memory.id for memory in self._store.page(scope, listing)]
            return self._memories_then(scope, citing, self._past.by_id)
        past, visibility = self._past, listing.visibility
        past_index = load_past_index(past.engine, scope, past.then, visibility)
        ids = list_past_ids(past_index, listing.filters, visibility, past.now)
        if listing.only_profile:
            ids = [id for id in ids if id.startswith(PROFILE_PREFIX)]
        start, found = _place_after(ids, listing.after), list[Memory]()
        while (
            start < len(ids) and len(found) < listing.limit
        ):  # one iteration, unless rows were just removed
            end = start + listing.limit - len(found)
            found += self._memories_then(scope, ids[start:end], visibility)
            start = end
        return found

    def versions(self, scope: Scope, ids: Sequence[str]) -> list[Version]:
        """All versions: `show` filters by time and visibility."""
        return self._store.versions(scope, ids)

    def _versions(self, scope: Scope, ids: Sequence[str]) -> dict[str, list[Version]]:
        found: dict[str, list[Version]] = {}
        for version in self._store.versions(scope, ids):
            found.setdefault(version.memory.id, []).append(version)
        return found

    def links(self, scope: Scope, ids: Sequence[str]) -> list[Link]:
        known_at = self._past.then.known_at
        links = self._store.links(scope, ids)
        return [link for link in links if known_at is None or link.created_at <= known_at]

    def held(self, scope: Scope, query: HeldQuery | None = None) -> list[HeldValue]:
        """Pending values belong to the present."""
        return []

    # ——— the graph: `graph_as_of` computes it from what was recorded by then ———

    def assertions(self, scope: Scope, query: AssertionQuery) -> Assertions:
        return self._store.assertions(scope, query)

    def graph_items(self, scope: Scope, query: GraphQuery) -> GraphItems:
        return self._store.graph_items(scope, query)

    # ——— sources ———

    def sources(self, scope: Scope, query: SourceQuery) -> list[Source]:
        if isinstance(query, SourceListing):
            query = replace(query, then=self._past.then)
        return self._as_they_were(scope, self._store.sources(scope, query))

    def _as_they_were(self, scope: Scope, sources: Sequence[Source]) -> list[Source]:
        units = self._store.units_then(scope, [source.id for source in sources], self._past.then)
        return [
            source_at(source, len(units[source.id]), self._past.then)
            for source in sources
            if source.id in units and not source.has_ended(self._past.now)
        ]

    def passages(self, scope: Scope, query: PassageQuery) -> dict[int, Passage]:
        """Units of the past index need no filter: the text of a unit never changes."""
        found = self._store.passages(scope, query)
        if not isinstance(query, PassagesOf):
            return found
        id = query.source_id
        units = self._store.units_then(scope, [id], self._past.then).get(id, frozenset())
        return {unit: passage for unit, passage in found.items() if unit in units}


def _place_after(ids: Sequence[str], id: str | None) -> int:
    if id is None:
        return 0
    if id not in ids:
        raise NotFound(f"Unknown cursor: after={id!r}.", field="after")
    return ids.index(id) + 1

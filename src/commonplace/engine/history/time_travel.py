"""Time travel: an engine context whose store and indexes show an earlier moment.

`context_at` gives one whose store and index show a scope as it was then. Recall, lists and other
reads through a context need not know of it, so that ranking in the past is the same function.
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
from commonplace.engine.context import EngineContext, Vector
from commonplace.engine.indexing import EMBED_BATCH_SIZE, build_indexing
from commonplace.errors import NotFound
from commonplace.model.access.principal import Principal, ReadableScope, Scope
from commonplace.model.access.team import TeamAccess
from commonplace.model.changeset import Bookkeeping
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
    Counters,
    GrantedSources,
    HeldQuery,
    IndexedRow,
    IndexPage,
    MemoryHistory,
    MemoryListing,
    PassageQuery,
    PassagesByUnit,
    SourceListing,
    SourceQuery,
)
from commonplace.store.sql.rows import memory_values, pack_terms


def load_past_index(
    engine: EngineContext, scope: Scope, then: PointInTime, seen: Visibility
) -> PastIndex:
    """Of what ``seen`` admits today; what it said then is judged by whoever asks the index."""
    now = engine.clock()
    key = _cache_key(scope, engine.store.counters(scope), then, seen)
    kept = engine.caches.past_indexes.get(key)
    if kept is None or not kept.is_good(now):
        with engine.index.reading(scope) as present:
            index = present.copy()
        past = engine.store.past(scope, then, now, index.counters)
        index.absorb(past.missed)
        index.rewind(past.unchanged, past.cut)
        standing = list(_past_memories(past.histories, then, seen, now))
        index.absorb(_with_rows(engine, past.page, standing))
        kept = PastIndex(index, now, past.next_end, threading.Lock())
        _keep(engine, _cache_key(scope, past.missed.counters, then, seen), kept)
    return kept


def load_guest_past_index(
    engine: EngineContext, reading: ReadableScope, then: PointInTime
) -> PastIndex:
    """Of the sources that are granted there, and of nothing else."""
    scope, now = reading.scope, engine.clock()
    key = (reading.key, _cache_key(scope, engine.store.counters(scope), then, UNCLEARED))
    kept = engine.caches.past_indexes.get(key)
    if kept is None or not kept.is_good(now):
        granted = engine.live_sources(scope, sorted(reading.sources or ()))
        live = [source for source in granted if source.is_live(now)]
        ends = [source.ends_at for source in live if source.ends_at]
        sources = [source.id for source in live]
        page = engine.store.index_page(
            scope, NO_COUNTERS.seq, NO_COUNTERS.epoch, GrantedSources(sources, then)
        )
        index = ScopeIndex(engine.embedder.dimension)
        index.absorb(page)
        kept = PastIndex(index, now, min(ends, default=None), threading.Lock())
        _keep(engine, (reading.key, _cache_key(scope, page.counters, then, UNCLEARED)), kept)
    return kept


def _keep(engine: EngineContext, key: Hashable, past: PastIndex) -> None:
    """A key names all that an index depends on: a change of memory moves its numbers, so that
    nothing stale is ever found."""
    engine.caches.past_indexes.put(key, past, nbytes=past.index.nbytes)


def list_past_ids(past: PastIndex, filters: Filters, seen: Visibility, now: datetime) -> list[str]:
    """Of all memories that a list may show, newest first."""
    with past.lock:
        index = past.index
        slots = np.flatnonzero(index.listed(filters, seen, now) & ~index.passages)
        units = np.array(index.units, dtype=np.int64)[slots]
        units = np.where(units < 0, ~units, units)  # as if nothing had been reworded
        order = np.lexsort((units, index.numeric["created_at"][slots]))
        return [index.ids[slot] for slot in slots[order][::-1].tolist()]


def _cache_key(
    scope: Scope, counters: Counters, then: PointInTime, seen: Visibility
) -> tuple[object, ...]:
    """``seq`` moves with every change and every late vector, ``epoch`` when something vanished."""
    return (scope, counters.epoch, counters.seq, counters.generation, then, seen)


@dataclass(frozen=True, slots=True)
class _PastMemory:
    unit: int
    memory: Memory
    is_reworded: bool  # it said something else then, and is found by other words


def _past_memories(
    lives: Sequence[MemoryHistory], then: PointInTime, seen: Visibility, now: datetime
) -> Iterator[_PastMemory]:
    """Words that are not said any more have a unit of their own, which no stored one is."""
    for life in lives:
        stood = memory_at(life.memory, life.versions, then, now)
        if stood is None or stood.state is not State.ACTIVE or not seen.admits(life.memory):
            continue
        if not admits_past_text(seen, stood, life.versions):
            continue
        is_reworded = stood.searchable_text != life.memory.searchable_text
        yield _PastMemory(~life.unit if is_reworded else life.unit, stood, is_reworded)


def admits_past_text(seen: Visibility, stood: Memory, versions: Sequence[Version]) -> bool:
    """Neither then nor when these words were last said was it kept from the reader."""
    return seen.admits(stood) and seen.admits(newest_with_content(stood, versions))


def _with_rows(
    engine: EngineContext, page: IndexPage, standing: Sequence[_PastMemory]
) -> IndexPage:
    reworded = [each for each in standing if each.is_reworded]
    terms, vectors = list(page.terms), list(page.vectors)
    for each, vector in zip(reworded, _embed_reworded(engine, reworded), strict=True):
        index = build_indexing(each.memory, vector)
        terms.append((each.unit, pack_terms(index.terms, index.keys), index.traits))
        if index.vector:
            vectors.append((each.unit, index.vector))
    rows = [_indexed_row(each.unit, each.memory) for each in standing]
    return replace(page, rows=rows, terms=terms, vectors=vectors)


def _embed_reworded(engine: EngineContext, reworded: Sequence[_PastMemory]) -> list[Vector | None]:
    """In batches. While the embedder is down, these words are found as words alone."""
    texts = [each.memory.searchable_text for each in reworded]
    found: list[Vector | None] = []
    for start in range(0, len(texts), EMBED_BATCH_SIZE):
        batch = texts[start : start + EMBED_BATCH_SIZE]
        vectors = engine.embed(batch)
        found += [None] * len(batch) if vectors is None else list(vectors)
    return found


def _indexed_row(unit: int, memory: Memory) -> IndexedRow:
    """Whether it has ended is decided already."""
    values = {**memory_values(memory), "unit": unit, "ends_at": None}
    return IndexedRow(**{name: values[name] for name in IndexedRow._fields})


def context_at(engine: EngineContext, principal: Principal, then: PointInTime) -> EngineContext:
    """The same context where nothing is asked about another moment than now."""
    if then.is_now:
        return engine
    past = _PastMoment(engine, principal, then)
    return replace(
        engine,
        store=cast(Backend, PastStore(past)),
        index=cast(IndexCache, PastScopeIndexes(past)),
        access_log=cast(AccessLog, PastAccessLog(engine)),
        clock=lambda: then.known_at or engine.clock(),
        caches=engine.caches.without_understandings(),  # the past has other units than today
        moment=then,
    )


@dataclass(frozen=True, slots=True)
class _PastMoment:
    """Who looks at which moment. What they may not see today they do not see then either."""

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
        """By id, the owner sees everything of theirs."""
        return Visibility(cleared=True) if self.principal.is_owner else self.visibility

    def stood(self, memory: Memory, versions: Sequence[Version], seen: Visibility) -> Memory | None:
        if not seen.admits(memory):
            return None
        then = memory_at(memory, versions, self.then, self.now)
        return then if then and admits_past_text(seen, then, versions) else None


class PastScopeIndexes:
    """Of scopes as they stood, in the place of those that follow the present. One verb looks at
    one past: what it has looked at it keeps until it ends."""

    def __init__(self, past: _PastMoment):
        self._past = past
        self._kept: dict[tuple[str, ...], PastIndex] = {}

    @contextmanager
    def reading(self, scope: Scope) -> Iterator[ScopeIndex]:
        with self.holding([ReadableScope(scope)]) as (index,):
            yield index

    @contextmanager
    def holding(self, readings: Sequence[ReadableScope]) -> Iterator[list[ScopeIndex]]:
        """Locked in one order, as those of the present are."""
        kept = {reading.key: self._keep(reading) for reading in readings}
        with ExitStack() as held:
            for key in sorted(kept):
                held.enter_context(kept[key].lock)
            yield [kept[reading.key].index for reading in readings]

    def _keep(self, reading: ReadableScope) -> PastIndex:
        if reading.key not in self._kept:
            self._kept[reading.key] = self._make(reading)
        return self._kept[reading.key]

    def _make(self, reading: ReadableScope) -> PastIndex:
        past = self._past
        if reading.sources is not None:
            return load_guest_past_index(past.engine, reading, past.then)
        # A team's passages are the same for each of its members, who share them.
        seen = past.visibility if reading.scope == past.principal.scope else UNCLEARED
        return load_past_index(past.engine, reading.scope, past.then, seen)


class PastAccessLog:
    """That something was looked for is noted; looking back touches nothing."""

    def __init__(self, engine: EngineContext):
        self._engine = engine

    def record_later(self, bookkeeping: Bookkeeping) -> None:
        now = self._engine.clock()
        turns = tuple(replace(turn, at=now) for turn in bookkeeping.turns)
        noted = replace(bookkeeping, at=now, touched={}, cursor=None, turns=turns)
        self._engine.access_log.record_later(noted)

    def flush(self) -> None:
        self._engine.access_log.flush()


class PastStore:
    """What those who read ask a store for, answered as of then. It has no writes."""

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
        """Who may look, and where, is of today."""
        return self._store.access(scope)

    # ——— memories ———

    def fetch(self, scope: Scope, ids: Sequence[str]) -> list[Memory]:
        return self._stood(scope, ids, self._past.by_id)

    def _stood(self, scope: Scope, ids: Sequence[str], seen: Visibility) -> list[Memory]:
        versions = self._versions(scope, ids)
        found = (
            self._past.stood(memory, versions.get(memory.id, ()), seen)
            for memory in self._store.fetch(scope, ids)
        )
        return [memory for memory in found if memory]

    def page(self, scope: Scope, listing: MemoryListing) -> list[Memory]:
        """Of what is active, as the index of then knows it; the other wishes of a listing are of
        the night's, which does not travel. Only the rows of the page are read."""
        past, seen = self._past, listing.visibility
        kept = load_past_index(past.engine, scope, past.then, seen)
        ids = list_past_ids(kept, listing.filters, seen, past.now)
        if listing.only_profile:
            ids = [id for id in ids if id.startswith(PROFILE_PREFIX)]
        start, found = _place_after(ids, listing.after), list[Memory]()
        while start < len(ids) and len(found) < listing.limit:  # once, unless some just vanished
            end = start + listing.limit - len(found)
            found += self._stood(scope, ids[start:end], seen)
            start = end
        return found

    def versions(self, scope: Scope, ids: Sequence[str]) -> list[Version]:
        """All of them: which were known then, and whose they are, is for `show` to say."""
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
        """What waits for a decision is of today."""
        return []

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
        """By units of the index of then all that is asked for: what a unit says never changes."""
        found = self._store.passages(scope, query)
        if isinstance(query, PassagesByUnit):
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

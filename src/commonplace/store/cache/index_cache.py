"""Index cache: scope indexes within a memory budget; indexes of past moments."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import datetime

from commonplace.model.access.principal import ReadableScope, Scope
from commonplace.store.cache.bounded_cache import BoundedCache
from commonplace.store.cache.scope_index import NO_COUNTERS, ScopeIndex
from commonplace.store.port import Store
from commonplace.store.queries import Counters, GrantedSources, IndexPage

DEFAULT_INDEX_BUDGET = 1 << 30


class _CachedIndex:
    def __init__(self, dimension: int):
        self.index = ScopeIndex(dimension)
        self.lock = threading.Lock()


_IndexKey = tuple[str, ...]  # of a Reading


class IndexCache:
    """One index for each scope, shared by all who may read it; a guest's holds the granted sources
    alone, so that nothing else shows in any answer."""

    def __init__(self, store: Store, dimension: int, budget: int = DEFAULT_INDEX_BUDGET):
        self._store = store
        self._dimension = dimension
        self._indexes: BoundedCache[_IndexKey, _CachedIndex] = BoundedCache(max_bytes=budget)

    @contextmanager
    def reading(self, scope: Scope) -> Iterator[ScopeIndex]:
        """The scope's index as of now, held still while it is read."""
        reading = ReadableScope(scope)
        kept = self._cached(reading)
        with ExitStack() as held:
            with self._store.read_session(scope):
                held.enter_context(kept.lock)
                self._catch_up(reading, kept)
            yield kept.index

    @contextmanager
    def holding(self, readings: Sequence[ReadableScope]) -> Iterator[list[ScopeIndex]]:
        """The indexes of all of these, each as of now, held still together.

        Each catches up while it alone is held, so that who reads one of them waits for no other to
        be built. They are locked in one order, so that no two wait for each other, and after the
        store was entered: whoever holds one of them waits for no connection.
        """
        if len(readings) == 1 and readings[0].sources is None:
            with self.reading(readings[0].scope) as index:
                yield [index]
            return
        wanted = {reading.key: (reading, self._cached(reading)) for reading in readings}
        with ExitStack() as held:
            with self._store.read_session(readings[0].scope):
                for reading, kept in wanted.values():
                    with kept.lock:
                        self._catch_up(reading, kept)
                for key in sorted(wanted):
                    reading, kept = wanted[key]
                    held.enter_context(kept.lock)
                    if kept.index.counters == NO_COUNTERS:  # another's catching up has failed
                        self._catch_up(reading, kept)
            yield [wanted[reading.key][1].index for reading in readings]

    def _cached(self, reading: ReadableScope) -> _CachedIndex:
        return self._indexes.get_or_make(reading.key, lambda: _CachedIndex(self._dimension))

    def _catch_up(self, reading: ReadableScope, kept: _CachedIndex) -> None:
        index = kept.index
        if index.needs_rebuild:
            index.counters = NO_COUNTERS
        known = index.counters
        page = self._page(reading, known)
        if page.counters.seq < known.seq or page.counters.epoch < known.epoch:
            self._store.end_read_transaction(renew=True)
            page = self._page(reading, known)
        if (page.counters.seq, page.counters.epoch) == (known.seq, known.epoch):
            return
        if reading.sources is not None:  # a page of some sources is always all of it
            index.counters = NO_COUNTERS
        index.absorb(page)
        self._indexes.resize(reading.key, kept, index.nbytes)

    def _page(self, reading: ReadableScope, known: Counters) -> IndexPage:
        granted = None if reading.sources is None else GrantedSources(sorted(reading.sources))
        return self._store.index_page(reading.scope, known.seq, known.epoch, granted)

    def drop(self, scope: Scope) -> None:
        self._indexes.drop(lambda key: key[0] == scope.key)

    @property
    def nbytes(self) -> int:
        return self._indexes.nbytes

    def scopes(self) -> list[str]:
        cached = self._indexes.keys()
        return [key[0] for key in cached]


@dataclass(frozen=True, slots=True)
class PastIndex:
    index: ScopeIndex
    made_at: datetime
    good_until: datetime | None  # when the first memory or source in it ends; None: never
    lock: threading.Lock  # held while the index is read

    def is_good(self, now: datetime) -> bool:
        return self.made_at <= now and (self.good_until is None or now < self.good_until)

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


_IndexKey = tuple[str, ...]  # ReadableScope.key


class IndexCache:
    """One index per scope, shared by all who may read it. A guest's index contains only the granted
    sources, so that nothing else can affect an answer."""

    def __init__(self, store: Store, dimension: int, budget: int = DEFAULT_INDEX_BUDGET):
        self._store = store
        self._dimension = dimension
        self._indexes: BoundedCache[_IndexKey, _CachedIndex] = BoundedCache(max_bytes=budget)

    @contextmanager
    def reading(self, scope: Scope) -> Iterator[ScopeIndex]:
        """The scope's index, up to date and locked while it is read."""
        readable = ReadableScope(scope)
        cached = self._cached(readable)
        with ExitStack() as locks:
            with self._store.read_session(scope):
                locks.enter_context(cached.lock)
                self._catch_up(readable, cached)
            yield cached.index

    @contextmanager
    def holding(self, readable: Sequence[ReadableScope]) -> Iterator[list[ScopeIndex]]:
        """The indexes of all of these, each up to date, locked together.

        Each catches up while only its own lock is held, so that readers of one do not wait for
        another to be built. The locks are taken in the order of the keys, which prevents deadlocks,
        and within a read session, so that a lock holder never waits for a connection.
        """
        if len(readable) == 1 and readable[0].sources is None:
            with self.reading(readable[0].scope) as index:
                yield [index]
            return
        wanted = {each.key: (each, self._cached(each)) for each in readable}
        with ExitStack() as locks:
            with self._store.read_session(readable[0].scope):
                for each, cached in wanted.values():
                    with cached.lock:
                        self._catch_up(each, cached)
                for key in sorted(wanted):
                    each, cached = wanted[key]
                    locks.enter_context(cached.lock)
                    if cached.index.counters == NO_COUNTERS:  # another thread's catch-up failed
                        self._catch_up(each, cached)
            yield [wanted[each.key][1].index for each in readable]

    def _cached(self, readable: ReadableScope) -> _CachedIndex:
        return self._indexes.get_or_make(readable.key, lambda: _CachedIndex(self._dimension))

    def _catch_up(self, readable: ReadableScope, cached: _CachedIndex) -> None:
        index = cached.index
        if index.needs_rebuild:
            index.counters = NO_COUNTERS
        known = index.counters
        page = self._page(readable, known)
        if page.counters.seq < known.seq or page.counters.epoch < known.epoch:
            self._store.end_read_transaction(renew=True)
            page = self._page(readable, known)
        if (page.counters.seq, page.counters.epoch) == (known.seq, known.epoch):
            return
        if readable.sources is not None:  # a page of granted sources is always complete
            index.counters = NO_COUNTERS
        index.absorb(page)
        self._indexes.resize(readable.key, cached, index.nbytes)

    def _page(self, readable: ReadableScope, known: Counters) -> IndexPage:
        granted = None if readable.sources is None else GrantedSources(sorted(readable.sources))
        return self._store.index_page(readable.scope, known.seq, known.epoch, granted)

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
    good_until: datetime | None  # when the first memory or source in it expires; None: never
    lock: threading.Lock  # held while the index is read

    def is_good(self, now: datetime) -> bool:
        return self.made_at <= now and (self.good_until is None or now < self.good_until)

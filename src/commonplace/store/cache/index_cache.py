"""Index cache: bounded LRU caches of scope indexes, present and past."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Generic, TypeVar

from commonplace.model.access.principal import ReadableScope, Scope
from commonplace.store.cache.scope_index import NO_COUNTERS, ScopeIndex
from commonplace.store.port import Counters, IndexPage, Store

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class BoundedCache(Generic[K, V]):
    """One value for each key, made when it is first asked for. It weighs nothing until its owner
    has weighed it; one that is heavier than the whole budget is not kept at all."""

    def __init__(self, budget: int, make: Callable[[], V]):
        self._budget = budget
        self._make = make
        self._kept: OrderedDict[K, V] = OrderedDict()
        self._weights: dict[K, int] = {}
        self._total = 0
        self._lock = threading.Lock()

    def take(self, key: K) -> V:
        with self._lock:
            if key not in self._kept:
                self._kept[key] = self._make()
            self._kept.move_to_end(key)
            return self._kept[key]

    def weigh(self, key: K, value: V, nbytes: int) -> None:
        with self._lock:
            if self._kept.get(key) is not value:
                return  # dropped meanwhile: it lives only as long as who reads it
            self._total += nbytes - self._weights.get(key, 0)
            self._weights[key] = nbytes
            if nbytes > self._budget:
                self._let_go(key)  # first, or all the others would go for nothing
            while self._total > self._budget:
                self._let_go(next(iter(self._kept)))

    def drop(self, where: Callable[[K], bool]) -> None:
        with self._lock:
            for key in [key for key in self._kept if where(key)]:
                self._let_go(key)

    def _let_go(self, key: K) -> None:
        del self._kept[key]
        self._total -= self._weights.pop(key, 0)

    @property
    def nbytes(self) -> int:
        with self._lock:
            return self._total

    def kept(self) -> list[K]:
        with self._lock:
            return [*self._kept]


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
        self._shelf: BoundedCache[_IndexKey, _CachedIndex] = BoundedCache(
            budget, lambda: _CachedIndex(dimension)
        )

    @contextmanager
    def reading(self, scope: Scope) -> Iterator[ScopeIndex]:
        """The scope's index as of now, held still while it is read."""
        reading = ReadableScope(scope)
        kept = self._shelf.take(reading.key)
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
        wanted = {reading.key: (reading, self._shelf.take(reading.key)) for reading in readings}
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

    def _catch_up(self, reading: ReadableScope, kept: _CachedIndex) -> None:
        index = kept.index
        if index.needs_rebuild:
            index.counters = NO_COUNTERS
        known = index.counters
        page = self._page(reading, known)
        if page.counters.seq < known.seq or page.counters.epoch < known.epoch:
            self._store.end_read_transaction()
            page = self._page(reading, known)
        if (page.counters.seq, page.counters.epoch) == (known.seq, known.epoch):
            return
        if reading.sources is not None:  # a page of some sources is always all of it
            index.counters = NO_COUNTERS
        index.absorb(page)
        self._shelf.weigh(reading.key, kept, index.nbytes)

    def _page(self, reading: ReadableScope, known: Counters) -> IndexPage:
        if reading.sources is None:
            return self._store.index_page(reading.scope, known.seq, known.epoch)
        ids = sorted(reading.sources)
        return self._store.index_page_of(reading.scope, ids, known.seq, known.epoch)

    def drop(self, scope: Scope) -> None:
        self._shelf.drop(lambda key: key[0] == scope.key)

    @property
    def nbytes(self) -> int:
        return self._shelf.nbytes

    def scopes(self) -> list[str]:
        return [key[0] for key in self._shelf.kept()]


MAX_PAST_INDEXES = 16  # of several scopes, for one who reads them together
MAX_PAST_BYTES = 1 << 28  # of all that are kept


@dataclass(frozen=True, slots=True)
class PastIndex:
    index: ScopeIndex
    made_at: datetime
    good_until: datetime | None  # when the first memory or source in it ends; None: never
    lock: threading.Lock  # held while the index is read

    def is_good(self, now: datetime) -> bool:
        return self.made_at <= now and (self.good_until is None or now < self.good_until)


class PastIndexCache:
    """By a key that names all that a past index depends on: the scope's numbers, who asks, and
    the moments. A change of memory moves the numbers, so that nothing stale is ever found."""

    def __init__(self, kept: int = MAX_PAST_INDEXES, max_bytes: int = MAX_PAST_BYTES):
        self._most = kept
        self._max_bytes = max_bytes
        self._kept: OrderedDict[Hashable, PastIndex] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: Hashable, now: datetime) -> PastIndex | None:
        with self._lock:
            found = self._kept.get(key)
            if found is None or not found.is_good(now):
                return None
            self._kept.move_to_end(key)
            return found

    def keep(self, key: Hashable, past: PastIndex) -> None:
        with self._lock:
            self._kept[key] = past
            self._kept.move_to_end(key)
            while len(self._kept) > self._most or self._nbytes() > self._max_bytes:
                self._kept.popitem(last=False)

    def _nbytes(self) -> int:
        return sum(past.index.nbytes for past in self._kept.values())

    def __len__(self) -> int:
        return len(self._kept)

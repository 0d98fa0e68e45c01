"""Scope indexes kept in this process, within a memory budget."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager

from commonplace.model.reach import Reading
from commonplace.model.scope import Scope
from commonplace.store.index import UNKNOWN, ScopeIndex
from commonplace.store.port import Counters, IndexPage, Store
from commonplace.store.shelf import Shelf

DEFAULT_BUDGET = 1 << 30


class _Kept:
    def __init__(self, dimension: int):
        self.index = ScopeIndex(dimension)
        self.lock = threading.Lock()


_Key = tuple[str, ...]  # of a Reading


class IndexCache:
    """One index for each scope, shared by all who may read it; a guest's holds the granted sources
    alone, so that nothing else shows in any answer."""

    def __init__(self, store: Store, dimension: int, budget: int = DEFAULT_BUDGET):
        self._store = store
        self._shelf: Shelf[_Key, _Kept] = Shelf(budget, lambda: _Kept(dimension))

    @contextmanager
    def reading(self, scope: Scope) -> Iterator[ScopeIndex]:
        """The scope's index as of now, held still while it is read."""
        reading = Reading(scope)
        kept = self._shelf.take(reading.key)
        with kept.lock:
            self._catch_up(reading, kept)
            yield kept.index

    @contextmanager
    def holding(self, readings: Sequence[Reading]) -> Iterator[list[ScopeIndex]]:
        """The indexes of all of these, each as of now, held still together.

        Each catches up while it alone is held, so that who reads one of them waits for no other to
        be built. They are locked in one order, so that no two wait for each other.
        """
        if len(readings) == 1 and readings[0].sources is None:
            with self.reading(readings[0].scope) as index:
                yield [index]
            return
        wanted = {reading.key: (reading, self._shelf.take(reading.key)) for reading in readings}
        for reading, kept in wanted.values():
            with kept.lock:
                self._catch_up(reading, kept)
        with ExitStack() as held:
            for key in sorted(wanted):
                reading, kept = wanted[key]
                held.enter_context(kept.lock)
                if kept.index.counters == UNKNOWN:  # meanwhile another's catching up has failed
                    self._catch_up(reading, kept)
            yield [wanted[reading.key][1].index for reading in readings]

    def _catch_up(self, reading: Reading, kept: _Kept) -> None:
        index = kept.index
        if index.is_worn:
            index.counters = UNKNOWN
        known = index.counters
        page = self._page(reading, known)
        if (page.counters.seq, page.counters.epoch) == (known.seq, known.epoch):
            return
        if reading.sources is not None:  # a page of some sources is always all of it
            index.counters = UNKNOWN
        index.absorb(page)
        self._shelf.weigh(reading.key, kept, index.nbytes)

    def _page(self, reading: Reading, known: Counters) -> IndexPage:
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

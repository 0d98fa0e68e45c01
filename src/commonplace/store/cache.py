"""Scope indexes kept in this process, within a memory budget."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager

from commonplace.model.scope import Scope
from commonplace.store.index import UNKNOWN, ScopeIndex
from commonplace.store.port import Store

DEFAULT_BUDGET = 1 << 30


class _Kept:
    def __init__(self, dimension: int):
        self.index = ScopeIndex(dimension)
        self.lock = threading.Lock()
        self.nbytes = 0


class IndexCache:
    """The least recently used scope goes first; one larger than the budget is not kept at all."""

    def __init__(self, store: Store, dimension: int, budget: int = DEFAULT_BUDGET):
        self._store = store
        self._dimension = dimension
        self._budget = budget
        self._kept: OrderedDict[str, _Kept] = OrderedDict()
        self._lock = threading.Lock()
        self._total = 0

    @contextmanager
    def reading(self, scope: Scope) -> Iterator[ScopeIndex]:
        """The scope's index as of now, held still while it is read."""
        with self._lock:
            kept = self._kept.get(scope.key)
            if kept is None:
                kept = self._kept[scope.key] = _Kept(self._dimension)
            self._kept.move_to_end(scope.key)
        with kept.lock:
            if self._catch_up(scope, kept.index):
                self._weigh(scope, kept)
            yield kept.index

    def _catch_up(self, scope: Scope, index: ScopeIndex) -> bool:
        if index.is_worn:
            index.counters = UNKNOWN
        known = index.counters
        page = self._store.index_page(scope, known.seq, known.epoch)
        changed = (page.counters.seq, page.counters.epoch) != (known.seq, known.epoch)
        if changed:
            index.absorb(page)
        return changed

    def _weigh(self, scope: Scope, kept: _Kept) -> None:
        with self._lock:
            if self._kept.get(scope.key) is not kept:
                return  # dropped meanwhile: it lives only as long as this read
            before, kept.nbytes = kept.nbytes, kept.index.nbytes
            self._total += kept.nbytes - before
            if kept.nbytes > self._budget:
                self._let_go(scope.key)  # first, or every other scope would go for nothing
            while self._total > self._budget:
                self._let_go(next(iter(self._kept)))

    def drop(self, scope: Scope) -> None:
        with self._lock:
            self._let_go(scope.key)

    def _let_go(self, key: str) -> None:
        gone = self._kept.pop(key, None)
        self._total -= gone.nbytes if gone else 0

    @property
    def nbytes(self) -> int:
        with self._lock:
            return self._total

    def scopes(self) -> list[str]:
        with self._lock:
            return list(self._kept)

"""Several indexes held at once: nobody waits for somebody who waits for them, and a scope that is
slow to be read keeps no other one locked."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from itertools import permutations

import pytest

from commonplace.model.access.principal import ReadableScope, Scope
from commonplace.store.cache.index_cache import IndexCache
from support.making import EMBEDDER, a_memory, put

SCOPES = [Scope(f"team:{name}") for name in "abc"]
READINGS = [ReadableScope(scope, is_own=False) for scope in SCOPES]
SOON = 60  # seconds: nothing here takes one


@pytest.fixture
def filled(store):
    for scope in SCOPES:
        put(store, [a_memory(f"A lamp of {scope.name}")], scope)
    return store


def test_index_cache_holding_in_any_order_does_not_deadlock(filled):
    cache = IndexCache(filled, EMBEDDER.dimension)
    together = threading.Barrier(6)

    def read(order):
        together.wait(SOON)
        for _ in range(40):
            with cache.holding(order) as indexes:
                assert [index.size for index in indexes] == [1, 1, 1]
            with cache.reading(order[0].scope) as index:
                assert index.size == 1
        return True

    with ThreadPoolExecutor(6) as pool:
        waiting = [pool.submit(read, order) for order in permutations(READINGS)]
        assert all(each.result(SOON) for each in waiting)


class Gate:
    """The store, where one scope is slow to be read."""

    def __init__(self, store, slow):
        self._store = store
        self._slow = slow
        self.asked, self.open = threading.Event(), threading.Event()

    def index_page(self, scope, after_seq, epoch, granted=None):
        if scope == self._slow:
            self.asked.set()
            assert self.open.wait(SOON)
        return self._store.index_page(scope, after_seq, epoch, granted)

    def __getattr__(self, name):
        return getattr(self._store, name)


@pytest.mark.parametrize("slow", range(3))
def test_index_cache_slow_scope_does_not_block_other_scopes(filled, slow):
    gate = Gate(filled, SCOPES[slow])
    cache = IndexCache(gate, EMBEDDER.dimension)

    def hold_all():
        with cache.holding(READINGS) as indexes:
            return [index.size for index in indexes]

    def hold_others():
        others = [each for place, each in enumerate(READINGS) if place != slow]
        with cache.holding(others) as indexes:
            return [index.size for index in indexes]

    with ThreadPoolExecutor(2) as pool:
        all_of_them = pool.submit(hold_all)
        try:
            assert gate.asked.wait(SOON)
            assert pool.submit(hold_others).result(SOON) == [1, 1]
            assert not all_of_them.done()
        finally:
            gate.open.set()
        assert all_of_them.result(SOON) == [1, 1, 1]


def test_index_cache_holds_a_repeated_scope_once(filled):
    cache = IndexCache(filled, EMBEDDER.dimension)
    with cache.holding([READINGS[0], READINGS[0]]) as (one, other):
        assert one is other

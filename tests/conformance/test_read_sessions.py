"""Read sessions: several reads are one transaction, and nobody waits for somebody who waits."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from commonplace.errors import StoreError
from commonplace.store.cache.graph_cache import GraphCache
from commonplace.store.cache.index_cache import IndexCache
from commonplace.store.port import MemoryListing
from support.making import ANA, BOB, EMBEDDER, a_memory, put
from support.stores import is_postgres, open_store

SOON = 60  # seconds: nothing here takes one


def contents(store, scope=ANA):
    return sorted(memory.content for memory in store.page(scope, MemoryListing()))


def elsewhere(ask, *given):
    """In another thread."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(ask, *given).result(SOON)


def test_read_session_sees_one_state(store):
    put(store, [a_memory("A lamp")])
    with store.read_session():
        assert contents(store) == ["A lamp"]
        elsewhere(put, store, [a_memory("B lamp")])
        with store.read_session(ANA):
            assert contents(store) == ["A lamp"]
        assert elsewhere(contents, store) == ["A lamp", "B lamp"]
        store.end_read_transaction()
        assert contents(store) == ["A lamp", "B lamp"]
    assert contents(store) == ["A lamp", "B lamp"]


def test_read_session_reads_each_scope_separately(store):
    put(store, [a_memory("Hers")], ANA)
    put(store, [a_memory("His", user_id="bob")], BOB)
    with store.read_session(ANA):
        assert [contents(store, scope) for scope in (ANA, BOB, ANA)] == [
            ["Hers"],
            ["His"],
            ["Hers"],
        ]
        with store._reading(ANA) as outer:
            assert contents(store, BOB) == ["His"]
            if is_postgres(store.url):
                outer._cursor.execute("SELECT DISTINCT scope FROM memories")
                assert outer._cursor.fetchall() == [("user:ana",)]


@pytest.mark.parametrize("in_memory", [False, True], ids=["stored", "in memory"])
def test_read_session_sees_writes_made_within(store, in_memory):
    chosen = open_store(":memory:") if in_memory else store
    with chosen.read_session(ANA):
        assert contents(chosen) == []
        put(chosen, [a_memory("A lamp")])
        assert contents(chosen) == ["A lamp"]
        put(chosen, [a_memory("B lamp")])
        assert contents(chosen) == ["A lamp", "B lamp"]
    if in_memory:
        chosen.close()


def _fail(store):
    with store._reading(ANA) as session:
        asked = getattr(session, "_cursor", None) or session._connection
        asked.execute("SELECT no_such_column FROM memories")


def test_read_session_continues_after_a_failed_read(store):
    put(store, [a_memory("A lamp")])
    with store.read_session(ANA):
        with pytest.raises(StoreError):
            _fail(store)
        assert contents(store) == ["A lamp"]
    assert contents(store) == ["A lamp"]


def test_read_session_does_not_roll_back_a_newer_index(store):
    cache, graphs = (kind(store, EMBEDDER.dimension) for kind in (IndexCache, GraphCache))
    put(store, [a_memory("A lamp")])

    def size():
        with cache.reading(ANA) as index:
            return index.size, index.counters.revision

    def write_and_read():
        put(store, [a_memory("B lamp")])
        graphs.of(ANA)
        return size()

    with store.read_session():
        assert size() == (1, 1)
        assert elsewhere(write_and_read) == (2, 2)
        assert size() == (2, 2)
        assert contents(store) == ["A lamp", "B lamp"]  # rows are as new as the index
        graphs.of(ANA)


@pytest.mark.parametrize("in_memory", [False, True], ids=["stored", "in memory"])
def test_read_session_with_more_threads_than_connections_does_not_deadlock(store_url, in_memory):
    options = {"pool_size": 2} if is_postgres(store_url) and not in_memory else {}
    store = open_store(":memory:" if in_memory else store_url, **options)
    cache, graphs = (kind(store, EMBEDDER.dimension) for kind in (IndexCache, GraphCache))
    put(store, [a_memory("A lamp")])
    together = threading.Barrier(8)

    def work(number):
        together.wait(SOON)
        for turn in range(15):
            with store.read_session():
                with cache.reading(ANA) as index:
                    assert index.size
                graphs.of(ANA)
                with cache.reading(ANA) as index:
                    ids = list(index.ids)
                assert store.fetch(ANA, ids)
            if number == 0:
                put(store, [a_memory(f"Lamp {turn}")])
            with cache.reading(ANA) as index:
                assert index.size
        return True

    with ThreadPoolExecutor(8) as pool:
        waiting = [pool.submit(work, number) for number in range(8)]
        assert all(each.result(SOON) for each in waiting)
    store.close()

"""Revisions are numbered in the order of commits, so that no reader ever skips one."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from commonplace.store import failpoints
from commonplace.store.cache.index_cache import IndexCache
from commonplace.store.queries import JournalQuery
from support.making import ANA, BOB, EMBEDDER, a_memory, put
from support.settled import until
from support.stores import open_store, raw

WAIT = 60  # seconds at most, for what happens at once


@pytest.fixture
def held_commit():
    """A writer in the thread named `slow` stops just before its commit, until it is let go."""
    arrived, let_go = threading.Event(), threading.Event()

    def hook(name):
        if name == "apply.before_commit" and threading.current_thread().name == "slow":
            arrived.set()
            assert let_go.wait(WAIT)

    failpoints.install_hook(hook)
    yield arrived, let_go
    let_go.set()
    failpoints.install_hook(None)


def waiting_for_a_lock(url):
    [(count,)] = raw(
        url,
        "SELECT count(*) FROM pg_stat_activity "
        "WHERE datname = current_database() AND wait_event_type = 'Lock'",
    )
    return count


def test_commit_order_makes_the_next_revision_wait_for_an_open_one(postgres, held_commit):
    url = postgres.database()
    store = open_store(url)
    arrived, let_go = held_commit
    first, slow, quick = a_memory("first"), a_memory("slow"), a_memory("quick")
    put(store, [first])
    cache = IndexCache(store, EMBEDDER.dimension)

    def seen():
        with cache.reading(ANA) as index:
            return index.counters.revision, set(index.slot_of_id)

    revisions = {}
    writers = [
        threading.Thread(
            target=lambda m=memory, n=name: revisions.update({n: put(store, [m]).revision}),
            name=name,
        )
        for name, memory in (("slow", slow), ("quick", quick))
    ]
    writers[0].start()
    assert arrived.wait(WAIT)
    writers[1].start()
    until(lambda: waiting_for_a_lock(url) == 1)

    assert seen() == (1, {first.id})  # readers neither wait nor see what is not committed
    assert put(store, [a_memory()], BOB).revision == 1  # and other owners go on writing
    assert revisions == {}

    let_go.set()
    for writer in writers:
        writer.join(WAIT)
    assert revisions == {"slow": 2, "quick": 3}
    assert seen() == (3, {first.id, slow.id, quick.id})
    store.close()
    postgres.give_back(url)


def test_commit_order_shows_readers_every_revision_up_to_theirs(store):
    """Four writers, two readers with caches of their own, all at once."""
    writers, each = 4, 12
    written: dict[int, str] = {}
    done = threading.Event()

    def write(_):
        for _ in range(each):
            memory = a_memory()
            written[put(store, [memory]).revision] = memory.id

    def read(_):
        cache = IndexCache(store, EMBEDDER.dimension)
        seen = []
        while not done.is_set():
            with cache.reading(ANA) as index:
                seen.append((index.counters.revision, frozenset(index.slot_of_id)))
        return seen

    with ThreadPoolExecutor(writers + 2) as pool:
        readers = [pool.submit(read, number) for number in range(2)]
        try:
            for outcome in [pool.submit(write, number) for number in range(writers)]:
                outcome.result(WAIT)
        finally:
            done.set()
        views = [view for reader in readers for view in reader.result(WAIT)]
    assert sorted(written) == list(range(1, writers * each + 1))
    for revision, ids in views:
        assert ids == {written[number] for number in range(1, revision + 1)}
    rows = store.journal(ANA, JournalQuery())
    assert [(row.seq, row.entry.subject) for row in rows] == sorted(written.items())

"""The second door: what is worth writing down but is no change of memory."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from threading import Barrier

from commonplace.model.changeset import Bookkeeping, build_removal
from commonplace.model.journal import Entry, Event, Op
from commonplace.store.cache.scope_index import ScopeIndex
from commonplace.store.queries import JournalQuery, MemoryListing
from support.clock import START
from support.making import ANA, BOB, EMBEDDER, a_memory, adding, changeset, indexed, put, updating
from support.stores import all_rows

LATER = START + timedelta(hours=1)
EVEN_LATER = START + timedelta(hours=2)


def test_record_adds_up_touches_and_keeps_the_latest_access_time(store):
    item = a_memory()
    put(store, [item])
    store.record(Bookkeeping(ANA, EVEN_LATER, touched={item.id: 2}))
    store.record(Bookkeeping(ANA, LATER, touched={item.id: 1}))  # comes in late
    read = store.fetch(ANA, [item.id])[0]
    assert (read.access_count, read.last_accessed_at) == (3, EVEN_LATER)


def test_record_changes_neither_revision_nor_updated_at(store):
    item = a_memory()
    put(store, [item])
    search = Entry(op=Op.SEARCH)
    store.record(
        Bookkeeping(
            ANA,
            LATER,
            touched={item.id: 1},
            entries=(search, search),
            cursor=("helper", "t", 1),
            vectors={item.ref: indexed(item).vector},
            tidied=True,
        )
    )
    counters = store.counters(ANA)
    assert counters.revision == 1
    assert counters.tidied_at == LATER
    assert store.fetch(ANA, [item.id])[0].updated_at == item.updated_at
    assert len(store.versions(ANA, [item.id])) == 1


def test_record_numbers_operational_journal_entries_with_the_others(store):
    item = a_memory()
    put(store, [item])
    store.record(
        Bookkeeping(ANA, LATER, entries=(Entry(op=Op.SEARCH), Entry(op=Op.CLASSIFY)), thread_id="t")
    )
    put(store, [a_memory()])
    rows = store.journal(ANA, JournalQuery())
    assert [(row.seq, row.revision, row.entry.op) for row in rows] == [
        (1, 1, Op.CREATE),
        (2, 1, Op.SEARCH),
        (3, 1, Op.CLASSIFY),
        (4, 2, Op.CREATE),
    ]
    assert len(store.journal(ANA, JournalQuery(events_only=True))) == 2


def test_record_moves_a_cursor_only_forward(store):
    put(store, [a_memory()])
    assert store.cursor(ANA, "helper", "t") is None
    for seen, expected in ((3, 3), (2, 3), (5, 5)):
        store.record(Bookkeeping(ANA, LATER, cursor=("helper", "t", seen)))
        assert store.cursor(ANA, "helper", "t") == expected
    assert store.cursor(ANA, "helper", "other") is None
    assert store.cursor(ANA, "", "t") is None


def test_record_writes_nothing_for_an_unknown_scope(store, store_url):
    put(store, [a_memory(id="a")])
    before = all_rows(store_url)
    books = Bookkeeping(
        BOB,
        LATER,
        touched={"a": 1},
        entries=(Entry(op=Op.SEARCH),),
        cursor=("", "t", 1),
        vectors={"a@1": b"1234"},
        tidied=True,
    )
    store.record(books)
    assert all_rows(store_url) == before


def test_record_ignores_touches_of_missing_or_foreign_memories(store, store_url):
    hers = a_memory()
    put(store, [hers])
    put(store, [a_memory()], BOB)
    before = all_rows(store_url)
    store.record(Bookkeeping(BOB, LATER, touched={hers.id: 1, "never was": 1}))
    assert all_rows(store_url) == before


def test_record_of_a_late_vector_advances_seq_for_caches(store):
    item = a_memory()
    store.apply(changeset(adding(item, vector=False)))
    index = ScopeIndex(EMBEDDER.dimension)
    index.absorb(store.index_page(ANA, 0, -1))
    assert not index.has_vector[: index.size].any()
    before = store.counters(ANA)

    store.record(Bookkeeping(ANA, LATER, vectors={item.ref: indexed(item).vector}))

    after = store.counters(ANA)
    assert (after.seq, after.revision) == (before.seq + 1, before.revision)
    assert store.page(ANA, MemoryListing(without_vector=True)) == []
    index.absorb(store.index_page(ANA, before.seq, before.epoch))
    assert index.has_vector[: index.size].all()


def test_record_drops_a_vector_of_an_old_version(store):
    """Reworded since the vector was made: it would speak of words that are no longer there."""
    first = a_memory("About lamps")
    store.apply(changeset(adding(first, vector=False)))
    reworded = updating(first, content="About ships", reindexed=True)
    store.apply(changeset(reworded))
    store.record(Bookkeeping(ANA, LATER, vectors={first.ref: indexed(first).vector}))
    page = store.index_page(ANA, 0, -1)
    assert [vector for _, vector in page.vectors] == [indexed(reworded.after).vector]


def test_record_and_concurrent_erase_of_the_same_rows_do_not_deadlock(store):
    """Both touch the same rows; taken in different orders, they would wait for each other."""
    rounds = 12
    items = [[a_memory() for _ in range(6)] for _ in range(rounds)]
    for batch in items:
        put(store, batch)
    together = Barrier(3, timeout=60)

    def read(order):
        for batch in items:
            together.wait()
            touched = {item.id: 1 for item in batch[::order]}
            store.record(Bookkeeping(ANA, LATER, touched=touched, entries=(Entry(op=Op.SEARCH),)))

    def erase():
        for batch in items:
            together.wait()
            store.apply(changeset(*(build_removal(item, event=Event.ERASE) for item in batch)))

    with ThreadPoolExecutor(3) as pool:
        for outcome in [pool.submit(read, 1), pool.submit(read, -1), pool.submit(erase)]:
            outcome.result(timeout=120)
    assert store.page(ANA, MemoryListing()) == []
    assert len(store.journal(ANA, JournalQuery(events_only=False))) == 2 * 6 * rounds + 2 * rounds

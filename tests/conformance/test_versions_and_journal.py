"""Every change leaves a version and a line in the journal; the journal holds no text."""

from collections import Counter
from datetime import timedelta

import pytest

from commonplace.model.journal import Event
from commonplace.store.queries import JournalQuery
from support.clock import START
from support.making import ANA, a_memory, adding, changeset, put, updating
from support.stores import raw

# Words that occur nowhere but in what is remembered and asked.
SECRETS = ("zanzibar", "quokka", "xylophone", "wombat", "kookaburra", "numbat")


@pytest.fixture
def eventful(book, clock):
    """A user to whom everything has happened that writes to the journal."""
    me = book.user("ana")
    note = me.remember(
        "Zanzibar is an island with a quokka", kind="note", thread="t1", tags=["quokka"]
    )
    me.remember("Zanzibar is an island with a quokka!", kind="fact", thread="t2")
    kv = me.remember(kind="kv", metadata={"subject": "quokka", "value": "wombat"})
    clock.tick(hours=1)
    me.update(note.id, importance=4, tags=["xylophone"], metadata={"about": "kookaburra"})
    me.update(kv.id, metadata={"value": "xylophone"})
    reworded = me.update(note.id, content="Zanzibar has a numbat")
    clock.tick(hours=1)
    me.recall("zanzibar wombat", thread="t1")
    me.recall("kookaburra")
    me.profile_set("city", "Zanzibar")
    me.profile_set("city", "Quokka Town")
    me.profile_note("Plays the xylophone")
    proposed = me.agent("planner").propose("city", "Wombat Hill", reason="a quokka said so")
    me.accept(proposed.id)
    me.forget(reworded.id)
    me.restore(reworded.id)
    first, second = (me.remember(f"A wombat log {n}", kind="log") for n in (1, 2))
    me.merge([first.id, second.id])
    me.erase(first.id)
    me.remember("A short-lived numbat", ttl_days=1)
    clock.tick(days=2)
    me.tidy()
    book.flush()
    return me


def test_update_writes_a_version_and_closes_the_previous_at_the_same_time(store):
    first = a_memory("One")
    put(store, [first])
    later = START + timedelta(hours=1)
    change = updating(first, content="Two", reindexed=True, updated_at=later)
    store.apply(changeset(change, at=later))
    old, new = store.versions(ANA, [first.id])
    assert (old.memory.content, new.memory.content) == ("One", "Two")
    assert old.recorded_at == START
    assert old.invalidated_at == new.recorded_at == later
    assert new.invalidated_at is None
    assert [old.memory.version, new.memory.version] == [1, 2]


def test_apply_of_two_updates_in_one_changeset_writes_two_versions(store):
    first = a_memory("One")
    once = updating(first, importance=3)
    twice = updating(once.after, importance=4)
    store.apply(changeset(adding(first), once, twice))
    versions = store.versions(ANA, [first.id])
    assert [version.memory.importance for version in versions] == [2, 3, 4]
    assert [version.invalidated_at is None for version in versions] == [False, False, True]


def test_version_round_trips_every_field(store):
    told = a_memory(
        "Whole",
        tags=("a",),
        metadata={"n": 1},
        evidence=("e",),
        expires_at=START + timedelta(days=1),
        valid_from=START,
        facet="note",
    )
    put(store, [told])
    remembered = store.versions(ANA, [told.id])[0].memory
    assert remembered == told.evolve(arrived_at=None)


def test_memory_rows_equal_their_newest_version(eventful, store_url):
    rows = raw(store_url, "SELECT id, version, content FROM memories ORDER BY id")
    open_versions = raw(
        store_url, "SELECT id, version, content FROM versions WHERE invalidated_at IS NULL"
    )
    assert sorted(rows) == sorted(open_versions)
    assert len(rows) > 5


def test_journal_holds_no_text(eventful, store_url):
    written = repr(raw(store_url, "SELECT * FROM journal")).lower()
    assert len(written) > 1000
    assert [word for word in SECRETS if word in written] == []


def test_journal_is_numbered_without_gaps_in_commit_order(eventful, book):
    rows = book._engine.store.journal(ANA, JournalQuery())
    assert [row.seq for row in rows] == list(range(1, len(rows) + 1))
    revisions = [row.revision for row in rows]
    assert revisions == sorted(revisions)
    assert set(revisions) == set(range(1, eventful.revision + 1))
    assert book._engine.store.counters(ANA).journal == len(rows)


def test_journal_has_an_entry_for_every_kind_of_event(eventful, book):
    rows = book._engine.store.journal(ANA, JournalQuery(events_only=True))
    told = Counter(row.entry.event for row in rows)
    assert set(told) == set(Event)


def test_journal_references_name_existing_versions(eventful, book, store_url):
    """Except of what was erased or has ended: its versions are gone, its lines stay."""
    rows = book._engine.store.journal(ANA, JournalQuery(events_only=True))
    gone = {
        row.entry.subject
        for row in rows
        if row.entry.event is Event.ERASE
        or (row.entry.event is Event.TTL and not row.entry.new_ref)
    }
    known = {
        f"{id}@{version}" for id, version in raw(store_url, "SELECT id, version FROM versions")
    }
    named = {
        ref
        for row in rows
        for ref in (row.entry.old_ref, row.entry.new_ref)
        if ref and "@" in ref and ref.partition("@")[0] not in gone
    }
    assert gone
    assert named
    assert named <= known


def test_history_lists_changes_of_one_memory_with_fixed_columns(me):
    item = me.remember("Something")
    me.update(item.id, importance=5)
    me.forget(item.id)
    told = me.history(item.id)
    assert [line["event"] for line in told] == ["DELETE", "UPDATE", "ADD"]
    assert {tuple(line) for line in told} == {
        ("id", "memory_id", "event", "old_ref", "new_ref", "actor", "meta", "ts")
    }
    assert {line["memory_id"] for line in told} == {item.id}


def test_change_log_lists_changes_of_one_thread_with_fixed_columns(me):
    here = me.remember("Said here", thread="here")
    me.remember("Said elsewhere", thread="elsewhere")
    told = me.change_log("here")
    assert [line["memory_id"] for line in told] == [here.id]
    assert list(told[0]) == ["id", "thread_id", "rev", "memory_id", "event", "meta", "ts"]
    assert (told[0]["thread_id"], told[0]["rev"]) == ("here", 1)


def test_events_list_operations_including_reads_with_fixed_columns(me):
    me.remember("The kettle is red")
    me.recall("red kettle", thread="t")
    search, create = me.events()
    told = ("id", "user_id", "thread_id", "node", "op", "status")
    assert tuple(search) == tuple(create) == (*told, "memory_id", "category", "sim", "ts")
    assert (create["op"], search["op"], search["thread_id"]) == ("create", "search", "t")
    assert (search["status"], search["user_id"]) == ("ok", "ana")
    assert search["sim"] > 0.5


def test_journal_query_limits_to_the_newest_or_to_later_revisions(store):
    for number in range(5):
        put(store, [a_memory(f"Number {number}")])
    rows = store.journal(ANA, JournalQuery(newest=2))
    assert [row.seq for row in rows] == [5, 4]
    rows = store.journal(ANA, JournalQuery(after_revision=3))
    assert [row.revision for row in rows] == [4, 5]

"""Where a store is, and what it says when it cannot be reached: a clear error, no password."""

import os
import sqlite3
import tempfile
import threading
import traceback
from contextlib import closing, contextmanager
from pathlib import Path

import psycopg
import pytest

import commonplace
from commonplace.errors import (
    EmbedderMismatch,
    InvalidInput,
    StoreBusy,
    StoreCorrupt,
    StoreError,
    StoreReadOnly,
    StoreUnavailable,
)
from commonplace.language.embedders.hashing import HashingEmbedder
from commonplace.model.changeset import Receipt
from commonplace.store.address import StoreAddress, parse_address
from commonplace.store.queries import EmbedderIdentity
from support.clock import START
from support.making import ANA, a_memory, changeset, put
from support.stores import open_store

SECRET = "hunter2"


# ——— addresses ———


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("notes.db", "{here}/notes.db"),
        ("sub/notes.db", "{here}/sub/notes.db"),
        ("/abs/notes.db", "/abs/notes.db"),
        ("sqlite:///notes.db", "{here}/notes.db"),
        ("sqlite:////abs/notes.db", "/abs/notes.db"),
        ("~/notes.db", "{home}/notes.db"),
        (":memory:", ":memory:"),
        ("sqlite://", ":memory:"),
        ("sqlite:///:memory:", ":memory:"),
    ],
)
def test_parse_address_accepts_sqlite_paths_and_urls(typed, meant, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    expected = meant.format(here=tmp_path, home=Path.home())
    assert parse_address(typed) == StoreAddress("sqlite", expected)


@pytest.mark.parametrize("scheme", ["postgresql", "postgres"])
def test_parse_address_accepts_postgresql_urls(scheme):
    url = f"{scheme}://ana:{SECRET}@db.example:5433/memory"
    assert parse_address(url) == StoreAddress("postgresql", url)


@pytest.mark.parametrize("typed", ["mysql://localhost/memory", "sqlite:notes.db", "sqlite:/n.db"])
def test_open_refuses_an_invalid_address_with_a_remedy(typed):
    with pytest.raises(InvalidInput) as refused:
        commonplace.open(typed, embedder="hashing")
    assert refused.value.field == "store"
    assert "sqlite:///" in refused.value.remedy


def test_open_again_finds_stored_memories(open_book):
    first = open_book()
    first.user("ana").remember("The lamp is green")
    first.close()
    assert [hit.text for hit in open_book().user("ana").recall("lamp").hits] == [
        "The lamp is green"
    ]


def test_open_store_by_store_url_finds_the_same_file(tmp_path):
    store = open_store(str(tmp_path / "notes.db"))
    put(store, [a_memory()])
    store.close()
    again = open_store(store.url)
    assert again.counters(ANA).revision == 1
    again.close()


def test_memory_store_is_shared_by_all_threads():
    with commonplace.open(":memory:", embedder="hashing") as book:
        me = book.user("ana")
        threads = [
            threading.Thread(target=lambda n=n: me.remember(f"Thought {n}")) for n in range(6)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
        assert len(me.list().memories) == 6


# ——— SQLite ———


def test_sqlite_open_names_a_path_in_a_missing_folder(tmp_path):
    missing = tmp_path / "nowhere" / "notes.db"
    with pytest.raises(StoreUnavailable) as refused:
        open_store(str(missing))
    assert str(missing) in refused.value.message
    assert "folder" in refused.value.remedy
    assert not missing.parent.exists()


def test_sqlite_open_refuses_a_folder(tmp_path):
    with pytest.raises(StoreUnavailable):
        open_store(str(tmp_path))


def test_sqlite_open_refuses_a_non_database_file_and_leaves_the_file_unchanged(tmp_path):
    letter = tmp_path / "letter.txt"
    letter.write_text("Dear Ana, " * 1000)
    with pytest.raises(StoreCorrupt):
        open_store(str(letter))
    assert letter.read_text() == "Dear Ana, " * 1000


@contextmanager
def as_nobody():
    """Without the rights of root, for whom no file is read-only."""
    before = os.geteuid()
    if before == 0:
        os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(before)


@pytest.fixture
def open_folder():
    """A folder that every user of the machine can look into."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)
        yield folder


@pytest.mark.parametrize("folder_mode", [0o777, 0o555], ids=["the file", "the folder too"])
def test_sqlite_open_of_a_read_only_store_names_the_cause(open_folder, folder_mode, monkeypatch):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(open_folder))
    path = open_folder / "notes.db"
    store = open_store(str(path))
    put(store, [a_memory()])
    store.close()
    path.chmod(0o444)
    open_folder.chmod(folder_mode)
    with as_nobody(), pytest.raises((StoreReadOnly, StoreUnavailable)) as refused:
        commonplace.open(str(path), embedder="hashing")
    assert "writ" in refused.value.message + refused.value.remedy


def test_sqlite_write_on_a_locked_store_fails_as_busy_and_writes_nothing(tmp_path):
    path = tmp_path / "notes.db"
    store = open_store(str(path), lock_timeout=0.05)
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreBusy) as refused:
            put(store, [a_memory()])
    assert refused.value.retryable
    assert put(store, [a_memory()]).revision == 1
    store.close()


# ——— PostgreSQL ———


@pytest.mark.parametrize(
    "url",
    [
        f"postgresql://ana:{SECRET}@127.0.0.1:1/memory",
        f"postgresql://ana:{SECRET}@/memory?host=/no/such/socket",
    ],
)
def test_postgresql_unreachable_server_error_hides_the_password(url):
    with pytest.raises(StoreUnavailable) as refused:
        open_store(url)
    assert refused.value.retryable
    assert SECRET not in everything_said(refused.value)


@pytest.mark.parametrize(
    "url",
    [
        f"postgresql://ana:{SECRET}%zz@localhost/memory",
        f"postgresql://ana:{SECRET}@[::1/memory",
        f"postgresql://ana:{SECRET}@localhost/memory?unheard=of",
        f"postgresql://ana:{SECRET}/x@localhost/memory",
        f"postgresql://ana:x@{SECRET}@localhost/memory",
    ],
)
def test_postgresql_malformed_url_error_hides_the_password(url):
    with pytest.raises(InvalidInput) as refused:
        open_store(url)
    assert SECRET not in everything_said(refused.value)
    assert "percent-encoded" in refused.value.remedy


def everything_said(error: BaseException) -> str:
    """The error and all that led to it, as a log would show them."""
    return "".join(traceback.format_exception(error)) + str(vars(error))


def test_postgresql_store_url_hides_the_password(postgres):
    url = postgres.database()
    name = psycopg.conninfo.conninfo_to_dict(url)["dbname"]
    with_password = psycopg.conninfo.conninfo_to_dict(url) | {"password": SECRET}
    address = "postgresql://{user}:{password}@/{dbname}?host={host}".format(**with_password)
    store = open_store(address)
    assert SECRET not in store.url
    assert name in store.url
    store.close()
    postgres.give_back(url)


def test_postgresql_pool_replaces_a_dead_idle_connection(postgres):
    url = postgres.database()
    store = open_store(url)
    put(store, [a_memory()])
    for revision in (2, 3):
        kill_connections_to(url)
        assert put(store, [a_memory()]).revision == revision
        kill_connections_to(url)
        assert store.counters(ANA).revision == revision
    store.close()
    postgres.give_back(url)


def test_postgresql_pool_replaces_many_dead_connections(postgres):
    url = postgres.database()
    store = open_store(url, pool_size=4)
    together = threading.Barrier(4, timeout=60)

    def read():
        with store._reading(ANA) as session:
            together.wait()
            session.one("counters")

    threads = [threading.Thread(target=read) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    kill_connections_to(url)
    assert put(store, [a_memory()]).revision == 1
    store.close()
    postgres.give_back(url)


def kill_connections_to(url):
    with psycopg.connect(url, autocommit=True) as connection:
        killed = connection.execute(
            "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity "
            "WHERE datname = current_database() AND pid <> pg_backend_pid()"
        ).fetchall()
    assert killed
    assert all(done for (done,) in killed)


def test_postgresql_write_on_a_locked_scope_fails_as_busy(postgres):
    url = postgres.database()
    store = open_store(url, lock_timeout=0.2)
    put(store, [a_memory()])
    with psycopg.connect(url) as hanging:
        hanging.execute("SELECT * FROM scopes FOR UPDATE")
        with pytest.raises(StoreBusy) as refused:
            put(store, [a_memory()])
    assert refused.value.retryable
    assert put(store, [a_memory()]).revision == 2
    store.close()
    postgres.give_back(url)


def test_postgresql_failed_begin_returns_the_connection_to_the_pool(postgres):
    """As many failures as the pool has connections, and one more."""
    url = postgres.database()
    store = open_store(url, pool_size=2, timeout=5)
    for _ in range(3):
        refused = store._transaction("no_such_role", ANA, "begin_reading")
        with pytest.raises(StoreError, match="no_such_role"):
            refused.__enter__()
    assert store.counters(ANA).revision == 0
    store.close()
    postgres.give_back(url)


# ——— embedders ———


def test_open_refuses_another_embedder_and_names_both(open_book):
    open_book().user("ana").remember("The lamp is green")
    with pytest.raises(EmbedderMismatch) as refused:
        open_book(embedder=HashingEmbedder(64))
    assert "hashing-256" in refused.value.message
    assert "hashing-64" in refused.value.message
    assert "Open it with `--embedder hashing`, or" in refused.value.remedy
    assert open_book().user("ana").recall("lamp").hits


def test_claim_embedder_keeps_the_first_embedder(store):
    first, second = HashingEmbedder(64), HashingEmbedder(128)
    mine = EmbedderIdentity(first.name, first.dimension)
    assert store.claim_embedder(mine) == mine
    assert store.claim_embedder(EmbedderIdentity(second.name, second.dimension)) == mine


# ——— the rest of what a store says about itself ———


def test_health_of_a_sound_store_reports_no_problems(store):
    put(store, [a_memory()])
    health = store.health()
    assert health.integrity == ()
    assert health.schema >= 1
    assert health.bytes_on_disk > 0
    assert health.pending_scrubs == 0


def test_scrub_completes_only_receipts_from_before_compaction(store, monkeypatch):
    """An erasure that commits while another process compacts waits for the next one."""

    def erase(receipt):
        store.apply(changeset(receipt=Receipt(receipt, START, 0)))

    erase("before")
    compact = store._compact

    def compact_while_another_erases():
        done = compact()
        erase("meanwhile")
        return done

    monkeypatch.setattr(store, "_compact", compact_while_another_erases)
    assert store.scrub(START)
    complete = {receipt.id: receipt.scrub for receipt in store.statistics(ANA).receipts}
    assert complete == {"before": "complete", "meanwhile": "pending"}
    assert store.health().pending_scrubs == 1


def test_sqlite_open_refuses_a_foreign_database_and_leaves_the_file_unchanged(tmp_path):
    path = tmp_path / "theirs.db"
    with closing(sqlite3.connect(path)) as theirs:
        theirs.execute("CREATE TABLE songs (title TEXT)")
        theirs.commit()
    before = path.read_bytes()
    with pytest.raises(StoreCorrupt, match="not a Commonplace store"):
        open_store(str(path))
    assert path.read_bytes() == before


def test_sqlite_files_are_readable_by_the_owner_only(tmp_path):
    path = tmp_path / "mine.db"
    store = open_store(str(path))
    put(store, [a_memory()])
    modes = {file.name: file.stat().st_mode & 0o777 for file in tmp_path.iterdir()}
    store.close()
    assert set(modes.values()) == {0o600}

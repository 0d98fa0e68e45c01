"""However a database came to its schema, it is the one that all migrations make."""

import pytest

from commonplace.errors import StoreError, StoreTooNew
from commonplace.store.postgres import store as postgres_store
from commonplace.store.sql.statements import Migration
from commonplace.store.sqlite import store as sqlite_store
from support.making import ANA, a_memory, put
from support.schema import schema_of
from support.stores import all_rows, is_postgres, open_store, raw

BACKENDS = {"sqlite": sqlite_store, "postgres": postgres_store}

# What a later version might bring.
LATER = Migration(
    9000,
    "later",
    "ALTER TABLE receipts ADD COLUMN note TEXT;\nCREATE INDEX by_note ON receipts (scope, note);",
)


@pytest.fixture
def know(url, monkeypatch):
    """Makes the code know these migrations, as an older or newer version would."""
    backend = BACKENDS["postgres" if is_postgres(url) else "sqlite"]

    def pretend(known):
        monkeypatch.setattr(backend, "_MIGRATIONS", known)

    pretend.all = list(backend._MIGRATIONS)
    return pretend


def opened_and_closed(url):
    open_store(url).close()
    return schema_of(url)


@pytest.mark.parametrize("backend", sorted(BACKENDS))
def test_migrations_are_numbered_from_one_without_gaps(backend):
    known = BACKENDS[backend]._MIGRATIONS
    assert [migration.number for migration in known] == list(range(1, len(known) + 1))
    assert all(migration.script.strip() for migration in known)


def test_migrations_are_the_same_on_both_databases():
    told = [
        [(migration.number, migration.name) for migration in backend._MIGRATIONS]
        for backend in BACKENDS.values()
    ]
    assert told[0] == told[1]


def test_migration_step_by_step_equals_migration_at_once(new_url, url, know):
    everything = [*know.all, LATER]
    know(everything)
    at_once = opened_and_closed(url)
    stepwise = new_url()
    for count in range(1, len(everything) + 1):
        know(everything[:count])
        schema = opened_and_closed(stepwise)
        assert open_and_ask_schema(stepwise) == everything[count - 1].number
    assert schema == at_once


def open_and_ask_schema(url):
    store = open_store(url)
    number = store.health().schema
    store.close()
    return number


def test_migration_keeps_stored_memories(url, know):
    store = open_store(url)
    kept = a_memory("Older than the schema")
    put(store, [kept])
    store.close()
    know([*know.all, LATER])
    store = open_store(url)
    assert store.fetch(ANA, [kept.id]) == [kept]
    assert put(store, [a_memory()]).revision == 2
    store.close()
    recorded = raw(url, "SELECT number, name FROM migrations ORDER BY number")
    assert recorded == [(m.number, m.name) for m in [*know.all, LATER]]


def test_open_again_changes_neither_schema_nor_rows(url):
    schema = opened_and_closed(url)
    rows = all_rows(url)
    assert opened_and_closed(url) == schema
    assert all_rows(url) == rows


def test_open_refuses_a_store_of_a_newer_schema_and_changes_nothing(url):
    store = open_store(url)
    put(store, [a_memory()])
    store.close()
    raw(url, "INSERT INTO migrations VALUES (9999, 'from_the_future', 0)")
    schema, rows = schema_of(url), all_rows(url)
    with pytest.raises(StoreTooNew) as refused:
        open_store(url)
    assert refused.value.code == "store_too_new"
    assert "9999" in refused.value.message
    assert "pgrade" in refused.value.remedy
    assert (schema_of(url), all_rows(url)) == (schema, rows)


def test_failed_migration_leaves_the_previous_schema(url, know):
    """It and its record are one transaction, also where a statement before it succeeded."""
    before = opened_and_closed(url)
    broken = Migration(
        9000, "broken", "ALTER TABLE receipts ADD COLUMN note TEXT;\nCREATE TABEL oops (a TEXT);"
    )
    know([*know.all, broken])
    with pytest.raises(StoreError, match="refused"):
        open_store(url)
    assert schema_of(url) == before
    know(know.all)
    assert opened_and_closed(url) == before

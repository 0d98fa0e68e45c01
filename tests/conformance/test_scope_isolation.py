"""Nothing of one owner is ever reached from another: in the text of every statement, in the
schema, and by the database itself."""

import re
from importlib import resources

import psycopg
import pytest

import commonplace
from commonplace.model.changeset import Bookkeeping, EnqueueJob
from commonplace.model.filters import Visibility
from commonplace.model.journal import LoggedHit, LoggedSearch, RecallLogQuery, RecallTurn
from commonplace.model.memory.memory import State
from commonplace.model.profile.consent import build_proposal
from commonplace.store.queries import DisputedMemories, HeldQuery, JournalQuery, MemoryListing
from commonplace.store.sql.statements import read_statements, shared_files
from support.clock import START
from support.making import (
    ANA,
    BOB,
    EMBEDDER,
    a_job,
    a_key,
    a_memory,
    a_proposal,
    changeset,
    holding,
    put,
)
from support.stores import OF_THE_STORE, SCOPED_TABLES, TABLES, is_postgres, open_store, raw

MAINTENANCE = {
    "all_scopes",
    "unscrubbed",
    "finish_scrub",
    "fact",
    "put_fact",
    "generations",
    "begin_generation",
    "move_generations",
    "set_generation",
    "unbuilt_scopes",
    "drop_caches",
    "bury_jobs",
    "claim_job",
    "claim_this_job",
    "next_due",
}
OF_POSTGRES = {
    "begin_reading",
    "begin_writing",
    "take_on",
    "enter",
    "advisory_lock",
    "has_migrations",
    "schema",
    "create_migrations",
    "record_migration",
    "hold_writers",
    "owns_tables",
    "wait_for_locks",
    "this_moment",
    "outcome",
    "vacuum",
    "unseen_since",
    "database_size",
}

_NAMED = "|".join((*SCOPED_TABLES, "store_facts"))
_REFERENCE = re.compile(rf"\b(?:FROM|JOIN|UPDATE|INTO)\s+(?:{_NAMED})\b")
_BINDING = re.compile(
    r"\bscope = (?::scope|\w+\.scope)\b|\bVALUES \(\s*:scope\b|\bSELECT [mp]\.scope\b"
)
_TO_CALLER = re.compile(r"\bscope = :scope\b|\bVALUES \(\s*:scope\b")


def is_bound(statement: str) -> bool:
    """Each table it names is tied to the caller's scope, or to a table that is."""
    references = len(_REFERENCE.findall(statement))
    bindings = len(_BINDING.findall(statement))
    return bool(_TO_CALLER.search(statement)) and 0 < references <= bindings


def shared_statements() -> tuple[dict[str, str], set[str]]:
    """All of them, and the names of those that stand under the heading of maintenance."""
    known: dict[str, str] = {}
    named: set[str] = set()
    for package, file in shared_files():
        text = resources.files(package).joinpath(file).read_text(encoding="utf-8")
        _, _, maintenance = text.partition("\n-- maintenance")
        named |= set(re.findall(r"^-- name: (\w+)$", maintenance, re.M))
        found = read_statements(package, file)
        assert not known.keys() & found.keys(), "a name stands for one statement"
        known |= found
    return known, named


# ——— in the text of the statements ———


def test_sql_statements_are_bound_to_one_scope_or_are_maintenance():
    known, maintenance = shared_statements()
    unbound = {name for name, text in known.items() if not is_bound(text)}
    assert unbound - maintenance == set()
    assert len(known) > 50


def test_sql_maintenance_statements_are_the_declared_ones():
    assert shared_statements()[1] == MAINTENANCE


def test_sql_statements_of_postgresql_read_no_scoped_rows():
    own = read_statements("commonplace.store.postgres", "queries.sql")
    assert set(own) == OF_POSTGRES
    assert [name for name, text in own.items() if _REFERENCE.search(text)] == []


@pytest.mark.parametrize(
    "leaking",
    [
        "SELECT content FROM memories WHERE id = :id",
        "SELECT m.content FROM memories m JOIN links l ON l.a = m.id WHERE m.scope = :scope",
        "DELETE FROM terms WHERE scope = :scope AND unit IN (SELECT unit FROM memories)",
        "INSERT INTO reads (id) VALUES (:id)",
        "UPDATE memories SET seq = :seq WHERE id = :id",
    ],
)
def test_scope_binding_check_detects_a_leaking_statement(leaking):
    assert not is_bound(leaking)


# ——— in the schema ———


def primary_keys(url: str) -> dict[str, list[str]]:
    if is_postgres(url):
        found = raw(
            url,
            """SELECT c.relname, a.attname FROM pg_index i
                 JOIN pg_class c ON c.oid = i.indrelid
                 JOIN pg_namespace n ON n.oid = c.relnamespace AND n.nspname = current_schema()
                 JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = ANY(i.indkey)
                WHERE i.indisprimary ORDER BY c.relname, array_position(i.indkey, a.attnum)""",
        )
    else:
        found = raw(
            url,
            """SELECT t.name, c.name FROM sqlite_schema t, pragma_table_info(t.name) c
                WHERE t.type = 'table' AND c.pk > 0 ORDER BY t.name, c.pk""",
        )
    keys: dict[str, list[str]] = {}
    for table, column in found:
        keys.setdefault(table, []).append(column)
    return keys


def test_primary_keys_start_with_scope(store, store_url):
    keys = primary_keys(store_url)
    assert set(TABLES) <= set(keys)
    others = {table for table, columns in keys.items() if columns[0] != "scope"}
    assert others == {*OF_THE_STORE, "migrations"}


def test_indexes_start_with_scope(store, store_url):
    """But for the one by which workers find what is due, whoever it belongs to."""
    if is_postgres(store_url):
        found = raw(
            store_url,
            """SELECT indexdef FROM pg_indexes
                WHERE schemaname = current_schema() AND indexname <> 'jobs_due'
                  AND tablename NOT IN ('store_facts', 'generations', 'migrations')""",
        )
        firsts = {re.search(r"\((\w+)", definition)[1] for (definition,) in found}
    else:
        found = raw(
            store_url,
            """SELECT i.name, c.name FROM sqlite_schema i, pragma_index_info(i.name) c
                WHERE i.type = 'index' AND c.seqno = 0 AND i.name <> 'jobs_due'
                  AND i.tbl_name NOT IN ('store_facts', 'generations', 'migrations')""",
        )
        firsts = {column for _, column in found}
    assert found
    assert firsts == {"scope"}


# ——— through the port ———


def test_store_reads_show_no_rows_of_another_scope(store):
    hers = a_memory("Hers alone")
    put(store, [hers])
    put(store, [a_memory("His")], BOB)
    everything = MemoryListing(states=tuple(State), visibility=Visibility(cleared=True))
    assert store.fetch(BOB, [hers.id]) == []
    assert [memory.content for memory in store.page(BOB, everything)] == ["His"]
    assert store.versions(BOB, [hers.id]) == []
    assert store.links(BOB, [hers.id]) == []
    assert store.journal(BOB, JournalQuery(subject=hers.id)) == []
    store.apply(changeset(holding("Held of hers", hers)))
    assert store.held(BOB) == store.held(BOB, HeldQuery(alternative_to=[hers.id])) == []
    assert store.page(BOB, DisputedMemories()) == []
    assert store.mentions(BOB, "Held of hers") == []
    assert store.mentions(ANA, "Held of hers") == ["held"]
    store.apply(changeset(build_proposal(a_proposal("Proposed to her"))))
    assert store.proposals(BOB) == store.mentions(BOB, "Proposed to her") == []
    assert store.mentions(ANA, "Proposed to her") == ["proposals"]
    asked = LoggedSearch("recall", "What she asked", (LoggedHit(hers.id, 1.0),))
    store.record(Bookkeeping(ANA, START, turns=(RecallTurn("t", None, START, (asked,)),)))
    assert store.recall_log(BOB, RecallLogQuery()) == store.mentions(BOB, "What she asked") == []
    assert store.mentions(ANA, "what SHE asked") == ["recall_log"]
    assert [logged.search for logged in store.recall_log(ANA, RecallLogQuery("t", 1))] == [asked]
    key = a_key(label="Her laptop")
    store.apply(changeset(key))
    assert store.keys(BOB, key.key.id) == {}
    assert (store.keys(BOB), store.mentions(BOB, "Her laptop")) == ({}, [])
    assert store.mentions(ANA, "Her laptop") == ["keys"]
    assert store.mentions(BOB, "Hers alone") == []
    assert store.mentions(ANA, "hers ALONE") == ["memories", "versions"]
    assert len(store.index_page(BOB, 0, -1).rows) == 1


def test_memory_ids_may_repeat_across_scopes(store):
    put(store, [a_memory("Hers", id="same")])
    put(store, [a_memory("His", id="same", user_id="bob")], BOB)
    assert store.fetch(ANA, ["same"])[0].content == "Hers"
    assert store.fetch(BOB, ["same"])[0].content == "His"


# ——— by PostgreSQL itself ———


@pytest.fixture
def guarded(postgres):
    """A store on PostgreSQL in which ana and bob each have one memory."""
    url = postgres.database()
    store = open_store(url)
    for scope, text in ((ANA, "Hers"), (BOB, "His")):
        memory = a_memory(text)
        put(store, [memory], scope)
        proposal = build_proposal(a_proposal(f"{text}, proposed"))
        steps = (
            holding(f"{text}, held", memory),
            proposal,
            EnqueueJob(a_job(scope)),
            a_key(user_id=scope.name),
        )
        store.apply(changeset(*steps, scope=scope))
    yield store, url
    store.close()
    postgres.give_back(url)


def ask(session, statement, **values):
    """SQL of the test's own, in a transaction of the store's own."""
    return session._cursor.execute(statement, values).fetchall()


def as_role(url, role, statement, *, scope=None):
    with psycopg.connect(url) as connection:
        connection.execute(f"SET LOCAL ROLE {role}")
        if scope is not None:
            connection.execute("SELECT set_config('commonplace.scope', %s, true)", [scope])
        cursor = connection.execute(statement)
        return cursor.fetchall() if cursor.description else []


def test_postgresql_app_role_owns_no_tables_and_cannot_bypass_rls(guarded):
    store, _ = guarded
    for transaction in (store._reading, store._writing):
        with transaction(ANA) as session:
            [(user, superuser, bypasses)] = ask(
                session,
                "SELECT current_user, rolsuper, rolbypassrls FROM pg_roles "
                "WHERE rolname = current_user",
            )
            owned = ask(
                session,
                "SELECT relname FROM pg_class WHERE relowner = "
                "(SELECT oid FROM pg_roles WHERE rolname = current_user)",
            )
        assert (user, superuser, bypasses, owned) == ("commonplace_app", False, False, [])


def test_postgresql_forces_row_level_security_on_every_scoped_table(guarded):
    _, url = guarded
    found = raw(
        url,
        """SELECT c.relname, c.relrowsecurity AND c.relforcerowsecurity FROM pg_class c
             JOIN pg_namespace n ON n.oid = c.relnamespace AND n.nspname = current_schema()
             JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = 'scope'
            WHERE c.relkind IN ('r', 'p')""",
    )
    assert set(SCOPED_TABLES) <= {table for table, _ in found}
    assert [table for table, forced in found if not forced] == []


def test_postgresql_rls_limits_unfiltered_statements_to_one_scope(guarded):
    store, _ = guarded
    of_memories = ("memories", "versions", "terms", "vectors")
    for table in (*of_memories, "journal", "scopes", "held", "proposals", "jobs", "keys"):
        with store._reading(ANA) as session:
            assert ask(session, f"SELECT DISTINCT scope FROM {table}") == [("user:ana",)]


@pytest.mark.parametrize("scope", ["user:nobody", "", None], ids=["another", "empty", "none"])
def test_postgresql_rls_shows_no_rows_to_another_or_no_scope(guarded, scope):
    _, url = guarded
    for table in SCOPED_TABLES:
        count = f"SELECT count(*) FROM {table}"
        assert as_role(url, "commonplace_app", count, scope=scope) == [(0,)]


def test_postgresql_rls_protects_rows_of_another_scope_from_writes(guarded):
    store, url = guarded
    insert = "INSERT INTO cursors VALUES ('user:bob', 'agent', 't', 1)"
    moved = ("memories", "held", "proposals", "keys")
    moves = [f"UPDATE {table} SET scope = 'user:bob'" for table in moved]
    for statement in (insert, *moves):
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            as_role(url, "commonplace_app", statement, scope="user:ana")
    with store._writing(ANA) as session:
        session._cursor.execute("DELETE FROM memories")
        session._cursor.execute("DELETE FROM held")
    assert store.page(ANA, MemoryListing()) == []
    assert [memory.content for memory in store.page(BOB, MemoryListing())] == ["His"]
    assert (len(store.held(ANA)), len(store.held(BOB))) == (0, 1)


def test_postgresql_app_role_cannot_read_partitions_directly(guarded):
    _, url = guarded
    for number in range(8):
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            as_role(url, "commonplace_app", f"SELECT count(*) FROM memories_{number}")


def test_postgresql_role_and_scope_end_with_the_transaction(guarded):
    """A connection that goes back to a pool, ours or pgbouncer's, carries nothing with it."""
    store, _ = guarded
    store.fetch(ANA, ["x"])
    with store._pool.connection() as connection:
        [(user, login, scope)] = connection.execute(
            "SELECT current_user, session_user, current_setting('commonplace.scope', true)"
        ).fetchall()
    assert user == login
    assert scope in ("", None)


def test_postgresql_maintenance_role_cannot_read_memory_tables(guarded):
    _, url = guarded
    for table in set(SCOPED_TABLES) - {"scopes", "receipts", "jobs"}:
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            as_role(url, "commonplace_maintenance", f"SELECT count(*) FROM {table}")


def test_postgresql_worker_role_reads_only_jobs(guarded):
    _, url = guarded
    jobs = as_role(url, "commonplace_worker", "SELECT scope FROM jobs ORDER BY scope")
    assert jobs == [("user:ana",), ("user:bob",)]
    for table in (*(set(TABLES) - {"jobs"}), "memories_0", "migrations"):
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            as_role(url, "commonplace_worker", f"SELECT count(*) FROM {table}")
    for statement in ("DELETE FROM jobs", "INSERT INTO jobs (scope, id) VALUES ('user:bob', 'x')"):
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            as_role(url, "commonplace_worker", statement)


def test_postgresql_plain_login_with_the_three_roles_can_use_the_store(guarded):
    """The usual deployment: one login migrates, others only take on the three roles."""
    _, url = guarded
    with psycopg.connect(url, autocommit=True) as admin:
        admin.execute("DROP ROLE IF EXISTS plain_login")
        admin.execute(
            "CREATE ROLE plain_login LOGIN "
            "IN ROLE commonplace_app, commonplace_maintenance, commonplace_worker"
        )
    login = psycopg.conninfo.make_conninfo(url, user="plain_login")
    address = _as_url(login)
    store = open_store(address)
    try:
        mine = a_memory("Written by a plain login")
        put(store, [mine])
        assert store.fetch(ANA, [mine.id]) == [mine]
        assert len(store.scopes()) == 2
        assert store.claim_job("somebody", START).scope == ANA
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            raw(address, "SELECT count(*) FROM memories_0")
    finally:
        store.close()


def test_postgresql_login_without_worker_role_leaves_jobs_queued(guarded, caplog):
    """As after an upgrade, until somebody grants it the worker's role."""
    _, url = guarded
    with psycopg.connect(url, autocommit=True) as admin:
        admin.execute("DROP ROLE IF EXISTS no_worker")
        admin.execute(
            "CREATE ROLE no_worker LOGIN IN ROLE commonplace_app, commonplace_maintenance"
        )
    address = _as_url(psycopg.conninfo.make_conninfo(url, user="no_worker"))
    with commonplace.open(address, embedder=EMBEDDER, tidy_on_open=False) as book:
        book.user("ana").remember("Answers are given all the same")
        assert len(book.user("ana").jobs()) == 1
    assert [record.getMessage() for record in caplog.records] == [
        "background jobs postponed: store_error"
    ]


def _as_url(conninfo: str) -> str:
    known = psycopg.conninfo.conninfo_to_dict(conninfo)
    return f"postgresql://{known['user']}@/{known['dbname']}?host={known['host']}"

"""PostgreSQL store: transactions with row-level security, migrations, errors.

Every transaction sets the role commonplace_app and its scope, both only for that transaction, so
that row-level security applies to every login, and nothing leaks through a connection pooler.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import datetime
from functools import partial
from typing import Any, LiteralString

import psycopg
from psycopg import conninfo
from psycopg import errors as pg
from psycopg_pool import ConnectionPool, PoolTimeout

from commonplace.errors import (
    InvalidInput,
    OutcomeUnknown,
    StoreBusy,
    StoreCorrupt,
    StoreError,
    StoreFull,
    StoreReadOnly,
    StoreTooOld,
    StoreUnavailable,
)
from commonplace.model.access.principal import Scope
from commonplace.store.failpoints import reach_failpoint
from commonplace.store.queries import StoreHealth
from commonplace.store.sql.rows import Row, Session, micros
from commonplace.store.sql.statements import (
    Dialect,
    load_migrations,
    load_shared_statements,
    load_statements,
    pending_migrations,
)
from commonplace.store.sql.store import SqlStore

_BY_TYPE: tuple[tuple[type[Exception], type[StoreError], str], ...] = (
    (pg.DiskFull, StoreFull, "The database's disk is full."),
    (pg.OutOfMemory, StoreFull, "The database is out of memory."),
    (pg.LockNotAvailable, StoreBusy, "Another session holds this memory for too long."),
    (pg.DeadlockDetected, StoreBusy, "Another session holds this memory for too long."),
    (pg.SerializationFailure, StoreBusy, "Another session changed this memory."),
    (pg.TooManyConnections, StoreBusy, "The database has no connection left."),
    (pg.ReadOnlySqlTransaction, StoreReadOnly, "The database is read-only."),
    (pg.DataCorrupted, StoreCorrupt, "The database reports damaged data."),
    (PoolTimeout, StoreUnavailable, "The database cannot be reached."),
    (psycopg.OperationalError, StoreUnavailable, "The database cannot be reached."),
    (psycopg.InterfaceError, StoreUnavailable, "The connection to the database was lost."),
)


@contextmanager
def translated_errors() -> Iterator[None]:
    try:
        yield
    except (psycopg.Error, PoolTimeout) as error:
        for kind, ours, message in _BY_TYPE:
            if isinstance(error, kind):
                raise ours(message) from error
        first_line = str(error).partition("\n")[0]
        raise StoreError(f"PostgreSQL refused: {first_line}") from error


DIALECT = Dialect(
    parameter=lambda name: f"%({name})s",
    among=lambda name: f"= ANY({name}::text[])",
    among_numbers=lambda name: f"= ANY({name}::bigint[])",
    each=lambda column: f"jsonb_array_elements_text({column}::jsonb) AS t(value)",
    pairs=lambda column: f"jsonb_each_text({column}::jsonb) AS t(key, value)",
    bytes="BYTEA",
    skip_locked=" FOR UPDATE SKIP LOCKED",
    escape=lambda statement: statement.replace("%", "%%"),
)
OWN_STATEMENTS = load_statements("commonplace.store.postgres", "queries.sql", DIALECT)
STATEMENTS = {**load_shared_statements(DIALECT), **OWN_STATEMENTS}
_MIGRATIONS = load_migrations(
    "commonplace.store.postgres",
    {
        "id": 'TEXT COLLATE "C"',
        "int": "BIGINT",
        "real": "DOUBLE PRECISION",
        "bytes": "BYTEA",
        "heap": "",
        "heap_by_owner": "PARTITION BY HASH (scope)",
        "clustered": "",
        "clustered_by_owner": "PARTITION BY HASH (scope)",
    },
)
_WRITING = "begin_writing"
# Arbitrary keys of advisory locks.
_MIGRATION_LOCK = 0x636F6D6D
_CLAIM_LOCK = 0x636F6D6E

Connection = psycopg.Connection[tuple[Any, ...]]


class PostgresSession:
    def __init__(
        self, connection: Connection, scope: Scope | None, begin: Callable[[Scope | None], object]
    ):
        self._cursor = connection.cursor(binary=True)
        self._scope = {"scope": scope.key} if scope else {}
        self._entered = scope
        self._begin = begin

    def rows(self, statement: str, **values: Any) -> Sequence[Row]:
        self._cursor.execute(_sql(STATEMENTS[statement]), {**self._scope, **values})
        return self._cursor.fetchall()

    def one(self, statement: str, **values: Any) -> Row | None:
        rows = self.rows(statement, **values)
        return rows[0] if rows else None

    def run(self, statement: str, **values: Any) -> None:
        self._cursor.execute(_sql(STATEMENTS[statement]), {**self._scope, **values})

    def run_many(self, statement: str, values: Sequence[Mapping[str, Any]]) -> None:
        if values:
            bound = [{**self._scope, **each} for each in values]
            self._cursor.executemany(_sql(STATEMENTS[statement]), bound)

    def at(self, scope: Scope | None) -> PostgresSession:
        entered = {"scope": scope.key if scope else ""}
        self._cursor.execute(_sql(OWN_STATEMENTS["enter"]), entered)
        return PostgresSession(self._cursor.connection, scope, self._begin)

    def restart(self) -> None:
        self._cursor.connection.rollback()
        self._begin(self._entered)


class PostgresStore(SqlStore):
    def __init__(
        self,
        url: str,
        *,
        now: datetime,
        pool_size: int = 10,
        timeout: float = 30.0,
        lock_timeout: float = 60.0,
    ):
        super().__init__()
        self._conninfo = url
        self._pool_size = pool_size
        self._timeout = timeout
        self._lock_wait = f"{max(1, round(lock_timeout * 1000))}ms"
        self.url = _without_password(url)
        self._migrate(now)
        self._start()

    def _start(self) -> None:
        """Connections belong to one process: a forked process opens its own."""
        self._process = os.getpid()
        self._pool = ConnectionPool(
            self._conninfo,
            kwargs={"autocommit": True},  # transactions are begun explicitly, by our own statements
            min_size=0,
            max_size=self._pool_size,
            timeout=self._timeout,
            open=True,
        )

    # ——— transactions ———

    @contextmanager
    def _transaction(self, role: str, scope: Scope | None, begin: str) -> Iterator[PostgresSession]:
        self._require_open()
        if self._process != os.getpid():
            self._start()
        with translated_errors(), self._committing(role, scope, begin) as connection:
            restart = partial(self._enter, connection, role, begin)
            yield PostgresSession(connection, scope, restart)

    @contextmanager
    def _committing(self, role: str, scope: Scope | None, begin: str) -> Iterator[Connection]:
        connection, transaction = self._begun(role, scope, begin)
        try:
            yield connection
            self._commit(connection, transaction)
        except BaseException:
            if not connection.closed:
                connection.rollback()
            raise
        finally:
            self._pool.putconn(connection)

    def _begun(self, role: str, scope: Scope | None, begin: str) -> tuple[Connection, str | None]:
        """A connection in a begun transaction; connections that died while idle are replaced."""
        for _ in range(self._pool_size):
            connection = self._pool.getconn()  # waits for the server, with the pool's timeout
            with suppress(psycopg.OperationalError):
                return self._begin(connection, role, scope, begin)
        return self._begin(self._pool.getconn(), role, scope, begin)

    def _begin(
        self, connection: Connection, role: str, scope: Scope | None, begin: str
    ) -> tuple[Connection, str | None]:
        try:
            return connection, self._enter(connection, role, begin, scope)
        except BaseException:
            with suppress(psycopg.OperationalError):  # it may be dead, which the pool detects
                connection.rollback()
            self._pool.putconn(connection)
            raise

    def _enter(
        self, connection: Connection, role: str, begin: str, scope: Scope | None
    ) -> str | None:
        """Begins a transaction; returns the id of a write transaction."""
        values = {
            "role": role,
            "scope": scope.key if scope else "",
            "wait": self._lock_wait,
            "writes": begin == _WRITING,
        }
        connection.execute(_sql(OWN_STATEMENTS[begin]))
        row = connection.execute(_sql(OWN_STATEMENTS["take_on"]), values).fetchone()
        return row[-1] if row else None

    def _commit(self, connection: Connection, transaction: str | None) -> None:
        """If the connection is lost while committing, the outcome is queried on another one: an
        error must mean that nothing was changed. A read transaction needs no outcome."""
        try:
            connection.commit()
        except psycopg.OperationalError:
            if transaction is not None and not self._was_committed(transaction):
                raise

    def _was_committed(self, transaction: str) -> bool:
        deadline = time.monotonic() + self._timeout
        while time.monotonic() < deadline:
            with suppress(psycopg.OperationalError):
                status = self._status_of(transaction)
                if status != "in progress":
                    return status == "committed"
            time.sleep(0.05)
        raise OutcomeUnknown("The connection was lost while committing.")

    def _status_of(self, transaction: str) -> str | None:
        with psycopg.connect(self._conninfo, autocommit=True, connect_timeout=5) as connection:
            values = {"transaction": transaction}
            row = connection.execute(_sql(OWN_STATEMENTS["outcome"]), values).fetchone()
            return row[0] if row else None

    @contextmanager
    def _begin_reading(self, scope: Scope | None) -> Iterator[PostgresSession]:
        with self._transaction("commonplace_app", scope, "begin_reading") as session:
            yield session

    @contextmanager
    def _begin_writing(self, scope: Scope | None) -> Iterator[PostgresSession]:
        with self._transaction("commonplace_app", scope, _WRITING) as session:
            yield session

    @contextmanager
    def _surveying(self) -> Iterator[PostgresSession]:
        with self._transaction("commonplace_maintenance", None, "begin_reading") as session:
            yield session

    @contextmanager
    def _maintaining(self) -> Iterator[PostgresSession]:
        with self._transaction("commonplace_maintenance", None, _WRITING) as session:
            yield session

    @contextmanager
    def _seeking(self) -> Iterator[PostgresSession]:
        with self._transaction("commonplace_worker", None, "begin_reading") as session:
            yield session

    @contextmanager
    def _claiming(self) -> Iterator[PostgresSession]:
        """One claim after the other: two at once would not see that the other has taken a job of
        the same user, whose jobs run in order."""
        with self._transaction("commonplace_worker", None, _WRITING) as session:
            session.one("advisory_lock", key=_CLAIM_LOCK)
            yield session

    def _block_writers(self, session: Session) -> None:
        session.run("hold_writers")

    # ——— migrations ———

    def _migrate(self, now: datetime) -> None:
        with translated_errors():
            try:
                connection = psycopg.connect(self._conninfo)
            except psycopg.OperationalError as error:
                reason = str(error).strip().partition("\n")[0]
                raise StoreUnavailable(f"Cannot reach PostgreSQL: {reason}") from error
            with connection:
                if pending_migrations(_MIGRATIONS, _schema(connection)):
                    self._apply_pending(connection, now)

    def _apply_pending(self, connection: Connection, now: datetime) -> None:
        connection.execute(_sql(OWN_STATEMENTS["advisory_lock"]), {"key": _MIGRATION_LOCK})
        try:
            for migration in pending_migrations(_MIGRATIONS, _schema(connection)):
                connection.execute(_sql(OWN_STATEMENTS["create_migrations"]))
                connection.execute(_sql(migration.script))
                reach_failpoint("migration.statements")
                connection.execute(
                    _sql(OWN_STATEMENTS["record_migration"]),
                    {"number": migration.number, "name": migration.name, "at": micros(now)},
                )
        except psycopg.errors.InsufficientPrivilege as error:
            raise StoreTooOld("This login may not create or change the store's tables.") from error
        reach_failpoint("migration.before_commit")
        connection.commit()

    # ——— maintenance ———

    def _compact(self) -> bool:
        """False: this login does not own the tables, or erased rows may still be read."""
        with translated_errors(), psycopg.connect(self._conninfo, autocommit=True) as connection:
            owns = connection.execute(_sql(OWN_STATEMENTS["owns_tables"])).fetchone()
            if not owns or not owns[0]:
                return False  # only the owner of the tables may compact them
            moment = connection.execute(_sql(OWN_STATEMENTS["this_moment"])).fetchone()
            reach_failpoint("scrub.before_vacuum")
            connection.execute(_sql(OWN_STATEMENTS["wait_for_locks"]), {"wait": self._lock_wait})
            try:
                connection.execute(_sql(OWN_STATEMENTS["vacuum"]))
            except psycopg.errors.LockNotAvailable:
                return False
            reach_failpoint("scrub.before_checkpoint")
            unseen = connection.execute(
                _sql(OWN_STATEMENTS["unseen_since"]), {"moment": moment[0] if moment else None}
            ).fetchone()
        reach_failpoint("scrub.after_checkpoint")
        return bool(unseen and unseen[0])

    def health(self) -> StoreHealth:
        pending = len(self._unscrubbed())
        with translated_errors(), psycopg.connect(self._conninfo) as connection:
            size = connection.execute(_sql(OWN_STATEMENTS["database_size"])).fetchone()
            return StoreHealth(
                backend="postgresql",
                version=_dotted(connection.info.server_version),
                schema=_schema(connection),
                integrity=(),
                looked_at="pages not checked (use pg_amcheck)",
                bytes_on_disk=int(size[0]) if size else 0,
                pending_scrubs=pending,
            )

    def close(self) -> None:
        self._closed = True
        self._pool.close()


def _without_password(url: str) -> str:
    try:
        known = conninfo.conninfo_to_dict(url)
    except psycopg.ProgrammingError:
        raise _unreadable() from None  # the driver's message would repeat the password
    user, host, port, name = (
        str(known.get(part) or "") for part in ("user", "host", "port", "dbname")
    )
    if "@" in host or (port and not port.replace(",", "").isdecimal()):
        raise _unreadable()  # part of the password was parsed as host or port
    return f"postgresql://{user}@{host}{port and f':{port}'}/{name}"


def _unreadable() -> InvalidInput:
    return InvalidInput(
        "The address of the PostgreSQL store cannot be read.",
        remedy="Write postgresql://user:password@host:port/database, "
        "with special characters percent-encoded (@ is %40, / is %2F).",
        field="store",
    )


def _dotted(version: int) -> str:
    return f"{version // 10_000}.{version % 10_000}"


def _schema(connection: Connection) -> int:
    known = connection.execute(_sql(OWN_STATEMENTS["has_migrations"])).fetchone()
    if not known or known[0] is None:
        return 0
    row = connection.execute(_sql(OWN_STATEMENTS["schema"])).fetchone()
    return int(row[0]) if row and row[0] is not None else 0


def _sql(statement: str) -> LiteralString:
    """Statements come from the package's own files; the type asserts that they contain no input."""
    return statement

"""SQLite store: connections, dialect, migrations, compaction and errors.

WAL with synchronous=FULL: an acknowledged commit is on disk.
"""

from __future__ import annotations

import json
import logging
import os
import sqlite3
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from datetime import datetime
from pathlib import Path
from typing import Any

from commonplace.errors import (
    StoreBusy,
    StoreCorrupt,
    StoreError,
    StoreFull,
    StoreReadOnly,
    StoreUnavailable,
)
from commonplace.model.access.principal import Scope
from commonplace.store.failpoints import reach_failpoint
from commonplace.store.queries import LOST_COMMITS, StoreHealth
from commonplace.store.sql.rows import Row, Session, micros
from commonplace.store.sql.statements import (
    Dialect,
    load_migrations,
    load_shared_statements,
    pending_migrations,
)
from commonplace.store.sql.store import SqlStore

log = logging.getLogger("commonplace")

_BY_WORDS: tuple[tuple[str, type[StoreError], str], ...] = (
    ("database or disk is full", StoreFull, "The disk is full."),
    ("disk i/o error", StoreFull, "The disk refused the write."),
    ("locked", StoreBusy, "Another process holds the store for too long."),
    ("readonly", StoreReadOnly, "The store cannot be written."),
    ("read-only", StoreReadOnly, "The store cannot be written."),
    ("not a database", StoreCorrupt, "The file is not a Commonplace store."),
    ("malformed", StoreCorrupt, "The store's file is damaged."),
    ("could not decode", StoreCorrupt, "The store's file is damaged."),
    ("no such table", StoreCorrupt, "The store's file is damaged."),
    ("no such column", StoreCorrupt, "The store's file is damaged."),
    ("no such index", StoreCorrupt, "The store's file is damaged."),
    ("unsupported file format", StoreCorrupt, "The store's file is damaged."),
    ("unknown database", StoreCorrupt, "The store's file is damaged."),
    ("unable to open", StoreUnavailable, "The store's file cannot be opened."),
)


@contextmanager
def translated_errors() -> Iterator[None]:
    try:
        yield
    except sqlite3.Error as error:
        words = str(error).lower()
        for mark, kind, message in _BY_WORDS:
            if mark in words:
                raise kind(message) from error
        raise StoreError(f"SQLite refused: {error}") from error
    except UnicodeDecodeError as error:  # an error message that quotes a damaged schema
        raise StoreCorrupt("The store's file is damaged.") from error


DIALECT = Dialect(
    parameter=lambda name: f":{name}",
    among=lambda name: f"IN (SELECT value FROM json_each({name}))",
    among_numbers=lambda name: f"IN (SELECT value FROM json_each({name}))",
    each=lambda column: f"json_each({column}) AS t",
    pairs=lambda column: (
        "(SELECT key, CASE type WHEN 'true' THEN 'true' WHEN 'false' THEN 'false' "
        f"ELSE CAST(value AS TEXT) END AS value FROM json_each({column})) AS t"
    ),
    bytes="BLOB",
    using=lambda index: f" INDEXED BY {index}",
)
STATEMENTS = load_shared_statements(DIALECT)
_MIGRATIONS = load_migrations(
    "commonplace.store.sqlite",
    {
        "id": "TEXT",
        "int": "INTEGER",
        "real": "REAL",
        "bytes": "BLOB",
        "heap": "STRICT",
        "heap_by_owner": "STRICT",
        "clustered": "STRICT, WITHOUT ROWID",
        "clustered_by_owner": "STRICT, WITHOUT ROWID",
    },
)
_MEMORY = ":memory:"
# Counted in the transaction, and noted beside the file after it: a file that has fewer than the
# note has lost its log.
_COUNT_COMMIT = (
    "INSERT INTO store_facts (name, value) VALUES ('commits', '1') ON CONFLICT (name) "
    "DO UPDATE SET value = CAST(CAST(value AS INTEGER) + 1 AS TEXT) RETURNING value"
)
_COMMITS = "SELECT value FROM store_facts WHERE name = 'commits'"
_NOTE = "-commits"  # the ending of the note
_SCAN_BLOCK = 1 << 20


class SqliteSession:
    def __init__(self, connection: sqlite3.Connection, scope: Scope | None):
        self._connection = connection
        self._scope = {"scope": scope.key} if scope else {}

    def rows(self, statement: str, **values: Any) -> Sequence[Row]:
        return self._connection.execute(STATEMENTS[statement], self._bound(values)).fetchall()

    def one(self, statement: str, **values: Any) -> Row | None:
        rows = self.rows(statement, **values)
        return rows[0] if rows else None

    def run(self, statement: str, **values: Any) -> None:
        self._connection.execute(STATEMENTS[statement], self._bound(values))

    def run_many(self, statement: str, values: Sequence[Mapping[str, Any]]) -> None:
        if values:
            self._connection.executemany(STATEMENTS[statement], [self._bound(v) for v in values])

    def at(self, scope: Scope | None) -> SqliteSession:
        return SqliteSession(self._connection, scope)

    def restart(self) -> None:
        self._connection.execute("ROLLBACK")
        self._connection.execute("BEGIN")

    def _bound(self, values: Mapping[str, Any]) -> dict[str, Any]:
        bound = {**self._scope, **values}
        for name, value in bound.items():
            if isinstance(value, list):
                bound[name] = json.dumps(value)
        return bound


class SqliteStore(SqlStore):
    def __init__(self, path: str, *, now: datetime, lock_timeout: float = 60.0):
        super().__init__()
        self.url = path if path == _MEMORY else f"sqlite:///{path}"
        self._path = path
        self._lock_timeout = lock_timeout
        if path != _MEMORY:
            _make_private(path)
            _refuse_foreign(path)
        self.is_read_only = path != _MEMORY and _is_read_only(path)
        self._start()
        self._counts_commits = False
        try:
            self._migrate(now)
        except BaseException:
            self.close()
            raise
        self._counts_commits = True
        self._keep_lost_commits()

    def _start(self) -> None:
        self._process = os.getpid()
        self._write_lock = threading.RLock()
        self._idle: list[sqlite3.Connection] = []
        self._idle_lock = threading.Lock()
        self._writer = self._connect()

    def _reconnect_after_fork(self) -> None:
        """Connections belong to one process: a forked process opens its own.

        It closes the inherited ones first. SQLite counts locks per file and process, so a new
        connection next to an inherited one would rely on locks that only the parent holds, and
        write to a log that the parent deletes on close. An in-memory store was copied by the fork.
        """
        if self._process == os.getpid() or self._path == _MEMORY:
            return
        for inherited in (self._writer, *self._idle):
            inherited.close()
        self._start()

    # ——— connections ———

    def _connect(self) -> sqlite3.Connection:
        with translated_errors():
            try:
                if self.is_read_only:
                    return self._connect_read_only()
                return self._set_up(self._connect_to(self._path))
            except sqlite3.OperationalError as error:
                if "unable to open" not in str(error):
                    raise
                raise StoreUnavailable(
                    f"Cannot open {self._path}.",
                    remedy="Check that the folder exists and may be written.",
                ) from error

    def _connect_to(self, address: str) -> sqlite3.Connection:
        return sqlite3.connect(
            address,
            timeout=self._lock_timeout,
            isolation_level=None,
            check_same_thread=False,
            cached_statements=256,
            uri=address.startswith("file:"),
        )

    def _connect_read_only(self) -> sqlite3.Connection:
        """Without a log beside it, SQLite reads such a file only as one that nobody changes."""
        address = Path(self._path).absolute().as_uri()
        wal = Path(f"{self._path}-wal")
        is_closed = not wal.exists() or wal.stat().st_size == 0
        mode = "mode=ro&immutable=1" if is_closed else "mode=ro"
        try:
            return self._set_up(self._connect_to(f"{address}?{mode}"))
        except sqlite3.OperationalError as error:
            if "unable to open" not in str(error):
                raise
            raise StoreReadOnly(
                f"{self._path} was not closed, and its folder cannot be written.",
                remedy="Copy the file and those that end in -wal and -shm to a folder that can be "
                "written, and open the copy.",
                field="store",
            ) from error

    def _set_up(self, connection: sqlite3.Connection) -> sqlite3.Connection:
        try:
            if not self.is_read_only:
                self._use_write_ahead_log(connection)
            connection.execute("PRAGMA synchronous = FULL")
            connection.execute("PRAGMA foreign_keys = ON")
            connection.execute("PRAGMA cell_size_check = ON")  # sees damaged pages when read
            connection.execute("PRAGMA temp_store = MEMORY")
            connection.execute("PRAGMA cache_size = -16384")
        except BaseException:
            connection.close()
            raise
        return connection

    def _use_write_ahead_log(self, connection: sqlite3.Connection) -> None:
        """SQLite does not wait for locks when it switches a new file to WAL, so retry here."""
        deadline = time.monotonic() + self._lock_timeout
        while True:
            try:
                connection.execute("PRAGMA journal_mode = WAL")
                return
            except sqlite3.OperationalError as error:
                if "locked" not in str(error) or time.monotonic() > deadline:
                    raise
                time.sleep(0.01)

    @contextmanager
    def _reader(self) -> Iterator[sqlite3.Connection]:
        self._require_open()
        if self._path == _MEMORY:  # the data belong to the one connection
            with self._write_lock:
                yield self._writer
            return
        self._reconnect_after_fork()
        with self._idle_lock:
            connection = self._idle.pop() if self._idle else None
        connection = connection or self._connect()
        try:
            yield connection
        finally:
            with self._idle_lock:
                self._idle.append(connection)

    @contextmanager
    def _begin_reading(self, scope: Scope | None) -> Iterator[SqliteSession]:
        with translated_errors(), self._reader() as connection:
            connection.execute("BEGIN")
            try:
                yield SqliteSession(connection, scope)
            finally:
                if connection.in_transaction:  # an error may have ended it
                    connection.execute("ROLLBACK")

    @contextmanager
    def _begin_writing(self, scope: Scope | None) -> Iterator[SqliteSession]:
        self._require_open()
        if self.is_read_only:
            raise StoreReadOnly("The store cannot be written.")
        self._reconnect_after_fork()
        with self._write_lock, translated_errors():
            self._writer.execute("BEGIN IMMEDIATE")
            try:
                before = self._writer.total_changes
                yield SqliteSession(self._writer, scope)
                commits = self._count_commit(before)
                self._writer.execute("COMMIT")
                self._note_commits(commits)
            except BaseException:
                if self._writer.in_transaction:
                    self._writer.execute("ROLLBACK")
                raise

    def _count_commit(self, changes_before: int) -> str | None:
        """None: nothing was changed, or the schema is being made."""
        if self._writer.total_changes == changes_before or self._path == _MEMORY:
            return None
        if not self._counts_commits:
            return None
        return str(self._writer.execute(_COUNT_COMMIT).fetchone()[0])

    def _note_commits(self, commits: str | None) -> None:
        """Not synced to the disk: an old note only sees less."""
        if commits is None:
            return
        with suppress(OSError):
            note = os.open(f"{self._path}{_NOTE}", os.O_CREAT | os.O_WRONLY, 0o600)
            try:
                os.pwrite(note, commits.encode("ascii"), 0)
                os.ftruncate(note, len(commits))
            finally:
                os.close(note)

    def _keep_lost_commits(self) -> None:
        """Kept in the store, because the next commit writes a new note."""
        if self._path == _MEMORY or self.is_read_only:
            return
        try:
            noted = int(Path(f"{self._path}{_NOTE}").read_text(encoding="ascii"))
        except (OSError, ValueError):
            return  # no note, as of a copied file: not known
        with translated_errors():
            row = self._writer.execute(_COMMITS).fetchone()
        lost = noted - int(row[0] if row else 0)
        if lost > 0:
            log.warning("%d commits are missing: see `commonplace doctor`", lost)
            with self._maintaining() as session:
                session.run("put_fact", name=LOST_COMMITS, value=str(lost))

    @contextmanager
    def _surveying(self) -> Iterator[Session]:
        with self._reading(None) as session:
            yield session

    @contextmanager
    def _maintaining(self) -> Iterator[Session]:
        with self._writing(None) as session:
            yield session

    @contextmanager
    def _seeking(self) -> Iterator[Session]:
        with self._reading(None) as session:
            yield session

    @contextmanager
    def _claiming(self) -> Iterator[Session]:
        with self._writing(None) as session:
            yield session

    def _block_writers(self, session: Session) -> None:
        """Nothing to do: SQLite has one writer at a time."""

    # ——— migrations ———

    def _schema(self) -> int:
        row = self._writer.execute(
            "SELECT 1 FROM sqlite_schema WHERE name = 'migrations'"
        ).fetchone()
        if row is None:
            return 0
        (newest,) = self._writer.execute("SELECT MAX(number) FROM migrations").fetchone()
        if not isinstance(newest, int):
            raise StoreCorrupt("The store's file is damaged.")
        return newest

    def _migrate(self, now: datetime) -> None:
        with translated_errors():
            if not pending_migrations(_MIGRATIONS, self._schema()):
                return
        with self._writing(None):
            # Another process may have migrated while this one waited for the lock.
            for migration in pending_migrations(_MIGRATIONS, self._schema()):
                self._writer.execute(
                    "CREATE TABLE IF NOT EXISTS migrations "
                    "(number INTEGER PRIMARY KEY, name TEXT NOT NULL, applied_at INTEGER NOT NULL)"
                )
                for statement in _split(migration.script):
                    self._writer.execute(statement)
                reach_failpoint("migration.statements")
                self._writer.execute(
                    "INSERT INTO migrations VALUES (?, ?, ?)",
                    (migration.number, migration.name, micros(now)),
                )
            reach_failpoint("migration.before_commit")

    # ——— maintenance ———

    def _compact(self) -> bool:
        try:
            with self._write_lock, translated_errors():
                reach_failpoint("scrub.before_vacuum")
                # VACUUM makes a copy of the live rows, which need not fit in memory.
                self._writer.execute("PRAGMA temp_store = FILE")
                try:
                    self._writer.execute("VACUUM")
                finally:
                    self._writer.execute("PRAGMA temp_store = MEMORY")
                reach_failpoint("scrub.before_checkpoint")
                busy = self._writer.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]
                reach_failpoint("scrub.after_checkpoint")
        except StoreBusy:
            return False
        return not busy

    def mentions(self, scope: Scope, text: str, *, files: bool = False) -> list[str]:
        """Also searches the bytes of the files: deleted rows remain there until compaction."""
        in_tables = super().mentions(scope, text)
        if not files or self._path == _MEMORY:
            return in_tables
        paths = [Path(self._path), Path(f"{self._path}-wal")]
        return in_tables + [path.name for path in paths if _file_contains(path, text.encode())]

    def health(self) -> StoreHealth:
        pending = len(self._unscrubbed())
        with self._write_lock, translated_errors():
            problems = [
                str(row[0]) for row in self._writer.execute("PRAGMA integrity_check").fetchall()
            ]
            pages, size = (
                self._writer.execute(f"PRAGMA {name}").fetchone()[0]
                for name in ("page_count", "page_size")
            )
            schema = self._schema()
        return StoreHealth(
            backend="sqlite",
            version=sqlite3.sqlite_version,
            schema=schema,
            integrity=() if problems == ["ok"] else tuple(problems),
            looked_at="every page",
            bytes_on_disk=pages * size,
            pending_scrubs=pending,
            lost_commits=int(self.fact(LOST_COMMITS) or 0),
        )

    def close(self) -> None:
        self._closed = True
        with self._idle_lock:
            while self._idle:
                self._idle.pop().close()
        with self._write_lock:
            self._writer.close()


def _is_read_only(path: str) -> bool:
    """A file that exists, and that or whose folder this process may not write."""
    file = Path(path)
    folder_is_open = os.access(file.absolute().parent, os.W_OK, effective_ids=True)
    return file.exists() and not (os.access(file, os.W_OK, effective_ids=True) and folder_is_open)


def _make_private(path: str) -> None:
    """Creates the file readable only by its owner; SQLite's log gets the same mode."""
    with suppress(OSError):  # it exists, or SQLite will report why it cannot be created
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))


def _refuse_foreign(path: str) -> None:
    """Raises for a database of another program."""
    try:
        address = Path(path).absolute().as_uri()
        mode = "mode=ro&immutable=1" if _is_read_only(path) else "mode=rw"
        with closing(sqlite3.connect(f"{address}?{mode}", uri=True)) as connection:
            names = {row[0] for row in connection.execute("SELECT name FROM sqlite_schema")}
    except (sqlite3.Error, UnicodeDecodeError):
        return  # missing, busy or unreadable: opening the store will report it
    if names and "migrations" not in names:
        raise StoreCorrupt(
            f"{path} is not a Commonplace store.",
            remedy="Give another file.",
            field="store",
        )


def _split(script: str) -> Iterator[str]:
    statement = ""
    for line in script.splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            yield statement
            statement = ""


def _file_contains(path: Path, sought: bytes) -> bool:
    if not path.exists():
        return False
    tail = b""
    with path.open("rb") as file:
        while block := file.read(_SCAN_BLOCK):
            if sought in tail + block:
                return True
            tail = block[-len(sought) :]
    return False

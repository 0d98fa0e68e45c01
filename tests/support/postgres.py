"""A real PostgreSQL for the tests, from the pip wheel, with a fresh database for each test."""

from __future__ import annotations

import itertools
import os
import shutil
import tempfile
from pathlib import Path
from typing import Any

import psycopg

from commonplace.store.postgres.store import PostgresStore
from support.clock import START
from support.pgserver import get_server
from support.stores import TABLES

SWEEPER = "sweeper"
_numbers = itertools.count(1)


class Server:
    """One server for the whole run; databases are copies of a migrated template."""

    def __init__(self) -> None:
        # A short path without spaces: the socket lives in it, and sockets have short names.
        self.folder = Path(tempfile.mkdtemp(prefix="cp-pg-"))
        self._server = get_server(self.folder, cleanup_mode=None)
        self._emptied: list[str] = []
        # Kept, since a new connection has to learn of every partition before it can empty one.
        self._sweepers: dict[str, psycopg.Connection[Any]] = {}
        self._admin = psycopg.connect(self._server.get_uri(), autocommit=True)
        # These databases end with the run: only a power cut would need their bytes on the disk.
        self._admin.execute("ALTER SYSTEM SET fsync = off")
        self._admin.execute("SELECT pg_reload_conf()")
        self._admin.execute("CREATE DATABASE template_commonplace")
        PostgresStore(self.url("template_commonplace"), now=START).close()

    def url(self, database: str) -> str:
        return self._server.get_uri(database=database)

    def empty_database(self) -> str:
        name = f"empty_{os.getpid()}_{next(_numbers)}"
        self._admin.execute(f"CREATE DATABASE {name}")
        return self.url(name)

    def database(self) -> str:
        """The URL of a migrated, empty store."""
        if self._emptied:
            return self._emptied.pop()
        name = f"test_{os.getpid()}_{next(_numbers)}"
        self._admin.execute(f"CREATE DATABASE {name} TEMPLATE template_commonplace")
        return self.url(name)

    def give_back(self, url: str) -> None:
        """Emptied for the next test: far cheaper than another copy of the template."""
        try:
            self._sweep(url)
        except psycopg.OperationalError:  # a test that ends every session ends the sweeper's too
            self._sweepers.pop(url).close()
            self._sweep(url)
        self._emptied.append(url)

    def _sweep(self, url: str) -> None:
        if url not in self._sweepers:
            self._sweepers[url] = psycopg.connect(
                url, autocommit=True, application_name=SWEEPER, options="-c lock_timeout=10s"
            )
        self._sweepers[url].execute("; ".join(f"DELETE FROM {table}" for table in TABLES))

    def stop(self) -> None:
        for connection in (*self._sweepers.values(), self._admin):
            connection.close()
        self._server.stop()
        self._server.global_process_id_list.get_and_remove(os.getpid())
        shutil.rmtree(self.folder, ignore_errors=True)

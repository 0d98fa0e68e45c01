"""The raw bytes that a store keeps on the disk: what a thief of the disk would find."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import psycopg

from support.postgres import Server

BLOCK = 1 << 22


def files_holding(text: str, url: str, server: Server | None) -> list[str]:
    """The names of the store's files in which the text stands in UTF-8."""
    sought = text.encode()
    return [path.name for path in _files(url, server) if _holds(path, sought)]


def gather_statistics(url: str) -> None:
    """PostgreSQL does this by itself from time to time, and copies samples of what it sees."""
    if "://" in url:
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute("ANALYZE")


def _files(url: str, server: Server | None) -> Iterator[Path]:
    if server is None:
        yield from Path(url).parent.glob(f"{Path(url).name}*")  # with -wal and -shm
        return
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("CHECKPOINT")  # what is in memory alone is on the disk from here on
        query = "SELECT oid FROM pg_database WHERE datname = current_database()"
        row = connection.execute(query).fetchone()
    assert row is not None
    folder = server.folder / "base" / str(row[0])
    # Its cache of the catalogue comes and goes while one looks, and holds nothing of any table.
    yield from (path for path in folder.iterdir() if path.name != "pg_internal.init")


def _holds(path: Path, sought: bytes) -> bool:
    tail = b""
    with path.open("rb") as file:
        while block := file.read(BLOCK):
            if sought in tail + block:
                return True
            tail = block[-len(sought) :]
    return False

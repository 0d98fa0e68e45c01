"""SQLite's errors, translated once."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager

from commonplace.errors import (
    StoreBusy,
    StoreCorrupt,
    StoreError,
    StoreFull,
    StoreReadOnly,
    StoreUnavailable,
)

_BY_WORDS: tuple[tuple[str, type[StoreError], str], ...] = (
    ("database or disk is full", StoreFull, "The disk is full."),
    ("disk i/o error", StoreFull, "The disk refused the write."),
    ("locked", StoreBusy, "Another process holds the store for too long."),
    ("readonly", StoreReadOnly, "The store cannot be written."),
    ("read-only", StoreReadOnly, "The store cannot be written."),
    ("not a database", StoreCorrupt, "The file is not a Commonplace store."),
    ("malformed", StoreCorrupt, "The store's file is damaged."),
    ("unable to open", StoreUnavailable, "The store's file cannot be opened."),
)


@contextmanager
def translated() -> Iterator[None]:
    try:
        yield
    except sqlite3.Error as error:
        words = str(error).lower()
        for mark, kind, message in _BY_WORDS:
            if mark in words:
                raise kind(message) from error
        raise StoreError(f"SQLite refused: {error}") from error

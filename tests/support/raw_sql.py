"""A statement straight into a store's database, past everything that guards it."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import Any

import psycopg


def run_raw(store_url: str, statement: str) -> list[tuple[Any, ...]]:
    """The rows it returns, committed. For tampering and for looking at tables."""
    if store_url.startswith("postgresql"):
        with psycopg.connect(store_url, autocommit=True) as connection:
            cursor = connection.execute(statement)
            return cursor.fetchall() if cursor.description else []
    with closing(sqlite3.connect(store_url, isolation_level=None)) as connection:
        return connection.execute(statement).fetchall()

"""A store without a book, and its rows as the database holds them, past the port."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import Any

import psycopg

from commonplace.store.address import parse_address
from commonplace.store.postgres.store import PostgresStore
from commonplace.store.sql.store import SqlStore
from commonplace.store.sqlite.store import SqliteStore
from support.clock import START

SCOPED_TABLES = (
    "scopes",
    "memories",
    "reads",
    "versions",
    "terms",
    "vectors",
    "links",
    "journal",
    "cursors",
    "receipts",
    "held",
    "proposals",
    "jobs",
    "sources",
    "originals",
    "passages",
    "recall_log",
    "recall_hits",
    "kept_answers",
    "keys",
    "teams",
    "memberships",
    "shares",
    "edges",
    "edge_tellings",
    "nodes",
    "node_tellings",
    "graph_notes",
    "artifacts",
    "storylines",
    "macros",
    "extractions",
    "marks",
    "graph_vectors",
    "model_answers",
    "model_usage",
    "model_readings",
    "sleep_runs",
    "sleep_changes",
    "fingerprints",
)
OF_THE_STORE = ("store_facts", "generations")  # nothing of any owner is in them
TABLES = (*SCOPED_TABLES, *OF_THE_STORE)
ALL_TABLES = (*TABLES, "migrations")


def is_postgres(url: str) -> bool:
    return parse_address(url).backend == "postgresql"


def open_store(url: str, **options: Any) -> SqlStore:
    if is_postgres(url):
        return PostgresStore(url, now=START, **options)
    return SqliteStore(parse_address(url).target, now=START, **options)


def raw(url: str, statement: str, *values: Any) -> list[tuple[Any, ...]]:
    """Rows of any statement, with the rights of whoever owns the database."""
    if is_postgres(url):
        with psycopg.connect(url) as connection:
            cursor = connection.execute(statement.replace("?", "%s"), values)
            return cursor.fetchall() if cursor.description else []
    with closing(sqlite3.connect(parse_address(url).target)) as connection, connection:
        return connection.execute(statement, values).fetchall()


def all_rows(url: str) -> dict[str, list[tuple[Any, ...]]]:
    """Everything in the store, to prove that something changed nothing. Without the number of
    transactions, which also counts those that changed nothing."""
    found = {table: sorted(raw(url, f"SELECT * FROM {table}"), key=repr) for table in ALL_TABLES}
    found["store_facts"] = [row for row in found["store_facts"] if row[0] != "commits"]
    return found

"""However many links a user has, those of a few memories are found through an index."""

from __future__ import annotations

import json
import sqlite3

from commonplace.store.sqlite.store import STATEMENTS, SqliteStore
from support.clock import START


def test_sqlite_links_query_uses_an_index_for_both_ends(tmp_path):
    """Without a hint it would walk through all of the scope's links for one of the ends."""
    path = tmp_path / "memory.db"
    SqliteStore(str(path), now=START).close()
    with sqlite3.connect(path) as connection:
        values = {"scope": "user:ana", "ids": json.dumps(["a", "b"])}
        plan = connection.execute(f"EXPLAIN QUERY PLAN {STATEMENTS['links']}", values).fetchall()
    connection.close()
    searches = [row[3] for row in plan if row[3].startswith("SEARCH links")]
    assert len(searches) == 2
    assert all("scope=? AND" in search for search in searches), searches

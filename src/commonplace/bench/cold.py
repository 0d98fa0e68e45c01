"""Run in a fresh process: what the first recall costs, and what the index weighs in memory."""

from __future__ import annotations

import json
import sys

import commonplace
from commonplace.bench.measure import resident_bytes, timed


def first_recall(url: str, user: str, query: str) -> dict[str, float | None]:
    with commonplace.open(url, embedder="hashing", tidy_on_open=False) as book:
        book.user("nobody").recall(query)  # connections and the tokenizer are not the index
        before = resident_bytes()
        seconds = timed(lambda: book.user(user).recall(query))
        after = resident_bytes()
        return {
            "first_recall_ms": seconds * 1000,
            "index_bytes": book._desk.index.nbytes,
            "rss_bytes": None if before is None or after is None else after - before,
        }


if __name__ == "__main__":
    print(json.dumps(first_recall(*sys.argv[1:])))

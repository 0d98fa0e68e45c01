"""One user among many against the same user alone."""

from __future__ import annotations

from collections.abc import Sequence

from commonplace.bench.data import PreparedEmbedder, Writer
from commonplace.bench.databases import PostgresServer, SqliteFolder
from commonplace.bench.measure import interleaved, timed
from commonplace.bench.plan import Plan
from commonplace.bench.report import Table
from commonplace.bench.shelf import OWNER, load, open_book, remember_all

_DIFFERENT = 10  # sentences in the pool, as a multiple of one user's memories


class Crowd:
    def __init__(self, plan: Plan, writer: Writer, embedder: PreparedEmbedder):
        self._plan = plan
        self._writer = writer
        self._embedder = embedder
        self.table = Table(
            "crowd",
            "One user among many",
            (
                "database",
                "users",
                "memories each",
                "loaded/s",
                "alone p50 ms",
                "among many p50 ms",
                "x alone",
            ),
        )

    def measure(self, databases: Sequence[SqliteFolder | PostgresServer]) -> None:
        each = self._plan.memories_each
        pool = self._writer.sentences(_DIFFERENT * each)
        self._embedder.prepare(pool)
        queries = self._writer.queries(pool[:each], self._plan.recalls + 5)
        self._embedder.prepare(queries)
        for database in databases:
            self._measure(database, pool, queries)

    def _measure(
        self, database: SqliteFolder | PostgresServer, pool: Sequence[str], queries: Sequence[str]
    ) -> None:
        users, each = self._plan.users, self._plan.memories_each
        alone = load(database, "alone", self._embedder, pool[:each])
        url = database.create("crowd")
        with open_book(url, self._embedder) as crowded:
            me = crowded.user(OWNER)
            remember_all(me, pool[:each])

            def others() -> None:
                for number in range(1, users):
                    start = number * 7 % (len(pool) - each)
                    remember_all(crowded.user(f"user-{number}"), pool[start : start + each])

            seconds = timed(others)
            database.settle(url)

            def flush() -> None:
                alone.book.flush()
                crowded.flush()

            timings = interleaved(
                {
                    "alone": lambda i: alone.me.recall(queries[i]),
                    "crowd": lambda i: me.recall(queries[i]),
                },
                self._plan.recalls,
                after=flush,
                warm_up=5,
            )
        alone.book.close()
        lonely, among = timings["alone"].p50, timings["crowd"].p50
        loaded = (users - 1) * each / seconds
        self.table.add(database.name, users, each, loaded, lonely, among, among / lonely)

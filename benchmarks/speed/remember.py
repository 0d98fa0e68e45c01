"""Remember speed against a bare fdatasync; links, relations, syncs per write."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np

import commonplace
from benchmarks.fixtures import (
    LoadedStore,
    PostgresServer,
    PreparedEmbedder,
    SentenceGenerator,
    SqliteFolder,
    open_store,
    remember_all,
)
from benchmarks.measure import Method, SpeedPlan, SyncedFile, interleaved
from benchmarks.report import Table
from commonplace.api import User
from commonplace.engine.memories import remember as verb
from commonplace.engine.memories.neighbours import MAX_LINKS, Neighbourhood, load_neighbourhood

BARE_SYNC = "bare 4 KiB + fdatasync"


class RememberBenchmark:
    def __init__(
        self, plan: SpeedPlan, folder: Path, writer: SentenceGenerator, embedder: PreparedEmbedder
    ):
        self._plan = plan
        self._folder = folder
        self._writer = writer
        self.embedder = embedder
        self.remember = Table(
            "remember",
            "Remembering: one at a time, durable before it answers",
            ("memories", "method", "p50 ms", "p95 ms", "a second", "of the bare rate"),
        )
        self.links = Table(
            "links",
            "Links: (remember with 5 links - with none) / 5",
            ("memories", "database", "p50 ms", "p95 ms"),
        )
        self.relations = Table(
            "relations",
            "Relations: remembering a fact with them and without",
            ("memories", "database", "p50 ms", "p50 ms without", "times"),
            notes=[
                "Without: the same write, not compared with stored memories; neighbours are found "
                "and linked in both."
            ],
        )
        self.syncs = Table(
            "syncs",
            "Disk syncs per remember",
            ("database", "remembers", "syncs each"),
        )

    def measure(self, shelves: Sequence[LoadedStore], size: int) -> None:
        sentences = self._prepared(self._writer.sentences(self._plan.remembers))
        synced = SyncedFile(self._folder)
        methods: dict[str, Method] = {BARE_SYNC: lambda i: synced.write()}
        for shelf in shelves:
            name = f"commonplace on {shelf.database.name}"
            methods[name] = partial(_remember, shelf.me, sentences)
        timings = interleaved(methods, self._plan.remembers)
        synced.close()
        for name, timing in timings.items():
            share = timing.per_second / timings[BARE_SYNC].per_second
            self.remember.add(size, name, timing.p50, timing.p95, timing.per_second, share)
        for shelf in shelves:
            self._link(shelf, size)
            self._relate(shelf, size)

    def _prepared(self, sentences: list[str]) -> list[str]:
        self.embedder.prepare(sentences)
        return sentences

    def _link(self, shelf: LoadedStore, size: int) -> None:
        """Same words, other order: as near as can be, so that there are always five to link."""
        rounds = self._plan.remembers
        theme = self._writer.sentences(1)[0]
        near = self._prepared([self._writer.shuffled(theme) for _ in range(rounds + MAX_LINKS)])
        far = self._prepared(self._writer.sentences(rounds))
        remember_all(shelf.me, near[:MAX_LINKS])
        timings = interleaved(
            {
                "near": lambda i: shelf.me.remember(near[MAX_LINKS + i]),
                "far": lambda i: shelf.me.remember(far[i]),
            },
            rounds,
        )
        extra = np.subtract(timings["near"].seconds, timings["far"].seconds) * 1000 / MAX_LINKS
        p50, p95 = np.percentile(extra, [50, 95]).tolist()
        self.links.add(size, shelf.database.name, p50, p95)

    def _relate(self, shelf: LoadedStore, size: int) -> None:
        rounds = self._plan.remembers
        sentences = self._prepared(self._writer.sentences(2 * rounds))

        def remember(number: int) -> None:
            shelf.me.remember(sentences[number], kind="fact")

        def without(number: int) -> None:
            with patch.object(verb, "load_neighbourhood", _without_candidates):
                remember(rounds + number)

        timings = interleaved({"with": remember, "without": without}, rounds)
        related, bare = timings["with"].p50, timings["without"].p50
        self.relations.add(size, shelf.database.name, related, bare, related / bare)

    # ——— counting syncs ———

    def count_syncs(self, databases: Sequence[SqliteFolder | PostgresServer]) -> None:
        for database in databases:
            if isinstance(database, PostgresServer):
                self._count_in_server(database)
            else:
                self._count_under_strace(database)

    def _count_under_strace(self, database: SqliteFolder) -> None:
        """The difference between a long run and a short one, so that opening does not count."""
        strace = shutil.which("strace")
        if strace is None:
            self.syncs.notes.append("SQLite: not counted, strace is not installed.")
            return
        short, long = self._plan.synced_remembers // 10, self._plan.synced_remembers
        try:
            few, many = (
                _syncs_under_strace(strace, database.create(f"syncs_{count}"), count, self._folder)
                for count in (short, long)
            )
        except subprocess.CalledProcessError:
            self.syncs.notes.append("SQLite: not counted, strace may not trace here.")
            return
        each = (many - few) / (long - short)
        self.syncs.add(database.name, long - short, each)
        self.syncs.notes.append(
            "SQLite: fdatasync and fsync counted by strace; the part above 1 is checkpoints, once "
            "in some dozen commits."
        )

    def _count_in_server(self, server: PostgresServer) -> None:
        count = self._plan.synced_remembers
        url = server.create("syncs")
        sentences = self._prepared(self._writer.sentences(count))
        open_store(url, self.embedder).close()
        before = server.synced_commits(url)
        with open_store(url, self.embedder) as book:
            for sentence in sentences:
                book.user("writer").remember(sentence)
        each = (server.synced_commits(url) - before) / count
        self.syncs.add(server.name, count, each)
        self.syncs.notes.append("PostgreSQL: syncs of the write-ahead log, from pg_stat_io.")


def _without_candidates(*given: Any) -> Neighbourhood:
    engine, scope, memories, vectors, *_ = given
    around = load_neighbourhood(engine, scope, memories, vectors)
    return replace(around, candidates=[[] for _ in memories])


def _remember(me: User, sentences: Sequence[str], number: int) -> None:
    me.remember(sentences[number])


def _syncs_under_strace(strace: str, url: str, count: int, folder: Path) -> int:
    calls = folder / f"strace-{count}"
    subprocess.run(
        [
            *(strace, "-f", "-e", "trace=fdatasync,fsync", "-o", str(calls)),
            *(sys.executable, "-m", "benchmarks.speed.remember", url, str(count)),
        ],
        check=True,
        capture_output=True,
        timeout=600,
    )
    return sum("sync(" in line for line in calls.read_text().splitlines())


def remember_sentences(url: str, count: int) -> None:
    with commonplace.open(url, embedder="hashing", tidy_on_open=False) as book:
        me = book.user("writer")
        for sentence in SentenceGenerator().sentences(count):
            me.remember(sentence)


if __name__ == "__main__":
    remember_sentences(sys.argv[1], int(sys.argv[2]))

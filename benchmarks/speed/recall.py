"""Recall and context speed: growing sizes, many users, the cold index."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import commonplace
from benchmarks.fixtures import (
    OWNER,
    Database,
    LoadedStore,
    PostgresServer,
    PreparedEmbedder,
    SentenceGenerator,
    SqliteFolder,
    load_store,
    open_store,
    remember_all,
)
from benchmarks.measure import Method, SpeedPlan, Timing, interleaved, resident_bytes, timed
from benchmarks.report import Table
from benchmarks.speed import peers
from benchmarks.speed.peers import Peer, PeerNotAvailable
from commonplace.api import User
from commonplace.language.embedders.embedder import Vectors
from commonplace.language.text.tokens import count_tokens

WARM_UP = 5


class RecallBenchmark:
    def __init__(self, plan: SpeedPlan, folder: Path):
        self._plan = plan
        self._folder = folder
        self.recall = Table(
            "recall",
            "Recall: full hybrid, compared with plain vector scans",
            ("memories", "method", "p50 ms", "p95 ms", "x numpy", "sustained/s"),
            notes=[
                "sustained/s: recalls back to back, including what is written after the answer.",
            ],
        )
        self.weight = Table(
            "weight",
            "Loading, the cold index, and bytes for each memory",
            (
                "memories",
                "database",
                "loaded/s",
                "first recall ms",
                "index bytes each",
                "process bytes each",
                "disk bytes each",
            ),
            notes=[
                "loaded/s: remember_many in batches of 1,000, durable, neighbours and links found.",
                "First recall: in a fresh process, the index read from the database on the way.",
            ],
        )

    def measure(
        self,
        shelves: Sequence[LoadedStore],
        memories: Sequence[str],
        vectors: Vectors,
        queries: Sequence[str],
        asked: Vectors,
    ) -> None:
        size = len(memories)
        with self._peers(size, memories, vectors) as loaded:
            methods: dict[str, Method] = {
                name: partial(_search_peer, peer, queries, asked) for name, peer in loaded.items()
            }
            for shelf in shelves:
                methods[engine_name(shelf.database)] = partial(_recall, shelf.me, queries)
            timings = interleaved(
                methods,
                self._plan.recalls,
                after=partial(_flush, shelves),
                warm_up=WARM_UP,
            )
        for name, timing in timings.items():
            self._tell(size, name, timing, timings[peers.NUMPY], shelves, queries)
        for shelf in shelves:
            self._weigh(shelf, size, queries[0])

    def _tell(
        self,
        size: int,
        name: str,
        timing: Timing,
        scan: Timing,
        shelves: Sequence[LoadedStore],
        queries: Sequence[str],
    ) -> None:
        mine = [shelf for shelf in shelves if engine_name(shelf.database) == name]
        sustained = _sustained_rate(mine[0], queries) if mine else timing.per_second
        ratio = timing.p50 / scan.p50
        self.recall.add(size, name, timing.p50, timing.p95, ratio, sustained)

    @contextmanager
    def _peers(
        self, size: int, memories: Sequence[str], vectors: Vectors
    ) -> Iterator[dict[str, Peer]]:
        with ExitStack() as stack:
            loaded: dict[str, Peer] = {}
            for number, (name, make) in enumerate(peers.PEERS.items()):
                if name != peers.NUMPY and not self._plan.peers:
                    continue
                folder = self._folder / f"peer-{number}-{size}"
                folder.mkdir()
                try:
                    peer = make(folder)
                except PeerNotAvailable as reason:
                    note = f"{name}: not available: {reason}."
                    if note not in self.recall.notes:
                        self.recall.notes.append(note)
                    continue
                stack.callback(peer.close)
                peer.load(memories, vectors)
                loaded[name] = peer
            yield loaded

    def _weigh(self, shelf: LoadedStore, size: int, query: str) -> None:
        shelf.book.flush()
        cold = _cold_recall(shelf.url, query)
        self.weight.add(
            size,
            shelf.database.name,
            size / shelf.load_seconds,
            cold["first_recall_ms"],
            cold["index_bytes"] / size,
            None if cold["rss_bytes"] is None else cold["rss_bytes"] / size,
            shelf.disk_bytes / size,
        )


def engine_name(database: Database) -> str:
    return f"commonplace on {database.name}"


def _search_peer(peer: Peer, queries: Sequence[str], asked: Vectors, number: int) -> None:
    peer.search(queries[number], asked[number])


def _recall(me: User, queries: Sequence[str], number: int) -> None:
    me.recall(queries[number])


def _flush(shelves: Sequence[LoadedStore]) -> None:
    for shelf in shelves:
        shelf.book.flush()


def _sustained_rate(shelf: LoadedStore, queries: Sequence[str]) -> float:
    def ask_all() -> None:
        for query in queries:
            shelf.me.recall(query)
        shelf.book.flush()

    return len(queries) / timed(ask_all)


def _cold_recall(url: str, query: str) -> dict[str, Any]:
    ran = subprocess.run(
        [sys.executable, "-m", "benchmarks.speed.recall", url, OWNER, query],
        capture_output=True,
        text=True,
        check=True,
        timeout=600,
    )
    found: dict[str, Any] = json.loads(ran.stdout)
    return found


_POOL_FACTOR = 10  # sentences in the pool, as a multiple of one user's memories


class CrowdBenchmark:
    def __init__(self, plan: SpeedPlan, writer: SentenceGenerator, embedder: PreparedEmbedder):
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
        pool = self._writer.sentences(_POOL_FACTOR * each)
        self._embedder.prepare(pool)
        queries = self._writer.queries(pool[:each], self._plan.recalls + 5)
        self._embedder.prepare(queries)
        for database in databases:
            self._measure(database, pool, queries)

    def _measure(
        self, database: SqliteFolder | PostgresServer, pool: Sequence[str], queries: Sequence[str]
    ) -> None:
        users, each = self._plan.users, self._plan.memories_each
        alone = load_store(database, "alone", self._embedder, pool[:each])
        url = database.create("crowd")
        with open_store(url, self._embedder) as crowded:
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


CONTEXT_WARM_UP = 3

_RULES = ("spending", "calling", "deleting", "sending", "booking", "sharing", "paying", "moving")
_CONTEXT_MEMORIES: tuple[dict[str, Any], ...] = (
    *({"kind": "soul", "content": f"Be {word}"} for word in ("kind", "brief", "exact")),
    *(
        {"kind": "rule", "content": f"Ask before {word}", "evidence": ["said so"]}
        for word in _RULES
    ),
    *(
        {"kind": "note", "category": "preferences", "content": f"I prefer letter {n} to others"}
        for n in range(30)
    ),
    *({"kind": "event", "content": f"Dana painted wall {n}"} for n in range(30)),
    *({"kind": "summary", "content": f"Job {n} is done"} for n in range(8)),
)


class ContextBenchmark:
    def __init__(self, plan: SpeedPlan):
        self._plan = plan
        self.table = Table(
            "context",
            "A context compared with one recall",
            (
                "memories",
                "database",
                "recall p50 ms",
                "context p50 ms",
                "x recall",
                "x recall, working",
                "first p50 ms",
                "tokens",
                "% shared",
            ),
            notes=[
                "Every layer has something to say, and the budget of 1,300 tokens is used up.",
                "Working: by the time that the caller's thread had a processor.",
                "First: in a thread that never looked before, its delta header included.",
                "Shared: tokens of a context that stand in the beginning it has in common with the "
                "one before, after one more memory and with another question.",
            ],
        )

    def measure(self, shelves: Sequence[LoadedStore], size: int, queries: Sequence[str]) -> None:
        for shelf in shelves:
            shelf.me.profile_set("preferred_name", "Ana")
            shelf.me.remember_many(list(_CONTEXT_MEMORIES))
            self._measure(shelf, size, queries)

    def _measure(self, shelf: LoadedStore, size: int, queries: Sequence[str]) -> None:
        agent = shelf.me.agent("supervisor")
        tokens = agent.context(queries[0]).tokens
        methods: dict[str, Method] = {
            "recall": partial(_recall_once, shelf.me, queries),
            "context": partial(_context_once, agent, queries),
            "first": partial(_first_context, agent, queries),
        }
        rounds = min(self._plan.recalls, len(queries) - CONTEXT_WARM_UP)
        timings = interleaved(methods, rounds, after=shelf.book.flush, warm_up=CONTEXT_WARM_UP)
        recall, context = timings["recall"], timings["context"]
        self.table.add(
            size,
            shelf.database.name,
            recall.p50,
            context.p50,
            context.p50 / recall.p50,
            context.cpu_p50 / recall.cpu_p50,
            timings["first"].p50,
            tokens,
            100 * _shared_prefix(shelf.me, agent, queries),
        )


def _recall_once(me: User, queries: Sequence[str], number: int) -> None:
    me.recall(queries[number])


def _context_once(agent: User, queries: Sequence[str], number: int) -> None:
    agent.context(queries[number])


def _first_context(agent: User, queries: Sequence[str], number: int) -> None:
    agent.context(queries[number], thread=f"thread {number}")


def _shared_prefix(me: User, agent: User, queries: Sequence[str]) -> float:
    before = agent.context(queries[0])
    me.remember(f"{queries[1]} once more", kind="note")
    after = agent.context(queries[1])
    pairs = enumerate(zip(before.text, after.text, strict=False))
    differs = next((place for place, (one, other) in pairs if one != other), len(after.text))
    return count_tokens(after.text[:differs]) / after.tokens


def first_recall(url: str, user: str, query: str) -> dict[str, float | None]:
    with commonplace.open(url, embedder="hashing", tidy_on_open=False) as book:
        book.user("nobody").recall(query)  # connections and the tokenizer are not the index
        before = resident_bytes()
        seconds = timed(lambda: book.user(user).recall(query))
        after = resident_bytes()
        return {
            "first_recall_ms": seconds * 1000,
            "index_bytes": book._engine.index.nbytes,
            "rss_bytes": None if before is None or after is None else after - before,
        }


if __name__ == "__main__":
    print(json.dumps(first_recall(*sys.argv[1:])))

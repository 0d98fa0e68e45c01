"""Recall at growing sizes, beside the peers; the cold index; bytes for each memory."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from commonplace.bench import peers
from commonplace.bench.databases import Database
from commonplace.bench.measure import Method, Timing, interleaved, timed
from commonplace.bench.peers.peer import NotAvailable, Peer
from commonplace.bench.plan import Plan
from commonplace.bench.report import Table
from commonplace.bench.shelf import OWNER, Shelf
from commonplace.book import User
from commonplace.language.models.embedder import Vectors

WARM_UP = 5


class Recalling:
    def __init__(self, plan: Plan, folder: Path):
        self._plan = plan
        self._folder = folder
        self.recall = Table(
            "recall",
            "Recall: full hybrid, beside plain scans by vector",
            ("memories", "method", "p50 ms", "p95 ms", "x numpy", "sustained/s"),
            notes=[
                "sustained/s: recalls back to back, with all that is written down afterwards.",
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
        shelves: Sequence[Shelf],
        memories: Sequence[str],
        vectors: Vectors,
        queries: Sequence[str],
        asked: Vectors,
    ) -> None:
        size = len(memories)
        with self._peers(size, memories, vectors) as loaded:
            methods: dict[str, Method] = {
                name: partial(_search, peer, queries, asked) for name, peer in loaded.items()
            }
            for shelf in shelves:
                methods[engine(shelf.database)] = partial(_recall, shelf.me, queries)
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
        shelves: Sequence[Shelf],
        queries: Sequence[str],
    ) -> None:
        mine = [shelf for shelf in shelves if engine(shelf.database) == name]
        sustained = _sustained(mine[0], queries) if mine else timing.per_second
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
                except NotAvailable as reason:
                    note = f"{name}: not available: {reason}."
                    if note not in self.recall.notes:
                        self.recall.notes.append(note)
                    continue
                stack.callback(peer.close)
                peer.load(memories, vectors)
                loaded[name] = peer
            yield loaded

    def _weigh(self, shelf: Shelf, size: int, query: str) -> None:
        shelf.book.flush()
        cold = _cold(shelf.url, query)
        self.weight.add(
            size,
            shelf.database.name,
            size / shelf.load_seconds,
            cold["first_recall_ms"],
            cold["index_bytes"] / size,
            None if cold["rss_bytes"] is None else cold["rss_bytes"] / size,
            shelf.disk_bytes / size,
        )


def engine(database: Database) -> str:
    return f"commonplace on {database.name}"


def _search(peer: Peer, queries: Sequence[str], asked: Vectors, number: int) -> None:
    peer.search(queries[number], asked[number])


def _recall(me: User, queries: Sequence[str], number: int) -> None:
    me.recall(queries[number])


def _flush(shelves: Sequence[Shelf]) -> None:
    for shelf in shelves:
        shelf.book.flush()


def _sustained(shelf: Shelf, queries: Sequence[str]) -> float:
    def ask_all() -> None:
        for query in queries:
            shelf.me.recall(query)
        shelf.book.flush()

    return len(queries) / timed(ask_all)


def _cold(url: str, query: str) -> dict[str, Any]:
    ran = subprocess.run(
        [sys.executable, "-m", "commonplace.bench.cold", url, OWNER, query],
        capture_output=True,
        text=True,
        check=True,
        timeout=600,
    )
    found: dict[str, Any] = json.loads(ran.stdout)
    return found

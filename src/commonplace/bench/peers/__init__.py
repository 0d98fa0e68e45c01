"""What is measured beside the engine: same vectors, same queries, each in its own way."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from commonplace.bench.peers.chroma import Chroma
from commonplace.bench.peers.langgraph_sqlite import LanggraphSqlite
from commonplace.bench.peers.peer import Peer
from commonplace.bench.peers.plain_numpy import PlainNumpy

NUMPY = "numpy exact scan"
CHROMA = "chromadb, vectors only"
LANGGRAPH = "langgraph SqliteStore, vectors only"

PEERS: dict[str, Callable[[Path], Peer]] = {
    NUMPY: PlainNumpy,
    CHROMA: Chroma,
    LANGGRAPH: LanggraphSqlite,
}

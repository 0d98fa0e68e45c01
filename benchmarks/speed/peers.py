"""Peers measured in the same run as the engine: numpy, chromadb, langgraph."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from commonplace.language.embedders.embedder import Vectors

TOP = 5
BATCH = 1000


class PeerNotAvailable(Exception):
    """This peer cannot be measured here; the message says why."""


class Peer(Protocol):
    def load(self, texts: Sequence[str], vectors: Vectors) -> None: ...

    def search(self, query: str, vector: Vectors) -> Sequence[str]:
        """The best five, as texts."""
        ...

    def close(self) -> None: ...


def import_optional(module: str) -> Any:
    """A module of the extra `bench`."""
    try:
        return import_module(module)
    except ImportError as error:
        raise PeerNotAvailable(f"{error}; pip install 'commonplace[bench]'") from error


class PlainNumpy:
    def __init__(self, folder: Path):
        self._texts: Sequence[str] = ()

    def load(self, texts: Sequence[str], vectors: Vectors) -> None:
        self._texts = texts
        self._matrix = np.ascontiguousarray(vectors)

    def search(self, query: str, vector: Vectors) -> Sequence[str]:
        scores = self._matrix @ vector
        best = np.argpartition(scores, len(scores) - TOP)[-TOP:]
        return [self._texts[place] for place in best[np.argsort(-scores[best])].tolist()]

    def close(self) -> None:
        self._texts = ()


class Chroma:
    def __init__(self, folder: Path):
        chromadb = import_optional("chromadb")
        quiet = import_optional("chromadb.config").Settings(anonymized_telemetry=False)
        self._client = chromadb.PersistentClient(str(folder), settings=quiet)
        self._collection = self._client.create_collection(
            "memories", embedding_function=None, metadata={"hnsw:space": "cosine"}
        )

    def load(self, texts: Sequence[str], vectors: Vectors) -> None:
        for start in range(0, len(texts), BATCH):
            end = min(start + BATCH, len(texts))
            self._collection.add(
                ids=[str(place) for place in range(start, end)],
                embeddings=vectors[start:end],
                documents=list(texts[start:end]),
            )

    def search(self, query: str, vector: Vectors) -> Sequence[str]:
        found = self._collection.query(
            query_embeddings=[vector], n_results=TOP, include=["documents", "distances"]
        )
        texts: list[str] = found["documents"][0]
        return texts

    def close(self) -> None:
        self._client.clear_system_cache()


_NAMESPACE = ("memories",)


class LanggraphSqlite:
    def __init__(self, folder: Path):
        store = import_optional("langgraph.store.sqlite")
        self._put = import_optional("langgraph.store.base").PutOp
        if not hasattr(sqlite3.Connection, "enable_load_extension"):
            raise PeerNotAvailable(
                "it needs sqlite-vec, and this Python's sqlite3 cannot load extensions"
            )
        self._vector_of: dict[str, list[float]] = {}
        self._connection = sqlite3.connect(
            folder / "store.db", check_same_thread=False, isolation_level=None
        )
        self._store = store.SqliteStore(
            self._connection, index={"dims": 256, "embed": self._embed, "fields": ["text"]}
        )
        self._store.setup()

    def _embed(self, texts: Sequence[str]) -> list[list[float]]:
        return [self._vector_of[text] for text in texts]

    def load(self, texts: Sequence[str], vectors: Vectors) -> None:
        for start in range(0, len(texts), BATCH):
            batch = texts[start : start + BATCH]
            self._vector_of.update(zip(batch, vectors[start : start + BATCH].tolist(), strict=True))
            self._store.batch(
                [
                    self._put(_NAMESPACE, str(start + place), {"text": text})
                    for place, text in enumerate(batch)
                ]
            )

    def search(self, query: str, vector: Vectors) -> Sequence[str]:
        self._vector_of[query] = vector.tolist()
        found = self._store.search(_NAMESPACE, query=query, limit=TOP)
        return [item.value["text"] for item in found]

    def close(self) -> None:
        self._connection.close()


NUMPY = "numpy exact scan"
CHROMA = "chromadb, vectors only"
LANGGRAPH = "langgraph SqliteStore, vectors only"

PEERS: dict[str, Callable[[Path], Peer]] = {
    NUMPY: PlainNumpy,
    CHROMA: Chroma,
    LANGGRAPH: LanggraphSqlite,
}

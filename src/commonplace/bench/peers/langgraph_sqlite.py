"""langgraph's SqliteStore: vectors through the sqlite-vec extension."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from pathlib import Path

from commonplace.bench.peers.peer import BATCH, TOP, NotAvailable, optional
from commonplace.language.models.embedder import Vectors

_NAMESPACE = ("memories",)


class LanggraphSqlite:
    def __init__(self, folder: Path):
        store = optional("langgraph.store.sqlite")
        self._put = optional("langgraph.store.base").PutOp
        if not hasattr(sqlite3.Connection, "enable_load_extension"):
            raise NotAvailable(
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

"""chromadb: a persistent collection with the same vectors, asked by vector alone."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from commonplace.bench.peers.peer import BATCH, TOP, optional
from commonplace.language.models.embedder import Vectors


class Chroma:
    def __init__(self, folder: Path):
        chromadb = optional("chromadb")
        quiet = optional("chromadb.config").Settings(anonymized_telemetry=False)
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

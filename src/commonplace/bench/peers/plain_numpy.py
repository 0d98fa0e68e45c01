"""The yardstick: one product over all vectors in memory, nothing durable, nothing fetched."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from commonplace.bench.peers.peer import TOP
from commonplace.language.models.embedder import Vectors


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

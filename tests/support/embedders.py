"""An embedder that a test can take down."""

from __future__ import annotations

from collections.abc import Sequence

from commonplace.language.models.embedder import EmbedderDown, Vectors
from commonplace.language.models.hashing import HashingEmbedder


class Switchable(HashingEmbedder):
    def __init__(self, dimension: int = 256) -> None:
        super().__init__(dimension)
        self.down = False

    def embed(self, texts: Sequence[str]) -> Vectors:
        if self.down:
            raise EmbedderDown("switched off by a test")
        return super().embed(texts)

"""An embedder that a test can switch off."""

from __future__ import annotations

from collections.abc import Sequence

from commonplace.language.models.embedder import EmbedderDown, Vectors
from commonplace.language.models.hashing import HashingEmbedder


class MoodyEmbedder(HashingEmbedder):
    """The hashing embedder, counting its calls, down whenever the test says so."""

    def __init__(self) -> None:
        super().__init__()
        self.down = False
        self.calls = 0

    def embed(self, texts: Sequence[str]) -> Vectors:
        if self.down:
            raise EmbedderDown("switched off by a test")
        self.calls += 1
        return super().embed(texts)

"""Embedders that fail on purpose."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Sequence

from commonplace.language.models.embedder import EmbedderDown, Vectors
from commonplace.language.models.hashing import HashingEmbedder


class Switchable(HashingEmbedder):
    """Like the hashing one, but down whenever a test says so."""

    down = False

    def embed(self, texts: Sequence[str]) -> Vectors:
        if self.down:
            raise EmbedderDown("switched off by a test")
        return super().embed(texts)


class Counting(HashingEmbedder):
    """Knows how often it was called."""

    calls = 0

    def embed(self, texts: Sequence[str]) -> Vectors:
        self.calls += 1
        return super().embed(texts)


class Interrupted(HashingEmbedder):
    """Lets something happen, once, while a verb waits for its vectors."""

    meanwhile: Callable[[], object] | None = None

    def embed(self, texts: Sequence[str]) -> Vectors:
        happening, self.meanwhile = self.meanwhile, None
        if happening is not None:
            happening()
        return super().embed(texts)


class DyingEmbedder(HashingEmbedder):
    """Answers a number of batches; the next one takes the whole process with it."""

    def __init__(self, batches: int) -> None:
        super().__init__()
        self._left = batches

    def embed(self, texts: Sequence[str]) -> Vectors:
        if not self._left:
            os.kill(os.getpid(), signal.SIGKILL)
        self._left -= 1
        return super().embed(texts)

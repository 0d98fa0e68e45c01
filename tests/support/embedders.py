"""Embedders that fail on purpose, or say what a test wants to hear."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from commonplace.language.embedders.embedder import Calibration, EmbedderDown, Vectors
from commonplace.language.embedders.hashing import HashingEmbedder
from commonplace.language.text.detect import Script


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


class Likening(HashingEmbedder):
    """Known texts are as similar to a text of similarity 1 as the test says, on the final scale."""

    calibration = Calibration({Script.LATIN: ((0.0, 0.0), (1.0, 1.0))})

    def __init__(self, similarities: Mapping[str, float]) -> None:
        super().__init__()
        self._known = similarities

    def embed(self, texts: Sequence[str]) -> Vectors:
        rows = super().embed(texts)
        for place, text in enumerate(texts):
            if text in self._known:
                cosine = self._known[text]
                rows[place] = 0
                rows[place, :2] = cosine, np.sqrt(1 - cosine**2)
        return rows

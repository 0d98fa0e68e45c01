"""Stands for an embedder that is not at hand, where its vectors are not needed either."""

from __future__ import annotations

from collections.abc import Sequence

from commonplace.language.models.embedder import Calibration, EmbedderDown, Vectors


class AbsentEmbedder:
    """Known by name and dimension alone: exchanging an embedder must not depend on the old one."""

    calibration = Calibration({})

    def __init__(self, name: str, dimension: int) -> None:
        self.name = name
        self.dimension = dimension

    def embed(self, texts: Sequence[str]) -> Vectors:
        raise EmbedderDown(f"{self.name} is not at hand here")

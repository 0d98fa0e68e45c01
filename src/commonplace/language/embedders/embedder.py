"""Embedder protocol, calibration of cosine to similarity, server address."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from commonplace.errors import BadSettings, CommonplaceError
from commonplace.language.http.address import check_address
from commonplace.language.text.detect import Script

Vectors = NDArray[np.float32]


class EmbedderDown(Exception):
    """The model is not available now; the text is stored and embedded later."""


# Points (cosine, similarity), both increasing; linear in between.
Knots = tuple[tuple[float, float], ...]


@dataclass(frozen=True, slots=True)
class CalibrationProof:
    """Validation of a script's map on pairs that it was not fitted to."""

    pairs: int  # judged by people; half of them fit the map, half validate it
    correlation: float  # Spearman, with human judgement
    error: float  # mean absolute
    unrelated: float  # 95 % of the unrelated pairs are below
    holds: bool  # False: the model does not support this script
    # True: the validated map was fitted in the same way to half of the pairs; the one in use was
    # fitted to all of them, and differs by at most 0.05.
    of_a_twin: bool = False

    @property
    def held_out(self) -> int:
        """Number of pairs for validation."""
        return self.pairs // 2

    def __str__(self) -> str:
        suffix = ", for a calibration fitted to half of the pairs" if self.of_a_twin else ""
        return f"correlation {self.correlation:.2f} on {self.held_out:,} held-out pairs{suffix}"


@dataclass(frozen=True)
class Calibration:
    """Maps raw cosine to the common similarity scale, per script.

    Scripts that are not listed are not supported by the model.
    """

    knots: Mapping[Script, Knots]
    proofs: Mapping[Script, CalibrationProof] = field(default_factory=dict)
    languages: frozenset[str] = frozenset()  # that the model was made for; empty: not known

    def __post_init__(self) -> None:
        for script, knots in self.knots.items():
            if len(knots) < 2:
                raise ValueError(f"calibration for {script} needs at least two knots")
            if any(a[0] >= b[0] or a[1] > b[1] for a, b in pairwise(knots)):
                raise ValueError(f"calibration for {script} does not rise")
            if knots[0][1] < 0 or knots[-1][1] > 1:
                raise ValueError(f"calibration for {script} leaves the scale from 0 to 1")

    def with_measured(self, found: Calibration) -> Calibration:
        """The measured calibration, with this one's for other scripts."""
        kept = {each: knots for each, knots in self.knots.items() if each not in found.proofs}
        return Calibration({**kept, **found.knots}, {**self.proofs, **found.proofs}, self.languages)

    def reads(self, language: str) -> bool:
        """Whether the model was made for texts of this language."""
        return not self.languages or language in self.languages

    def similarity(self, cosine: float, script: Script) -> float | None:
        """Similarity from 0 to 1; None if unknown."""
        found = self.similarities(np.array([cosine]), script)
        return None if found is None else float(found[0])

    def similarities(
        self, cosines: NDArray[np.floating], script: Script
    ) -> NDArray[np.float64] | None:
        """The same for many cosines."""
        knots = self.knots.get(script)
        if knots is None:
            return None
        at, values = zip(*knots, strict=True)
        return np.asarray(np.interp(cosines, at, values), dtype=np.float64)

    def similarities_between(
        self, cosines: NDArray[np.floating], one: Script, others: Sequence[Script]
    ) -> NDArray[np.float64]:
        """Similarities between texts of two scripts: the lower of both maps; NaN if the model does
        not support one of them."""
        similarities = np.full(len(cosines), np.nan)
        own_similarities = self.similarities(cosines, one)
        if own_similarities is None:
            return similarities
        written_in = np.array([str(other) for other in others])
        for other in set(others):
            other_similarities = self.similarities(cosines, other)
            if other_similarities is not None:
                in_script = written_in == str(other)
                similarities[in_script] = np.minimum(own_similarities, other_similarities)[
                    in_script
                ]
        return similarities


class Embedder(Protocol):
    """Turns texts into vectors. Its name and dimension are stored with the vectors.

    Both methods return one row per text, of unit length, or all zeros for a text with nothing to
    embed, and raise EmbedderDown if the model is not available now.
    """

    name: str
    dimension: int
    calibration: Calibration  # of passages with passages

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        """Vectors of questions, to be compared with those of passages."""
        ...

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """Vectors of what is stored. Two statements are compared as two passages."""
        ...


class SymmetricEmbedder(ABC):
    """Base of models that treat questions and passages alike."""

    @abstractmethod
    def embed(self, texts: Sequence[str]) -> Vectors: ...

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        return self.embed(texts)

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        return self.embed(texts)


class EmbedderOfOneMethod(SymmetricEmbedder):
    """A caller's own object that has only `embed`."""

    def __init__(self, model: Any) -> None:
        self.name: str = model.name
        self.dimension: int = model.dimension
        self.calibration: Calibration = model.calibration
        self._model = model

    def embed(self, texts: Sequence[str]) -> Vectors:
        found: Vectors = self._model.embed(texts)
        return found


def unit_rows(rows: NDArray[np.floating]) -> Vectors:
    """Rows scaled to length one; zero rows stay zero."""
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return (rows / np.where(lengths > 0, lengths, 1)).astype(np.float32)


class AbsentEmbedder:
    """Has only a name and a dimension: for a store whose embedder cannot be loaded here.

    Questions are answered by words alone. Writing is refused with ``problem``, if there is one:
    what is missing has to be installed, waiting does not help."""

    calibration = Calibration({})

    def __init__(self, name: str, dimension: int, problem: CommonplaceError | None = None) -> None:
        self.name = name
        self.dimension = dimension
        self._problem = problem

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        raise EmbedderDown(self._why)

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        if self._problem is not None:
            raise BadSettings(
                self._problem.message, remedy=self._problem.remedy, field=self._problem.field
            )
        raise EmbedderDown(self._why)

    @property
    def _why(self) -> str:
        if self._problem is None:
            return f"{self.name} is not available here"
        return f"{self._problem.message} {self._problem.remedy}"


@dataclass(frozen=True, slots=True)
class EmbedderServer:
    """Address and options of a server; fields are named like the settings without `embedder_`."""

    url: str
    model: str
    key: str = field(default="", repr=False)
    timeout: float = 10.0
    batch: int = 64
    max_chars: int = 8000

    def __post_init__(self) -> None:
        check_address(self.url, self.key, url_setting="embedder_url", key_setting="embedder_key")
        if not self.model.strip() or not self.model.isprintable():
            raise BadSettings(
                "embedder_model is empty or not a valid name.",
                remedy="Write the model's name as its server lists it.",
                field="embedder_model",
            )

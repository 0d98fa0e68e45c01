"""Embedder protocol, calibration of cosine to similarity, server address."""

from __future__ import annotations

import ipaddress
import urllib.parse
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from commonplace.errors import BadSettings
from commonplace.language.text.detect import Script

Vectors = NDArray[np.float32]


class EmbedderDown(Exception):
    """The model cannot answer now; the text is kept and embedded later."""


# Points (cosine, similarity), both rising; straight lines run between them.
Knots = tuple[tuple[float, float], ...]


@dataclass(frozen=True, slots=True)
class CalibrationProof:
    """How a script's map did on pairs that it was not drawn from."""

    pairs: int  # judged by people; half of them drew the map, half prove it
    correlation: float  # Spearman, with what people say
    error: float  # mean absolute
    unrelated: float  # all but one in twenty unrelated pairs stay below
    holds: bool  # False: the model is blind here
    # True: proved is a map drawn in the same way from half of the pairs; the one in use was drawn
    # from all of them, and differs from it by at most 0.05.
    of_a_twin: bool = False

    @property
    def held_out(self) -> int:
        """How many of the pairs prove it."""
        return self.pairs // 2

    def __str__(self) -> str:
        whose = ", of a map drawn like it" if self.of_a_twin else ""
        return f"correlation {self.correlation:.2f} on {self.held_out:,} held-out pairs{whose}"


@dataclass(frozen=True)
class Calibration:
    """How raw cosine maps to the contract's one similarity scale, per script.

    A script that is not listed is one where the model is blind.
    """

    knots: Mapping[Script, Knots]
    proofs: Mapping[Script, CalibrationProof] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for script, knots in self.knots.items():
            if len(knots) < 2:
                raise ValueError(f"calibration for {script} needs at least two knots")
            if any(a[0] >= b[0] or a[1] > b[1] for a, b in pairwise(knots)):
                raise ValueError(f"calibration for {script} does not rise")
            if knots[0][1] < 0 or knots[-1][1] > 1:
                raise ValueError(f"calibration for {script} leaves the scale from 0 to 1")

    def with_measured(self, found: Calibration) -> Calibration:
        """What was measured counts; of other scripts, what was known before."""
        kept = {each: knots for each, knots in self.knots.items() if each not in found.proofs}
        return Calibration({**kept, **found.knots}, {**self.proofs, **found.proofs})

    def similarity(self, cosine: float, script: Script) -> float | None:
        """Similarity from 0 to 1; None where it is unknown."""
        found = self.similarities(np.array([cosine]), script)
        return None if found is None else float(found[0])

    def similarities(
        self, cosines: NDArray[np.floating], script: Script
    ) -> NDArray[np.float64] | None:
        """The same for many cosines at once."""
        knots = self.knots.get(script)
        if knots is None:
            return None
        at, values = zip(*knots, strict=True)
        return np.asarray(np.interp(cosines, at, values), dtype=np.float64)

    def similarities_between(
        self, cosines: NDArray[np.floating], one: Script, others: Sequence[Script]
    ) -> NDArray[np.float64]:
        """Known only where the model reads both sides, and then as the stricter side sees it;
        not a number where it is unknown."""
        told = np.full(len(cosines), np.nan)
        mine = self.similarities(cosines, one)
        if mine is None:
            return told
        written_in = np.array([str(other) for other in others])
        for other in set(others):
            theirs = self.similarities(cosines, other)
            if theirs is not None:
                here = written_in == str(other)
                told[here] = np.minimum(mine, theirs)[here]
        return told


class Embedder(Protocol):
    """Turns texts into vectors. The name and the dimension are stored with the vectors."""

    name: str
    dimension: int
    calibration: Calibration

    def embed(self, texts: Sequence[str]) -> Vectors:
        """One row per text, of unit length, or all zero for a text with nothing to embed.

        Raises EmbedderDown when the model cannot answer now.
        """
        ...


def unit_rows(rows: NDArray[np.floating]) -> Vectors:
    """Rows scaled to length one; zero rows stay zero."""
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return (rows / np.where(lengths > 0, lengths, 1)).astype(np.float32)


class AbsentEmbedder:
    """Known by name and dimension alone: exchanging an embedder must not depend on the old one."""

    calibration = Calibration({})

    def __init__(self, name: str, dimension: int) -> None:
        self.name = name
        self.dimension = dimension

    def embed(self, texts: Sequence[str]) -> Vectors:
        raise EmbedderDown(f"{self.name} is not at hand here")


_HIGHEST_PORT = 65535


@dataclass(frozen=True, slots=True)
class EmbedderServer:
    """Where to ask and how; the names are those of the settings without `embedder_`."""

    url: str
    model: str
    key: str = field(default="", repr=False)
    timeout: float = 10.0
    batch: int = 64
    max_chars: int = 8000

    def __post_init__(self) -> None:
        if not _is_plain_address(self.url):
            raise BadSettings(
                "embedder_url is not a valid URL.",
                remedy="Write https://host/v1 or https://host:port/v1, without a name, password "
                "or ? in it.",
                field="embedder_url",
            )
        if not _is_one_ascii_word(self.key):  # anything else cannot be sent in a header
            raise BadSettings(
                "embedder_key holds a space, a line break or a character that is not ASCII.",
                remedy="Copy the key again, on one line and without quotes.",
                field="embedder_key",
            )
        if self.key and self.url.lower().startswith("http:") and not self.is_loopback:
            raise BadSettings(
                "embedder_url would send the key unencrypted.",
                remedy="Use https, or leave embedder_key empty.",
                field="embedder_url",
            )
        if not self.model.strip() or not self.model.isprintable():
            raise BadSettings(
                "embedder_model is empty or not a valid name.",
                remedy="Write the model's name as its server lists it.",
                field="embedder_model",
            )

    @property
    def is_loopback(self) -> bool:
        """What is sent there does not leave the machine."""
        host = urllib.parse.urlsplit(self.url).hostname or ""
        try:
            return ipaddress.ip_address(host).is_loopback
        except ValueError:
            return host == "localhost"


def _is_plain_address(url: str) -> bool:
    if not _is_one_ascii_word(url):
        return False
    try:
        parts = urllib.parse.urlsplit(url)
        port = parts.port
    except ValueError:  # half an IPv6 address, or a port that is none
        return False
    plain = "@" not in parts.netloc and "?" not in url and "#" not in url
    known = port is None or 0 < port <= _HIGHEST_PORT
    return parts.scheme in ("http", "https") and bool(parts.hostname) and plain and known


def _is_one_ascii_word(text: str) -> bool:
    return text.isascii() and text.isprintable() and " " not in text

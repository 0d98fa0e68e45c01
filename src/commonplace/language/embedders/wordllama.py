"""WordLlama embedder (default): averaged token vectors, offline."""

import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from commonplace.language.embedders.embedder import (
    Calibration,
    CalibrationProof,
    EmbedderDown,
    SymmetricEmbedder,
    Vectors,
    unit_rows,
)
from commonplace.language.text.detect import Script
from commonplace.language.text.tokens import load_tokenizer

if TYPE_CHECKING:  # slow imports: deferred until the first text
    from tokenizers import Tokenizer

# (cosine, similarity), fitted to E[score / 5 | cosine] on the 1,500 pairs of the English STS-B dev
# set: Spearman 0.828, mean absolute error 0.130 (0.131 on held-out fifths).
_KNOTS = ((0.0, 0.0), (0.9, 0.805), (1.0, 1.0))
# The map above was fitted to all pairs, so that none is left to validate it.
_PROOFS = {
    Script.LATIN: CalibrationProof(
        pairs=1500, correlation=0.84, error=0.127, unrelated=0.463, holds=True, of_a_twin=True
    ),
    Script.HEBREW: CalibrationProof(
        pairs=92, correlation=0.48, error=0.305, unrelated=0.844, holds=False
    ),
}

_TEXTS_AT_ONCE = 512
# Limits the memory of one sum: this many rows of 256 floats are 16 MB.
_TOKENS_AT_ONCE = 16_384

_Piece = tuple[int, list[int]]  # index of the text, and some of its tokens


@dataclass(frozen=True)
class _WordLlamaModel:
    table: Vectors
    tokenizer: "Tokenizer"


class WordLlamaEmbedder(SymmetricEmbedder):
    """Loads the model with the first text."""

    name = "wordllama-l2-supercat-256"
    dimension = 256
    # Trained on English; outside Latin letters its tokens are single bytes without meaning.
    calibration = Calibration({Script.LATIN: _KNOTS}, _PROOFS, frozenset({"en"}))

    def __init__(self) -> None:
        self._model: _WordLlamaModel | None = None
        self._loading = threading.Lock()

    def embed(self, texts: Sequence[str]) -> Vectors:
        model = self._loaded()
        sums = np.zeros((len(texts), self.dimension), dtype=np.float32)
        for start in range(0, len(texts), _TEXTS_AT_ONCE):
            chunk = list(texts[start : start + _TEXTS_AT_ONCE])
            encoded = model.tokenizer.encode_batch_fast(chunk, add_special_tokens=False)
            tokens = [encoding.ids for encoding in encoded]
            for pieces in _bounded_groups(_pieces(tokens)):
                _add_token_vectors(model.table, pieces, sums[start : start + len(chunk)])
        # Rows are normalised, so that the sum equals the mean.
        return unit_rows(sums)

    def _loaded(self) -> _WordLlamaModel:
        with self._loading:
            if self._model is None:
                self._model = _load(self.dimension)
            return self._model


def _pieces(tokens: Sequence[list[int]]) -> Iterator[_Piece]:
    """Tokens by text; a long text in pieces that do not depend on other texts."""
    for text, ids in enumerate(tokens):
        for start in range(0, len(ids), _TOKENS_AT_ONCE):
            yield text, ids[start : start + _TOKENS_AT_ONCE]


def _bounded_groups(pieces: Iterator[_Piece]) -> Iterator[list[_Piece]]:
    """Groups of pieces with a total length near the limit."""
    group: list[_Piece] = []
    size = 0
    for piece in pieces:
        if group and size + len(piece[1]) > _TOKENS_AT_ONCE:
            yield group
            group, size = [], 0
        group.append(piece)
        size += len(piece[1])
    if group:
        yield group


def _add_token_vectors(table: Vectors, pieces: list[_Piece], sums: Vectors) -> None:
    """Add each piece's token vectors separately, so that a vector is the same alone and in a
    batch."""
    lengths = np.array([len(ids) for _, ids in pieces])
    flat = np.fromiter(chain.from_iterable(ids for _, ids in pieces), np.int64, lengths.sum())
    starts = np.cumsum(lengths) - lengths
    np.add.at(sums, [text for text, _ in pieces], np.add.reduceat(table[flat], starts, axis=0))


def _load(dimension: int) -> _WordLlamaModel:
    """Read from the package's files: importing it would configure logging and load a web client."""
    spec = find_spec("wordllama")
    if spec is None or spec.origin is None:
        raise EmbedderDown("the package 'wordllama' is not installed: pip install wordllama")
    weights = Path(spec.origin).parent / "weights" / f"l2_supercat_{dimension}.safetensors"
    try:
        with import_module("safetensors").safe_open(str(weights), framework="np") as file:
            table = file.get_tensor("embedding.weight").astype(np.float32)
        return _WordLlamaModel(table=table, tokenizer=load_tokenizer())
    except (ImportError, OSError) as error:
        raise EmbedderDown(f"wordllama cannot be loaded, reinstall it: {error}") from error

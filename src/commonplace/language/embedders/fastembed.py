"""Models of the package `fastembed` (extra `commonplace[fastembed]`); off unless configured.

The model's files are downloaded with the first text, into the cache folder; from then on nothing
goes over the network. A download that fails counts as an outage: the text is stored and embedded
later.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Sequence
from fnmatch import fnmatchcase
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from commonplace.errors import FASTEMBED_PREFIX, BadSettings
from commonplace.language.embedders.embedder import Calibration, EmbedderDown, Vectors, unit_rows

_INSTALL = "pip install 'commonplace[fastembed]'"
_LIST = "python -c 'import fastembed; print(fastembed.TextEmbedding.list_supported_models())'"
_ROWS_AT_ONCE = 32  # each is padded to the longest of its batch
COOLDOWN_SECONDS = 60.0  # after a failed download, which itself takes several attempts

_SEARCH_EN = "Represent this sentence for searching relevant passages: "
_SEARCH_ZH = "为这个句子生成表示以用于检索相关文章："
_INSTRUCTION = "Given a web search query, retrieve relevant passages that answer the query"

# What the models' cards tell to write before a question and before a passage; the package leaves
# this to its caller. The first pattern that fits the model's name in lower case.
_PREFIXES: tuple[tuple[str, str, str], ...] = (
    ("*/*e5-*", "query: ", "passage: "),
    ("nomic-ai/nomic-embed-text-*", "search_query: ", "search_document: "),
    ("google/embeddinggemma-*", "task: search result | query: ", "title: none | text: "),
    ("qwen/qwen3-embedding-*", f"Instruct: {_INSTRUCTION}\nQuery:", ""),
    ("baai/bge-*-zh*", _SEARCH_ZH, ""),
    ("baai/bge-*-en*", _SEARCH_EN, ""),
    ("mixedbread-ai/mxbai-embed-*", _SEARCH_EN, ""),
    ("snowflake/snowflake-arctic-embed-*", _SEARCH_EN, ""),
)


def prefixes_of(model: str) -> tuple[str, str]:
    """Of questions and of passages."""
    for pattern, query, passage in _PREFIXES:
        if fnmatchcase(model.lower(), pattern):
            return query, passage
    return "", ""


class FastEmbedEmbedder:
    """Loads the model with the first text; a missing package is reported at once."""

    # The package's models are uncalibrated; `commonplace calibrate` measures them.
    calibration = Calibration({})

    def __init__(self, model: str, cache: Path, now: Callable[[], float] = time.monotonic) -> None:
        if find_spec("fastembed") is None:
            raise BadSettings(
                f"The embedder {FASTEMBED_PREFIX}{model} needs fastembed, which is not installed.",
                remedy=_INSTALL,
                field="embedder",
            )
        self.name = FASTEMBED_PREFIX + model
        self._model_name = model
        self._cache = cache
        self._now = now
        self._query_prefix, self._passage_prefix = prefixes_of(model)
        self._dimension: int | None = None
        self._model: Any = None
        self._loading = threading.Lock()
        self._cooldown_until = -math.inf

    @property
    def dimension(self) -> int:
        """From the package's list of models, without a download."""
        if self._dimension is None:
            self._dimension = _listed_dimension(self._model_name)
        return self._dimension

    def hold_to(self, dimension: int) -> None:
        """Set the dimension that the store already has: importing the package takes a second."""
        self._dimension = dimension

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        return self._embed("query_embed", self._query_prefix, texts)

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        return self._embed("passage_embed", self._passage_prefix, texts)

    def _embed(self, method: str, prefix: str, texts: Sequence[str]) -> Vectors:
        rows = np.zeros((len(texts), self.dimension), dtype=np.float32)
        places = [place for place, text in enumerate(texts) if text.strip()]
        if not places:
            return rows
        # Texts of similar length together, to minimise padding.
        places.sort(key=lambda place: len(texts[place]))
        embed = getattr(self._loaded(), method)
        found = embed([prefix + texts[place] for place in places], batch_size=_ROWS_AT_ONCE)
        made = np.array(list(found), dtype=np.float32)
        if made.shape != (len(places), self.dimension):
            raise EmbedderDown(
                f"{self.name} made vectors of shape {made.shape}, not {self.dimension} dimensions"
            )
        rows[places] = made
        return unit_rows(rows)

    def _loaded(self) -> Any:
        with self._loading:
            if self._model is None:
                if self._now() < self._cooldown_until:
                    raise EmbedderDown(f"{self.name} could not be loaded a moment ago")
                self._model = self._load()
            return self._model

    def _load(self) -> Any:
        library = _imported()
        _listed_dimension(self._model_name)  # an unknown name is no outage
        try:
            return library.TextEmbedding(self._model_name, cache_dir=str(self._cache))
        except Exception as error:  # of the hub, of the network, of onnxruntime
            self._cooldown_until = self._now() + COOLDOWN_SECONDS
            why = str(error).partition("\n")[0].rstrip(".")
            raise EmbedderDown(
                f"{self.name} could not be downloaded or read in {self._cache}: {why}"
            ) from error


def _imported() -> Any:
    try:
        return import_module("fastembed")
    except ImportError as error:
        raise EmbedderDown(f"fastembed cannot be loaded, reinstall it: {error}") from error


def _listed_dimension(model: str) -> int:
    try:
        return int(_imported().TextEmbedding.get_embedding_size(model))
    except ValueError:
        raise BadSettings(
            f"fastembed has no model {model!r}.",
            remedy=f"Use a name from its list: {_LIST}",
            field="embedder",
        ) from None

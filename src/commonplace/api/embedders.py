"""Embedders by name, a store's own embedder, and measured calibration."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from importlib import import_module
from pathlib import Path
from typing import Any, cast

from commonplace.errors import (
    FASTEMBED_PREFIX,
    HTTP_EMBEDDER_PREFIX,
    ONNX_EMBEDDER_PREFIX,
    SHIPPED_EMBEDDERS,
    BadSettings,
    EmbedderUnavailable,
    StoreReadOnly,
    embedder_option,
)
from commonplace.language.embedders.calibration import calibration_from_text, calibration_to_text
from commonplace.language.embedders.embedder import (
    AbsentEmbedder,
    Calibration,
    Embedder,
    EmbedderDown,
    EmbedderOfOneMethod,
    EmbedderServer,
)
from commonplace.model.access.principal import Scope
from commonplace.model.changeset import Bookkeeping
from commonplace.settings import Settings, data_folder, load
from commonplace.store.port import Backend
from commonplace.store.queries import EmbedderIdentity
from commonplace.store.sql.generations import embedder_mismatch
from commonplace.store.sql.store import SqlStore

log = logging.getLogger("commonplace")


def _make_openai(settings: Settings) -> Any:
    server = EmbedderServer(
        url=settings.embedder_url,
        model=settings.embedder_model,
        key=settings.embedder_key,
        timeout=settings.embedder_timeout,
        batch=settings.embedder_batch,
        max_chars=settings.embedder_max_chars,
    )
    return import_module("commonplace.language.embedders.openai").OpenAiEmbedder(server)


def _make_from_folder(folder: str) -> Any:
    if not folder.strip():
        raise BadSettings(
            "onnx: needs the folder of a model.",
            remedy="Write onnx:/path/of/the/folder.",
            field="embedder",
        )
    module = import_module("commonplace.language.embedders.onnx_folder")
    return module.OnnxFolderEmbedder(Path(folder))


def _make_fastembed(model: str) -> Any:
    if not model.strip():
        raise BadSettings(
            "fastembed: needs the name of a model.",
            remedy="Write fastembed:intfloat/multilingual-e5-large, for example.",
            field="embedder",
        )
    # The package's own default is a folder for temporary files, which others may write to.
    cache = Path(os.environ.get("FASTEMBED_CACHE_PATH") or data_folder() / "models")
    module = import_module("commonplace.language.embedders.fastembed")
    return module.FastEmbedEmbedder(model.strip(), cache)


DEFAULT_EMBEDDER = "wordllama"  # of a new store

# A module is imported only when its embedder is made: a model is heavy.
_EMBEDDERS: dict[str, Callable[[Settings], Any]] = {
    "wordllama": lambda _: import_module(
        "commonplace.language.embedders.wordllama"
    ).WordLlamaEmbedder(),
    "minilm": lambda _: import_module("commonplace.language.embedders.minilm").MiniLmEmbedder(),
    "openai": _make_openai,
    "hashing": lambda _: import_module("commonplace.language.embedders.hashing").HashingEmbedder(),
}
# Names that go on after a colon.
_FAMILIES: dict[str, Callable[[str], Any]] = {
    ONNX_EMBEDDER_PREFIX: _make_from_folder,
    FASTEMBED_PREFIX: _make_fastembed,
}


def make_embedder(name: str, settings: Settings | None = None) -> Embedder:
    for prefix, make in _FAMILIES.items():
        if name.startswith(prefix):
            return cast(Embedder, make(name.removeprefix(prefix)))
    if name not in _EMBEDDERS:
        raise BadSettings(
            f"Unknown embedder {name!r}.",
            remedy=f"Use one of: {', '.join(_EMBEDDERS)}, onnx:FOLDER, fastembed:MODEL.",
            field="embedder",
        )
    return cast(Embedder, _EMBEDDERS[name](settings or load()))


def given_embedder(model: Any) -> Embedder:
    """A caller's own object; one that has only `embed` treats questions and passages alike."""
    if hasattr(model, "embed_queries") and hasattr(model, "embed_passages"):
        return cast(Embedder, model)
    if not hasattr(model, "embed"):
        raise BadSettings(
            f"{type(model).__name__} is not an embedder.",
            remedy="Give a name, or an object with name, dimension, calibration, embed_queries "
            "and embed_passages.",
            field="embedder",
        )
    return EmbedderOfOneMethod(model)


# ——— the embedder of a store ———


def own_embedder(store: SqlStore, settings: Settings) -> Embedder:
    """The one that made the store's vectors; the default for a new store. If it cannot be loaded
    here, an absent one: reading goes on by words, writing is refused."""
    known = _current_embedder(store)
    if known is None:
        return make_embedder(DEFAULT_EMBEDDER, settings)
    try:
        model = _make_again(store, known, settings)
    except BadSettings as problem:
        log.warning("%s %s", problem.message, problem.remedy)
        return AbsentEmbedder(known.name, known.dimension, problem)
    return model


def _make_again(store: SqlStore, known: EmbedderIdentity, settings: Settings) -> Embedder:
    name = known.name
    if name in SHIPPED_EMBEDDERS:
        return make_embedder(SHIPPED_EMBEDDERS[name], settings)
    if name.startswith(HTTP_EMBEDDER_PREFIX):
        served = name.removeprefix(HTTP_EMBEDDER_PREFIX)
        return make_embedder("openai", replace(settings, embedder_model=served))
    if name.startswith(FASTEMBED_PREFIX):
        return make_embedder(name, settings)
    folder = store.fact(_folder_fact(name)) if name.startswith(ONNX_EMBEDDER_PREFIX) else None
    if folder is None:
        raise _cannot_make_again(known, "it is not known where it is")
    model = make_embedder(ONNX_EMBEDDER_PREFIX + folder, settings)
    if model.name != name:
        raise _cannot_make_again(known, f"{folder} now holds {model.name}")
    return model


def _cannot_make_again(known: EmbedderIdentity, why: str) -> BadSettings:
    return BadSettings(
        f"This store's vectors are made by {known.name}, and {why}.",
        remedy=f"Open it with {embedder_option(known.name)}, or recompute all vectors: "
        "`commonplace reembed --embedder NAME`.",
        field="embedder",
    )


def remember_folder(store: Backend, model: Embedder, now: datetime) -> None:
    """So that the store finds the model again by itself."""
    folder = getattr(model, "folder", None)
    if folder is None or store.fact(_folder_fact(model.name)) == str(folder):
        return
    with suppress(StoreReadOnly):
        facts = {_folder_fact(model.name): str(folder)}
        store.record(Bookkeeping(Scope.of_the_store(), now, facts=facts))


def _folder_fact(name: str) -> str:
    return f"embedder_folder:{name}"


def _current_embedder(store: SqlStore) -> EmbedderIdentity | None:
    found = (each.embedder for each in store.generations() if each.state == "current")
    return next(found, None)


def require_same_embedder(store: SqlStore, model: Embedder) -> None:
    known = _current_embedder(store)
    if known is not None and known.name == model.name:
        _set_known_dimension(model, known.dimension)
    identity = embedder_identity(model)
    claimed = store.claim_embedder(identity)
    if claimed != identity:
        raise embedder_mismatch(claimed, identity)


def embedder_identity(model: Embedder) -> EmbedderIdentity:
    """May call a remote model for the dimension of its vectors."""
    try:
        return EmbedderIdentity(model.name, model.dimension)
    except EmbedderDown as error:
        raise EmbedderUnavailable(
            f"The embedder {model.name} must answer once, to report its vector length, and "
            f"did not: {error}.",
            remedy="Check the embedder's settings and that its server runs, then call again.",
            field="embedder",
        ) from error


def _set_known_dimension(model: Embedder, dimension: int) -> None:
    """Lets a store open while the model's server is unavailable."""
    hold_to = getattr(model, "hold_to", None)
    if hold_to is not None:
        hold_to(dimension)


# ——— calibration ———


def load_measured_calibration(store: Backend, model: Embedder, now: datetime) -> Calibration | None:
    """A measured calibration overrides the embedder's own, which is stored for other processes."""
    stored = store.fact(_calibration_fact(model))
    if stored is not None:
        calibration, measured = calibration_from_text(stored)
        if measured:
            return calibration
    if stored != calibration_to_text(model.calibration, measured=False):
        reset_calibration(store, model, now)
    return None


def save_calibration(
    store: Backend, model: Embedder, calibration: Calibration, now: datetime
) -> None:
    facts = {_calibration_fact(model): calibration_to_text(calibration, measured=True)}
    store.record(Bookkeeping(Scope.of_the_store(), now, facts=facts))


def reset_calibration(store: Backend, model: Embedder, now: datetime) -> None:
    """Use the embedder's own calibration again."""
    facts = {_calibration_fact(model): calibration_to_text(model.calibration, measured=False)}
    store.record(Bookkeeping(Scope.of_the_store(), now, facts=facts))


def _calibration_fact(model: Embedder) -> str:
    return f"calibration:{model.name}:{model.dimension}"

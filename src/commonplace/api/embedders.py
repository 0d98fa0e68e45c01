"""Embedders by name, the check for a store's embedder, and measured calibration."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from importlib import import_module
from typing import Any, cast

from commonplace.errors import BadSettings, EmbedderUnavailable
from commonplace.language.embedders.calibration import calibration_from_text, calibration_to_text
from commonplace.language.embedders.embedder import (
    Calibration,
    Embedder,
    EmbedderDown,
    EmbedderServer,
)
from commonplace.model.access.principal import Scope
from commonplace.model.changeset import Bookkeeping
from commonplace.settings import Settings, load
from commonplace.store.port import Backend
from commonplace.store.queries import EmbedderIdentity
from commonplace.store.sql.generations import embedder_mismatch
from commonplace.store.sql.store import SqlStore


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


# A module is imported only when its embedder is made: a model is heavy.
_EMBEDDERS: dict[str, Callable[[Settings], Any]] = {
    "wordllama": lambda _: import_module(
        "commonplace.language.embedders.wordllama"
    ).WordLlamaEmbedder(),
    "minilm": lambda _: import_module("commonplace.language.embedders.minilm").MiniLmEmbedder(),
    "openai": _make_openai,
    "hashing": lambda _: import_module("commonplace.language.embedders.hashing").HashingEmbedder(),
}


def make_embedder(name: str, settings: Settings | None = None) -> Embedder:
    if name not in _EMBEDDERS:
        raise BadSettings(
            f"Unknown embedder {name!r}.",
            remedy=f"Use one of: {', '.join(_EMBEDDERS)}.",
            field="embedder",
        )
    return cast(Embedder, _EMBEDDERS[name](settings or load()))


def require_same_embedder(store: SqlStore, model: Embedder) -> None:
    known = next((each for each in store.generations() if each.state == "current"), None)
    if known is not None and known.embedder.name == model.name:
        _set_known_dimension(model, known.embedder.dimension)
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

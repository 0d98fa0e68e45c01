"""Which embedders there are by name, and how a store is held to one."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any, cast

from commonplace.errors import BadSettings, EmbedderUnavailable
from commonplace.language.models.calibrate import from_text, to_text
from commonplace.language.models.embedder import Calibration, Embedder, EmbedderDown
from commonplace.language.models.server import Server
from commonplace.settings import Settings, load
from commonplace.store.port import EmbedderIdentity, Store
from commonplace.store.sql.generations import mismatch
from commonplace.store.sql.store import SqlStore

_MODELS = "commonplace.language.models"


def _openai(models: Any, settings: Settings) -> Any:
    server = Server(
        url=settings.embedder_url,
        model=settings.embedder_model,
        key=settings.embedder_key,
        timeout=settings.embedder_timeout,
        batch=settings.embedder_batch,
        max_chars=settings.embedder_max_chars,
    )
    return models.OpenAiEmbedder(server)


# Name → its module, imported only when wanted, because a model is heavy; and how it is made.
_EMBEDDERS: dict[str, tuple[str, Callable[[Any, Settings], Any]]] = {
    "wordllama": ("wordllama", lambda models, _: models.WordLlamaEmbedder()),
    "minilm": ("minilm", lambda models, _: models.MiniLmEmbedder()),
    "openai": ("openai", _openai),
    "hashing": ("hashing", lambda models, _: models.HashingEmbedder()),
}


def make_embedder(name: str, settings: Settings | None = None) -> Embedder:
    if name not in _EMBEDDERS:
        raise BadSettings(
            f"Unknown embedder {name!r}.",
            remedy=f"Use one of: {', '.join(_EMBEDDERS)}.",
            field="embedder",
        )
    module, made = _EMBEDDERS[name]
    return cast(Embedder, made(import_module(f"{_MODELS}.{module}"), settings or load()))


def hold_to_embedder(store: SqlStore, model: Embedder) -> None:
    known = next((each for each in store.generations() if each.state == "current"), None)
    if known is not None and known.embedder.name == model.name:
        _tell_dimension(model, known.embedder.dimension)
    mine = identity_of(model)
    claimed = store.claim_embedder(mine)
    if claimed != mine:
        raise mismatch(claimed, mine)


def identity_of(model: Embedder) -> EmbedderIdentity:
    """A model behind a network may have to be asked how long its vectors are."""
    try:
        return EmbedderIdentity(model.name, model.dimension)
    except EmbedderDown as error:
        raise EmbedderUnavailable(
            f"The embedder {model.name} must answer once, to report its vector length, and "
            f"did not: {error}.",
            remedy="Check the embedder's settings and that its server runs, then call again.",
            field="embedder",
        ) from error


def _tell_dimension(model: Embedder, dimension: int) -> None:
    """So that a store opens while the server is away."""
    hold_to = getattr(model, "hold_to", None)
    if hold_to is not None:
        hold_to(dimension)


# ——— how its cosines are read ———


def measured_calibration(store: Store, model: Embedder) -> Calibration | None:
    """What was measured here outranks what the embedder declares; that is kept for all to see."""
    kept = store.fact(_fact_of(model))
    if kept is not None:
        calibration, measured = from_text(kept)
        if measured:
            return calibration
    if kept != to_text(model.calibration, measured=False):
        drop_calibration(store, model)
    return None


def keep_calibration(store: Store, model: Embedder, calibration: Calibration) -> None:
    store.put_fact(_fact_of(model), to_text(calibration, measured=True))


def drop_calibration(store: Store, model: Embedder) -> None:
    """Back to what the embedder declares."""
    store.put_fact(_fact_of(model), to_text(model.calibration, measured=False))


def _fact_of(model: Embedder) -> str:
    return f"calibration:{model.name}:{model.dimension}"

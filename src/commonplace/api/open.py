"""open(): settings, adapters and the engine context; the categories file. Composition root."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from importlib import import_module
from typing import Any, cast

from commonplace import settings as settings_table
from commonplace.api.commonplace import Commonplace
from commonplace.api.embedders import (
    given_embedder,
    load_measured_calibration,
    make_embedder,
    own_embedder,
    remember_folder,
    require_same_embedder,
)
from commonplace.api.models import model_access
from commonplace.errors import BadSettings, StoreReadOnly
from commonplace.language.embedders.embedder import AbsentEmbedder, Calibration, Embedder
from commonplace.language.llm.language_model import LanguageModel, ModelAccess, ModelProvider
from commonplace.lazy import lazy_imports
from commonplace.model.memory.kinds import Categories
from commonplace.model.memory.lifecycle import Lifetimes
from commonplace.settings import Settings
from commonplace.store.address import parse_address
from commonplace.store.cache.graph_cache import GraphCache
from commonplace.store.cache.index_cache import IndexCache
from commonplace.store.sql.store import SqlStore

with lazy_imports(__name__):
    from commonplace.api.categories_file import CategoriesFile, load_shipped_categories
    from commonplace.engine.access_log import AccessLog
    from commonplace.engine.context import EngineContext, MeasuredCalibration
    from commonplace.engine.removal.cascade import cascade
    from commonplace.engine.sources.originals import decoded_variants


def utc_now() -> datetime:
    return datetime.now(UTC)


def open(
    url: str | None = None,
    *,
    embedder: str | Embedder | None = None,
    model: str | LanguageModel | ModelProvider | None = None,
    clock: Callable[[], datetime] = utc_now,
    **flags: Any,
) -> Commonplace:
    """Open a store, or create it. Settings can be given by name. Without an embedder, the store's
    own is used; without a language model, rules alone read."""
    named = {
        "embedder": embedder if isinstance(embedder, str) else None,
        "model": model if isinstance(model, str) else None,
    }
    chosen = settings_table.load({"store": url, **named, **flags})
    wanted = _wanted_embedder(embedder, chosen)  # first: a wrong name creates no store
    models = model_access(model, chosen)
    store = _open_store(chosen, clock())
    store.read_original = decoded_variants
    try:
        vectors = own_embedder(store, chosen) if wanted is None else wanted
        require_same_embedder(store, vectors)
        remember_folder(store, vectors, clock())
        engine = _make_engine(store, vectors, clock, chosen, models)
        book = Commonplace(engine, chosen)
        if chosen.tidy_on_open and not store.is_read_only:
            book.tidy_what_is_due()
        if chosen.worker == "inline" and not store.is_read_only:
            book.work_in_background()
    except BaseException:
        store.close()
        raise
    return book


def _wanted_embedder(given: str | Embedder | None, chosen: Settings) -> Embedder | None:
    if given is not None and not isinstance(given, str):
        return given_embedder(given)
    return make_embedder(chosen.embedder, chosen) if chosen.embedder else None


def open_without_embedder(
    url: str | None = None, *, clock: Callable[[], datetime] = utc_now, **flags: Any
) -> Commonplace:
    """Open a store without its embedder, to change the embedder."""
    chosen = settings_table.load({"store": url, **flags})
    store = _open_store(chosen, clock())
    try:
        held = [each for each in store.generations() if each.state == "current"]
        name, dimension = (held[0].embedder.name, held[0].embedder.dimension) if held else ("", 0)
        model = AbsentEmbedder(name, dimension)
        if held:
            store.claim_embedder(held[0].embedder)
        return Commonplace(_make_engine(store, model, clock, chosen), chosen)
    except BaseException:
        store.close()
        raise


def _make_engine(
    store: SqlStore,
    embedder: Embedder,
    clock: Callable[[], datetime],
    chosen: Settings,
    models: ModelAccess | None = None,
) -> EngineContext:
    shown = {**settings_table.shown(chosen), "store": store.url, "embedder": embedder.name}
    if models is not None:
        shown["model"] = models.provider.name
    engine = EngineContext(
        store,
        IndexCache(store, embedder.dimension, chosen.cache_mb << 20),
        embedder,
        clock,
        AccessLog(store),
        GraphCache(store, embedder.dimension, chosen.cache_mb << 18),
        lifetimes=Lifetimes(
            restorable=timedelta(days=chosen.restorable_days),
            idle=timedelta(days=chosen.idle_days),
            proposed=timedelta(days=chosen.proposal_days),
            recall_log=timedelta(days=chosen.recall_log_days),
        ),
        categories=_categories(chosen.categories),
        recall_floor=chosen.recall_floor,
        recall_log=chosen.recall_log,
        observe_daily=chosen.observe_daily,
        extracts=chosen.extraction == "auto",
        model=models,
        settings=shown,
        measured=MeasuredCalibration(
            None
            if isinstance(embedder, AbsentEmbedder)
            else _measured_calibration(store, embedder, clock())
        ),
    )
    return replace(engine, cascade=partial(cascade, engine))


def _categories(path: str) -> Callable[[], Categories]:
    """The user's file is checked at once; the shipped one is loaded when first needed."""
    return CategoriesFile(path).read if path else load_shipped_categories


def _measured_calibration(store: SqlStore, model: Embedder, now: datetime) -> Calibration | None:
    with suppress(StoreReadOnly):  # then the embedder's own is used
        return load_measured_calibration(store, model, now)
    return None


def _open_store(chosen: Settings, now: datetime) -> SqlStore:
    address = parse_address(chosen.store or settings_table.default_store())
    if address.backend == "postgresql":
        try:
            postgres = import_module("commonplace.store.postgres.store")
        except ImportError as error:
            raise BadSettings(
                "PostgreSQL needs a driver that is not installed.",
                remedy="pip install 'commonplace[postgres]'",
                field="store",
            ) from error
        return cast(
            SqlStore,
            postgres.PostgresStore(
                address.target,
                now=now,
                pool_size=chosen.pool_size,
                lock_timeout=chosen.lock_timeout,
            ),
        )
    sqlite = import_module("commonplace.store.sqlite.store")
    return cast(
        SqlStore, sqlite.SqliteStore(address.target, now=now, lock_timeout=chosen.lock_timeout)
    )

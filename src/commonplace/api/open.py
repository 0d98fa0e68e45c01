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
from commonplace.api.categories_file import CategoriesFile
from commonplace.api.commonplace import Commonplace
from commonplace.api.embedders import (
    load_measured_calibration,
    make_embedder,
    require_same_embedder,
)
from commonplace.engine.access_log import AccessLog
from commonplace.engine.context import EngineContext, MeasuredCalibration
from commonplace.engine.removal.cascade import cascade
from commonplace.errors import BadSettings, StoreReadOnly
from commonplace.language.embedders.embedder import AbsentEmbedder, Calibration, Embedder
from commonplace.model.memory.lifecycle import Lifetimes
from commonplace.settings import Settings
from commonplace.store.address import parse_address
from commonplace.store.cache.graph_cache import GraphCache
from commonplace.store.cache.index_cache import IndexCache
from commonplace.store.sql.store import SqlStore


def utc_now() -> datetime:
    return datetime.now(UTC)


def open(
    url: str | None = None,
    *,
    embedder: str | Embedder | None = None,
    clock: Callable[[], datetime] = utc_now,
    **flags: Any,
) -> Commonplace:
    """Open a store, or create it. Settings can be given by name."""
    named = embedder if isinstance(embedder, str) else None
    chosen = settings_table.load({"store": url, "embedder": named, **flags})
    model = (
        cast(Embedder, embedder)
        if embedder is not None and named is None
        else make_embedder(chosen.embedder, chosen)
    )
    store = _open_store(chosen, clock())
    try:
        require_same_embedder(store, model)
        book = Commonplace(_make_engine(store, model, clock, chosen), chosen)
        if chosen.tidy_on_open and not store.is_read_only:
            book.tidy_what_is_due()
        if chosen.worker == "inline" and not store.is_read_only:
            book.work_in_background()
    except BaseException:
        store.close()
        raise
    return book


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
    store: SqlStore, model: Embedder, clock: Callable[[], datetime], chosen: Settings
) -> EngineContext:
    shown = {**settings_table.shown(chosen), "store": store.url, "embedder": model.name}
    file = CategoriesFile(chosen.categories)
    engine = EngineContext(
        store,
        IndexCache(store, model.dimension, chosen.cache_mb << 20),
        model,
        clock,
        AccessLog(store),
        GraphCache(store, model.dimension, chosen.cache_mb << 18),
        lifetimes=Lifetimes(
            restorable=timedelta(days=chosen.restorable_days),
            idle=timedelta(days=chosen.idle_days),
            proposed=timedelta(days=chosen.proposal_days),
            recall_log=timedelta(days=chosen.recall_log_days),
        ),
        categories=file.read,
        recall_floor=chosen.recall_floor,
        recall_log=chosen.recall_log,
        observe_daily=chosen.observe_daily,
        extracts=chosen.extraction == "auto",
        settings=shown,
        measured=MeasuredCalibration(
            _measured_calibration(store, model, clock()) if model.name else None
        ),
    )
    return replace(engine, cascade=partial(cascade, engine))


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

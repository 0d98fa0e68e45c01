"""Opening a store: settings, adapters, and the desk they make. The composition root."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from importlib import import_module
from typing import Any, cast

from commonplace import settings as settings_table
from commonplace.book.commonplace import Commonplace
from commonplace.bookkeeper import Bookkeeper
from commonplace.desk import Desk
from commonplace.errors import BadSettings
from commonplace.language.models.embedder import Embedder
from commonplace.model.lifecycle import Lifetimes
from commonplace.settings import Settings
from commonplace.store.address import parse
from commonplace.store.cache import IndexCache
from commonplace.store.port import EmbedderIdentity
from commonplace.store.sql.generations import mismatch
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
    """Open a store, making it when it is new. Settings can be given by name."""
    named = embedder if isinstance(embedder, str) else None
    chosen = settings_table.load({"store": url, "embedder": named, **flags})
    model = (
        cast(Embedder, embedder)
        if embedder is not None and named is None
        else make_embedder(chosen.embedder)
    )
    store = _open_store(chosen, clock())
    try:
        _hold_to_embedder(store, model)
        index = IndexCache(store, model.dimension, chosen.cache_mb << 20)
        shown = {**asdict(chosen), "store": store.url, "embedder": model.name}
        settings = {name: str(value) for name, value in shown.items()}
        lifetimes = Lifetimes(
            restorable=timedelta(days=chosen.restorable_days),
            idle=timedelta(days=chosen.idle_days),
        )
        desk = Desk(
            store,
            index,
            model,
            clock,
            Bookkeeper(store),
            lifetimes=lifetimes,
            settings=settings,
        )
        book = Commonplace(desk)
        if chosen.tidy_on_open:
            book.tidy_what_is_due()
    except BaseException:
        store.close()
        raise
    return book


_EMBEDDERS = {
    "wordllama": ("commonplace.language.models.wordllama", "WordLlamaEmbedder"),
    "minilm": ("commonplace.language.models.minilm", "MiniLmEmbedder"),
    "hashing": ("commonplace.language.models.hashing", "HashingEmbedder"),
}


def make_embedder(name: str) -> Embedder:
    """By name; imported only when wanted, because a model is heavy."""
    if name not in _EMBEDDERS:
        raise BadSettings(
            f"There is no embedder {name!r}.",
            remedy=f"Use one of: {', '.join(_EMBEDDERS)}.",
            field="embedder",
        )
    module, made = _EMBEDDERS[name]
    return cast(Embedder, getattr(import_module(module), made)())


def _open_store(chosen: Settings, now: datetime) -> SqlStore:
    address = parse(chosen.store or settings_table.default_store())
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


def _hold_to_embedder(store: SqlStore, model: Embedder) -> None:
    mine = EmbedderIdentity(model.name, model.dimension)
    known = store.claim_embedder(mine)
    if known != mine:
        raise mismatch(known, mine)

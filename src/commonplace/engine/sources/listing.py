"""Sources without search: list, show one with its passages, resolve ids and aliases."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from commonplace.engine.access import (
    can_see_source,
    principal_at_source,
    readable_scopes,
    visibility_in,
)
from commonplace.engine.context import EngineContext
from commonplace.errors import NotFound
from commonplace.model.access.principal import Principal, ReadableScope
from commonplace.model.memory.memory import State
from commonplace.model.paging import PageCursor, parse_cursor
from commonplace.model.sources.source import (
    Passage,
    Source,
    is_source_id,
    split_alias,
    split_passage_id,
)
from commonplace.store.queries import NO_LIMIT, PassagesOf, SourceListing

SURROUNDING_PASSAGES = 3  # shown before and after the requested passage


@dataclass(frozen=True, slots=True)
class SourcePage:
    sources: tuple[Source, ...]
    next: str | None  # pass as `after` for the next page


@dataclass(frozen=True, slots=True)
class ShownSource:
    source: Source
    passages: tuple[Passage, ...]


def list_sources(
    engine: EngineContext,
    principal: Principal,
    listing: SourceListing,
    after: str | None = None,
    readings: Sequence[ReadableScope] | None = None,
) -> SourcePage:
    """Newest first, from all readable scopes. ``after``: the cursor or the id of the last source of
    the previous page."""
    if after is not None:
        listing = replace(listing, after=_position_of(engine, principal, after))
    found: list[Source] = []
    for reading in readable_scopes(engine, principal) if readings is None else readings:
        seen = replace(listing, visibility=visibility_in(principal, reading), among=reading.sources)
        found += engine.live_source_page(reading.scope, seen)
    found.sort(key=lambda source: (source.created_at, source.id), reverse=True)
    page = found[: listing.limit - 1]
    further = PageCursor(page[-1].created_at, page[-1].id) if len(found) >= listing.limit else None
    return SourcePage(tuple(page), str(further) if further else None)


def _position_of(engine: EngineContext, principal: Principal, id: str) -> tuple[datetime, str]:
    if place := parse_cursor(id):
        return place.at, place.id
    placed = principal_at_source(engine, principal, id)
    for source in engine.live_sources(placed.scope, [id]):
        if can_see_source(placed, source):
            return source.created_at, source.id
    raise NotFound(f"Unknown cursor: after={id!r}.", field="after")


def resolve_source_id(engine: EngineContext, principal: Principal, id: str) -> str | None:
    """Resolve an id or alias to a source or passage id. None if the source is hidden from the
    caller."""
    if is_source_id(id):
        return id
    alias = split_alias(id)
    if alias is None:
        return None
    placed = principal_at_source(engine, principal, id)
    source = engine.live_source_by_alias(placed.scope, *alias)
    return source.id if source and can_see_source(placed, source) else None


def show_source(engine: EngineContext, principal: Principal, id: str) -> ShownSource:
    """A source with all its passages; for a passage id, with the passages around it."""
    source_id, number = split_passage_id(id)
    source = load_visible_source(engine, principal, source_id, "id")
    first, last = (
        (1, NO_LIMIT)
        if number is None
        else (number - SURROUNDING_PASSAGES, number + SURROUNDING_PASSAGES)
    )
    passages = list(
        engine.store.passages(source.scope, PassagesOf(source_id, first, last)).values()
    )
    if number is not None and number not in {passage.number for passage in passages}:
        raise NotFound(f"There is no {id!r} here.", field="id")
    return ShownSource(source, tuple(passages))


def load_visible_source(engine: EngineContext, principal: Principal, id: str, field: str) -> Source:
    placed = principal_at_source(engine, principal, id)
    found = engine.live_sources(placed.scope, [id])
    if not found or found[0].state is not State.ACTIVE or not can_see_source(placed, found[0]):
        raise NotFound(f"There is no {id!r} here.", field=field)
    return found[0]

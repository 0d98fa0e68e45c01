"""Looking sources up: a page of them, one with its passages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from commonplace.desk import Desk, can_see_source, placed_for, reach_of, visibility_in
from commonplace.errors import NotFound
from commonplace.model.memory import State
from commonplace.model.place import Place, place_in
from commonplace.model.reach import Reading
from commonplace.model.scope import Principal
from commonplace.model.source import Passage, Source, is_source_id, split_alias, split_passage_id
from commonplace.store.port import EVERYTHING, SourceListing

AROUND = 3  # passages shown before and after the one that is asked for


@dataclass(frozen=True, slots=True)
class SourcePage:
    sources: tuple[Source, ...]
    next: str | None  # give it as `after` to go on


@dataclass(frozen=True, slots=True)
class ShownSource:
    source: Source
    passages: tuple[Passage, ...]


def list_sources(
    desk: Desk,
    principal: Principal,
    listing: SourceListing,
    after: str | None = None,
    readings: Sequence[Reading] | None = None,
) -> SourcePage:
    """Newest first, of all who may be read. ``after`` is the place of the last one of the page
    before, or its id."""
    if after is not None:
        listing = replace(listing, after=_place_of(desk, principal, after))
    found: list[Source] = []
    for reading in reach_of(desk, principal) if readings is None else readings:
        seen = replace(listing, visibility=visibility_in(principal, reading), among=reading.sources)
        found += desk.source_page(reading.scope, seen)
    found.sort(key=lambda source: (source.created_at, source.id), reverse=True)
    page = found[: listing.limit - 1]
    further = Place(page[-1].created_at, page[-1].id) if len(found) >= listing.limit else None
    return SourcePage(tuple(page), str(further) if further else None)


def _place_of(desk: Desk, principal: Principal, id: str) -> tuple[datetime, str]:
    if place := place_in(id):
        return place.at, place.id
    placed = placed_for(desk, principal, id)
    for source in desk.sources(placed.scope, [id]):
        if can_see_source(placed, source):
            return source.created_at, source.id
    raise NotFound(f"Unknown cursor: after={id!r}.", field="after")


def known_source(desk: Desk, principal: Principal, id: str) -> str | None:
    """The id of the source, or of the passage, that an id or a name from elsewhere means. To whom
    it is hidden, its name means nothing."""
    if is_source_id(id):
        return id
    alias = split_alias(id)
    if alias is None:
        return None
    placed = placed_for(desk, principal, id)
    source = desk.source_called(placed.scope, *alias)
    return source.id if source and can_see_source(placed, source) else None


def show_source(desk: Desk, principal: Principal, id: str) -> ShownSource:
    """A source with all its passages; of a passage's id, the passages around it."""
    wanted, number = split_passage_id(id)
    source = visible_source(desk, principal, wanted, "id")
    first, last = (1, EVERYTHING) if number is None else (number - AROUND, number + AROUND)
    passages = [p for _, p in desk.store.passages_of(source.scope, wanted, first, last)]
    if number is not None and number not in {passage.number for passage in passages}:
        raise NotFound(f"There is no {id!r} here.", field="id")
    return ShownSource(source, tuple(passages))


def visible_source(desk: Desk, principal: Principal, id: str, field: str) -> Source:
    placed = placed_for(desk, principal, id)
    found = desk.sources(placed.scope, [id])
    if not found or found[0].state is not State.ACTIVE or not can_see_source(placed, found[0]):
        raise NotFound(f"There is no {id!r} here.", field=field)
    return found[0]

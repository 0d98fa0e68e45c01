"""Looking sources up: a page of them, one with its passages."""

from __future__ import annotations

from dataclasses import dataclass

from commonplace.desk import Desk, can_see_source
from commonplace.errors import NotFound
from commonplace.model.memory import State
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


def list_sources(desk: Desk, principal: Principal, listing: SourceListing) -> SourcePage:
    """Newest first."""
    if listing.after:
        before = desk.store.sources(principal.scope, [listing.after])
        if not any(can_see_source(principal, source) for source in before):
            raise NotFound(f"There is no {listing.after!r} to go on after.", field="after")
    found = desk.store.source_page(principal.scope, listing)
    page = found[: listing.limit - 1]
    return SourcePage(tuple(page), page[-1].id if len(found) == listing.limit else None)


def known_source(desk: Desk, principal: Principal, id: str) -> str | None:
    """The id of the source, or of the passage, that an id or a name from elsewhere means. To whom
    it is hidden, its name means nothing."""
    if is_source_id(id):
        return id
    alias = split_alias(id)
    source = desk.store.source_called(principal.scope, *alias) if alias else None
    return source.id if source and can_see_source(principal, source) else None


def show_source(desk: Desk, principal: Principal, id: str) -> ShownSource:
    """A source with all its passages; of a passage's id, the passages around it."""
    wanted, number = split_passage_id(id)
    source = visible_source(desk, principal, wanted, "id")
    first, last = (1, EVERYTHING) if number is None else (number - AROUND, number + AROUND)
    passages = [p for _, p in desk.store.passages_of(principal.scope, wanted, first, last)]
    if number is not None and number not in {passage.number for passage in passages}:
        raise NotFound(f"There is no {id!r} here.", field="id")
    return ShownSource(source, tuple(passages))


def visible_source(desk: Desk, principal: Principal, id: str, field: str) -> Source:
    found = desk.store.sources(principal.scope, [id])
    if not found or found[0].state is not State.ACTIVE or not can_see_source(principal, found[0]):
        raise NotFound(f"There is no {id!r} here.", field=field)
    return found[0]

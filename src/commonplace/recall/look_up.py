"""Looking things up without searching: a page of memories, one of them, everything of a user."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from commonplace.desk import Desk, can_see, visibility_of
from commonplace.errors import NotAllowed, NotFound, StoreBusy
from commonplace.model.filters import Filters, Visibility
from commonplace.model.memory import Link, Memory, State, Version
from commonplace.model.place import Place, place_in
from commonplace.model.portable import Belongings
from commonplace.model.portable_sources import WholeSource
from commonplace.model.recall_log import LogQuery
from commonplace.model.scope import Principal, Scope
from commonplace.model.time_travel import NOW, Then, has_ended, told_versions
from commonplace.recall.conflicts import Side, alternatives_to, as_disputed, held_in
from commonplace.store.port import EVERYTHING, Counters, JournalQuery, Listing, SourceListing

EXPORT_TRIES = 10


@dataclass(frozen=True, slots=True)
class Page:
    memories: tuple[Memory, ...]
    next: str | None  # give it as `after` to go on


@dataclass(frozen=True, slots=True)
class Shown:
    memory: Memory
    versions: tuple[Version, ...]
    links: tuple[Link, ...]
    held: tuple[Side, ...] = ()  # what a person still has to decide about it
    alternatives: tuple[Side, ...] = ()  # what sources say otherwise


def list_memories(
    desk: Desk,
    principal: Principal,
    filters: Filters,
    limit: int,
    after: str | None,
    forgotten: bool,
) -> Page:
    """Newest first. With forgotten: what `restore` can still bring back."""
    last, admitted = _going_on(desk, principal, filters, after)
    listing = Listing(
        filters=admitted,
        visibility=visibility_of(principal),
        now=None if forgotten else desk.clock(),
        restorable_at=desk.clock() if forgotten else None,
        states=(State.SOFT_DELETED,) if forgotten else (State.ACTIVE,),
        limit=limit + 1,
        after=last,
    )
    found = desk.store.page(principal.scope, listing)
    page = _as_told(desk, principal, found[:limit])
    further = Place(page[-1].created_at, page[-1].id) if len(found) > limit else None
    return Page(tuple(page), str(further) if further else None)


def _going_on(
    desk: Desk, principal: Principal, filters: Filters, after: str | None
) -> tuple[str | None, Filters]:
    """After which id, and with which filters. Where what a page ended with is gone or hidden by
    now, its moment is gone on from: what came at that very moment may be told twice, and nothing
    is left out."""
    if after is None:
        return None, filters
    place = place_in(after)
    last = place.id if place else after
    if _sees(desk, principal, [last]):
        return last, filters
    if place is None:
        raise NotFound(f"Unknown cursor: after={after!r}.", field="after")
    before = min(place.just_after, filters.created_before or place.just_after)
    return None, replace(filters, created_before=before)


def _sees(desk: Desk, principal: Principal, ids: Sequence[str]) -> set[str]:
    """Those of the ids that are memories which the caller could be shown."""
    return {m.id for m in desk.store.fetch(principal.scope, ids) if can_see(principal, m)}


def _as_told(desk: Desk, principal: Principal, memories: Sequence[Memory]) -> list[Memory]:
    """Without the ids of successors, and of questions, that the caller could not be shown."""
    memories = as_disputed(desk, principal, memories)
    named = sorted({memory.superseded_by for memory in memories if memory.superseded_by})
    if principal.is_owner or not named:
        return list(memories)
    seen = _sees(desk, principal, named)
    return [m if m.superseded_by in seen else m.evolve(superseded_by=None) for m in memories]


def show(desk: Desk, principal: Principal, id: str, then: Then = NOW) -> Shown:
    """One memory with its versions and links. Forgotten ones are not shown. ``then`` is the moment
    that the desk shows."""
    now = desk.clock()
    found = desk.store.fetch(principal.scope, [id])
    if not found or not can_see(principal, found[0]) or not _readable(found[0], now):
        raise NotFound(f"There is no {id!r} here.", field="id")
    said = desk.store.versions(principal.scope, [id])
    versions = told_versions(said, then, lambda memory: can_see(principal, memory))
    return Shown(
        _as_told(desk, principal, found)[0],
        tuple(_versions_told(desk, principal, versions)),
        _shown_links(desk, principal, id, now),
        held_in(desk, principal, found[0]),
        alternatives_to(desk, principal, id),
    )


def _versions_told(
    desk: Desk, principal: Principal, versions: Sequence[Version]
) -> Iterator[Version]:
    told = _as_told(desk, principal, [version.memory for version in versions])
    return (replace(v, memory=memory) for v, memory in zip(versions, told, strict=True))


def _shown_links(desk: Desk, principal: Principal, id: str, now: datetime) -> tuple[Link, ...]:
    """To what the caller could be shown as well."""
    links = desk.store.links(principal.scope, [id])
    others = {link.b if link.a == id else link.a: link for link in links}
    return tuple(
        others[other.id]
        for other in desk.store.fetch(principal.scope, list(others))
        if can_see(principal, other) and _readable(other, now)
    )


def _readable(memory: Memory, now: datetime) -> bool:
    """Neither forgotten nor over. What was replaced is the history of what replaced it."""
    return memory.state is not State.SOFT_DELETED and not has_ended(memory, now)


def everything_of(desk: Desk, principal: Principal) -> Belongings:
    """All that a user owns: forgotten and superseded items, history and journal included."""
    if not principal.is_owner:
        raise NotAllowed("Only the owner may export a memory.")
    desk.books.flush()
    for _ in range(EXPORT_TRIES):
        before = desk.store.counters(principal.scope)
        belongings = _gather(desk, principal.scope, before)
        if desk.store.counters(principal.scope) == before:
            return belongings
    raise StoreBusy("The memory changed during the export, on every try.")


def _gather(desk: Desk, scope: Scope, counters: Counters) -> Belongings:
    listing = Listing(states=tuple(State), visibility=Visibility(cleared=True), limit=EVERYTHING)
    memories = sorted(desk.store.page(scope, listing), key=lambda m: (m.created_at, m.id))
    ids = [memory.id for memory in memories]
    return Belongings(
        tuple(memories),
        tuple(desk.store.versions(scope, ids)),
        tuple(desk.store.links(scope, ids)),
        tuple(desk.store.journal(scope, JournalQuery())),
        counters.revision,
        counters.profile_numbers,
        tuple(desk.store.held(scope)),
        tuple(_whole_sources(desk, scope)),
        tuple(desk.store.proposals(scope)),
        tuple(desk.store.recall_log(scope, LogQuery())),
        desk.store.whole_graph(scope),
    )


def _whole_sources(desk: Desk, scope: Scope) -> Iterator[WholeSource]:
    listing = SourceListing(
        states=tuple(State), visibility=Visibility(cleared=True), limit=EVERYTHING
    )
    for source in reversed(desk.store.source_page(scope, listing)):
        passages = [passage for _, passage in desk.store.passages_of(scope, source.id)]
        yield WholeSource(source, tuple(desk.store.original(scope, source.id)), tuple(passages))

"""A desk at which the past lies: the same verbs that read the present read it there.

`desk_at` gives one whose store and index show a scope as it stood then. Recall, lists and whatever
else reads through a desk need not know of it, so that ranking in the past is the same function.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from typing import cast

from commonplace.bookkeeper import Bookkeeper
from commonplace.desk import Desk, visibility_of
from commonplace.errors import NotFound
from commonplace.language.asking.kept import Kept
from commonplace.model.changes import Bookkeeping
from commonplace.model.conflict import Held
from commonplace.model.filters import UNCLEARED, Visibility
from commonplace.model.memory import Link, Memory, Version
from commonplace.model.profile import PREFIX
from commonplace.model.reach import Reading
from commonplace.model.scope import Principal, Scope
from commonplace.model.source import Passage, Source
from commonplace.model.team import Reachable, Share
from commonplace.model.time_travel import Then, as_described_then, as_it_stood
from commonplace.recall.past_index import admits_words, guests_past_index, ids_then, past_index
from commonplace.store.cache import IndexCache
from commonplace.store.index import ScopeIndex
from commonplace.store.past_indexes import PastIndex
from commonplace.store.port import EVERYTHING, Counters, HeldQuery, Listing, SourceListing, Store


def desk_at(desk: Desk, principal: Principal, then: Then) -> Desk:
    """The same desk where nothing is asked about another moment than now."""
    if then.is_now:
        return desk
    past = _Past(desk, principal, then)
    return replace(
        desk,
        store=cast(Store, StoreThen(past)),
        index=cast(IndexCache, IndexThen(past)),
        books=cast(Bookkeeper, BooksThen(desk)),
        clock=lambda: then.known_at or desk.clock(),
        kept=Kept(),  # units of the past are not those of today
        then=then,
    )


@dataclass(frozen=True, slots=True)
class _Past:
    """Who looks at which moment. What they may not see today they do not see then either."""

    desk: Desk
    principal: Principal
    then: Then

    @property
    def store(self) -> Store:
        return self.desk.store

    @property
    def now(self) -> datetime:
        return self.desk.clock()

    @property
    def visibility(self) -> Visibility:
        return visibility_of(self.principal)

    @property
    def by_id(self) -> Visibility:
        """By id, the owner sees everything of theirs."""
        return Visibility(cleared=True) if self.principal.is_owner else self.visibility

    def stood(self, memory: Memory, versions: Sequence[Version], seen: Visibility) -> Memory | None:
        if not seen.admits(memory):
            return None
        then = as_it_stood(memory, versions, self.then, self.now)
        return then if then and admits_words(seen, then, versions) else None


class IndexThen:
    """Of scopes as they stood, in the place of those that follow the present. One verb looks at
    one past: what it has looked at it keeps until it ends."""

    def __init__(self, past: _Past):
        self._past = past
        self._kept: dict[tuple[str, ...], PastIndex] = {}

    @contextmanager
    def reading(self, scope: Scope) -> Iterator[ScopeIndex]:
        with self.holding([Reading(scope)]) as (index,):
            yield index

    @contextmanager
    def holding(self, readings: Sequence[Reading]) -> Iterator[list[ScopeIndex]]:
        """Locked in one order, as those of the present are."""
        kept = {reading.key: self._keep(reading) for reading in readings}
        with ExitStack() as held:
            for key in sorted(kept):
                held.enter_context(kept[key].lock)
            yield [kept[reading.key].index for reading in readings]

    def _keep(self, reading: Reading) -> PastIndex:
        if reading.key not in self._kept:
            self._kept[reading.key] = self._make(reading)
        return self._kept[reading.key]

    def _make(self, reading: Reading) -> PastIndex:
        past = self._past
        if reading.sources is not None:
            return guests_past_index(past.desk, reading, past.then)
        # A team's passages are the same for each of its members, who share them.
        seen = past.visibility if reading.scope == past.principal.scope else UNCLEARED
        return past_index(past.desk, reading.scope, past.then, seen)


class BooksThen:
    """That something was looked for is noted; looking back touches nothing."""

    def __init__(self, desk: Desk):
        self._desk = desk

    def later(self, bookkeeping: Bookkeeping) -> None:
        now = self._desk.clock()
        turns = tuple(replace(turn, at=now) for turn in bookkeeping.turns)
        noted = replace(bookkeeping, at=now, touched={}, cursor=None, turns=turns)
        self._desk.books.later(noted)

    def flush(self) -> None:
        self._desk.books.flush()


class StoreThen:
    """What those who read ask a store for, answered as of then. It has no writes."""

    def __init__(self, past: _Past):
        self._past = past
        self._store = past.store

    def counters(self, scope: Scope) -> Counters:
        return self._store.counters(scope)

    def reachable(self, scope: Scope) -> Reachable:
        """Who may look, and where, is of today."""
        return self._store.reachable(scope)

    def shares(self, scope: Scope) -> list[Share]:
        return self._store.shares(scope)

    # ——— memories ———

    def fetch(self, scope: Scope, ids: Sequence[str]) -> list[Memory]:
        return self._stood(scope, ids, self._past.by_id)

    def _stood(self, scope: Scope, ids: Sequence[str], seen: Visibility) -> list[Memory]:
        versions = self._versions(scope, ids)
        found = (
            self._past.stood(memory, versions.get(memory.id, ()), seen)
            for memory in self._store.fetch(scope, ids)
        )
        return [memory for memory in found if memory]

    def page(self, scope: Scope, listing: Listing) -> list[Memory]:
        """Of what is active, as the index of then knows it; the other wishes of a listing are of
        the night's, which does not travel. Only the rows of the page are read."""
        past, seen = self._past, listing.visibility
        kept = past_index(past.desk, scope, past.then, seen)
        ids = ids_then(kept, listing.filters, seen, past.now)
        if listing.only_profile:
            ids = [id for id in ids if id.startswith(PREFIX)]
        start, found = _place_after(ids, listing.after), list[Memory]()
        while start < len(ids) and len(found) < listing.limit:  # once, unless some just vanished
            end = start + listing.limit - len(found)
            found += self._stood(scope, ids[start:end], seen)
            start = end
        return found

    def versions(self, scope: Scope, ids: Sequence[str]) -> list[Version]:
        """All of them: which were known then, and whose they are, is for `show` to say."""
        return self._store.versions(scope, ids)

    def _versions(self, scope: Scope, ids: Sequence[str]) -> dict[str, list[Version]]:
        found: dict[str, list[Version]] = {}
        for version in self._store.versions(scope, ids):
            found.setdefault(version.memory.id, []).append(version)
        return found

    def links(self, scope: Scope, ids: Sequence[str]) -> list[Link]:
        known_at = self._past.then.known_at
        links = self._store.links(scope, ids)
        return [link for link in links if known_at is None or link.created_at <= known_at]

    def held(self, scope: Scope, query: HeldQuery | None = None) -> list[Held]:
        """What waits for a decision is of today."""
        return []

    # ——— sources ———

    def sources(self, scope: Scope, ids: Sequence[str]) -> list[Source]:
        return self._as_they_were(scope, self._store.sources(scope, ids))

    def source_called(self, scope: Scope, origin: str, external_id: str) -> Source | None:
        found = self._store.source_called(scope, origin, external_id)
        return next(iter(self._as_they_were(scope, [found] if found else [])), None)

    def source_page(self, scope: Scope, listing: SourceListing) -> list[Source]:
        found = self._store.source_page(scope, replace(listing, then=self._past.then))
        return self._as_they_were(scope, found)

    def _as_they_were(self, scope: Scope, sources: Sequence[Source]) -> list[Source]:
        units = self._store.units_then(scope, [source.id for source in sources], self._past.then)
        return [
            as_described_then(source, len(units[source.id]), self._past.then)
            for source in sources
            if source.id in units and not source.has_ended(self._past.now)
        ]

    def passages(self, scope: Scope, units: Sequence[int]) -> dict[int, Passage]:
        """By units of the index of then: what a unit says never changes."""
        return self._store.passages(scope, units)

    def passages_of(
        self, scope: Scope, id: str, first: int = 1, last: int = EVERYTHING
    ) -> list[tuple[int, Passage]]:
        units = self._store.units_then(scope, [id], self._past.then).get(id, frozenset())
        found = self._store.passages_of(scope, id, first, last)
        return [(unit, passage) for unit, passage in found if unit in units]


def _place_after(ids: Sequence[str], id: str | None) -> int:
    if id is None:
        return 0
    if id not in ids:
        raise NotFound(f"Unknown cursor: after={id!r}.", field="after")
    return ids.index(id) + 1

"""What an ephemeral source alone told ends with it, at that instant: a read that comes before
maintenance does what maintenance would do.

The store is asked once an hour at most which sources end within the next one. A source ends many
days after it was made, so none is missed.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from datetime import datetime, timedelta

from commonplace.engine.context import EngineContext
from commonplace.errors import StoreError
from commonplace.lazy import lazy_imports
from commonplace.model.access.principal import Principal, Scope
from commonplace.model.filters import OWNER_VISIBILITY
from commonplace.store.queries import NO_LIMIT, SourceListing

with lazy_imports(__name__):
    from commonplace.engine.maintenance.tidy import end_sources

log = logging.getLogger("commonplace")

ASK_EVERY = timedelta(hours=1)


@dataclass(frozen=True, slots=True)
class NextEnds:
    """When the sources that a user may read end, as far as it was asked."""

    asked_at: datetime
    at: tuple[tuple[datetime, Scope], ...]  # within the hour after

    def is_current(self, now: datetime) -> bool:
        return self.asked_at <= now < self.asked_at + ASK_EVERY


def end_what_is_over(engine: EngineContext, principal: Principal) -> None:
    """For a caller who is about to read. A store that is read-only or busy is left as it is."""
    now, key = engine.clock(), principal.own_scope.key
    known: NextEnds | None = engine.caches.source_ends.get(key)
    try:
        if known is None or not known.is_current(now):
            known = _next_ends(engine, principal.own_scope, now)
            engine.caches.source_ends.put(key, known)
        due = {scope: None for at, scope in known.at if at <= now}
        for scope in due:
            end_sources(engine, scope, now)
        if due:
            left = tuple((at, scope) for at, scope in known.at if at > now)
            engine.caches.source_ends.put(key, NextEnds(known.asked_at, left))
    except StoreError as error:
        log.warning("what has ended is hidden later: %s", error.code)


def _next_ends(engine: EngineContext, own: Scope, now: datetime) -> NextEnds:
    listing = SourceListing(visibility=OWNER_VISIBILITY, ended_by=now + ASK_EVERY, limit=NO_LIMIT)
    with engine.store.read_session():
        teams = [one.team_scope for one in engine.store.access(own).memberships if one.is_member]
        found = [
            (source.ends_at, scope)
            for scope in (own, *teams)
            for source in engine.store.sources(scope, listing)
            if source.ends_at is not None
        ]
    return NextEnds(now, tuple(found))

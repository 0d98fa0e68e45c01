"""A team's night: sources that are older than the team keeps them are let go, restorable like
everything that is forgotten; what has ended, and what was forgotten long ago, is purged."""

from __future__ import annotations

from datetime import datetime, timedelta

from commonplace.desk import Desk
from commonplace.model.changes import Bookkeeping, Changeset
from commonplace.model.filters import Visibility
from commonplace.model.scope import Scope
from commonplace.model.source import Source
from commonplace.model.ttl_policy import TtlPolicy
from commonplace.sleep.tidy import (
    ACTOR,
    Tidied,
    end_sources,
    fill_passage_vectors,
    letting_go,
    purge_sources,
)
from commonplace.store.port import EVERYTHING, SourceListing


def tidy_team(desk: Desk, scope: Scope) -> Tidied:
    now = desk.clock()
    team = desk.store.team(scope)
    days = team.retention_days if team else None
    let_go = end_sources(desk, scope, now)
    let_go += _let_go(desk, scope, now, now - timedelta(days=days)) if days else 0
    purged = purge_sources(desk, scope, now)
    vectors = fill_passage_vectors(desk, scope)
    desk.store.record(Bookkeeping(scope, now, tidied=True))
    return Tidied(expired=let_go, purged=purged, vectors=vectors)


def _let_go(desk: Desk, scope: Scope, now: datetime, before: datetime) -> int:
    until = now + desk.lifetimes.restorable

    def decide() -> tuple[Changeset, int]:
        revision = desk.store.counters(scope).revision
        listing = SourceListing(visibility=Visibility(cleared=True), limit=EVERYTHING)
        found = desk.store.source_page(scope, listing)
        old = [each for each in found if _ended(each) < before and not _is_kept(each)]
        steps = tuple(step for each in old for step in letting_go(each, now, until))
        return Changeset(scope, now, ACTOR, steps, revision), len(old)

    return desk.decide(decide)[1]


def _is_kept(source: Source) -> bool:
    return source.ttl_policy is TtlPolicy.KEEP_FOREVER


def _ended(source: Source) -> datetime:
    """By when it was said: a letter of last year is old on the day it is brought in, but nobody
    who brings it means it to go the same night."""
    return max(source.ended_at or source.started_at or source.created_at, source.created_at)

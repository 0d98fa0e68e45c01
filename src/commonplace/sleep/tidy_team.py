"""A team's night: sources that are older than the team keeps them are let go, restorable like
everything that is forgotten, and what was forgotten long ago is purged."""

from __future__ import annotations

from datetime import datetime, timedelta

from commonplace.desk import Desk
from commonplace.model.changes import Bookkeeping, Changeset, ChangeSource, Step, Withdraw
from commonplace.model.filters import Visibility
from commonplace.model.journal import Entry, Event, Node, Op
from commonplace.model.memory import State
from commonplace.model.scope import Scope
from commonplace.model.source import CATEGORY, Source
from commonplace.sleep.tidy import ACTOR, Tidied, fill_passage_vectors, purge_sources
from commonplace.store.port import EVERYTHING, SourceListing


def tidy_team(desk: Desk, scope: Scope) -> Tidied:
    now = desk.clock()
    team = desk.store.team(scope)
    days = team.retention_days if team else None
    let_go = _let_go(desk, scope, now, now - timedelta(days=days)) if days else 0
    purged = purge_sources(desk, scope, now)
    vectors = fill_passage_vectors(desk, scope)
    desk.store.record(Bookkeeping(scope, now, tidied=True))
    return Tidied(expired=let_go, purged=purged, vectors=vectors)


def _let_go(desk: Desk, scope: Scope, now: datetime, before: datetime) -> int:
    until = now + desk.lifetimes.restorable

    def decide() -> tuple[Changeset, int]:
        revision = desk.store.counters(scope).revision
        listing = SourceListing(visibility=Visibility(cleared=True), limit=EVERYTHING)
        old = [each for each in desk.store.source_page(scope, listing) if _ended(each) < before]
        steps = tuple(step for each in old for step in _letting_go(each, now, until))
        return Changeset(scope, now, ACTOR, steps, revision), len(old)

    return desk.decide(decide)[1]


def _ended(source: Source) -> datetime:
    """By when it was said: a letter of last year is old on the day it is brought in, but nobody
    who brings it means it to go the same night."""
    return max(source.ended_at or source.started_at or source.created_at, source.created_at)


def _letting_go(source: Source, now: datetime, until: datetime) -> tuple[Step, ...]:
    after = source.evolve(
        state=State.SOFT_DELETED, purge_at=until, updated_at=now, version=source.version + 1
    )
    entry = Entry(
        op=Op.DELETE,
        event=Event.TTL,
        node=Node.WORKER,
        subject=source.id,
        category=CATEGORY,
        old_ref=source.ref,
        new_ref=after.ref,
    )
    return ChangeSource(source, after, entry), Withdraw((source.id,))

"""Tidy a memory or a team: expiry, purge, merging of volatile memories, vectors, compaction.

`commonplace tidy` runs it manually, and opening a store runs it once a day, so that retention
periods hold even without a worker; then without what ends live memories. It is idempotent. What
ends and what is merged is decided by the tasks of a night.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial

from commonplace.engine.context import EngineContext
from commonplace.errors import StoreError
from commonplace.lazy import lazy_imports
from commonplace.model.access.principal import Principal, Scope
from commonplace.model.changeset import Bookkeeping, Changeset
from commonplace.model.filters import OWNER_VISIBILITY
from commonplace.model.memory.kinds import TtlPolicy
from commonplace.model.sources.source import Source
from commonplace.store.queries import LOST_COMMITS, NO_LIMIT, SourceListing

with lazy_imports(__name__):
    from commonplace.engine.llm.model_calls import oldest_model_answer
    from commonplace.engine.maintenance.sleep.task import NightAction
    from commonplace.engine.maintenance.sleep.tasks import expiry, idle, notes, volatile
    from commonplace.engine.maintenance.vectors import (
        LinkFunction,
        fill_passage_vectors,
        fill_vectors,
        rebuild_index,
    )
    from commonplace.engine.reading.on_request import queue_repeated
    from commonplace.engine.removal.forget_requests import expire_forget_requests
    from commonplace.engine.transaction import run_transaction

log = logging.getLogger("commonplace")

ACTOR = "worker:tidy"
_ITEMS_AT_ONCE = 1000  # of a changeset


@dataclass(frozen=True, slots=True)
class Tidied:
    expired: int = 0
    idle: int = 0
    purged: int = 0
    merged: int = 0  # memories merged into summaries
    vectors: int = 0
    scrubbed: bool = True  # False: erased bytes await compaction
    reindexed: int = 0
    proposals: int = 0  # expired

    @property
    def changed(self) -> int:
        ended = self.expired + self.idle + self.purged + self.proposals
        return ended + self.merged + self.vectors


def tidy(
    engine: EngineContext,
    principal: Principal,
    link: LinkFunction,
    compact: bool = True,
    reindex: bool = False,
    limited: bool = False,
) -> Tidied:
    """``link``: of the write path, injected. ``limited``: the owner did not ask for it, so that it
    ends no live memory. That is left to sleep, which is bounded, logged and can be undone."""
    engine.access_log.flush()
    scope = principal.scope
    now = engine.clock()
    expired = _run(engine, scope, now, expiry.expire_memories)
    expired += end_sources(engine, scope, now)
    forgotten = 0 if limited else _run(engine, scope, now, idle.forget_idle_memories)
    proposals = _run(engine, scope, now, expiry.expire_proposals)  # it reads what is purged
    purged = _run(engine, scope, now, expiry.purge_memories)
    purged += _run(engine, scope, now, expiry.purge_graph)
    purged += _run(engine, scope, now, notes.remove_notes)
    expired += _run(engine, scope, now, expiry.expire_artifacts)
    purged += _purge_sources(engine, scope, now)
    merged = 0 if limited else _merge_volatile(engine, scope, now)
    if reindex:
        accepted = {LOST_COMMITS: "0"} if engine.store.fact(LOST_COMMITS) else {}
        engine.store.record(Bookkeeping(scope, now, repairs_checksums=True, facts=accepted))
    vectors = fill_vectors(engine, principal, link)
    reindexed = rebuild_index(engine, scope) if reindex else 0
    scrubbed = scrub(engine) if compact else True
    log_before = now - engine.lifetimes.recall_log
    answers_before = oldest_model_answer(engine, now)
    engine.store.record(
        Bookkeeping(
            scope,
            now,
            tidied=True,
            log_before=log_before,
            model_answers_before=answers_before,
        )
    )
    expire_forget_requests(engine, scope, ACTOR)
    queue_repeated(engine, scope)
    return Tidied(expired, forgotten, purged, merged, vectors, scrubbed, reindexed, proposals)


def end_sources(engine: EngineContext, scope: Scope, now: datetime) -> int:
    """Ephemeral sources that have ended are forgotten, with what only they told."""
    return _run(engine, scope, now, expiry.expire_sources)


def scrub(engine: EngineContext) -> bool:
    """Compact the store. If it is busy, the erasures remain marked for the next run."""
    try:
        return engine.store.scrub(engine.clock())
    except StoreError as error:
        log.warning("compaction postponed: %s", error.code)
        return False


def _run(
    engine: EngineContext,
    scope: Scope,
    now: datetime,
    stage: Callable[[EngineContext, Scope, datetime, int], Sequence[NightAction]],
) -> int:
    """The number of items that end, with one changeset for many."""
    find = partial(stage, engine, scope, now, _ITEMS_AT_ONCE)
    total = 0
    while done := _apply(engine, scope, now, find):
        total += done
    return total


def _apply(
    engine: EngineContext, scope: Scope, now: datetime, find: Callable[[], Sequence[NightAction]]
) -> int:
    def decide() -> tuple[Changeset, int]:
        revision = engine.store.counters(scope).revision
        actions = find()
        steps = tuple(step for action in actions for step in action.steps)
        return Changeset(scope, now, ACTOR, steps, revision), sum(each.items for each in actions)

    return run_transaction(engine, None, decide)[1]


def _purge_sources(engine: EngineContext, scope: Scope, now: datetime) -> int:
    return sum(
        _run(engine, scope, now, each) for each in (expiry.purge_sources, expiry.purge_passages)
    )


def _merge_volatile(engine: EngineContext, scope: Scope, now: datetime) -> int:
    """A batch of which a memory has just changed waits for the next run."""
    merged, more = 0, 1
    while more:
        prepared = volatile.prepare_merges(engine, scope, now)

        def find(chosen: Sequence[volatile.PreparedMerge] = prepared.merges) -> list[NightAction]:
            unchanged = volatile.unchanged_merges(engine, scope, chosen, now)
            return [volatile.merge_action(merge, now) for merge in unchanged]

        done = _apply(engine, scope, now, find)
        merged += done
        more = prepared.more if done else 0
    return merged


def tidy_team(engine: EngineContext, scope: Scope) -> Tidied:
    now = engine.clock()
    team = engine.store.access(scope).team
    days = team.retention_days if team else None
    let_go = end_sources(engine, scope, now)
    let_go += _forget_old_sources(engine, scope, now, now - timedelta(days=days)) if days else 0
    purged = _purge_sources(engine, scope, now)
    vectors = fill_passage_vectors(engine, scope)
    answers_before = oldest_model_answer(engine, now)
    engine.store.record(Bookkeeping(scope, now, tidied=True, model_answers_before=answers_before))
    return Tidied(expired=let_go, purged=purged, vectors=vectors)


def _forget_old_sources(
    engine: EngineContext, scope: Scope, now: datetime, before: datetime
) -> int:
    until = now + engine.lifetimes.restorable

    def decide() -> tuple[Changeset, int]:
        revision = engine.store.counters(scope).revision
        listing = SourceListing(visibility=OWNER_VISIBILITY, limit=NO_LIMIT)
        found = engine.store.sources(scope, listing)
        old = [each for each in found if _last_date(each) < before and not _is_kept_forever(each)]
        steps = tuple(step for each in old for step in expiry.forget_source_steps(each, now, until))
        return Changeset(scope, now, ACTOR, steps, revision), len(old)

    return run_transaction(engine, None, decide)[1]


def _is_kept_forever(source: Source) -> bool:
    return source.ttl_policy is TtlPolicy.KEEP_FOREVER


def _last_date(source: Source) -> datetime:
    """The later of the source's own date and its ingest: an old letter must not be removed on the
    day it is ingested."""
    return max(source.ended_at or source.started_at or source.created_at, source.created_at)

"""Tidy a memory or a team: expiry, purge, merging of volatile memories, vectors, compaction.

`commonplace tidy` runs it manually, and opening a store runs it once a day, so that retention
periods hold even without a worker. It is idempotent.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from commonplace.engine.context import EngineContext
from commonplace.errors import InvalidInput, StoreError
from commonplace.language.embedders.embedder import Vectors
from commonplace.lazy import lazy_imports
from commonplace.model.access.principal import Principal, Scope
from commonplace.model.changeset import (
    Bookkeeping,
    ChangeMemory,
    Changeset,
    ChangesetStep,
    ChangeSource,
    WithdrawJobs,
    build_change,
    build_removal,
    build_source_removal,
)
from commonplace.model.filters import Filters, Visibility
from commonplace.model.graph.steps import RemoveArtifact, RemoveEdge, RemoveNode, RemoveNotes
from commonplace.model.journal import Entry, Event, JournalNode, Op
from commonplace.model.memory.kinds import TtlPolicy
from commonplace.model.memory.lifecycle import (
    IDLE_KINDS,
    has_expired,
    is_idle,
    is_mergeable,
    is_purgeable,
)
from commonplace.model.memory.memory import Memory, State
from commonplace.model.profile.consent import ProposalDecision, build_settlement
from commonplace.model.sources.source import SOURCE_CATEGORY, Source
from commonplace.store.queries import (
    LOST_COMMITS,
    NO_LIMIT,
    HiddenPassages,
    MemoryListing,
    PassagesOf,
    SourceListing,
    UnembeddedQuery,
)

with lazy_imports(__name__):
    from commonplace.engine.graph.remove import purge_graph_items
    from commonplace.engine.indexing import (
        build_indexing,
        build_passage_indexing,
        index_memories,
    )
    from commonplace.engine.llm.model_calls import oldest_model_answer
    from commonplace.engine.profile.open_proposals import load_forgotten_origins
    from commonplace.engine.reading.on_request import queue_repeated
    from commonplace.engine.removal.forget_requests import expire_forget_requests
    from commonplace.engine.sources.passages import erase_passages, load_passages
    from commonplace.engine.transaction import run_transaction

log = logging.getLogger("commonplace")

ACTOR = "worker:tidy"
PAGE_SIZE = 1000
VECTORS_AT_ONCE = 512

MergeFunction = Callable[[Principal, Sequence[str]], object]
LinkFunction = Callable[[Principal, Sequence[Memory], Vectors], object]


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
    merge: MergeFunction,
    link: LinkFunction,
    compact: bool = True,
    reindex: bool = False,
) -> Tidied:
    """``merge`` and ``link``: the verbs of the write path, injected."""
    engine.access_log.flush()
    scope = principal.scope
    now = engine.clock()
    expired = _apply_rule(
        engine, scope, MemoryListing(expired_by=now), lambda m: has_expired(m, now), _expire
    )
    expired += expire_sources(engine, scope, now)
    idle = _apply_rule(
        engine,
        scope,
        MemoryListing(filters=Filters(kinds=IDLE_KINDS, importance_max=2), now=now),
        lambda m: is_idle(m, now, engine.lifetimes),
        _forget_idle,
    )
    proposals = _expire_proposals(engine, scope, now)  # first: it reads what is purged
    purged = _apply_rule(
        engine,
        scope,
        MemoryListing(states=(State.SOFT_DELETED,), purgeable_by=now),
        lambda m: is_purgeable(m, now),
        _purge,
    )
    of_graph = _purge_graph(engine, scope, now)
    expired += of_graph[Event.TTL]
    purged += purge_sources(engine, scope, now) + of_graph[Event.DELETE]
    purged += purge_passages(engine, scope, now)
    merged = _merge_volatile(engine, principal, now, merge)
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
    return Tidied(expired, idle, purged, merged, vectors, scrubbed, reindexed, proposals)


def rebuild_index(engine: EngineContext, scope: Scope) -> int:
    """Recompute the terms of all memories and passages with the current analyser."""
    total, after = 0, None
    while True:
        listing = MemoryListing(
            states=tuple(State), visibility=Visibility(cleared=True), limit=PAGE_SIZE, after=after
        )
        page = engine.store.page(scope, listing)
        terms = {memory.ref: build_indexing(memory, None) for memory in page}
        engine.store.record(Bookkeeping(scope, engine.clock(), terms=terms))
        total += len(page)
        if len(page) < PAGE_SIZE:
            return total + _rebuild_passage_index(engine, scope)
        after = page[-1].id


def _rebuild_passage_index(engine: EngineContext, scope: Scope) -> int:
    listing = SourceListing(
        states=tuple(State), visibility=Visibility(cleared=True), limit=NO_LIMIT
    )
    total = 0
    for source in engine.store.sources(scope, listing):
        found = engine.store.passages(scope, PassagesOf(source.id, hidden=True)).items()
        terms = {
            unit: build_passage_indexing(source, passage, None)
            for unit, passage in found
            if not passage.is_erased
        }
        engine.store.record(Bookkeeping(scope, engine.clock(), passage_terms=terms))
        total += len(terms)
    return total


def scrub(engine: EngineContext) -> bool:
    """Compact the store. If it is busy, the erasures remain marked for the next run."""
    try:
        return engine.store.scrub(engine.clock())
    except StoreError as error:
        log.warning("compaction postponed: %s", error.code)
        return False


def _apply_rule(
    engine: EngineContext,
    scope: Scope,
    listing: MemoryListing,
    applies: Callable[[Memory], bool],
    step: Callable[[EngineContext, Memory, datetime], ChangesetStep],
) -> int:
    """Apply the rule to all matching memories, with one changeset for each page."""
    total = 0
    after: str | None = None
    everyone = Visibility(cleared=True)
    while True:
        shown = replace(listing, visibility=everyone, limit=PAGE_SIZE, after=after)
        page = engine.store.page(scope, shown)
        ids = [memory.id for memory in page if applies(memory)]
        total += _apply_to(engine, scope, ids, applies, step)
        if len(page) < PAGE_SIZE:
            return total
        # Changed memories have left the listing, so the same page is read again.
        after = page[-1].id if not ids else None


def _apply_to(
    engine: EngineContext,
    scope: Scope,
    ids: Sequence[str],
    applies: Callable[[Memory], bool],
    step: Callable[[EngineContext, Memory, datetime], ChangesetStep],
) -> int:
    if not ids:
        return 0
    now = engine.clock()

    def decide() -> tuple[Changeset, int]:
        revision = engine.store.counters(scope).revision
        still = [memory for memory in engine.store.fetch(scope, ids) if applies(memory)]
        steps = tuple(step(engine, memory, now) for memory in still)
        return Changeset(scope, now, ACTOR, steps, revision), len(still)

    return run_transaction(engine, None, decide)[1]


def _expire(engine: EngineContext, memory: Memory, now: datetime) -> ChangesetStep:
    return build_removal(memory, event=Event.TTL, node=JournalNode.WORKER)


def _purge(engine: EngineContext, memory: Memory, now: datetime) -> ChangesetStep:
    return build_removal(memory, event=Event.DELETE, node=JournalNode.WORKER)


def _purge_graph(engine: EngineContext, scope: Scope, now: datetime) -> Counter[Event | None]:
    """The number of removals by event."""

    def decide() -> tuple[Changeset, Counter[Event | None]]:
        revision = engine.store.counters(scope).revision
        steps = purge_graph_items(engine, scope, ACTOR, now)
        removed = Counter(step.entry.event for step in steps if isinstance(step, _REMOVALS))
        return Changeset(scope, now, ACTOR, steps, revision), removed

    return run_transaction(engine, None, decide)[1]


_REMOVALS = (RemoveNode, RemoveEdge, RemoveNotes, RemoveArtifact)


def expire_sources(engine: EngineContext, scope: Scope, now: datetime) -> int:
    """Forget expired ephemeral sources with the memories that only they support, in all scopes that
    extracted them. They cannot be restored and are purged in the same run."""

    def decide() -> tuple[Changeset, int]:
        revision = engine.store.counters(scope).revision
        listing = SourceListing(visibility=Visibility(cleared=True), ended_by=now, limit=NO_LIMIT)
        ended = engine.store.sources(scope, listing)
        steps = tuple(
            s for each in ended for s in forget_source_steps(each, now, each.ends_at or now)
        )
        return Changeset(scope, now, ACTOR, steps, revision), len(ended)

    return run_transaction(engine, None, decide)[1]


def forget_source_steps(
    source: Source, now: datetime, until: datetime
) -> tuple[ChangesetStep, ...]:
    after = source.evolve(
        state=State.SOFT_DELETED, purge_at=until, updated_at=now, version=source.version + 1
    )
    entry = Entry(
        op=Op.DELETE,
        event=Event.TTL,
        node=JournalNode.WORKER,
        subject=source.id,
        category=SOURCE_CATEGORY,
        old_ref=source.ref,
        new_ref=after.ref,
    )
    return ChangeSource(source, after, entry), WithdrawJobs((source.id,))


def purge_sources(engine: EngineContext, scope: Scope, now: datetime) -> int:
    def decide() -> tuple[Changeset, int]:
        listing = SourceListing(
            states=(State.SOFT_DELETED,),
            visibility=Visibility(cleared=True),
            purgeable_by=now,
            limit=NO_LIMIT,
        )
        removed = engine.store.sources(scope, listing)
        steps = tuple(
            build_source_removal(source, event=Event.DELETE, node=JournalNode.WORKER)
            for source in removed
        )
        return Changeset(scope, now, ACTOR, steps, engine.store.counters(scope).revision), len(
            removed
        )

    return run_transaction(engine, None, decide)[1]


def purge_passages(engine: EngineContext, scope: Scope, now: datetime) -> int:
    """Blot out the passages whose restore period is over."""

    def decide() -> tuple[Changeset, int]:
        revision = engine.store.counters(scope).revision
        due = engine.store.passages(scope, HiddenPassages(purgeable_by=now)).values()
        steps = [
            step
            for each in load_passages(engine, scope, [passage.id for passage in due])
            for step in erase_passages(
                engine, each, now, event=Event.DELETE, node=JournalNode.WORKER
            )
        ]
        return Changeset(scope, now, ACTOR, tuple(steps), revision), len(steps)

    return run_transaction(engine, None, decide)[1]


def _expire_proposals(engine: EngineContext, scope: Scope, now: datetime) -> int:
    """Also those that rest only on what is purged."""

    def decide() -> tuple[Changeset, int]:
        revision = engine.store.counters(scope).revision
        stored = engine.store.proposals(scope)
        purged = load_forgotten_origins(engine, scope, stored, due=now)
        over = [p for p in stored if not p.is_open(now) or purged.leave(p) is None]
        steps = tuple(
            build_settlement(each, ProposalDecision.ENDED, JournalNode.WORKER) for each in over
        )
        return Changeset(scope, now, ACTOR, steps, revision), len(over)

    return run_transaction(engine, None, decide)[1]


def _forget_idle(engine: EngineContext, memory: Memory, now: datetime) -> ChangeMemory:
    after = memory.evolve(
        state=State.SOFT_DELETED, purge_at=now + engine.lifetimes.restorable, updated_at=now
    )
    return build_change(memory, after, op=Op.DELETE, event=Event.TTL, node=JournalNode.WORKER)


def _merge_volatile(
    engine: EngineContext, principal: Principal, now: datetime, merge: MergeFunction
) -> int:
    """Merge the oldest first, in batches of five; fewer than five wait. A rejected batch (too long
    together, or one has just changed) is skipped."""
    listing = MemoryListing(
        now=now, visibility=Visibility(cleared=True), volatile=True, limit=NO_LIMIT
    )
    found = [
        memory
        for memory in reversed(engine.store.page(principal.scope, listing))
        if is_mergeable(memory, now, engine.lifetimes)
    ]
    folded = 0
    for batch in group_for_merge(found, engine.lifetimes.merge_batch):
        try:
            merge(principal, [memory.id for memory in batch])
        except InvalidInput as error:
            log.warning("volatile memories were not merged: %s", error.code)
        else:
            folded += len(batch)
    return folded


def group_for_merge(found: Sequence[Memory], size: int) -> list[list[Memory]]:
    """Full batches of the same sensitivity, agent and category: a summary inherits the highest
    sensitivity, and an agent's summary must not contain others' texts."""
    alike: dict[tuple[str, str | None, str], list[Memory]] = {}
    for memory in found:
        key = (memory.sensitivity, memory.agent_id, memory.category)
        alike.setdefault(key, []).append(memory)
    return [
        group[start : start + size]
        for group in alike.values()
        for start in range(0, len(group) - size + 1, size)
    ]


def fill_vectors(engine: EngineContext, principal: Principal, link: LinkFunction) -> int:
    """Embed what was stored without the embedder, and add the resulting links."""
    scope = principal.scope
    total = 0
    while True:
        listing = MemoryListing(
            states=tuple(State),
            visibility=Visibility(cleared=True),
            without_vector=True,
            limit=VECTORS_AT_ONCE,
        )
        waiting = engine.store.page(scope, listing)
        if not waiting:
            return total + fill_passage_vectors(engine, scope) + fill_graph_vectors(engine, scope)
        indexes, vectors = index_memories(engine, waiting)
        if vectors is None:
            return total
        ready = {
            memory.ref: index.vector
            for memory, index in zip(waiting, indexes, strict=True)
            if index.vector
        }
        engine.store.record(Bookkeeping(scope, engine.clock(), vectors=ready))
        link(principal, waiting, vectors)
        total += len(ready)


def fill_passage_vectors(engine: EngineContext, scope: Scope) -> int:
    total = 0
    while waiting := engine.store.unembedded(scope, UnembeddedQuery(VECTORS_AT_ONCE)).passages:
        vectors = engine.embed_passages([text for _, text in waiting])
        if vectors is None:
            break
        ready = {
            unit: row.astype("<f4").tobytes()
            for (unit, _), row in zip(waiting, vectors, strict=True)
        }
        engine.store.record(Bookkeeping(scope, engine.clock(), passage_vectors=ready))
        total += len(ready)
    return total


def fill_graph_vectors(engine: EngineContext, scope: Scope) -> int:
    """Embed nodes and edges. Concurrent changes are handled in the next round."""
    total = 0
    while waiting := engine.store.unembedded(scope, UnembeddedQuery(VECTORS_AT_ONCE)).graph:
        vectors = engine.embed_passages([text for _, text in waiting])
        if vectors is None:
            break
        ready = {
            ref: row.astype("<f4").tobytes() for (ref, _), row in zip(waiting, vectors, strict=True)
        }
        engine.store.record(Bookkeeping(scope, engine.clock(), graph_vectors=ready))
        total += len(ready)
    return total


def tidy_team(engine: EngineContext, scope: Scope) -> Tidied:
    now = engine.clock()
    team = engine.store.access(scope).team
    days = team.retention_days if team else None
    let_go = expire_sources(engine, scope, now)
    let_go += _forget_old_sources(engine, scope, now, now - timedelta(days=days)) if days else 0
    purged = purge_sources(engine, scope, now) + purge_passages(engine, scope, now)
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
        listing = SourceListing(visibility=Visibility(cleared=True), limit=NO_LIMIT)
        found = engine.store.sources(scope, listing)
        old = [each for each in found if _last_date(each) < before and not _is_kept_forever(each)]
        steps = tuple(step for each in old for step in forget_source_steps(each, now, until))
        return Changeset(scope, now, ACTOR, steps, revision), len(old)

    return run_transaction(engine, None, decide)[1]


def _is_kept_forever(source: Source) -> bool:
    return source.ttl_policy is TtlPolicy.KEEP_FOREVER


def _last_date(source: Source) -> datetime:
    """The later of the source's own date and its ingest: an old letter must not be removed on the
    day it is ingested."""
    return max(source.ended_at or source.started_at or source.created_at, source.created_at)

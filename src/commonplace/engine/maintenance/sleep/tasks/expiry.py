"""Expiry: what has ended is deleted, what was forgotten long ago is purged. Not undoable.

Each stage finds what is due in the stored state, and returns one action for each item, or for what
goes together. `tidy` runs the same stages.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import chain, islice

from commonplace.engine.context import EngineContext
from commonplace.engine.graph.remove import purge_graph_items, remove_expired_artifacts
from commonplace.engine.maintenance.sleep.task import (
    NOTHING_TO_DO,
    Batch,
    Decide,
    Night,
    NightAction,
)
from commonplace.engine.profile.open_proposals import load_forgotten_origins
from commonplace.engine.sources.passages import erase_passages, load_passages
from commonplace.model.access.principal import Scope
from commonplace.model.changeset import (
    ChangesetStep,
    ChangeSource,
    WithdrawJobs,
    build_removal,
    build_source_removal,
)
from commonplace.model.filters import OWNER_VISIBILITY
from commonplace.model.graph.steps import RemoveArtifact, RemoveEdge, RemoveNode, RemoveNotes
from commonplace.model.journal import Entry, Event, JournalNode, Op
from commonplace.model.memory.lifecycle import has_expired, is_purgeable
from commonplace.model.memory.memory import Memory, State
from commonplace.model.profile.consent import ProposalDecision, build_settlement
from commonplace.model.sleep import SLEEP_ACTOR
from commonplace.model.sources.source import SOURCE_CATEGORY, Source
from commonplace.store.queries import HiddenPassages, MemoryListing, SourceListing

EXPIRED = "expired"
PURGED = "forgotten long ago"

# The last argument: how many items at most.
Stage = Callable[[EngineContext, Scope, datetime, int], Sequence[NightAction]]


def run_expiry(night: Night) -> Decide:
    """One stage at a time: what a stage has done is the state that the next one reads."""

    def decide() -> Batch:
        at_once = night.actions_at_once
        found = (stage(night.engine, night.scope, night.now, at_once) for stage in STAGES)
        if night.dry_run:
            return Batch(tuple(chain.from_iterable(found)))
        actions = next(filter(None, found), None)
        return Batch(actions, has_more=True) if actions else NOTHING_TO_DO

    return decide


# ——— memories ———


def find_memories_where(
    engine: EngineContext,
    scope: Scope,
    listing: MemoryListing,
    applies: Callable[[Memory], bool],
) -> Iterator[Memory]:
    """Reads page by page, as far as the caller asks."""
    shown = replace(listing, visibility=OWNER_VISIBILITY)
    while True:
        page = engine.store.page(scope, shown)
        yield from filter(applies, page)
        if len(page) < shown.limit:
            return
        shown = replace(shown, after=page[-1].id)


def expire_memories(
    engine: EngineContext, scope: Scope, now: datetime, limit: int
) -> Sequence[NightAction]:
    listing = MemoryListing(expired_by=now, limit=limit)
    found = find_memories_where(engine, scope, listing, lambda each: has_expired(each, now))
    return [_removal(each, EXPIRED, Event.TTL) for each in islice(found, limit)]


def purge_memories(
    engine: EngineContext, scope: Scope, now: datetime, limit: int
) -> Sequence[NightAction]:
    listing = MemoryListing(states=(State.SOFT_DELETED,), purgeable_by=now, limit=limit)
    found = find_memories_where(engine, scope, listing, lambda each: is_purgeable(each, now))
    return [_removal(each, PURGED, Event.DELETE) for each in islice(found, limit)]


def _removal(memory: Memory, why: str, event: Event) -> NightAction:
    return _final(why, build_removal(memory, event=event, node=JournalNode.WORKER))


def _final(why: str, *steps: ChangesetStep) -> NightAction:
    return NightAction(why, steps, can_be_undone=False)


# ——— sources ———


def expire_sources(
    engine: EngineContext, scope: Scope, now: datetime, limit: int
) -> Sequence[NightAction]:
    """Forget expired ephemeral sources with what only they support, in all scopes that extracted
    them. They cannot be restored, and are purged next."""
    listing = SourceListing(visibility=OWNER_VISIBILITY, ended_by=now, limit=limit)
    return [
        _final(EXPIRED, *forget_source_steps(each, now, each.ends_at or now))
        for each in engine.store.sources(scope, listing)
    ]


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


def purge_sources(
    engine: EngineContext, scope: Scope, now: datetime, limit: int
) -> Sequence[NightAction]:
    listing = SourceListing(
        states=(State.SOFT_DELETED,),
        visibility=OWNER_VISIBILITY,
        purgeable_by=now,
        limit=limit,
    )
    return [
        _final(PURGED, build_source_removal(each, event=Event.DELETE, node=JournalNode.WORKER))
        for each in engine.store.sources(scope, listing)
    ]


def purge_passages(
    engine: EngineContext, scope: Scope, now: datetime, limit: int
) -> Sequence[NightAction]:
    """Blot out the passages whose restore period is over."""
    due = engine.store.passages(scope, HiddenPassages(purgeable_by=now)).values()
    actions = []
    for each in load_passages(engine, scope, [each.id for each in islice(due, limit)]):
        steps = erase_passages(engine, each, now, event=Event.DELETE, node=JournalNode.WORKER)
        if steps:
            actions.append(replace(_final(PURGED, *steps), items=len(steps)))
    return actions


# ——— proposals and the graph ———


def expire_proposals(
    engine: EngineContext, scope: Scope, now: datetime, limit: int
) -> Sequence[NightAction]:
    """Also those that rest only on what is purged: it has to be there still."""
    stored = engine.store.proposals(scope)
    purged = load_forgotten_origins(engine, scope, stored, due=now)
    over = [each for each in stored if not each.is_open(now) or purged.leave(each) is None]
    return [
        _final(EXPIRED, build_settlement(each, ProposalDecision.ENDED, JournalNode.WORKER))
        for each in over[:limit]
    ]


def purge_graph(
    engine: EngineContext, scope: Scope, now: datetime, limit: int
) -> Sequence[NightAction]:
    """One action for all: what one item supports may be supported by another one, too."""
    steps = purge_graph_items(engine, scope, SLEEP_ACTOR, now)
    removed = sum(isinstance(step, _GRAPH_REMOVALS) for step in steps)
    return [replace(_final(PURGED, *steps), items=removed)] if steps else []


_GRAPH_REMOVALS = (RemoveNode, RemoveEdge, RemoveNotes, RemoveArtifact)


def expire_artifacts(
    engine: EngineContext, scope: Scope, now: datetime, limit: int
) -> Sequence[NightAction]:
    return [_final(EXPIRED, step) for step in remove_expired_artifacts(engine, scope, now)[:limit]]


# In this order: proposals read what is purged.
STAGES: tuple[Stage, ...] = (
    expire_memories,
    expire_sources,
    expire_proposals,
    purge_memories,
    purge_graph,
    expire_artifacts,
    purge_sources,
    purge_passages,
)

"""Forget memories, sources and graph items by id or filter."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from commonplace.engine.access import (
    may_change_instruction,
    visibility_of,
)
from commonplace.engine.context import EngineContext, RequestContext
from commonplace.lazy import lazy_imports
from commonplace.model.access.principal import Principal
from commonplace.model.changeset import Changeset, ChangesetStep
from commonplace.model.filters import Filters
from commonplace.model.memory.lifecycle import has_expired, is_purgeable
from commonplace.model.memory.memory import Memory, State
from commonplace.model.profile.fields import is_profile_item
from commonplace.model.sources.source import SOURCE_CATEGORY, Passage, Source
from commonplace.store.queries import NO_LIMIT, MemoryListing, SourceListing

with lazy_imports(__name__):
    from commonplace.engine.composition import soft_delete_memory
    from commonplace.engine.graph.remove import (
        VisibilityChange,
        forget_graph_items,
        is_graph_id,
    )
    from commonplace.engine.memories.merge import find_memories
    from commonplace.engine.provenance.evidence import supporting_passages
    from commonplace.engine.sources.passages import (
        SourcePassages,
        find_passages,
        hide_passages,
        is_passage_id,
    )
    from commonplace.engine.sources.removal import (
        find_sources,
        forget_source,
        is_unpurged,
        remaining_mentions,
        require_no_instruction_from,
        resolve_source_ids,
    )
    from commonplace.engine.transaction import run_transaction


@dataclass(frozen=True, slots=True)
class Forgotten:
    ids: tuple[str, ...]  # forgotten now
    already: tuple[str, ...]  # were forgotten before
    restorable_until: datetime  # the first purge date of all of them
    revision: int
    still_in: tuple[str, ...] = ()  # turns and sources that still contain their text
    passages: tuple[str, ...] = ()  # turns and passages that went along with their memories


_NO_CHANGE = VisibilityChange()


@dataclass(frozen=True, slots=True)
class _ForgetPlan:
    items: Sequence[Memory | Source]
    already: Sequence[Memory | Source | Passage]
    graph: VisibilityChange = _NO_CHANGE
    passages: Sequence[SourcePassages] = ()

    def passage_ids(self, *, along: bool) -> tuple[str, ...]:
        return tuple(
            passage.id
            for each in self.passages
            for passage in each.named
            if (passage.number in each.along) is along
        )


def forget_items(
    engine: EngineContext,
    request: RequestContext,
    ids: Sequence[str],
    thread: str | None = None,
    keep_evidence: bool = False,
) -> Forgotten:
    """A memory takes along the passages that state it, unless ``keep_evidence``."""
    principal = request.principal
    now = engine.clock()
    until = now + engine.lifetimes.restorable

    def decide() -> tuple[Changeset, _ForgetPlan]:
        revision = engine.store.counters(principal.scope).revision
        graph = forget_graph_items(engine, principal, list(filter(is_graph_id, ids)), until)
        resolved = resolve_source_ids(engine, principal, ids)
        sources = find_sources(
            engine, principal, list(resolved.values()), lambda s: is_unpurged(s, now)
        )
        passage_ids = [id for id in ids if is_passage_id(id)]
        require_no_instruction_from(engine, principal, [*(s.id for s in sources), *passage_ids])
        rest = [id for id in ids if not (id in resolved or is_graph_id(id) or is_passage_id(id))]
        memories = find_memories(engine, principal, rest, lambda m: is_available(m, now))
        items: list[Memory | Source] = [*memories, *sources]
        to_forget = [item for item in items if item.state is not State.SOFT_DELETED]
        steps = tuple(step for item in to_forget for step in _forget_steps(item, now, until))
        along = () if keep_evidence else stating_passages(to_forget)
        known = find_passages(
            engine, principal, passage_ids, along, lambda passage: is_restorable(passage, now)
        )
        whole = {item.id for item in to_forget}
        passages = [
            each.choose(lambda passage: not passage.is_hidden)
            for each in known
            if each.source.id not in whole
        ]
        already: list[Memory | Source | Passage] = [
            *(item for item in items if item.state is State.SOFT_DELETED),
            *(p for each in known for p in each.named if p.is_hidden and p.id in passage_ids),
        ]
        passage_steps = [step for each in passages for step in hide_passages(each, until, now)]
        changeset = Changeset(
            principal.scope,
            now,
            principal.actor,
            (*steps, *passage_steps, *graph.steps),
            revision,
            thread,
            member=principal.member,
            named=graph.named,
        )
        return changeset, _ForgetPlan(to_forget, already, graph, passages)

    revision, plan = run_transaction(engine, request, decide)
    return _answer(engine, principal, plan, until, revision)


def stating_passages(items: Iterable[Memory | Source]) -> list[str]:
    """The passages that are evidence of these memories."""
    return [
        id
        for item in items
        if isinstance(item, Memory)
        for id in supporting_passages(item)
        if is_passage_id(id)
    ]


def is_restorable(passage: Passage, now: datetime) -> bool:
    return not passage.is_erased and (passage.purge_at is None or passage.purge_at > now)


def forget_matching(
    engine: EngineContext,
    request: RequestContext,
    filters: Filters,
    thread: str | None = None,
    keep_evidence: bool = False,
) -> Forgotten:
    """All live items that match the filter, in one changeset."""
    principal = request.principal
    now = engine.clock()
    until = now + engine.lifetimes.restorable

    def decide() -> tuple[Changeset, _ForgetPlan]:
        revision = engine.store.counters(principal.scope).revision
        listing = MemoryListing(
            filters=filters,
            visibility=visibility_of(principal),
            now=now,
            limit=NO_LIMIT,
        )
        memories = engine.store.page(principal.scope, listing)
        items: list[Memory | Source] = [
            m
            for m in memories
            if (principal.is_owner or not is_profile_item(m.id))
            and may_change_instruction(engine, principal, m)
        ]
        sources = _sources_matching(engine, principal, filters)
        require_no_instruction_from(engine, principal, [source.id for source in sources])
        items += sources
        steps = [step for item in items for step in _forget_steps(item, now, until)]
        along = () if keep_evidence else stating_passages(items)
        whole = {source.id for source in sources}
        passages = [
            each
            for each in find_passages(engine, principal, (), along, lambda p: not p.is_hidden)
            if each.source.id not in whole
        ]
        steps += [step for each in passages for step in hide_passages(each, until, now)]
        changeset = Changeset(principal.scope, now, principal.actor, tuple(steps), revision, thread)
        return changeset, _ForgetPlan(items, (), passages=passages)

    revision, plan = run_transaction(engine, request, decide)
    return _answer(engine, principal, plan, until, revision)


def _answer(
    engine: EngineContext,
    principal: Principal,
    plan: _ForgetPlan,
    until: datetime,
    revision: int,
) -> Forgotten:
    memories = [item for item in plan.items if isinstance(item, Memory)]
    named = plan.passage_ids(along=False)
    ids = (*(item.id for item in plan.items), *named, *plan.graph.ids)
    known = [item.purge_at for item in plan.already if item.purge_at]
    return Forgotten(
        ids,
        (*(item.id for item in plan.already), *plan.graph.already),
        min([*known, *plan.graph.known_dates, *([until] if ids else [])], default=until),
        revision,
        remaining_mentions(engine, principal, memories),
        plan.passage_ids(along=True),
    )


def _forget_steps(
    item: Memory | Source, now: datetime, until: datetime
) -> tuple[ChangesetStep, ...]:
    if isinstance(item, Source):
        return forget_source(item, now, until)
    return (soft_delete_memory(item, now, until),)


def _sources_matching(
    engine: EngineContext, principal: Principal, filters: Filters
) -> list[Source]:
    """A filter on a field that only memories have, such as kind, matches no sources."""
    common = Filters(
        source_type=filters.source_type,
        source_id=filters.source_id,
        thread_id=filters.thread_id,
        tags=filters.tags,
        created_after=filters.created_after,
        created_before=filters.created_before,
    )
    categories = filters.categories
    if replace(filters, categories=()) != common or (
        categories and SOURCE_CATEGORY not in categories
    ):
        return []
    listing = SourceListing(
        visibility=visibility_of(principal),
        types=(filters.source_type,) if filters.source_type else (),
        tags=filters.tags,
        thread_id=filters.thread_id,
        limit=NO_LIMIT,
    )
    return [
        source
        for source in engine.live_source_page(principal.scope, listing)
        if filters.source_id in (None, source.id)
        and _is_within(source, filters.created_after, filters.created_before)
    ]


def _is_within(source: Source, after: datetime | None, before: datetime | None) -> bool:
    """By the time of the content, as in recall, not the time of ingestion. The whole source must be
    within: a source is forgotten as a whole, so a growing conversation is not old."""
    began = source.started_at or source.created_at
    ended = source.ended_at or began
    return (after is None or began > after) and (before is None or ended < before)


def is_available(memory: Memory, now: datetime) -> bool:
    """Neither purgeable nor expired. Such items stay in the store until nightly maintenance."""
    return not is_purgeable(memory, now) and not has_expired(memory, now)

"""Forget and restore memories, sources and graph items by id or filter."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from commonplace.engine.access import (
    can_see,
    may_change_instruction,
    require_may_change_instruction,
    require_may_instruct,
    visibility_of,
)
from commonplace.engine.context import EngineContext, RequestContext
from commonplace.errors import NotAllowed
from commonplace.lazy import lazy_imports
from commonplace.model.access.principal import Principal
from commonplace.model.changeset import ChangeMemory, Changeset, ChangesetStep
from commonplace.model.filters import Filters, Visibility
from commonplace.model.memory.lifecycle import has_expired, is_purgeable
from commonplace.model.memory.memory import Memory, State
from commonplace.model.profile.fields import is_profile_item
from commonplace.model.sources.source import SOURCE_CATEGORY, Passage, Source
from commonplace.store.queries import NO_LIMIT, MemoryListing, SourceListing

with lazy_imports(__name__):
    from commonplace.engine.composition import revive_memory, soft_delete_memory
    from commonplace.engine.graph.remove import (
        VisibilityChange,
        forget_graph_items,
        is_graph_id,
        restore_graph_items,
    )
    from commonplace.engine.indexing import index_memories
    from commonplace.engine.memories.conflicts import held_values_about, transfer_held_values
    from commonplace.engine.memories.merge import find_memories
    from commonplace.engine.memory_relation import LiveCounts, check_live_limits, limited_groups
    from commonplace.engine.provenance.evidence import supporting_passages
    from commonplace.engine.removal.versions import (
        last_active_versions,
        load_version,
        split_version_refs,
    )
    from commonplace.engine.sources.passages import (
        SourcePassages,
        find_passages,
        hide_passages,
        is_passage_id,
        load_passages,
        show_passages,
    )
    from commonplace.engine.sources.removal import (
        find_sources,
        forget_source,
        is_unpurged,
        memories_from_sources,
        remaining_mentions,
        require_no_instruction_from,
        resolve_source_ids,
        restore_source,
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


@dataclass(frozen=True, slots=True)
class Restored:
    ids: tuple[str, ...]
    already: tuple[str, ...]  # were active before
    replaced: tuple[str, ...]  # their successors, forgotten now
    revision: int


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
        memories = find_memories(engine, principal, rest, lambda m: _is_available(m, now))
        items: list[Memory | Source] = [*memories, *sources]
        to_forget = [item for item in items if item.state is not State.SOFT_DELETED]
        steps = tuple(step for item in to_forget for step in _forget_steps(item, now, until))
        along = () if keep_evidence else _stating_passages(to_forget)
        known = find_passages(
            engine, principal, passage_ids, along, lambda passage: _is_restorable(passage, now)
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
        )
        return changeset, _ForgetPlan(to_forget, already, graph, passages)

    revision, plan = run_transaction(engine, request, decide)
    return _answer(engine, principal, plan, until, revision)


def _stating_passages(items: Iterable[Memory | Source]) -> list[str]:
    """The passages that are evidence of these memories."""
    return [
        id
        for item in items
        if isinstance(item, Memory)
        for id in supporting_passages(item)
        if is_passage_id(id)
    ]


def _is_restorable(passage: Passage, now: datetime) -> bool:
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
        along = () if keep_evidence else _stating_passages(items)
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


def _is_available(memory: Memory, now: datetime) -> bool:
    """Neither purgeable nor expired. Such items stay in the store until nightly maintenance."""
    return not is_purgeable(memory, now) and not has_expired(memory, now)


def restore_items(
    engine: EngineContext, request: RequestContext, ids: Sequence[str], thread: str | None = None
) -> Restored:
    """Restore items. A memory that replaced one of them (by update or override) is forgotten,
    restorable. An id with a version (…@2) restores the content of that version."""
    principal = request.principal
    now = engine.clock()

    def decide() -> tuple[Changeset, tuple[list[str], list[str], list[str]]]:
        revision = engine.store.counters(principal.scope).revision
        resolved = resolve_source_ids(engine, principal, ids)
        sources = find_sources(
            engine, principal, list(resolved.values()), lambda s: is_unpurged(s, now)
        )
        graph = restore_graph_items(engine, principal, list(filter(is_graph_id, ids)))
        passage_ids = [id for id in ids if is_passage_id(id)]
        rest = [id for id in ids if not (id in resolved or is_graph_id(id) or is_passage_id(id))]
        wanted = split_version_refs(engine, principal, rest)
        memories = find_memories(engine, principal, list(wanted), lambda m: _is_available(m, now))
        versions = {
            memory.id: load_version(engine, principal, memory, version)
            for memory in memories
            if (version := wanted[memory.id]) is not None
        }
        inactive = [memory for memory in memories if memory.state is not State.ACTIVE]
        successors = _live_successors(engine, principal, inactive)
        _require_visible_successors(principal, successors)
        for successor, _ in successors:
            require_may_change_instruction(engine, principal, successor)
        last_active = last_active_versions(engine, principal, inactive)
        steps = [
            revive_memory(memory, versions.get(memory.id, last_active.get(memory.id, memory)), now)
            for memory in inactive
        ]
        reverted = [
            memory for memory in memories if memory.id in versions and memory not in inactive
        ]
        steps += [revive_memory(memory, versions[memory.id], now) for memory in reverted]
        for step in steps:
            require_may_instruct(principal, step.after)
        steps = [_reindex(engine, step) for step in steps]
        leaving = [successor for successor, _ in successors]
        retirements = _retire_successors(engine, principal, successors, steps, now)
        check_live_limits_with_stored(engine, principal, inactive, leaving, now)
        forgotten_sources = [source for source in sources if source.state is not State.ACTIVE]
        source_steps = [
            step
            for each in forgotten_sources
            for step in restore_source(each, now, engine.new_id())
        ]
        known = find_passages(
            engine,
            principal,
            passage_ids,
            _forgotten_along(engine, principal, inactive),
            lambda passage: _is_restorable(passage, now),
        )
        hidden = [each.choose(lambda passage: passage.is_hidden) for each in known]
        passage_steps = [step for each in hidden for step in show_passages(each, now)]
        changeset = Changeset(
            principal.scope,
            now,
            principal.actor,
            (*steps, *retirements, *source_steps, *passage_steps, *graph.steps),
            revision,
            thread,
            member=principal.member,
        )
        named = [p for each in known for p in each.named if p.id in passage_ids]
        restored: list[Memory | Source | Passage] = [*inactive, *reverted, *forgotten_sources]
        restored += [passage for passage in named if passage.is_hidden]
        requested: list[Memory | Source | Passage] = [*memories, *sources, *named]
        already = [item.id for item in requested if item not in restored]
        answer = (
            [*(item.id for item in restored), *graph.ids],
            [*already, *graph.already],
            [m.id for m in leaving],
        )
        return changeset, answer

    revision, (restored, already, replaced) = run_transaction(engine, request, decide)
    return Restored(tuple(restored), tuple(already), tuple(replaced), revision)


def _forgotten_along(
    engine: EngineContext, principal: Principal, memories: Sequence[Memory]
) -> list[str]:
    """The passages that were forgotten with these memories, and that no other forgotten memory
    keeps hidden."""
    restored = {memory.id for memory in memories}
    along = []
    for memory in memories:
        if memory.state is not State.SOFT_DELETED:
            continue
        for each in load_passages(engine, principal.scope, _stating_passages([memory])):
            along += [
                passage.id
                for passage in each.named
                if passage.purge_at == memory.purge_at
                and not any(
                    other.state is State.SOFT_DELETED and other.id not in restored
                    for other in memories_from_sources(engine, principal, [passage.id])
                )
            ]
    return along


def _require_visible_successors(
    principal: Principal, successors: Sequence[tuple[Memory, str]]
) -> None:
    """A caller cannot replace a memory that they cannot see."""
    for successor, restored in successors:
        if not can_see(principal, successor):
            raise NotAllowed(f"{principal.agent} may not restore {restored!r}.", field="ids")


def _retire_successors(
    engine: EngineContext,
    principal: Principal,
    successors: Sequence[tuple[Memory, str]],
    revivals: Sequence[ChangeMemory],
    now: datetime,
) -> list[ChangesetStep]:
    """Forget each successor and transfer the values held against it to the restored memory."""
    until = now + engine.lifetimes.restorable
    revived = {step.after.id: step.after for step in revivals}
    steps: list[ChangesetStep] = []
    for successor, restored in successors:
        steps.append(soft_delete_memory(successor, now, until, replaced_by=restored))
        held = held_values_about(engine, principal, successor)
        steps += transfer_held_values(successor, held, revived[restored]).steps
    return steps


def _reindex(engine: EngineContext, step: ChangeMemory) -> ChangeMemory:
    if step.before.searchable_text == step.after.searchable_text:
        return step
    return replace(step, index=index_memories(engine, [step.after])[0][0])


def _live_successors(
    engine: EngineContext, principal: Principal, inactive: Sequence[Memory]
) -> list[tuple[Memory, str]]:
    """The active end of each chain of replacements, and the memory that replaces it now; restoring
    the former swaps the two again. A merged summary is not a successor."""
    by_id: dict[str, tuple[Memory, str]] = {}
    revived = {memory.id for memory in inactive}
    for memory in inactive:
        successor: Memory | None = memory
        visited = {memory.id}
        while successor and successor.superseded_by and successor.superseded_by not in visited:
            visited.add(successor.superseded_by)
            fetched = engine.store.fetch(principal.scope, [successor.superseded_by])
            successor = fetched[0] if fetched else None
            if successor and "merged_from" in successor.metadata:
                successor = None
        if successor and successor.state is State.ACTIVE and successor.id not in revived:
            by_id[successor.id] = (successor, memory.id)
    return list(by_id.values())


def check_live_limits_with_stored(
    engine: EngineContext,
    principal: Principal,
    restored: Sequence[Memory],
    leaving: Sequence[Memory],
    now: datetime,
) -> None:
    live: LiveCounts = {}
    gone = {memory.id for memory in leaving}
    for kind, agent in limited_groups(restored):
        everyone = Visibility(cleared=True)
        listing = MemoryListing(
            filters=Filters(kinds=(kind,)), visibility=everyone, now=now, limit=NO_LIMIT
        )
        found = engine.store.page(principal.scope, listing)
        live[kind, agent] = sum(m.agent_id == agent and m.id not in gone for m in found)
    check_live_limits(restored, live)

"""Forget and restore memories, sources and graph items by id or filter."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from commonplace.engine.access import (
    can_see,
    may_change_instruction,
    require_may_change_instruction,
    visibility_of,
)
from commonplace.engine.composition import revive_memory, soft_delete_memory
from commonplace.engine.context import EngineContext, RequestContext
from commonplace.engine.graph.remove import forget_graph_items, is_graph_id, restore_graph_items
from commonplace.engine.indexing import index_memories
from commonplace.engine.memories.conflicts import held_values_about, transfer_held_values
from commonplace.engine.memories.merge import find_memories
from commonplace.engine.memory_relation import LiveCounts, check_live_limits, limited_groups
from commonplace.engine.sources.removal import (
    find_sources,
    forget_source,
    is_unpurged,
    remaining_mentions,
    require_no_instruction_from,
    resolve_source_ids,
    restore_source,
)
from commonplace.engine.transaction import run_transaction
from commonplace.errors import NotAllowed, NotFound
from commonplace.model.access.principal import Principal
from commonplace.model.changeset import ChangeMemory, Changeset, ChangesetStep
from commonplace.model.filters import Filters, Visibility
from commonplace.model.memory.lifecycle import has_expired, is_purgeable
from commonplace.model.memory.memory import VERSIONED_FIELDS, Memory, State
from commonplace.model.profile.fields import is_profile_item
from commonplace.model.sources.source import SOURCE_CATEGORY, Source
from commonplace.store.queries import NO_LIMIT, MemoryListing, SourceListing

_VERSION_REF = re.compile(r"(.+)@(\d{1,9})")
# The lifecycle, not the content.
_STATE_FIELDS = frozenset({"state", "superseded_by", "purge_at"})


def split_version_refs(
    engine: EngineContext, principal: Principal, ids: Sequence[str]
) -> dict[str, int | None]:
    """Each id with its version, if one is given after an @. An id may contain an @ itself."""
    known = {memory.id for memory in engine.store.fetch(principal.scope, ids)}
    wanted: dict[str, int | None] = {}
    for id in ids:
        match = None if id in known else _VERSION_REF.fullmatch(id)
        wanted |= {match[1]: int(match[2])} if match else {id: None}
    return wanted


def last_active_versions(
    engine: EngineContext, principal: Principal, inactive: Sequence[Memory]
) -> dict[str, Memory]:
    """Each memory with the validity end of its last active version."""
    last_active: dict[str, Memory] = {}
    for version in engine.store.versions(principal.scope, [memory.id for memory in inactive]):
        if version.memory.state is State.ACTIVE:
            last_active[version.memory.id] = version.memory
    return {
        memory.id: memory.evolve(valid_to=last_active[memory.id].valid_to)
        for memory in inactive
        if memory.id in last_active
    }


def load_version(
    engine: EngineContext, principal: Principal, memory: Memory, version: int
) -> Memory:
    """The memory with the content of that version."""
    for known in engine.store.versions(principal.scope, [memory.id]):
        if known.memory.version == version and can_see(principal, known.memory):
            content = {
                n: getattr(known.memory, n) for n in VERSIONED_FIELDS if n not in _STATE_FIELDS
            }
            return memory.evolve(**content)
    raise NotFound(
        f"{memory.id!r} has no version {version}.", remedy="See its versions: show.", field="ids"
    )


@dataclass(frozen=True, slots=True)
class Forgotten:
    ids: tuple[str, ...]  # forgotten now
    already: tuple[str, ...]  # were forgotten before
    restorable_until: datetime
    revision: int
    still_in: tuple[str, ...] = ()  # turns and sources that still contain their text


@dataclass(frozen=True, slots=True)
class Restored:
    ids: tuple[str, ...]
    already: tuple[str, ...]  # were active before
    replaced: tuple[str, ...]  # their successors, forgotten now
    revision: int


def forget_items(
    engine: EngineContext, request: RequestContext, ids: Sequence[str], thread: str | None = None
) -> Forgotten:
    principal = request.principal
    now = engine.clock()
    until = now + engine.lifetimes.restorable

    def decide() -> tuple[Changeset, tuple[list[Memory | Source], list[str], tuple[str, ...]]]:
        revision = engine.store.counters(principal.scope).revision
        graph = forget_graph_items(engine, principal, list(filter(is_graph_id, ids)), until)
        resolved = resolve_source_ids(engine, principal, ids)
        sources = find_sources(
            engine, principal, list(resolved.values()), lambda s: is_unpurged(s, now)
        )
        require_no_instruction_from(engine, principal, sources)
        rest = [id for id in ids if id not in resolved and not is_graph_id(id)]
        memories = find_memories(engine, principal, rest, lambda m: _is_available(m, now))
        items: list[Memory | Source] = [*memories, *sources]
        to_forget = [item for item in items if item.state is not State.SOFT_DELETED]
        steps = tuple(step for item in to_forget for step in _forget_steps(item, now, until))
        already = [item.id for item in items if item.state is State.SOFT_DELETED]
        changeset = Changeset(
            principal.scope,
            now,
            principal.actor,
            (*steps, *graph.steps),
            revision,
            thread,
            member=principal.member,
        )
        return changeset, (to_forget, [*already, *graph.already], graph.ids)

    revision, (forgotten, already, graph_ids) = run_transaction(engine, request, decide)
    answer = _answer(engine, principal, forgotten, already, until, revision)
    return replace(answer, ids=(*answer.ids, *graph_ids))


def forget_matching(
    engine: EngineContext, request: RequestContext, filters: Filters, thread: str | None = None
) -> Forgotten:
    """All live items that match the filter, in one changeset."""
    principal = request.principal
    now = engine.clock()
    until = now + engine.lifetimes.restorable

    def decide() -> tuple[Changeset, list[Memory | Source]]:
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
        require_no_instruction_from(engine, principal, sources)
        items += sources
        steps = tuple(step for item in items for step in _forget_steps(item, now, until))
        changeset = Changeset(principal.scope, now, principal.actor, steps, revision, thread)
        return changeset, items

    revision, forgotten = run_transaction(engine, request, decide)
    return _answer(engine, principal, forgotten, (), until, revision)


def _answer(
    engine: EngineContext,
    principal: Principal,
    forgotten: Sequence[Memory | Source],
    already: Sequence[str],
    until: datetime,
    revision: int,
) -> Forgotten:
    memories = [item for item in forgotten if isinstance(item, Memory)]
    return Forgotten(
        tuple(item.id for item in forgotten),
        tuple(already),
        until,
        revision,
        remaining_mentions(engine, principal, memories),
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
        rest = [id for id in ids if id not in resolved and not is_graph_id(id)]
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
        changeset = Changeset(
            principal.scope,
            now,
            principal.actor,
            (*steps, *retirements, *source_steps, *graph.steps),
            revision,
            thread,
            member=principal.member,
        )
        restored: list[Memory | Source] = [*inactive, *reverted, *forgotten_sources]
        requested: list[Memory | Source] = [*memories, *sources]
        already = [item.id for item in requested if item not in restored]
        answer = (
            [*(item.id for item in restored), *graph.ids],
            [*already, *graph.already],
            [m.id for m in leaving],
        )
        return changeset, answer

    revision, (restored, already, replaced) = run_transaction(engine, request, decide)
    return Restored(tuple(restored), tuple(already), tuple(replaced), revision)


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

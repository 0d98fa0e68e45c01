"""Restore memories, sources, passages and graph items."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from commonplace.engine.access import (
    can_see,
    require_may_change_instruction,
    require_may_instruct,
)
from commonplace.engine.context import EngineContext, RequestContext
from commonplace.errors import NotAllowed
from commonplace.lazy import lazy_imports
from commonplace.model.access.principal import Principal
from commonplace.model.changeset import ChangeMemory, Changeset, ChangesetStep
from commonplace.model.filters import Filters, Visibility
from commonplace.model.memory.memory import Memory, State
from commonplace.model.sources.source import Passage, Source
from commonplace.store.queries import NO_LIMIT, MemoryListing

with lazy_imports(__name__):
    from commonplace.engine.composition import revive_memory, soft_delete_memory
    from commonplace.engine.graph.remove import is_graph_id, restore_graph_items
    from commonplace.engine.indexing import index_memories
    from commonplace.engine.memories.conflicts import held_values_about, transfer_held_values
    from commonplace.engine.memories.merge import find_memories
    from commonplace.engine.memory_relation import LiveCounts, check_live_limits, limited_groups
    from commonplace.engine.removal.forget import is_available, is_restorable, stating_passages
    from commonplace.engine.removal.versions import (
        last_active_versions,
        load_version,
        split_version_refs,
    )
    from commonplace.engine.sources.passages import (
        SourcePassages,
        find_passages,
        is_passage_id,
        load_passages,
        show_passages,
    )
    from commonplace.engine.sources.removal import (
        find_sources,
        is_unpurged,
        memories_from_sources,
        resolve_source_ids,
        restore_source,
    )
    from commonplace.engine.transaction import run_transaction


@dataclass(frozen=True, slots=True)
class Restored:
    ids: tuple[str, ...]
    already: tuple[str, ...]  # were active before
    replaced: tuple[str, ...]  # their successors, forgotten now
    revision: int


def restore_items(
    engine: EngineContext, request: RequestContext, ids: Sequence[str], thread: str | None = None
) -> Restored:
    """Restore items. A memory that replaced one of them (by update or override) is forgotten,
    restorable. An id with a version (…@2) restores the content of that version."""
    principal = request.principal
    now = engine.clock()

    def decide() -> tuple[Changeset, Restored]:
        revision = engine.store.counters(principal.scope).revision
        resolved = resolve_source_ids(engine, principal, ids)
        sources = find_sources(
            engine, principal, list(resolved.values()), lambda s: is_unpurged(s, now)
        )
        graph = restore_graph_items(engine, principal, list(filter(is_graph_id, ids)))
        passage_ids = [id for id in ids if is_passage_id(id)]
        rest = [id for id in ids if not (id in resolved or is_graph_id(id) or is_passage_id(id))]
        memories = _plan_memories(engine, principal, rest, now)
        passages = _plan_passages(engine, principal, passage_ids, memories.inactive, now)
        forgotten = [source for source in sources if source.state is not State.ACTIVE]
        source_steps = [
            step for each in forgotten for step in restore_source(each, now, engine.new_id())
        ]
        passage_steps = [step for each in passages.hidden for step in show_passages(each, now)]
        steps = (*memories.steps, *source_steps, *passage_steps, *graph.steps)
        changeset = Changeset(
            principal.scope,
            now,
            principal.actor,
            steps,
            revision,
            thread,
            member=principal.member,
            named=graph.named,
        )
        restored: list[Memory | Source | Passage] = [*memories.restored, *forgotten]
        restored += [passage for passage in passages.named if passage.is_hidden]
        requested: list[Memory | Source | Passage] = [*memories.named, *sources, *passages.named]
        already = [item.id for item in requested if item not in restored]
        return changeset, Restored(
            (*(item.id for item in restored), *graph.ids),
            (*already, *graph.already),
            tuple(memory.id for memory in memories.leaving),
            revision,
        )

    revision, answer = run_transaction(engine, request, decide)
    return replace(answer, revision=revision)


# ——— memories ———


@dataclass(frozen=True, slots=True)
class _RestoredMemories:
    named: Sequence[Memory]
    inactive: Sequence[Memory]  # those of them that are forgotten or superseded
    reverted: Sequence[Memory]  # active ones, of which another version is restored
    leaving: Sequence[Memory]  # their successors, which are forgotten
    steps: tuple[ChangesetStep, ...]

    @property
    def restored(self) -> Iterator[Memory]:
        yield from self.inactive
        yield from self.reverted


def _plan_memories(
    engine: EngineContext, principal: Principal, ids: Sequence[str], now: datetime
) -> _RestoredMemories:
    wanted = split_version_refs(engine, principal, ids)
    memories = find_memories(engine, principal, list(wanted), lambda m: is_available(m, now))
    versions = {
        memory.id: load_version(engine, principal, memory, version)
        for memory in memories
        if (version := wanted[memory.id]) is not None
    }
    inactive = [memory for memory in memories if memory.state is not State.ACTIVE]
    reverted = [memory for memory in memories if memory.id in versions and memory not in inactive]
    successors = _live_successors(engine, principal, inactive)
    _require_visible_successors(principal, successors)
    for successor, _ in successors:
        require_may_change_instruction(engine, principal, successor)
    contents = last_active_versions(engine, principal, inactive) | versions
    revivals = [
        revive_memory(memory, contents.get(memory.id, memory), now)
        for memory in (*inactive, *reverted)
    ]
    for step in revivals:
        require_may_instruct(principal, step.after)
    revivals = [_reindex(engine, step) for step in revivals]
    leaving = [successor for successor, _ in successors]
    retirements = _retire_successors(engine, principal, successors, revivals, now)
    check_live_limits_with_stored(engine, principal, inactive, leaving, now)
    return _RestoredMemories(memories, inactive, reverted, leaving, (*revivals, *retirements))


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
    if step.before.indexed_texts == step.after.indexed_texts:
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


# ——— passages ———


@dataclass(frozen=True, slots=True)
class _RestoredPassages:
    named: Sequence[Passage]  # by their own ids
    hidden: Sequence[SourcePassages]  # all that are shown again


def _plan_passages(
    engine: EngineContext,
    principal: Principal,
    ids: Sequence[str],
    inactive: Sequence[Memory],
    now: datetime,
) -> _RestoredPassages:
    """The named ones, and those that were forgotten with these memories."""
    along = _forgotten_along(engine, principal, inactive)
    known = find_passages(engine, principal, ids, along, lambda p: is_restorable(p, now))
    named = [passage for each in known for passage in each.named if passage.id in ids]
    hidden = [each.choose(lambda passage: passage.is_hidden) for each in known]
    return _RestoredPassages(named, hidden)


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
        for each in load_passages(engine, principal.scope, stating_passages([memory])):
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

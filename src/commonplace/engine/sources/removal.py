"""Source removal: forget, restore, erase sources and rebuild memories they supported.

A memory without other support is removed, or forgotten until the source's purge date. A memory with
other support is rebuilt from the remaining contributions. If a removed value has an alternative
from another source, the alternative is promoted.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from commonplace.engine.access import (
    can_see_source,
    principal_at_source,
    readable_scopes,
    require_may_change_instruction,
)
from commonplace.engine.composition import revive_memory, soft_delete_memory
from commonplace.engine.context import EngineContext
from commonplace.engine.follow_up_jobs import build_process_job, needs_processing
from commonplace.engine.indexing import index_memories
from commonplace.engine.memories.conflicts import (
    held_values_from_sources,
    hold_alternative,
    is_same_statement,
    remove_held_values,
    transfer_held_values,
)
from commonplace.engine.memory_relation import relate_memories
from commonplace.engine.provenance.contributions import (
    hold_again,
    hold_contributions,
    join_contributions,
    rebuild_memories,
    release_contributions,
)
from commonplace.engine.provenance.evidence import (
    OWNER_EVIDENCE,
    ActiveEvidence,
    keep_other_evidence,
    rests_on,
    source_of_evidence,
    supporting_passages,
    supporting_sources,
)
from commonplace.errors import InvalidInput, NotAllowed, NotFound
from commonplace.model.access.principal import Principal, Scope
from commonplace.model.changeset import (
    ChangesetStep,
    ChangeSource,
    EnqueueJob,
    RewriteMemory,
    WithdrawJobs,
    build_add,
    build_removal,
)
from commonplace.model.filters import OWNER_VISIBILITY, Filters
from commonplace.model.journal import Entry, Event, Op
from commonplace.model.memory.kinds import POLICIES, Kind, MemoryRelation, kinds_where
from commonplace.model.memory.memory import HeldValue, Memory, State
from commonplace.model.sleep import SLEEP_ACTOR
from commonplace.model.sources.source import (
    SOURCE_CATEGORY,
    ProcessingStatus,
    Source,
    is_source_id,
    split_alias,
    split_passage_id,
)
from commonplace.store.queries import NO_LIMIT, HeldQuery, HiddenPassages, MemoryListing


def resolve_source_ids(
    engine: EngineContext, principal: Principal, ids: Sequence[str]
) -> dict[str, str]:
    """Map the ids that name a source, by id or by alias (`file:/path`), to the source's id. The
    ids of passages are left out."""
    found: dict[str, str] = {}
    for id in ids:
        if is_source_id(id):
            source, number = split_passage_id(id)
            if number is None:
                found[id] = source
        elif named := _find_by_alias(engine, principal, id):
            found[id] = named
    return found


def _find_by_alias(engine: EngineContext, principal: Principal, id: str) -> str | None:
    alias = split_alias(id)
    source = engine.live_source_by_alias(principal.scope, *alias) if alias else None
    return source.id if source and can_see_source(principal, source) else None


def find_sources(
    engine: EngineContext,
    principal: Principal,
    ids: Sequence[str],
    acceptable: Callable[[Source], bool] = lambda source: True,
) -> list[Source]:
    """All of them, or NotFound for the first that is missing or not visible to the caller."""
    found = {source.id: source for source in engine.live_sources(principal.scope, ids)}
    for id in ids:
        source = found.get(id)
        if source is None or not can_see_source(principal, source) or not acceptable(source):
            raise NotFound(f"There is no {id!r} here.", field="ids")
    return [found[id] for id in dict.fromkeys(ids)]


def remaining_mentions(
    engine: EngineContext, principal: Principal, memories: Sequence[Memory]
) -> tuple[str, ...]:
    """Passages of live conversations, visible to the caller, that still contain the text of removed
    memories."""
    turns = list(dict.fromkeys(turn for memory in memories for turn in supporting_passages(memory)))
    source_ids = list({source_of_evidence(turn) for turn in turns})
    sources = engine.live_sources(principal.scope, source_ids)
    live = {s.id for s in sources if s.state is State.ACTIVE and can_see_source(principal, s)}
    hidden = engine.store.passages(principal.scope, HiddenPassages(source_ids)).values()
    gone = {passage.id for passage in hidden}
    return tuple(turn for turn in turns if source_of_evidence(turn) in live and turn not in gone)


def memories_from_sources(
    engine: EngineContext, principal: Principal, ids: Iterable[str]
) -> list[Memory]:
    """All memories from these sources or passages, in any state."""
    ids = set(ids)
    found = [
        memory
        for source in sorted({source_of_evidence(id) for id in ids})
        for memory in engine.store.page(
            principal.scope,
            MemoryListing(
                filters=Filters(source_id=source),
                states=tuple(State),
                visibility=OWNER_VISIBILITY,
                limit=NO_LIMIT,
            ),
        )
        if source in ids or rests_on(memory, ids)
    ]
    return found + insights_resting_on(engine, principal, ids)


def insights_resting_on(
    engine: EngineContext, principal: Principal, ids: Collection[str]
) -> list[Memory]:
    """Insights of nights, which cite no single source. One that cites a whole source rests on each
    of its passages."""
    if not ids:
        return []
    listing = MemoryListing(
        filters=Filters(kinds=(Kind.INSIGHT,), actor_id=SLEEP_ACTOR),
        states=tuple(State),
        visibility=OWNER_VISIBILITY,
        limit=NO_LIMIT,
    )
    wanted = {*ids, *map(source_of_evidence, ids)}
    return [
        memory
        for memory in engine.store.page(principal.scope, listing)
        if memory.source_id is None
        and (rests_on(memory, ids) or not wanted.isdisjoint(memory.evidence))
    ]


def is_unpurged(source: Source, now: datetime) -> bool:
    """True before the purge date; the nightly purge may run later."""
    return source.purge_at is None or source.purge_at > now


def forget_source(source: Source, now: datetime, until: datetime) -> tuple[ChangesetStep, ...]:
    after = source.evolve(state=State.SOFT_DELETED, purge_at=until, **_next_version(source, now))
    entry = _source_entry(source, after, Op.DELETE, Event.DELETE)
    return ChangeSource(source, after, entry), WithdrawJobs((source.id,))


def restore_source(source: Source, now: datetime, job_id: str) -> tuple[ChangesetStep, ...]:
    """A source that was forgotten before processing is queued again."""
    after = source.evolve(state=State.ACTIVE, purge_at=None, **_next_version(source, now))
    change = ChangeSource(source, after, _source_entry(source, after, Op.RESTORE, Event.RESTORE))
    if source.status is not ProcessingStatus.RAW:
        return (change,)
    return change, EnqueueJob(build_process_job(after, job_id, now, awaited=False))


def processing_jobs(
    engine: EngineContext, sources: Sequence[Source], now: datetime
) -> list[EnqueueJob]:
    """The processing jobs of imported or restored sources."""
    return [
        EnqueueJob(build_process_job(source, engine.new_id(), now, awaited=False))
        for source in sources
        if needs_processing(source)
    ]


def _next_version(source: Source, now: datetime) -> dict[str, object]:
    return {"updated_at": now, "version": source.version + 1}


def _source_entry(before: Source, after: Source, op: Op, event: Event) -> Entry:
    return Entry(
        op=op,
        event=event,
        subject=after.id,
        category=SOURCE_CATEGORY,
        old_ref=before.ref,
        new_ref=after.ref,
    )


def locate_items(engine: EngineContext, principal: Principal, ids: Sequence[str]) -> Principal:
    """The caller, acting in the scope of these items. A team's sources may be removed and restored
    by the member who added them and by the team's admins; a guest only reads."""
    by_scope = {
        each.scope: each for each in (principal_at_source(engine, principal, id) for id in ids)
    }
    if len(by_scope) > 1:
        raise InvalidInput(
            "These belong to different owners.",
            remedy="Give ids of one team, or your own, at a time.",
            field="ids",
        )
    acting = next(iter(by_scope.values()), principal)
    if acting.is_in_own_scope:
        return acting
    if not acting.scope.is_team:
        raise NotAllowed(
            "A shared source is read-only for you.",
            remedy="To give it up: sources unshare.",
            field="ids",
        )
    return _require_team_rights(engine, acting, ids)


def _require_team_rights(engine: EngineContext, acting: Principal, ids: Sequence[str]) -> Principal:
    is_admin = manages_team(engine, acting, acting.scope)
    named = [*resolve_source_ids(engine, acting, ids).values()]
    named += [source_of_evidence(id) for id in ids if is_source_id(id)]
    sources = find_sources(engine, acting, named)
    others = [source for source in sources if source.user_id != acting.user_id]
    if others and not is_admin:
        raise NotAllowed(
            "Only a team's admins, or the user who added a source, may remove it.",
            field="ids",
        )
    return acting.in_team(acting.scope.name, is_admin)


def manages_team(engine: EngineContext, principal: Principal, team: Scope) -> bool:
    return any(
        one.manages
        for one in engine.store.access(principal.own_scope).memberships
        if one.team_scope == team
    )


def require_no_instruction_from(
    engine: EngineContext, principal: Principal, ids: Collection[str]
) -> None:
    """Removing a source or passage takes along what rests on it: an agent removes none that a rule
    or soul of the owner rests on."""
    if principal.decides or not ids or not principal.is_in_own_scope:
        return
    now = engine.clock()
    for memory in memories_from_sources(engine, principal, ids):
        if memory.is_live(now):
            require_may_change_instruction(engine, principal, memory)


@dataclass(slots=True)
class RemovalPlan:
    """What the permanent removal of sources means for memories."""

    unsupported: list[Memory] = field(default_factory=list)  # without other support
    carried: dict[str, Memory] = field(default_factory=dict)  # rebuilt from other support, by id
    steps: tuple[ChangesetStep, ...] = ()  # to apply before the removal


def plan_source_removal(
    engine: EngineContext, principal: Principal, ended: Sequence[str], decided: Collection[str] = ()
) -> RemovalPlan:
    """``decided``: ids of memories that the caller handles itself."""
    if not ended:
        return RemovalPlan()
    memories = [
        memory
        for memory in memories_from_sources(engine, principal, ended)
        if memory.id not in decided
    ]
    active = _active_evidence(engine, principal, memories)
    remaining = active.without(ended)
    before = active.including(ended)
    shared = rebuild_memories(engine, principal, ended, before, remaining, for_good=True)
    single = [memory for memory in memories if memory.id not in shared.known]
    carried = {
        m.id: rebuilt for m in single if (rebuilt := keep_other_evidence(m, remaining)) is not None
    }
    carried |= {id: memory for id, memory in shared.anew.items() if id not in decided}
    unsupported = [memory for memory in single if memory.id not in carried]
    unsupported += [memory for id, memory in shared.unsupported.items() if id not in decided]
    steps: list[ChangesetStep] = []
    for id, released in shared.gone.items():
        steps += release_contributions(id, released)
    steps += hold_again(shared.beside)
    steps += _promote_alternatives(engine, principal, unsupported, remaining)
    return RemovalPlan(unsupported, carried, tuple(steps))


def purge_contributions(
    engine: EngineContext, principal: Principal, ended: Sequence[str]
) -> tuple[ChangesetStep, ...]:
    """Release the contributions of sources past their purge date to shared memories."""
    none = ActiveEvidence()
    shared = rebuild_memories(engine, principal, ended, none, none, for_good=True)
    return tuple(
        step for id, released in shared.gone.items() for step in release_contributions(id, released)
    )


def forget_source_memories(
    engine: EngineContext, principal: Principal, until: Mapping[str, datetime], now: datetime
) -> list[ChangesetStep]:
    """Memories without other support are forgotten with their source or passage, with the same
    purge date, which identifies them when it is restored. ``until``: the purge dates. Pending
    values have no purge date and are removed."""
    ended = list(until)
    waiting = held_values_from_sources(engine, principal, ended)
    steps: list[ChangesetStep] = remove_held_values(engine, principal, waiting, Event.DELETE)
    memories = memories_from_sources(engine, principal, ended)
    active = _active_evidence(engine, principal, memories)
    remaining = active.without(ended)
    before = active.including(ended)
    shared = rebuild_memories(engine, principal, ended, before, remaining)
    single = [
        m
        for m in memories
        if m.id not in shared.known and keep_other_evidence(m, remaining) is None
    ]
    hidden = [m for m in (*single, *shared.unsupported.values()) if m.is_live(now) and not m.pinned]
    for memory in hidden:
        supports = {*supporting_sources(memory), *supporting_passages(memory)}
        purge_dates = [until[id] for id in supports if id in until] or until.values()
        steps.append(soft_delete_memory(memory, now, max(purge_dates)))
    steps += _rewrite_memories(engine, principal, shared.anew.values())
    steps += hold_again(shared.beside)
    steps += _promote_alternatives(engine, principal, hidden, remaining)
    return steps


def restore_source_memories(
    engine: EngineContext,
    principal: Principal,
    restored: Mapping[str, datetime | None],
    now: datetime,
) -> list[ChangesetStep]:
    """``restored``: the purge dates that these sources and passages had."""
    memories = memories_from_sources(engine, principal, restored)
    active = _active_evidence(engine, principal, memories).including(restored)
    before = active.without(restored)
    shared = rebuild_memories(engine, principal, restored, before, active)
    steps: list[ChangesetStep] = []
    revived: dict[str, Memory] = {}
    for memory in (*memories, *shared.anew.values()):
        forgotten_together = memory.purge_at is not None and memory.purge_at in restored.values()
        if memory.id not in revived and memory.state is State.SOFT_DELETED and forgotten_together:
            steps.append(revive_memory(memory, memory, now))
            revived[memory.id] = memory
    live = [memory for id, memory in shared.anew.items() if id not in revived]
    steps += _rewrite_memories(engine, principal, live)
    steps += _restore_alternatives(engine, principal, revived.values(), now)
    return steps


def _active_evidence(
    engine: EngineContext, principal: Principal, memories: Sequence[Memory]
) -> ActiveEvidence:
    """Of the active, readable sources that support these memories or any held value."""
    all_memories = (*memories, *(each.memory for each in engine.store.held(principal.scope)))
    source_ids = sorted({id for memory in all_memories for id in supporting_sources(memory)})
    found: list[Source] = []
    hidden: set[str] = set()
    for reading in readable_scopes(engine, principal, searching=False) if source_ids else ():
        found += engine.live_sources(reading.scope, source_ids)
        passages = engine.store.passages(reading.scope, HiddenPassages(source_ids))
        hidden |= {passage.id for passage in passages.values()}
    active = {source.id: source for source in found if source.state is State.ACTIVE}
    return ActiveEvidence(active, frozenset(hidden))


def _rewrite_memories(
    engine: EngineContext, principal: Principal, memories: Collection[Memory]
) -> list[ChangesetStep]:
    """Rewrite without a new version: the old text comes from a forgotten source."""
    before = {m.id: m for m in engine.store.fetch(principal.scope, [m.id for m in memories])}
    changed = [memory for memory in memories if memory != before.get(memory.id)]
    indexes, _ = index_memories(engine, changed)
    return [
        RewriteMemory(memory, index, rebuilt_entry(memory))
        for memory, index in zip(changed, indexes, strict=True)
    ]


def rebuilt_entry(memory: Memory) -> Entry:
    return Entry(
        op=Op.UPDATE,
        event=Event.UPDATE,
        subject=memory.id,
        category=memory.category,
        new_ref=memory.ref,
        meta={"rebuilt": True},
    )


def _promote_alternatives(
    engine: EngineContext,
    principal: Principal,
    removed: Sequence[Memory],
    active: ActiveEvidence,
) -> list[ChangesetStep]:
    """An alternative from an active source replaces the value that was removed."""
    held = [
        each
        for each in engine.store.held(
            principal.scope, HeldQuery(alternative_to=[m.id for m in removed])
        )
        if active.supports(each.memory)
    ]
    steps: list[ChangesetStep] = []
    for old in removed:
        alternatives = [each for each in held if each.alternative_to == old.id]
        if alternatives:
            new = alternatives[0].memory
            same = [each for each in alternatives[1:] if is_same_statement(each.memory, new)]
            others = [each for each in alternatives if each not in same]
            (index,), _ = index_memories(engine, [new])
            steps += [
                build_add(new, index, op=Op.RESTORE),
                *transfer_held_values(old, others, new).steps,
            ]
            steps += hold_contributions(new, join_contributions(new, same, engine.new_id()))
    return steps


_VALUE_KINDS = kinds_where(lambda policy: policy.asks_on_change)


def _restore_alternatives(
    engine: EngineContext, principal: Principal, restored: Collection[Memory], now: datetime
) -> list[ChangesetStep]:
    """Values that changed meanwhile become alternatives of the restored ones again."""
    values = [memory for memory in restored if POLICIES[memory.kind].asks_on_change]
    if not values:
        return []
    listing = MemoryListing(
        filters=Filters(kinds=_VALUE_KINDS), visibility=OWNER_VISIBILITY, limit=NO_LIMIT
    )
    live = engine.store.page(principal.scope, listing)
    steps: list[ChangesetStep] = []
    for memory in values:
        for other in live:
            related = relate_memories(other, memory, None) if other.id != memory.id else None
            if other.kind is memory.kind and related and related.relation is MemoryRelation.CHANGED:
                steps += _demote_to_alternative(
                    engine, principal, other, memory, related.reason, now
                )
    return steps


def _demote_to_alternative(
    engine: EngineContext,
    principal: Principal,
    other: Memory,
    active: Memory,
    reason: str,
    now: datetime,
) -> list[ChangesetStep]:
    """Includes all contributions. A value with the owner's own evidence is not demoted."""
    parts = engine.store.held(principal.scope, HeldQuery(contributes_to=[other.id]))
    contributions = parts or [HeldValue(other, None, None, frozenset(), "", other.actor_id, now)]
    if (
        not all(supporting_sources(each.memory) for each in contributions)
        or OWNER_EVIDENCE in other.evidence
    ):
        return []
    alternatives = [
        replace(each, contributes_to=None, alternative_to=active.id, reason=reason)
        for each in contributions
    ]
    return [
        *(hold_alternative(each, active) for each in alternatives),
        build_removal(other, event=Event.UPDATE),
    ]

"""Source removal: forget, restore, erase sources and rebuild memories they supported.

What nobody else tells goes with them, or hides until the same day. What others tell, too, is made
anew of what those told. A value that stood beside one that goes takes its place.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from commonplace.engine.access import can_see_source, principal_at_source, readable_scopes
from commonplace.engine.comparison import relate_memories
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
from commonplace.engine.provenance.contributions import (
    hold_again,
    hold_contributions,
    join_contributions,
    rebuild_memories,
    release_contributions,
)
from commonplace.engine.provenance.evidence import (
    OWNER_EVIDENCE,
    keep_other_evidence,
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
from commonplace.model.memory.kinds import POLICIES, MemoryRelation, kinds_where
from commonplace.model.memory.memory import HeldValue, Memory, State
from commonplace.model.sources.source import (
    SOURCE_CATEGORY,
    ProcessingStatus,
    Source,
    is_source_id,
    split_alias,
    split_passage_id,
)
from commonplace.store.queries import NO_LIMIT, HeldQuery, MemoryListing


def resolve_source_ids(
    engine: EngineContext, principal: Principal, ids: Sequence[str]
) -> dict[str, str]:
    """Those of the ids that name a source → its id: by the id, or by its name where it came from
    (`file:/path`). A passage cannot be forgotten alone."""
    found: dict[str, str] = {}
    for id in ids:
        if is_source_id(id):
            source, number = split_passage_id(id)
            if number is not None:
                raise _passage_error(id, source)
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
    """All of them, or NotFound naming the first that is not there for this caller."""
    found = {source.id: source for source in engine.live_sources(principal.scope, ids)}
    for id in ids:
        source = found.get(id)
        if source is None or not can_see_source(principal, source) or not acceptable(source):
            raise NotFound(f"There is no {id!r} here.", field="ids")
    return [found[id] for id in dict.fromkeys(ids)]


def remaining_mentions(
    engine: EngineContext, principal: Principal, memories: Sequence[Memory]
) -> tuple[str, ...]:
    """Where the words of memories that go still stand in conversations, as far as the caller may
    know of these."""
    turns = list(dict.fromkeys(turn for memory in memories for turn in supporting_passages(memory)))
    sources = engine.live_sources(
        principal.scope, list({source_of_evidence(turn) for turn in turns})
    )
    live = {s.id for s in sources if s.state is State.ACTIVE and can_see_source(principal, s)}
    return tuple(turn for turn in turns if source_of_evidence(turn) in live)


def memories_from_sources(
    engine: EngineContext, principal: Principal, sources: Iterable[str]
) -> list[Memory]:
    """What came out of these sources, whatever its state."""
    return [
        memory
        for source in sources
        for memory in engine.store.page(
            principal.scope,
            MemoryListing(
                filters=Filters(source_id=source),
                states=tuple(State),
                visibility=OWNER_VISIBILITY,
                limit=NO_LIMIT,
            ),
        )
    ]


def is_unpurged(source: Source, now: datetime) -> bool:
    """Not past its purge: the night has only not come yet."""
    return source.purge_at is None or source.purge_at > now


def forget_source(source: Source, now: datetime, until: datetime) -> tuple[ChangesetStep, ...]:
    after = source.evolve(state=State.SOFT_DELETED, purge_at=until, **_next_version(source, now))
    told = _source_entry(source, after, Op.DELETE, Event.DELETE)
    return ChangeSource(source, after, told), WithdrawJobs((source.id,))


def restore_source(source: Source, now: datetime, job_id: str) -> tuple[ChangesetStep, ...]:
    """One that was forgotten before it was processed is owed that again."""
    after = source.evolve(state=State.ACTIVE, purge_at=None, **_next_version(source, now))
    change = ChangeSource(source, after, _source_entry(source, after, Op.RESTORE, Event.RESTORE))
    if source.status is not ProcessingStatus.RAW:
        return (change,)
    return change, EnqueueJob(build_process_job(after, job_id, now, awaited=False))


def processing_jobs(
    engine: EngineContext, sources: Sequence[Source], now: datetime
) -> list[EnqueueJob]:
    """Of sources that come in, or come back: the work that they still need."""
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


def _passage_error(id: str, source: str) -> InvalidInput:
    return InvalidInput(
        f"{id} is a passage: it belongs to a source.",
        remedy=f"Forget the whole source: forget {source}.",
        field="ids",
    )


def locate_items(engine: EngineContext, principal: Principal, ids: Sequence[str]) -> Principal:
    """The caller, placed where these items are. A team's sources are taken away, and brought back,
    by whoever brought them and by those who manage the team; a guest only reads."""
    placed = {
        each.scope: each for each in (principal_at_source(engine, principal, id) for id in ids)
    }
    if len(placed) > 1:
        raise InvalidInput(
            "These belong to different owners.",
            remedy="Give ids of one team, or your own, at a time.",
            field="ids",
        )
    acting = next(iter(placed.values()), principal)
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
    named = resolve_source_ids(engine, acting, ids)
    sources = find_sources(engine, acting, list(named.values()))
    others = [source for source in sources if source.user_id != acting.user_id]
    if others and not is_admin:
        raise NotAllowed(
            "Only a team's admins, or the user who added a source, may remove it.",
            field="ids",
        )
    return acting.in_team(acting.scope.name, is_admin)


def manages_team(engine: EngineContext, principal: Principal, team: Scope) -> bool:
    """Whether they manage the team."""
    return any(
        one.manages
        for one in engine.store.access(principal.own_scope).memberships
        if one.team_scope == team
    )


@dataclass(slots=True)
class RemovalPlan:
    """When sources end for good."""

    unsupported: list[Memory] = field(default_factory=list)  # nobody else tells them
    carried: dict[str, Memory] = field(default_factory=dict)  # as others tell them, by id
    steps: tuple[ChangesetStep, ...] = ()  # before the others


def plan_source_removal(
    engine: EngineContext, principal: Principal, ended: Sequence[str], met: Collection[str] = ()
) -> RemovalPlan:
    """``met``: memories that are decided about already."""
    if not ended:
        return RemovalPlan()
    told = [
        memory for memory in memories_from_sources(engine, principal, ended) if memory.id not in met
    ]
    stood = _active_sources(engine, principal, told)
    stands = {id: source for id, source in stood.items() if id not in ended}
    shared = rebuild_memories(engine, principal, ended, {*stood, *ended}, stands, for_good=True)
    single = [memory for memory in told if memory.id not in shared.known]
    carried = {m.id: kept for m in single if (kept := keep_other_evidence(m, stands)) is not None}
    carried |= {id: memory for id, memory in shared.anew.items() if id not in met}
    alone = [memory for memory in single if memory.id not in carried]
    alone += [memory for id, memory in shared.unsupported.items() if id not in met]
    steps: list[ChangesetStep] = []
    for id, gone in shared.gone.items():
        steps += release_contributions(id, gone)
    steps += hold_again(shared.beside)
    steps += _promote_alternatives(engine, principal, alone, stands)
    return RemovalPlan(alone, carried, tuple(steps))


def purge_contributions(
    engine: EngineContext, principal: Principal, ended: Sequence[str]
) -> tuple[ChangesetStep, ...]:
    """Their time to come back is over: what they told of memories that others tell, too."""
    shared = rebuild_memories(engine, principal, ended, (), (), for_good=True)
    return tuple(
        step for id, gone in shared.gone.items() for step in release_contributions(id, gone)
    )


def forget_source_memories(
    engine: EngineContext, principal: Principal, sources: Sequence[Source], now: datetime
) -> list[ChangesetStep]:
    """Memories that nothing else carries are forgotten with their source, until the same day: by
    that they are known when it comes back. A value that waits has no such day, and is let go."""
    ended = [source.id for source in sources]
    waiting = held_values_from_sources(engine, principal, ended)
    steps: list[ChangesetStep] = remove_held_values(engine, principal, waiting, Event.DELETE)
    told = memories_from_sources(engine, principal, ended)
    stood = _active_sources(engine, principal, told)
    stands = {id: source for id, source in stood.items() if id not in ended}
    shared = rebuild_memories(engine, principal, ended, {*stood, *ended}, stands)
    single = [
        m for m in told if m.id not in shared.known and keep_other_evidence(m, stands) is None
    ]
    hidden = [m for m in (*single, *shared.unsupported.values()) if m.is_live(now) and not m.pinned]
    until = {source.id: source.purge_at or now for source in sources}
    for memory in hidden:
        days = [until[id] for id in supporting_sources(memory) if id in until]
        steps.append(soft_delete_memory(memory, now, max(days)))
    steps += _rewrite_memories(engine, principal, shared.anew.values())
    steps += hold_again(shared.beside)
    steps += _promote_alternatives(engine, principal, hidden, stands)
    return steps


def restore_source_memories(
    engine: EngineContext, principal: Principal, sources: Sequence[Source], now: datetime
) -> list[ChangesetStep]:
    back = {source.id: source.purge_at for source in sources}
    told = memories_from_sources(engine, principal, list(back))
    stands = _active_sources(engine, principal, told).keys() | back.keys()
    shared = rebuild_memories(engine, principal, list(back), stands - back.keys(), stands)
    steps: list[ChangesetStep] = []
    revived_ones: dict[str, Memory] = {}
    for memory in (*told, *shared.anew.values()):
        went_along = memory.purge_at is not None and memory.purge_at in back.values()
        if memory.id not in revived_ones and memory.state is State.SOFT_DELETED and went_along:
            steps.append(revive_memory(memory, memory, now))
            revived_ones[memory.id] = memory
    live = [memory for id, memory in shared.anew.items() if id not in revived_ones]
    steps += _rewrite_memories(engine, principal, live)
    steps += _restore_alternatives(engine, principal, revived_ones.values(), now)
    return steps


def _active_sources(
    engine: EngineContext, principal: Principal, memories: Sequence[Memory]
) -> dict[str, Source]:
    """The sources that these rest on, and all that tell something together with others or
    otherwise, where they stand and may be read."""
    assertion = (*memories, *(each.memory for each in engine.store.held(principal.scope)))
    behind = sorted({id for memory in assertion for id in supporting_sources(memory)})
    found: list[Source] = []
    for reading in readable_scopes(engine, principal, searching=False) if behind else ():
        found += engine.live_sources(reading.scope, behind)
    return {source.id: source for source in found if source.state is State.ACTIVE}


def _rewrite_memories(
    engine: EngineContext, principal: Principal, memories: Collection[Memory]
) -> list[ChangesetStep]:
    """Without a version of it: what it said by then is told by one that is forgotten."""
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
    engine: EngineContext, principal: Principal, gone: Sequence[Memory], stands: Collection[str]
) -> list[ChangesetStep]:
    """What another source says otherwise was only kept beside what is gone: now it stands."""
    waiting = [
        each
        for each in engine.store.held(
            principal.scope, HeldQuery(alternative_to=[m.id for m in gone])
        )
        if supporting_sources(each.memory) & set(stands)
    ]
    steps: list[ChangesetStep] = []
    for old in gone:
        beside = [each for each in waiting if each.alternative_to == old.id]
        if beside:
            new = beside[0].memory
            same = [each for each in beside[1:] if is_same_statement(each.memory, new)]
            others = [each for each in beside if each not in same]
            (index,), _ = index_memories(engine, [new])
            steps += [
                build_add(new, index, op=Op.RESTORE),
                *transfer_held_values(old, others, new).steps,
            ]
            steps += hold_contributions(new, join_contributions(new, same, engine.new_id()))
    return steps


_VALUE_KINDS = kinds_where(lambda policy: policy.asks_on_change)


def _restore_alternatives(
    engine: EngineContext, principal: Principal, back: Collection[Memory], now: datetime
) -> list[ChangesetStep]:
    """What sources have said otherwise meanwhile stands beside what is back, as it did."""
    values = [memory for memory in back if POLICIES[memory.kind].asks_on_change]
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
    stands: Memory,
    reason: str,
    now: datetime,
) -> list[ChangesetStep]:
    """With each who tells it. What somebody has said themself is not set aside."""
    parts = engine.store.held(principal.scope, HeldQuery(contributes_to=[other.id]))
    told = parts or [HeldValue(other, None, None, frozenset(), "", other.actor_id, now)]
    if (
        not all(supporting_sources(each.memory) for each in told)
        or OWNER_EVIDENCE in other.evidence
    ):
        return []
    beside = [
        replace(each, contributes_to=None, alternative_to=stands.id, reason=reason) for each in told
    ]
    return [
        *(hold_alternative(each, stands) for each in beside),
        build_removal(other, event=Event.UPDATE),
    ]

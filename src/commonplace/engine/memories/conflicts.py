"""Conflicts and alternatives: hold values back, transfer them, resolve a conflict."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from commonplace.engine.access import can_see
from commonplace.engine.composition import build_successor, is_override, retire_memory
from commonplace.engine.context import EngineContext, RequestContext
from commonplace.engine.indexing import index_memories
from commonplace.engine.memories.neighbours import build_links, load_neighbourhood
from commonplace.engine.memory_relation import check_live_limits, relate_memories
from commonplace.engine.provenance.contributions import (
    REPLACES,
    hold_contributions,
    inherit_contributions,
    make_contribution,
)
from commonplace.engine.provenance.evidence import rests_on
from commonplace.engine.transaction import run_transaction
from commonplace.errors import InvalidInput, LimitReached, NotAllowed, NotFound
from commonplace.model.access.principal import Principal
from commonplace.model.changeset import (
    Changeset,
    ChangesetStep,
    HoldValues,
    ReleaseHeld,
    build_add,
    build_link,
)
from commonplace.model.journal import Entry, Event, Op
from commonplace.model.memory.kinds import MemoryRelation, instructs_agents
from commonplace.model.memory.memory import ConflictResolution, HeldValue, Memory
from commonplace.store.queries import DisputedMemories, HeldQuery

_SAME_RELATIONS = (MemoryRelation.REPEAT, MemoryRelation.REWORDING)


@dataclass(frozen=True, slots=True)
class HoldResult:
    """The conflict in which a value is pending, and the steps that put it there."""

    conflict: str
    held: HeldValue
    steps: tuple[ChangesetStep, ...] = ()


def hold_in_conflict(
    new: HeldValue, targets: Sequence[Memory], pending: Sequence[HeldValue]
) -> HoldResult:
    """Add the value to the conflict of its targets, or to a new one. A value that is pending there
    already is not added again. Targets of several conflicts merge these into one."""
    open_conflicts = list(dict.fromkeys(target.conflict for target in targets if target.conflict))
    for each in pending:
        if each.conflict in open_conflicts and is_same_statement(each.memory, new.memory):
            return _open_conflict(str(each.conflict), each, targets, open_conflicts, ())
    conflict = open_conflicts[0] if open_conflicts else str(new.conflict)
    held = replace(new, conflict=conflict)
    return _open_conflict(conflict, held, targets, open_conflicts, (held,))


MAX_PROPOSED_BY_ONE = 20  # open proposals of rules and souls by one agent


def proposals_by(actor: str | None, held: Sequence[HeldValue]) -> list[HeldValue]:
    """The rules and souls that it proposed and nobody has decided about."""
    return [
        each
        for each in held
        if each.conflict
        and each.actor == actor
        and instructs_agents(each.memory.kind, each.memory.category)
    ]


def hold_proposal(
    new: HeldValue, targets: Sequence[Memory], pending: Sequence[HeldValue]
) -> HoldResult:
    """Hold a rule or soul that an agent proposes. One that replaces nothing has no targets, and
    opens a conflict of its own."""
    proposed = proposals_by(new.actor, pending)
    for each in proposed:
        if is_same_statement(each.memory, new.memory):
            return HoldResult(str(each.conflict), each)
    if len(proposed) >= MAX_PROPOSED_BY_ONE:
        raise LimitReached(
            f"{MAX_PROPOSED_BY_ONE} proposals of {new.actor} wait for a decision already.",
            remedy="Ask the owner to decide about them (conflicts, resolve).",
            field="kind",
        )
    if targets:
        return hold_in_conflict(new, targets, pending)
    meta = {"conflict": new.conflict, "held": new.memory.id}
    entry = Entry(op=Op.HOLD, subject=new.memory.id, category=new.memory.category, meta=meta)
    step = HoldValues(new.conflict, (new,), entry)
    return HoldResult(str(new.conflict), new, (step,))


def _open_conflict(
    conflict: str,
    held: HeldValue,
    targets: Sequence[Memory],
    open_conflicts: Sequence[str],
    values: tuple[HeldValue, ...],
) -> HoldResult:
    """One conflict about all the targets; no step if it exists already."""
    absorbed = tuple(each for each in open_conflicts if each != conflict)
    if not values and all(target.conflict == conflict for target in targets):
        return HoldResult(conflict, held)
    entry = Entry(
        op=Op.HOLD,
        event=Event.UPDATE,
        subject=targets[0].id,
        category=targets[0].category,
        old_ref=targets[0].ref,
        meta={"conflict": conflict, "held": held.memory.id},
    )
    ids = tuple(target.id for target in targets)
    step = HoldValues(conflict, values, entry, targets=ids, absorbs=absorbed)
    return HoldResult(conflict, held, (step,))


def hold_alternative(alternative: HeldValue, target: Memory) -> HoldValues:
    entry = Entry(
        op=Op.HOLD,
        event=Event.UPDATE,
        subject=target.id,
        category=target.category,
        old_ref=target.ref,
        meta={"alternative": alternative.memory.id},
    )
    return HoldValues(None, (alternative,), entry)


def is_same_statement(one: Memory, other: Memory) -> bool:
    return one.kind is other.kind and relate_memories(other, one, None).relation in _SAME_RELATIONS


@dataclass(frozen=True, slots=True)
class TransferredHolds:
    """Values still held after one memory has replaced another."""

    steps: tuple[ChangesetStep, ...]
    left: tuple[HeldValue, ...]


def held_values_about(
    engine: EngineContext, principal: Principal, memory: Memory
) -> list[HeldValue]:
    """Values in the memory's conflict, and alternatives to it."""
    conflicts = [memory.conflict] if memory.conflict else []
    query = HeldQuery(conflicts=conflicts, alternative_to=[memory.id])
    return engine.store.held(principal.scope, query)


def transfer_held_values(
    old: Memory, held_values: Sequence[HeldValue], new: Memory
) -> TransferredHolds:
    """Values held against the old memory are held against the new one, except those that the new
    one states itself. The reasons are computed again, because a reason quotes the old memory, which
    may be erased."""
    answered = [held.memory.id for held in held_values if is_same_statement(held.memory, new)]
    left = tuple(
        replace(
            held,
            alternative_to=held.alternative_to and new.id,
            reason=relate_memories(held.memory, new, None).reason,
        )
        for held in held_values
        if held.memory.id not in answered
    )
    pending = tuple(held for held in left if held.conflict)
    alternatives = tuple(held for held in left if held.alternative_to)
    steps: list[ChangesetStep] = []
    if pending:
        entry = _transfer_entry(new, {"conflict": old.conflict})
        steps.append(
            HoldValues(old.conflict, pending, entry, targets=(new.id,), releases=(old.id,))
        )
    if alternatives:
        meta = {"alternatives": [held.memory.id for held in alternatives]}
        steps.append(HoldValues(None, alternatives, _transfer_entry(new, meta)))
    if answered:
        is_resolved = not pending and any(held.conflict for held in held_values)
        steps.append(release_held_values(new.id, answered, old.conflict if is_resolved else None))
    return TransferredHolds(tuple(steps), left)


def _transfer_entry(new: Memory, meta: dict[str, Any]) -> Entry:
    return Entry(op=Op.HOLD, subject=new.id, category=new.category, meta=meta)


def find_held_values(
    engine: EngineContext, principal: Principal, ids: Sequence[str]
) -> list[HeldValue]:
    """The held values with these ids that the caller may see. Erasing a held value decides about
    it, so it needs that right unless the caller asserted the value."""
    held = engine.store.held(principal.scope, HeldQuery(ids=list(ids)))
    visible = [each for each in held if can_see(principal, each.memory)]
    if any(each.actor != principal.actor for each in visible) and not principal.decides:
        raise NotAllowed(
            f"{principal.agent} may not decide about values of others.",
            remedy="Ask the owner to resolve it.",
            field="ids",
        )
    return visible


def held_values_from_sources(
    engine: EngineContext, principal: Principal, sources: Collection[str]
) -> list[HeldValue]:
    """Values held because one of these sources or passages asserts them, whether or not the caller
    may see them."""
    held = engine.store.held(principal.scope) if sources else []
    return [each for each in held if not each.contributes_to and rests_on(each.memory, sources)]


def remove_held_values(
    engine: EngineContext,
    principal: Principal,
    removed: Sequence[HeldValue],
    event: Event = Event.ERASE,
) -> list[ChangesetStep]:
    """Remove these held values; an erasure leaves no text behind. A conflict without held values
    ends."""
    steps: list[ChangesetStep] = []
    conflicts = {each.conflict for each in removed if each.conflict}
    ids = [each.memory.id for each in removed]
    for conflict in sorted(conflicts):
        pending = engine.store.held(principal.scope, HeldQuery(conflicts=[conflict]))
        if all(each.memory.id in ids for each in pending):
            entry = Entry(op=Op.DELETE, subject=conflict)
            steps.append(ReleaseHeld((), entry, conflict))
    for id in ids:
        steps.append(ReleaseHeld((id,), Entry(op=Op.DELETE, event=event, subject=id)))
    return steps


def release_held_values(
    subject: str, values: Sequence[str], conflict: str | None = None, choice: str | None = None
) -> ReleaseHeld:
    meta = {"conflict": conflict, "choice": choice}
    entry = Entry(
        op=Op.RESOLVE,
        event=Event.UPDATE,
        subject=subject,
        meta={name: value for name, value in meta.items() if value},
    )
    return ReleaseHeld(tuple(values), entry, conflict)


@dataclass(frozen=True, slots=True)
class Resolved:
    conflict: str
    choice: ConflictResolution
    ids: tuple[str, ...]  # active now
    replaced: tuple[str, ...]  # memories that they replaced; `restore` undoes it
    dropped: tuple[str, ...]  # held values that were not chosen
    revision: int

    @property
    def is_override(self) -> bool:
        return bool(self.replaced)


@dataclass(frozen=True, slots=True)
class _ConflictToResolve:
    """An open conflict, or one alternative that the caller decides about."""

    id: str
    held: Sequence[HeldValue]
    targets: Sequence[Memory]  # live ones
    is_conflict: bool


def resolve_conflict(
    engine: EngineContext,
    request: RequestContext,
    id: str,
    choice: ConflictResolution,
    target: str | None = None,
    held: str | None = None,
    thread: str | None = None,
) -> Resolved:
    principal = request.principal
    if not principal.decides:
        raise NotAllowed(
            f"{principal.agent} may not resolve this conflict.",
            remedy="Ask the owner, or act as an agent that may resolve.",
        )

    def decide() -> tuple[Changeset, Resolved]:
        now = engine.clock()
        revision = engine.store.counters(principal.scope).revision
        conflict = _load_conflict(engine, principal, id)
        chosen = _choose_values(conflict, choice, held)
        replaced = _choose_replaced(conflict, choice, target)
        steps, stored = _store_chosen(engine, principal, chosen, replaced, choice)
        for old in replaced:
            steps += _transfer_remaining(engine, principal, conflict, old, stored[0])
        dropped = [h for h in conflict.held if h not in chosen]
        if choice is ConflictResolution.DISMISS:
            dropped, remaining = list(chosen), len(conflict.held) - len(chosen)
        else:
            remaining = 0
        ended_conflict = id if conflict.is_conflict and not remaining else None
        released = [held.memory.id for held in (*dropped, *chosen)]
        subject = conflict.targets[0].id if conflict.targets else released[0]
        end = release_held_values(subject, list(dict.fromkeys(released)), ended_conflict, choice)
        changeset = Changeset(
            principal.scope, now, principal.actor, (*steps, end), revision, thread
        )
        resolved = Resolved(
            id,
            choice,
            tuple(memory.id for memory in stored),
            tuple(memory.id for memory in replaced),
            tuple(held.memory.id for held in dropped),
            0,
        )
        return changeset, resolved

    revision, resolved = run_transaction(engine, request, decide)
    return Resolved(
        resolved.conflict,
        resolved.choice,
        resolved.ids,
        resolved.replaced,
        resolved.dropped,
        revision,
    )


def _load_conflict(engine: EngineContext, principal: Principal, id: str) -> _ConflictToResolve:
    held = engine.store.held(principal.scope, HeldQuery(ids=[id], conflicts=[id]))
    if held and held[0].conflict == id:
        targets = engine.store.page(principal.scope, DisputedMemories([id]))
    elif held and held[0].alternative_to:
        targets = engine.store.fetch(principal.scope, [held[0].alternative_to])
    else:
        held, targets = [], []
    is_visible = all(can_see(principal, each) for each in [*targets, *(h.memory for h in held)])
    if not held or not is_visible:
        raise NotFound(
            f"No open conflict {id!r}.",
            remedy="List them: conflicts.",
            field="conflict",
        )
    now = engine.clock()
    live = [memory for memory in targets if memory.is_live(now)]
    return _ConflictToResolve(id, held, live, bool(held[0].conflict))


def _choose_values(
    conflict: _ConflictToResolve, choice: ConflictResolution, wanted: str | None
) -> list[HeldValue]:
    """The named held value. Without a name: the newest to override, all to insert or dismiss."""
    if wanted is not None:
        named = [held for held in conflict.held if held.memory.id == wanted]
        if not named:
            choices = ", ".join(held.memory.id for held in conflict.held)
            raise InvalidInput(
                f"{wanted!r} is not a held value of this conflict.",
                remedy=f"One of: {choices}.",
                field="held",
            )
        return named
    return [conflict.held[-1]] if choice is ConflictResolution.OVERRIDE else list(conflict.held)


def _choose_replaced(
    conflict: _ConflictToResolve, choice: ConflictResolution, target: str | None
) -> list[Memory]:
    """The memory to replace; empty if all targets are gone, and the value is then stored as new."""
    if target is not None and choice is not ConflictResolution.OVERRIDE:
        raise InvalidInput("target is only for override.", field="target")
    if choice is not ConflictResolution.OVERRIDE or not conflict.targets:
        return []
    named = [memory for memory in conflict.targets if target in (None, memory.id)]
    if len(named) == 1:
        return named
    choices = ", ".join(memory.id for memory in conflict.targets)
    raise InvalidInput(
        f"{target!r} is not part of this conflict."
        if target
        else "The conflict is about several memories.",
        remedy=f"Give target, one of: {choices}.",
        field="target",
    )


def _transfer_remaining(
    engine: EngineContext,
    principal: Principal,
    conflict: _ConflictToResolve,
    old: Memory,
    new: Memory,
) -> tuple[ChangesetStep, ...]:
    """Transfer the values held against the old memory outside this conflict."""
    decided = [held.memory.id for held in conflict.held]
    remaining = [h for h in held_values_about(engine, principal, old) if h.memory.id not in decided]
    return transfer_held_values(old, remaining, new).steps


def _refuse_ended(chosen: Sequence[HeldValue], now: datetime) -> None:
    expired = [held for held in chosen if not held.memory.is_live(now)]
    if expired:
        raise InvalidInput(
            f"The held value expired on {expired[0].memory.ends_at:%Y-%m-%d}.",
            remedy="Dismiss it, or remember it again.",
            field="held",
        )


def _store_chosen(
    engine: EngineContext,
    principal: Principal,
    chosen: Sequence[HeldValue],
    replaced: Sequence[Memory],
    choice: ConflictResolution,
) -> tuple[list[ChangesetStep], list[Memory]]:
    if choice is ConflictResolution.DISMISS:
        return [], []
    now = engine.clock()
    _refuse_ended(chosen, now)
    memories = [
        build_successor(held.memory, replaced[0], held.mentioned) if replaced else held.memory
        for held in chosen
    ]
    memories = [m.evolve(created_at=now, updated_at=now, arrived_at=now) for m in memories]
    indexes, vectors = index_memories(engine, memories)
    around = load_neighbourhood(engine, principal.scope, memories, vectors)
    if not replaced:
        check_live_limits(memories, around.live)
    gone = {memory.id for memory in replaced}
    steps: list[ChangesetStep] = []
    for place, memory in enumerate(memories):
        event, old_ref = Event.ADD, None
        if replaced:
            event = Event.OVERRIDE if is_override(memory.kind) else Event.UPDATE
            old_ref = replaced[0].ref
        meta = {"choice": choice}
        steps.append(build_add(memory, indexes[place], event=event, old_ref=old_ref, meta=meta))
        if replaced:
            contribution = make_contribution(
                chosen[place].memory, chosen[place].mentioned, now, REPLACES
            )
            contributions = inherit_contributions(
                engine, principal, memory, replaced[0], contribution
            )
            steps += hold_contributions(memory, contributions)
        near = [each for each in around.neighbours[place] if each.id not in gone]
        steps += [build_link(link) for link in build_links(memory, near, now)]
    restorable = engine.lifetimes.restorable
    steps += [retire_memory(old, memories[0], now, restorable) for old in replaced]
    return steps, memories

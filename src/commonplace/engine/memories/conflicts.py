"""Conflicts and alternatives: hold values back, transfer them, resolve a conflict."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from commonplace.engine.access import can_see
from commonplace.engine.comparison import relate_memories
from commonplace.engine.composition import build_successor, is_override, retire_memory
from commonplace.engine.context import EngineContext, RequestContext
from commonplace.engine.indexing import index_memories
from commonplace.engine.memories.neighbours import build_links, load_neighbourhood
from commonplace.engine.provenance.contributions import (
    REPLACES,
    hold_contributions,
    inherit_contributions,
    make_contribution,
)
from commonplace.engine.provenance.evidence import supporting_sources
from commonplace.engine.transaction import run_transaction
from commonplace.errors import InvalidInput, NotAllowed, NotFound
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
from commonplace.model.memory.kinds import MemoryRelation
from commonplace.model.memory.memory import ConflictResolution, HeldValue, Memory
from commonplace.store.queries import DisputedMemories, HeldQuery

_SAME_RELATIONS = (MemoryRelation.REPEAT, MemoryRelation.REWORDING)


@dataclass(frozen=True, slots=True)
class HoldResult:
    """Where a value waits now, and the steps that bring it there."""

    conflict: str
    held: HeldValue
    steps: tuple[ChangesetStep, ...] = ()


def hold_in_conflict(
    new: HeldValue, targets: Sequence[Memory], waiting: Sequence[HeldValue]
) -> HoldResult:
    """Into the conflict of its targets, or into a new one. One that waits there already, waits
    once; targets of several conflicts make these one question."""
    known = list(dict.fromkeys(target.conflict for target in targets if target.conflict))
    for each in waiting:
        if each.conflict in known and is_same_statement(each.memory, new.memory):
            return _open_conflict(str(each.conflict), each, targets, known, ())
    conflict = known[0] if known else str(new.conflict)
    placed = replace(new, conflict=conflict)
    return _open_conflict(conflict, placed, targets, known, (placed,))


def _open_conflict(
    conflict: str,
    held: HeldValue,
    targets: Sequence[Memory],
    known: Sequence[str],
    values: tuple[HeldValue, ...],
) -> HoldResult:
    """One question about all the targets; none when that is what is asked already."""
    absorbed = tuple(each for each in known if each != conflict)
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


def hold_alternative(alternative: HeldValue, stands: Memory) -> HoldValues:
    entry = Entry(
        op=Op.HOLD,
        event=Event.UPDATE,
        subject=stands.id,
        category=stands.category,
        old_ref=stands.ref,
        meta={"alternative": alternative.memory.id},
    )
    return HoldValues(None, (alternative,), entry)


def is_same_statement(one: Memory, other: Memory) -> bool:
    return one.kind is other.kind and relate_memories(other, one, None).relation in _SAME_RELATIONS


@dataclass(frozen=True, slots=True)
class TransferredHolds:
    """What still waits when one memory has taken another's place."""

    steps: tuple[ChangesetStep, ...]
    left: tuple[HeldValue, ...]


def held_values_about(
    engine: EngineContext, principal: Principal, memory: Memory
) -> list[HeldValue]:
    """In the question that it is asked about in, and beside it."""
    conflicts = [memory.conflict] if memory.conflict else []
    query = HeldQuery(conflicts=conflicts, alternative_to=[memory.id])
    return engine.store.held(principal.scope, query)


def transfer_held_values(
    old: Memory, waiting: Sequence[HeldValue], new: Memory
) -> TransferredHolds:
    """What was held against the old one is held against the new one, but for what it says itself.
    The reasons are put anew: a word of the old one may not outlive it here."""
    answered = [held.memory.id for held in waiting if is_same_statement(held.memory, new)]
    left = tuple(
        replace(
            held,
            alternative_to=held.alternative_to and new.id,
            reason=relate_memories(held.memory, new, None).reason,
        )
        for held in waiting
        if held.memory.id not in answered
    )
    asked = tuple(held for held in left if held.conflict)
    beside = tuple(held for held in left if held.alternative_to)
    steps: list[ChangesetStep] = []
    if asked:
        entry = _transfer_entry(new, {"conflict": old.conflict})
        steps.append(HoldValues(old.conflict, asked, entry, targets=(new.id,), releases=(old.id,)))
    if beside:
        told = {"alternatives": [held.memory.id for held in beside]}
        steps.append(HoldValues(None, beside, _transfer_entry(new, told)))
    if answered:
        over = not asked and any(held.conflict for held in waiting)
        steps.append(release_held_values(new.id, answered, old.conflict if over else None))
    return TransferredHolds(tuple(steps), left)


def _transfer_entry(new: Memory, meta: dict[str, Any]) -> Entry:
    return Entry(op=Op.HOLD, subject=new.id, category=new.category, meta=meta)


def find_held_values(
    engine: EngineContext, principal: Principal, ids: Sequence[str]
) -> list[HeldValue]:
    """Those of the ids that are held values the caller may see. To erase one is to decide, unless
    one told it oneself."""
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
    """What waits because one of these sources told it, whoever may see it."""
    waiting = engine.store.held(principal.scope) if sources else []
    return [
        each
        for each in waiting
        if not each.contributes_to and not supporting_sources(each.memory).isdisjoint(sources)
    ]


def remove_held_values(
    engine: EngineContext,
    principal: Principal,
    doomed: Sequence[HeldValue],
    event: Event = Event.ERASE,
) -> list[ChangesetStep]:
    """Gone, when erased without a word of it; a question without a held value is over."""
    steps: list[ChangesetStep] = []
    conflicts = {each.conflict for each in doomed if each.conflict}
    ids = [each.memory.id for each in doomed]
    for conflict in sorted(conflicts):
        waiting = engine.store.held(principal.scope, HeldQuery(conflicts=[conflict]))
        if all(each.memory.id in ids for each in waiting):
            entry = Entry(op=Op.DELETE, subject=conflict)
            steps.append(ReleaseHeld((), entry, conflict))
    for id in ids:
        steps.append(ReleaseHeld((id,), Entry(op=Op.DELETE, event=event, subject=id)))
    return steps


def release_held_values(
    subject: str, values: Sequence[str], conflict: str | None = None, choice: str | None = None
) -> ReleaseHeld:
    told = {"conflict": conflict, "choice": choice}
    entry = Entry(
        op=Op.RESOLVE,
        event=Event.UPDATE,
        subject=subject,
        meta={name: value for name, value in told.items() if value},
    )
    return ReleaseHeld(tuple(values), entry, conflict)


@dataclass(frozen=True, slots=True)
class Resolved:
    conflict: str
    choice: ConflictResolution
    ids: tuple[str, ...]  # stored now
    replaced: tuple[str, ...]  # what they took the place of; restore brings it back
    dropped: tuple[str, ...]  # held values that were not chosen
    revision: int

    @property
    def is_override(self) -> bool:
        return bool(self.replaced)


@dataclass(frozen=True, slots=True)
class _ConflictToResolve:
    """A conflict, or an alternative that somebody now decides on."""

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
        question = _load_conflict(engine, principal, id)
        chosen = _choose_values(question, choice, held)
        replaced = _choose_replaced(question, choice, target)
        steps, stored = _store_chosen(engine, principal, chosen, replaced, choice)
        for old in replaced:
            steps += _transfer_remaining(engine, principal, question, old, stored[0])
        dropped = [h for h in question.held if h not in chosen]
        if choice is ConflictResolution.DISMISS:
            dropped, remaining = list(chosen), len(question.held) - len(chosen)
        else:
            remaining = 0
        over = id if question.is_conflict and not remaining else None
        ended = [held.memory.id for held in (*dropped, *chosen)]
        subject = question.targets[0].id if question.targets else ended[0]
        end = release_held_values(subject, list(dict.fromkeys(ended)), over, choice)
        changeset = Changeset(
            principal.scope, now, principal.actor, (*steps, end), revision, thread
        )
        told = Resolved(
            id,
            choice,
            tuple(memory.id for memory in stored),
            tuple(memory.id for memory in replaced),
            tuple(held.memory.id for held in dropped),
            0,
        )
        return changeset, told

    revision, told = run_transaction(engine, request, decide)
    return Resolved(told.conflict, told.choice, told.ids, told.replaced, told.dropped, revision)


def _load_conflict(engine: EngineContext, principal: Principal, id: str) -> _ConflictToResolve:
    held = engine.store.held(principal.scope, HeldQuery(ids=[id], conflicts=[id]))
    if held and held[0].conflict == id:
        targets = engine.store.page(principal.scope, DisputedMemories([id]))
    elif held and held[0].alternative_to:
        targets = engine.store.fetch(principal.scope, [held[0].alternative_to])
    else:
        held, targets = [], []
    seen = all(can_see(principal, each) for each in [*targets, *(h.memory for h in held)])
    if not held or not seen:
        raise NotFound(
            f"No open conflict {id!r}.",
            remedy="List them: conflicts.",
            field="conflict",
        )
    now = engine.clock()
    live = [memory for memory in targets if memory.is_live(now)]
    return _ConflictToResolve(id, held, live, bool(held[0].conflict))


def _choose_values(
    question: _ConflictToResolve, choice: ConflictResolution, wanted: str | None
) -> list[HeldValue]:
    """The value that is meant; without a word, the newest, or for keeping or dropping, all."""
    if wanted is not None:
        named = [held for held in question.held if held.memory.id == wanted]
        if not named:
            waiting = ", ".join(held.memory.id for held in question.held)
            raise InvalidInput(
                f"{wanted!r} is not a held value of this conflict.",
                remedy=f"One of: {waiting}.",
                field="held",
            )
        return named
    return [question.held[-1]] if choice is ConflictResolution.OVERRIDE else list(question.held)


def _choose_replaced(
    question: _ConflictToResolve, choice: ConflictResolution, target: str | None
) -> list[Memory]:
    """The one that makes way. None is left when all targets are gone: then it is stored."""
    if target is not None and choice is not ConflictResolution.OVERRIDE:
        raise InvalidInput("target is only for override.", field="target")
    if choice is not ConflictResolution.OVERRIDE or not question.targets:
        return []
    named = [memory for memory in question.targets if target in (None, memory.id)]
    if len(named) == 1:
        return named
    choices = ", ".join(memory.id for memory in question.targets)
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
    question: _ConflictToResolve,
    old: Memory,
    new: Memory,
) -> tuple[ChangesetStep, ...]:
    """What waits about the old one besides this question."""
    decided = [held.memory.id for held in question.held]
    waiting = [h for h in held_values_about(engine, principal, old) if h.memory.id not in decided]
    return transfer_held_values(old, waiting, new).steps


def _refuse_ended(chosen: Sequence[HeldValue], now: datetime) -> None:
    over = [held for held in chosen if not held.memory.is_live(now)]
    if over:
        raise InvalidInput(
            f"The held value expired on {over[0].memory.ends_at:%Y-%m-%d}.",
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
    gone = {memory.id for memory in replaced}
    steps: list[ChangesetStep] = []
    for place, memory in enumerate(memories):
        event, old_ref = Event.ADD, None
        if replaced:
            event = Event.OVERRIDE if is_override(memory.kind) else Event.UPDATE
            old_ref = replaced[0].ref
        steps.append(build_add(memory, indexes[place], event=event, old_ref=old_ref))
        if replaced:
            told = make_contribution(chosen[place].memory, chosen[place].mentioned, now, REPLACES)
            parts = inherit_contributions(engine, principal, memory, replaced[0], told)
            steps += hold_contributions(memory, parts)
        near = [each for each in around.neighbours[place] if each.id not in gone]
        steps += [build_link(link) for link in build_links(memory, near, now)]
    restorable = engine.lifetimes.restorable
    steps += [retire_memory(old, memories[0], now, restorable) for old in replaced]
    return steps, memories

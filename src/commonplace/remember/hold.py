"""Values held back: in a conflict until a person decides, or beside what stands."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any

from commonplace.desk import Desk, can_see
from commonplace.errors import NotAllowed
from commonplace.model.changes import Hold, LetGo, Step
from commonplace.model.conflict import Held
from commonplace.model.journal import Entry, Event, Op
from commonplace.model.memory import Memory
from commonplace.model.relations import Relation
from commonplace.model.scope import Principal
from commonplace.remember.relate import relate
from commonplace.remember.supports import sources_behind
from commonplace.store.port import HeldQuery

_SAME = (Relation.REPEAT, Relation.REWORDING)


@dataclass(frozen=True, slots=True)
class Waiting:
    """Where a value waits now, and the steps that bring it there."""

    conflict: str
    held: Held
    steps: tuple[Step, ...] = ()


def hold(new: Held, targets: Sequence[Memory], waiting: Sequence[Held]) -> Waiting:
    """Into the conflict of its targets, or into a new one. One that waits there already, waits
    once; targets of several conflicts make these one question."""
    known = list(dict.fromkeys(target.conflict for target in targets if target.conflict))
    for each in waiting:
        if each.conflict in known and says_the_same(each.memory, new.memory):
            return _ask_about(str(each.conflict), each, targets, known, ())
    conflict = known[0] if known else str(new.conflict)
    placed = replace(new, conflict=conflict)
    return _ask_about(conflict, placed, targets, known, (placed,))


def _ask_about(
    conflict: str,
    held: Held,
    targets: Sequence[Memory],
    known: Sequence[str],
    values: tuple[Held, ...],
) -> Waiting:
    """One question about all the targets; none when that is what is asked already."""
    absorbed = tuple(each for each in known if each != conflict)
    if not values and all(target.conflict == conflict for target in targets):
        return Waiting(conflict, held)
    entry = Entry(
        op=Op.HOLD,
        event=Event.UPDATE,
        subject=targets[0].id,
        category=targets[0].category,
        old_ref=targets[0].ref,
        meta={"conflict": conflict, "held": held.memory.id},
    )
    ids = tuple(target.id for target in targets)
    step = Hold(conflict, values, entry, targets=ids, absorbs=absorbed)
    return Waiting(conflict, held, (step,))


def hold_beside(alternative: Held, stands: Memory) -> Hold:
    entry = Entry(
        op=Op.HOLD,
        event=Event.UPDATE,
        subject=stands.id,
        category=stands.category,
        old_ref=stands.ref,
        meta={"alternative": alternative.memory.id},
    )
    return Hold(None, (alternative,), entry)


def says_the_same(one: Memory, other: Memory) -> bool:
    return one.kind is other.kind and relate(other, one, None).relation in _SAME


@dataclass(frozen=True, slots=True)
class Carried:
    """What still waits when one memory has taken another's place."""

    steps: tuple[Step, ...]
    left: tuple[Held, ...]


def waiting_about(desk: Desk, principal: Principal, memory: Memory) -> list[Held]:
    """In the question that it is asked about in, and beside it."""
    conflicts = [memory.conflict] if memory.conflict else []
    query = HeldQuery(conflicts=conflicts, beside=[memory.id])
    return desk.store.held(principal.scope, query)


def carry(old: Memory, waiting: Sequence[Held], new: Memory) -> Carried:
    """What was held against the old one is held against the new one, but for what it says itself.
    The reasons are put anew: a word of the old one may not outlive it here."""
    answered = [held.memory.id for held in waiting if says_the_same(held.memory, new)]
    left = tuple(
        replace(held, beside=held.beside and new.id, reason=relate(held.memory, new, None).reason)
        for held in waiting
        if held.memory.id not in answered
    )
    asked = tuple(held for held in left if held.conflict)
    beside = tuple(held for held in left if held.beside)
    steps: list[Step] = []
    if asked:
        entry = _carried_entry(new, {"conflict": old.conflict})
        steps.append(Hold(old.conflict, asked, entry, targets=(new.id,), releases=(old.id,)))
    if beside:
        told = {"alternatives": [held.memory.id for held in beside]}
        steps.append(Hold(None, beside, _carried_entry(new, told)))
    if answered:
        over = not asked and any(held.conflict for held in waiting)
        steps.append(let_go(new.id, answered, old.conflict if over else None))
    return Carried(tuple(steps), left)


def _carried_entry(new: Memory, meta: dict[str, Any]) -> Entry:
    return Entry(op=Op.HOLD, subject=new.id, category=new.category, meta=meta)


def held_among(desk: Desk, principal: Principal, ids: Sequence[str]) -> list[Held]:
    """Those of the ids that are held values the caller may see. To erase one is to decide, unless
    one told it oneself."""
    held = desk.store.held(principal.scope, HeldQuery(ids=list(ids)))
    visible = [each for each in held if can_see(principal, each.memory)]
    if any(each.actor != principal.actor for each in visible) and not principal.decides:
        raise NotAllowed(
            f"{principal.agent} may not decide about values of others.",
            remedy="Ask the owner to resolve it.",
            field="ids",
        )
    return visible


def held_from(desk: Desk, principal: Principal, sources: Collection[str]) -> list[Held]:
    """What waits because one of these sources told it, whoever may see it."""
    waiting = desk.store.held(principal.scope) if sources else []
    return [
        each
        for each in waiting
        if not each.merged_into and not sources_behind(each.memory).isdisjoint(sources)
    ]


def erase_held(
    desk: Desk, principal: Principal, doomed: Sequence[Held], event: Event = Event.ERASE
) -> list[Step]:
    """Gone, when erased without a word of it; a question without a held value is over."""
    steps: list[Step] = []
    conflicts = {each.conflict for each in doomed if each.conflict}
    ids = [each.memory.id for each in doomed]
    for conflict in sorted(conflicts):
        waiting = desk.store.held(principal.scope, HeldQuery(conflicts=[conflict]))
        if all(each.memory.id in ids for each in waiting):
            entry = Entry(op=Op.DELETE, subject=conflict)
            steps.append(LetGo((), entry, conflict))
    for id in ids:
        steps.append(LetGo((id,), Entry(op=Op.DELETE, event=event, subject=id)))
    return steps


def let_go(
    subject: str, values: Sequence[str], conflict: str | None = None, choice: str | None = None
) -> LetGo:
    told = {"conflict": conflict, "choice": choice}
    entry = Entry(
        op=Op.RESOLVE,
        event=Event.UPDATE,
        subject=subject,
        meta={name: value for name, value in told.items() if value},
    )
    return LetGo(tuple(values), entry, conflict)

"""Values held back: in a conflict until a person decides, or beside what stands."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from commonplace.desk import Desk, can_see
from commonplace.model.changes import Hold, LetGo, Step
from commonplace.model.conflict import Held
from commonplace.model.journal import Entry, Event, Op
from commonplace.model.memory import Memory
from commonplace.model.relations import Relation
from commonplace.model.scope import Principal
from commonplace.remember.relate import relate
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
            return Waiting(str(each.conflict), each)
    conflict, *absorbed = known or [str(new.conflict)]
    placed = replace(new, conflict=conflict)
    entry = Entry(
        op=Op.HOLD,
        event=Event.UPDATE,
        subject=targets[0].id,
        category=targets[0].category,
        old_ref=targets[0].ref,
        meta={"conflict": conflict, "held": new.memory.id},
    )
    ids = tuple(target.id for target in targets)
    step = Hold(conflict, (placed,), entry, targets=ids, absorbs=tuple(absorbed))
    return Waiting(conflict, placed, (step,))


def hold_beside(alternative: Held, stands: Memory, known: Sequence[Held]) -> tuple[Step, ...]:
    """An alternative, unless it is known already."""
    if any(says_the_same(each.memory, alternative.memory) for each in known):
        return ()
    entry = Entry(
        op=Op.HOLD,
        subject=stands.id,
        category=stands.category,
        old_ref=stands.ref,
        meta={"alternative": alternative.memory.id},
    )
    return (Hold(None, (alternative,), entry),)


def says_the_same(one: Memory, other: Memory) -> bool:
    return one.kind is other.kind and relate(other, one, None).relation in _SAME


def carry_dispute(desk: Desk, principal: Principal, old: Memory, new: Memory) -> tuple[Step, ...]:
    """What was asked about the old one is asked about the new one, but for what it says itself."""
    if old.conflict is None:
        return ()
    waiting = desk.store.held(principal.scope, HeldQuery(conflicts=[old.conflict]))
    return carried(old, waiting, new)


def carried(old: Memory, waiting: Sequence[Held], new: Memory) -> tuple[Step, ...]:
    conflict = str(old.conflict)
    answered = tuple(h.memory.id for h in waiting if says_the_same(h.memory, new))
    if len(answered) == len(waiting):
        return (let_go(new.id, answered, conflict),)
    entry = Entry(op=Op.HOLD, subject=new.id, category=new.category, meta={"conflict": conflict})
    steps: list[Step] = [Hold(conflict, (), entry, targets=(new.id,), releases=(old.id,))]
    if answered:
        steps.append(let_go(new.id, answered))
    return tuple(steps)


def held_among(desk: Desk, principal: Principal, ids: Sequence[str]) -> list[Held]:
    """Those of the ids that are held values the caller may see."""
    held = desk.store.held(principal.scope, HeldQuery(ids=list(ids)))
    return [each for each in held if can_see(principal, each.memory)]


def erase_held(desk: Desk, principal: Principal, doomed: Sequence[Held]) -> list[Step]:
    """Gone without a word of it; a question without a held value is over."""
    steps: list[Step] = []
    conflicts = {each.conflict for each in doomed if each.conflict}
    ids = [each.memory.id for each in doomed]
    for conflict in sorted(conflicts):
        waiting = desk.store.held(principal.scope, HeldQuery(conflicts=[conflict]))
        if all(each.memory.id in ids for each in waiting):
            entry = Entry(op=Op.DELETE, subject=conflict)
            steps.append(LetGo((), entry, conflict))
    for id in ids:
        steps.append(LetGo((id,), Entry(op=Op.DELETE, event=Event.ERASE, subject=id)))
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

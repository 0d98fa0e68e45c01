"""The inbox: open questions with both sides, their evidence and dates side by side."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from commonplace.desk import Desk, can_see, visibility_of
from commonplace.language.normalise import fold
from commonplace.model.conflict import Conflict, Held, group
from commonplace.model.delta import shorten
from commonplace.model.filters import Visibility
from commonplace.model.memory import Memory
from commonplace.model.paging import page
from commonplace.model.scope import Principal
from commonplace.recall.planted import is_planted
from commonplace.store.port import HeldQuery

WITHHELD = "(sensitive: look as one who is cleared)"
PLANTED = "(reads like instructions: look into the inbox)"


@dataclass(frozen=True, slots=True)
class Side:
    """One of the values in question."""

    id: str
    text: str
    metadata: Mapping[str, Any]
    evidence: tuple[str, ...]
    confidence: float
    since: datetime  # since when it is held to be true
    told_at: datetime
    source: str | None
    told_by: str | None
    is_live: bool  # False for a held value, and for a target that is gone


@dataclass(frozen=True, slots=True)
class Question:
    """Which of these is true? Answer with resolve."""

    id: str
    kind: str
    category: str
    reason: str
    opened_at: datetime
    standing: tuple[Side, ...]
    held: tuple[Side, ...]  # oldest first
    is_alternative: bool = False  # nobody asks: a source says otherwise


def conflicts(
    desk: Desk,
    principal: Principal,
    limit: int,
    alternatives: bool = False,
    after: str | None = None,
) -> list[Question]:
    """Open questions, the oldest first; with alternatives also what sources say otherwise."""
    held = desk.store.held(principal.scope)
    questions = [
        _question(desk, principal, conflict)
        for conflict in group(held, desk.store.disputed(principal.scope))
        if _may_see(principal, [*conflict.targets, *(h.memory for h in conflict.held)])
    ]
    if alternatives:
        questions += _alternatives(desk, principal, [each for each in held if each.beside])
    return page(sorted(questions, key=lambda q: (q.opened_at, q.id)), after, limit)


def held_against(
    desk: Desk, principal: Principal, memories: Sequence[Memory]
) -> dict[str, tuple[str, ...]]:
    """Of each disputed memory what is held against it, in words."""
    asked = [memory for memory in memories if memory.conflict]
    if not asked:
        return {}
    conflicts = sorted({str(memory.conflict) for memory in asked})
    visibility = visibility_of(principal)
    waiting: dict[str, list[str]] = {}
    for held in desk.store.held(principal.scope, HeldQuery(conflicts=conflicts)):
        unknown = not visibility.admits_category(held.memory.category)
        if unknown or not held.memory.is_live(desk.clock()):
            continue
        shown = held.memory.content if visibility.admits(held.memory) else WITHHELD
        shown = PLANTED if is_planted(held.memory) else shown  # it stands in prompts
        waiting.setdefault(str(held.conflict), []).append(shown)
    return {memory.id: tuple(waiting.get(str(memory.conflict), ())) for memory in asked}


def as_disputed(desk: Desk, principal: Principal, memories: Sequence[Memory]) -> list[Memory]:
    """To an agent that may not know of anything that is held against it, a memory is undisputed."""
    if principal.is_owner:
        return list(memories)
    told = held_against(desk, principal, memories)
    return [m if told.get(m.id) else m.evolve(conflict=None) for m in memories]


def in_short(values: Sequence[str]) -> str | None:
    """The newest that waits: who tells much must not push the memory out of a budget."""
    if not values:
        return None
    more = f" (and {len(values) - 1} more)" if len(values) > 1 else ""
    return f"{shorten(values[-1])}{more}"


def held_in(desk: Desk, principal: Principal, memory: Memory) -> tuple[Side, ...]:
    """What waits in the question that the memory is asked about in."""
    if memory.conflict is None:
        return ()
    return _sides(desk, principal, HeldQuery(conflicts=[memory.conflict]))


def alternatives_to(desk: Desk, principal: Principal, id: str) -> tuple[Side, ...]:
    return _sides(desk, principal, HeldQuery(beside=[id]))


def _once_each(held: Iterable[Held]) -> list[Held]:
    """What several sources say alike beside one memory is held for each of them, and told once."""
    found: dict[tuple[str | None, str], Held] = {}
    for each in held:
        found.setdefault((each.beside or each.memory.id, fold(each.memory.content)), each)
    return list(found.values())


def _sides(desk: Desk, principal: Principal, query: HeldQuery) -> tuple[Side, ...]:
    """The owner sees that something waits, even where its words are withheld."""
    held = desk.store.held(principal.scope, query)
    visibility = visibility_of(principal)
    seen = (each for each in held if can_see(principal, each.memory))
    return tuple(_held_side(each, visibility) for each in _once_each(seen))


def _may_see(principal: Principal, memories: Sequence[Memory]) -> bool:
    """The owner sees that there is a question, even where its words are withheld."""
    visibility = visibility_of(principal)
    return principal.is_owner or all(visibility.admits(memory) for memory in memories)


def _question(desk: Desk, principal: Principal, conflict: Conflict) -> Question:
    visibility = visibility_of(principal)
    first = conflict.held[0].memory
    open_ = all(
        visibility.admits(m) for m in [*conflict.targets, *(h.memory for h in conflict.held)]
    )
    return Question(
        id=conflict.id,
        kind=str(first.kind),
        category=first.category,
        reason=conflict.held[-1].reason if open_ else WITHHELD,
        opened_at=conflict.opened_at,
        standing=tuple(_side(desk, memory, visibility) for memory in conflict.targets),
        held=tuple(_held_side(held, visibility) for held in conflict.held),
    )


def _alternatives(desk: Desk, principal: Principal, held: Sequence[Held]) -> list[Question]:
    stands = {m.id: m for m in desk.store.fetch(principal.scope, [str(h.beside) for h in held])}
    visibility = visibility_of(principal)
    seen = (
        each
        for each in held
        if each.beside in stands and _may_see(principal, [each.memory, stands[each.beside]])
    )
    return [
        Question(
            id=each.memory.id,
            kind=str(each.memory.kind),
            category=each.memory.category,
            reason=each.reason
            if visibility.admits(each.memory) and visibility.admits(stands[str(each.beside)])
            else WITHHELD,
            opened_at=each.held_at,
            standing=(_side(desk, stands[str(each.beside)], visibility),),
            held=(_held_side(each, visibility),),
            is_alternative=True,
        )
        for each in _once_each(seen)
    ]


def _side(desk: Desk, memory: Memory, visibility: Visibility) -> Side:
    teller = f"agent:{memory.agent_id}" if memory.agent_id else None
    return _seen(memory, visibility, memory.created_at, teller, memory.is_live(desk.clock()))


def _held_side(held: Held, visibility: Visibility) -> Side:
    return _seen(held.memory, visibility, held.held_at, held.actor, False)


def _seen(
    memory: Memory, visibility: Visibility, told_at: datetime, told_by: str | None, live: bool
) -> Side:
    shown = visibility.admits(memory)
    return Side(
        id=memory.id,
        text=memory.content if shown else WITHHELD,
        metadata=memory.metadata if shown else {},
        evidence=memory.evidence if shown else (),
        confidence=memory.confidence,
        since=memory.valid_from or memory.created_at,
        told_at=told_at,
        source=memory.source_id or memory.source_type,
        told_by=told_by,
        is_live=live,
    )

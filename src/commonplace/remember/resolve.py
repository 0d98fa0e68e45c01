"""resolve: a person says which of two values is true; one choice ends the question."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from commonplace.desk import Desk, can_see, index_all
from commonplace.errors import InvalidInput, NotAllowed, NotFound
from commonplace.model.changes import Changeset, Step, added, connected
from commonplace.model.conflict import Choice, Held
from commonplace.model.journal import Event
from commonplace.model.memory import Memory
from commonplace.model.scope import Principal
from commonplace.remember.hold import carry, let_go, waiting_about
from commonplace.remember.link import links_for
from commonplace.remember.neighbours import look_around
from commonplace.remember.replace import in_place_of, is_override, make_way
from commonplace.remember.told_together import REPLACES, kept_with, parts_in_place, saying
from commonplace.store.port import HeldQuery


@dataclass(frozen=True, slots=True)
class Resolved:
    conflict: str
    choice: Choice
    ids: tuple[str, ...]  # stored now
    replaced: tuple[str, ...]  # what they took the place of; restore brings it back
    dropped: tuple[str, ...]  # held values that were not chosen
    revision: int

    @property
    def is_override(self) -> bool:
        return bool(self.replaced)


@dataclass(frozen=True, slots=True)
class _Question:
    """A conflict, or an alternative that somebody now decides on."""

    id: str
    held: Sequence[Held]
    targets: Sequence[Memory]  # live ones
    is_conflict: bool


def resolve(
    desk: Desk,
    principal: Principal,
    id: str,
    choice: Choice,
    target: str | None = None,
    held: str | None = None,
    thread: str | None = None,
) -> Resolved:
    if not principal.decides:
        raise NotAllowed(
            f"{principal.agent} may not resolve this conflict.",
            remedy="Ask the owner, or act as an agent that may resolve.",
        )

    def decide() -> tuple[Changeset, Resolved]:
        now = desk.clock()
        revision = desk.store.counters(principal.scope).revision
        question = _question(desk, principal, id)
        chosen = _chosen(question, choice, held)
        replaced = _replaced(question, choice, target)
        steps, stored = _stored(desk, principal, chosen, replaced, choice)
        for old in replaced:
            steps += _carried(desk, principal, question, old, stored[0])
        dropped = [h for h in question.held if h not in chosen]
        if choice is Choice.DISMISS:
            dropped, remaining = list(chosen), len(question.held) - len(chosen)
        else:
            remaining = 0
        over = id if question.is_conflict and not remaining else None
        ended = [held.memory.id for held in (*dropped, *chosen)]
        subject = question.targets[0].id if question.targets else ended[0]
        end = let_go(subject, list(dict.fromkeys(ended)), over, choice)
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

    revision, told = desk.decide(decide)
    return Resolved(told.conflict, told.choice, told.ids, told.replaced, told.dropped, revision)


def _question(desk: Desk, principal: Principal, id: str) -> _Question:
    held = desk.store.held(principal.scope, HeldQuery(ids=[id], conflicts=[id]))
    if held and held[0].conflict == id:
        targets = desk.store.disputed(principal.scope, [id])
    elif held and held[0].beside:
        targets = desk.store.fetch(principal.scope, [held[0].beside])
    else:
        held, targets = [], []
    seen = all(can_see(principal, each) for each in [*targets, *(h.memory for h in held)])
    if not held or not seen:
        raise NotFound(
            f"No open conflict {id!r}.",
            remedy="List them: conflicts.",
            field="conflict",
        )
    now = desk.clock()
    live = [memory for memory in targets if memory.is_live(now)]
    return _Question(id, held, live, bool(held[0].conflict))


def _chosen(question: _Question, choice: Choice, wanted: str | None) -> list[Held]:
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
    return [question.held[-1]] if choice is Choice.OVERRIDE else list(question.held)


def _replaced(question: _Question, choice: Choice, target: str | None) -> list[Memory]:
    """The one that makes way. None is left when all targets are gone: then it is stored."""
    if target is not None and choice is not Choice.OVERRIDE:
        raise InvalidInput("target is only for override.", field="target")
    if choice is not Choice.OVERRIDE or not question.targets:
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


def _carried(
    desk: Desk, principal: Principal, question: _Question, old: Memory, new: Memory
) -> tuple[Step, ...]:
    """What waits about the old one besides this question."""
    decided = [held.memory.id for held in question.held]
    waiting = [h for h in waiting_about(desk, principal, old) if h.memory.id not in decided]
    return carry(old, waiting, new).steps


def _hold_to_ends(chosen: Sequence[Held], now: datetime) -> None:
    over = [held for held in chosen if not held.memory.is_live(now)]
    if over:
        raise InvalidInput(
            f"The held value expired on {over[0].memory.ends_at:%Y-%m-%d}.",
            remedy="Dismiss it, or remember it again.",
            field="held",
        )


def _stored(
    desk: Desk,
    principal: Principal,
    chosen: Sequence[Held],
    replaced: Sequence[Memory],
    choice: Choice,
) -> tuple[list[Step], list[Memory]]:
    if choice is Choice.DISMISS:
        return [], []
    now = desk.clock()
    _hold_to_ends(chosen, now)
    memories = [
        in_place_of(held.memory, replaced[0], held.mentioned) if replaced else held.memory
        for held in chosen
    ]
    memories = [m.evolve(created_at=now, updated_at=now, arrived_at=now) for m in memories]
    indexes, vectors = index_all(desk, memories)
    around = look_around(desk, principal.scope, memories, vectors)
    gone = {memory.id for memory in replaced}
    steps: list[Step] = []
    for place, memory in enumerate(memories):
        event, old_ref = Event.ADD, None
        if replaced:
            event = Event.OVERRIDE if is_override(memory.kind) else Event.UPDATE
            old_ref = replaced[0].ref
        steps.append(added(memory, indexes[place], event=event, old_ref=old_ref))
        if replaced:
            told = saying(chosen[place].memory, chosen[place].mentioned, now, REPLACES)
            parts = parts_in_place(desk, principal, memory, replaced[0], told)
            steps += kept_with(memory, parts)
        near = [each for each in around.neighbours[place] if each.id not in gone]
        steps += [connected(link) for link in links_for(memory, near, now)]
    restorable = desk.lifetimes.restorable
    steps += [make_way(old, memories[0], now, restorable) for old in replaced]
    return steps, memories

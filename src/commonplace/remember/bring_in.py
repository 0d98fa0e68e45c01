"""import: a whole memory into an empty one, as it was; into one that has something, what is new."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from commonplace.desk import Desk, index_all
from commonplace.errors import NotAllowed
from commonplace.model.changes import Add, Changeset, Copy, Indexing, Step, added
from commonplace.model.filters import Visibility
from commonplace.model.journal import Op
from commonplace.model.memory import Memory, State
from commonplace.model.portable import Belongings
from commonplace.model.scope import Principal
from commonplace.remember.forget import hold_to_live_limits
from commonplace.store.port import Listing


@dataclass(frozen=True, slots=True)
class Imported:
    memories: int  # how many came in
    already_there: tuple[str, ...]
    differing: tuple[str, ...]  # the store has this id with other words, and keeps them
    whole: bool  # True: history, links and numbers came along
    revision: int


_ANYTHING = Listing(states=tuple(State), visibility=Visibility(cleared=True), limit=1)


def bring_in(desk: Desk, principal: Principal, belongings: Belongings) -> Imported:
    if not principal.is_owner:
        raise NotAllowed("Only the owner imports into a memory.")
    now = desk.clock()
    arrived = [memory.evolve(arrived_at=now) for memory in belongings.memories]
    indexes, _ = index_all(desk, arrived)

    def decide() -> tuple[Changeset, Imported]:
        counters = desk.store.counters(principal.scope)
        if not desk.store.page(principal.scope, _ANYTHING):
            steps: tuple[Step, ...] = (_copy(belongings, arrived, indexes),)
            told = Imported(len(arrived), (), (), True, 0)
            numbers = 0  # they come with the copy
        else:
            steps, told = _what_is_new(desk, principal, arrived, indexes)
            coming = [step.memory for step in steps if isinstance(step, Add)]
            live = [memory for memory in coming if memory.is_live(now)]
            hold_to_live_limits(desk, principal, live, (), now)
            numbers = max(0, belongings.profile_numbers - counters.profile_numbers)
        changeset = Changeset(
            principal.scope,
            now,
            principal.actor,
            steps,
            counters.revision,
            profile_numbers=numbers,
        )
        return changeset, told

    revision, told = desk.decide(decide)
    return replace(told, revision=revision)


def _what_is_new(
    desk: Desk, principal: Principal, arrived: Sequence[Memory], indexes: Sequence[Indexing]
) -> tuple[tuple[Step, ...], Imported]:
    known = {m.id: m for m in desk.store.fetch(principal.scope, [m.id for m in arrived])}
    steps = tuple(
        added(memory.evolve(version=1), index, op=Op.IMPORT)
        for memory, index in zip(arrived, indexes, strict=True)
        if memory.id not in known
    )
    same = [m.id for m in arrived if m.id in known and known[m.id].content == m.content]
    differing = [m.id for m in arrived if m.id in known and known[m.id].content != m.content]
    return steps, Imported(len(steps), tuple(same), tuple(differing), False, 0)


def _copy(belongings: Belongings, arrived: Sequence[Memory], indexes: Sequence[Indexing]) -> Copy:
    return Copy(
        tuple(zip(arrived, indexes, strict=True)),
        belongings.versions,
        belongings.links,
        belongings.journal,
        belongings.revision,
        belongings.profile_numbers,
    )

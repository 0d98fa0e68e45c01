"""What a memory said in an earlier version."""

from __future__ import annotations

import re
from collections.abc import Sequence

from commonplace.desk import Desk, can_see
from commonplace.errors import NotFound
from commonplace.model.memory import VERSIONED, Memory, State
from commonplace.model.scope import Principal

_REF = re.compile(r"(.+)@(\d{1,9})")
_STANDING = frozenset({"state", "superseded_by", "purge_at"})  # whether it lives, not what it says


def split_refs(desk: Desk, principal: Principal, ids: Sequence[str]) -> dict[str, int | None]:
    """The ids, each with the version behind an @ if one is asked for; ids may have an @, too."""
    known = {memory.id for memory in desk.store.fetch(principal.scope, ids)}
    wanted: dict[str, int | None] = {}
    for id in ids:
        found = None if id in known else _REF.fullmatch(id)
        wanted |= {found[1]: int(found[2])} if found else {id: None}
    return wanted


def last_lives(desk: Desk, principal: Principal, dead: Sequence[Memory]) -> dict[str, Memory]:
    """What each said, and until when it was to hold, in its last living version."""
    lives: dict[str, Memory] = {}
    for known in desk.store.versions(principal.scope, [memory.id for memory in dead]):
        if known.memory.state is State.ACTIVE:
            lives[known.memory.id] = known.memory
    return {
        memory.id: memory.evolve(valid_to=lives[memory.id].valid_to)
        for memory in dead
        if memory.id in lives
    }


def as_it_was(desk: Desk, principal: Principal, memory: Memory, version: int) -> Memory:
    """The memory with what it said then."""
    for known in desk.store.versions(principal.scope, [memory.id]):
        if known.memory.version == version and can_see(principal, known.memory):
            said = {n: getattr(known.memory, n) for n in VERSIONED if n not in _STANDING}
            return memory.evolve(**said)
    raise NotFound(
        f"{memory.id!r} has no version {version}.", remedy="See its versions: show.", field="ids"
    )

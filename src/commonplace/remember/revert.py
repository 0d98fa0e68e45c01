"""What a memory said in an earlier version."""

from __future__ import annotations

import re

from commonplace.desk import Desk
from commonplace.errors import NotFound
from commonplace.model.memory import VERSIONED, Memory
from commonplace.model.scope import Principal

_REF = re.compile(r"(.+)@(\d{1,9})")
_STANDING = frozenset({"state", "superseded_by", "purge_at"})  # whether it lives, not what it says


def split_ref(id: str) -> tuple[str, int | None]:
    """An id, and the version behind an @ if one is asked for."""
    found = _REF.fullmatch(id)
    return (found[1], int(found[2])) if found else (id, None)


def as_it_was(desk: Desk, principal: Principal, memory: Memory, version: int) -> Memory:
    """The memory with what it said then."""
    for known in desk.store.versions(principal.scope, [memory.id]):
        if known.memory.version == version:
            said = {n: getattr(known.memory, n) for n in VERSIONED if n not in _STANDING}
            return memory.evolve(**said)
    raise NotFound(
        f"{memory.id!r} has no version {version}.", remedy="See its versions: show.", field="ids"
    )

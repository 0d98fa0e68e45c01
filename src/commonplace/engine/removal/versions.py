"""Versions to restore: ids with a version, and the last active version of a memory."""

from __future__ import annotations

import re
from collections.abc import Sequence

from commonplace.engine.access import can_see
from commonplace.engine.context import EngineContext
from commonplace.errors import NotFound
from commonplace.model.access.principal import Principal
from commonplace.model.memory.memory import VERSIONED_FIELDS, Memory, State

_VERSION_REF = re.compile(r"(.+)@(\d{1,9})")
# The lifecycle, not the content.
_STATE_FIELDS = frozenset({"state", "superseded_by", "purge_at"})


def split_version_refs(
    engine: EngineContext, principal: Principal, ids: Sequence[str]
) -> dict[str, int | None]:
    """Each id with its version, if one is given after an @. An id may contain an @ itself."""
    known = {memory.id for memory in engine.store.fetch(principal.scope, ids)}
    wanted: dict[str, int | None] = {}
    for id in ids:
        match = None if id in known else _VERSION_REF.fullmatch(id)
        wanted |= {match[1]: int(match[2])} if match else {id: None}
    return wanted


def last_active_versions(
    engine: EngineContext, principal: Principal, inactive: Sequence[Memory]
) -> dict[str, Memory]:
    """Each memory with the validity end of its last active version."""
    last_active: dict[str, Memory] = {}
    for version in engine.store.versions(principal.scope, [memory.id for memory in inactive]):
        if version.memory.state is State.ACTIVE:
            last_active[version.memory.id] = version.memory
    return {
        memory.id: memory.evolve(valid_to=last_active[memory.id].valid_to)
        for memory in inactive
        if memory.id in last_active
    }


def load_version(
    engine: EngineContext, principal: Principal, memory: Memory, version: int
) -> Memory:
    """The memory with the content of that version."""
    for known in engine.store.versions(principal.scope, [memory.id]):
        if known.memory.version == version and can_see(principal, known.memory):
            content = {
                n: getattr(known.memory, n) for n in VERSIONED_FIELDS if n not in _STATE_FIELDS
            }
            return memory.evolve(**content)
    raise NotFound(
        f"{memory.id!r} has no version {version}.", remedy="See its versions: show.", field="ids"
    )

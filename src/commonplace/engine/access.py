"""Who may see what: visibility of items, and the scopes that a principal may read."""

from __future__ import annotations

from collections.abc import Sequence

from commonplace.engine.context import EngineContext
from commonplace.model.access.principal import Principal, ReadableScope, Scope
from commonplace.model.access.team import Share, current_shares, guest_sources, reachable_teams
from commonplace.model.filters import Visibility
from commonplace.model.memory.memory import Memory
from commonplace.model.sources.source import (
    Source,
    is_source_id,
    split_alias,
    split_passage_id,
)


def can_see(principal: Principal, memory: Memory) -> bool:
    """By id, the owner sees everything of theirs; an agent only what it is cleared for and what its
    allowlist names."""
    return principal.is_owner or visibility_of(principal).admits(memory)


def can_see_source(principal: Principal, source: Source) -> bool:
    """By id, everybody sees what they brought themselves, also where it is a team's."""
    brought = principal.is_owner and (
        principal.is_in_own_scope or source.user_id == principal.user_id
    )
    return brought or visibility_of(principal).admits_source(source)


def visibility_of(principal: Principal) -> Visibility:
    """Whoever is cleared is so for their own memory, and for nobody else's."""
    cleared = principal.cleared and principal.is_in_own_scope
    return Visibility(cleared, principal.agent, principal.categories)


def visibility_in(principal: Principal, reading: ReadableScope) -> Visibility:
    return visibility_of(principal.at(reading.scope))


# ——— how far a read goes ———


def readable_scopes(
    engine: EngineContext, principal: Principal, *, searching: bool = True
) -> tuple[ReadableScope, ...]:
    """The scopes that they may read at this moment, their own first: the one place where a
    principal becomes scopes. Asked of the database each time, so that whoever has left a team
    sees nothing more of it from that moment on. Searches leave out teams beside the active one."""
    own = ReadableScope(principal.own_scope)
    if not visibility_of(principal).sees_sources:
        return (own,)
    found = engine.store.access(principal.own_scope)
    teams = reachable_teams(principal, found.memberships)
    active = [one for one in teams if one.is_active] if searching else []
    others = [ReadableScope(one.team_scope, is_own=False) for one in active or teams]
    if principal.team is None:
        given = current_shares(found.granted, _shares_by_owner(engine, found.granted))
        guests = guest_sources(given, {one.team_scope for one in teams})
        others += [ReadableScope(scope, is_own=False, sources=ids) for scope, ids in guests.items()]
    return (own, *sorted(others, key=lambda reading: reading.scope.key))


def _shares_by_owner(engine: EngineContext, shares: Sequence[Share]) -> list[Share]:
    """Once for each owner, however much of theirs is shared."""
    owners = dict.fromkeys(share.owner for share in shares)
    return [
        told
        for owner in owners
        for told in engine.store.access(owner).shares
        if told.owner == owner
    ]


def principal_at_source(engine: EngineContext, principal: Principal, id: str) -> Principal:
    """The same one, where the source is that this id or name from elsewhere means; at home when
    they know of none."""
    at_home = principal.at(principal.own_scope)
    if not is_source_id(id) and split_alias(id) is None:
        return at_home
    if _find_source(engine, principal.own_scope, id):  # mostly: then nobody else is asked
        return at_home
    for reading in readable_scopes(engine, principal, searching=False)[1:]:
        found = _find_source(engine, reading.scope, id)
        if found and reading.covers(found.id):
            return principal.at(reading.scope)
    return at_home


def _find_source(engine: EngineContext, scope: Scope, id: str) -> Source | None:
    """The source of this id, of this passage's id, or of this name from elsewhere."""
    if is_source_id(id):
        return next(iter(engine.live_sources(scope, [split_passage_id(id)[0]])), None)
    alias = split_alias(id)
    return engine.live_source_by_alias(scope, *alias) if alias else None

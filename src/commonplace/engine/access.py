"""Access: visibility of items, and the scopes that a principal may read."""

from __future__ import annotations

from collections.abc import Sequence

from commonplace.engine.context import EngineContext
from commonplace.errors import NotAllowed
from commonplace.model.access.principal import (
    OWNER_ACTOR_PREFIX,
    Principal,
    ReadableScope,
    Scope,
)
from commonplace.model.access.team import (
    Share,
    current_shares,
    guest_sources,
    pending_invitations,
    reachable_teams,
)
from commonplace.model.filters import Visibility
from commonplace.model.graph.elements import Node
from commonplace.model.memory.kinds import PRIVATE_TO_AGENT_KINDS, instructs_agents
from commonplace.model.memory.memory import Memory, Sensitivity, State
from commonplace.model.sources.source import (
    Source,
    is_source_id,
    split_alias,
    split_passage_id,
)
from commonplace.store.queries import JournalQuery


def can_see(principal: Principal, memory: Memory) -> bool:
    """By id, the owner sees all of their memories; an agent sees only what its clearance and its
    allowlist admit."""
    return principal.is_owner or visibility_of(principal).admits(memory)


def can_see_source(principal: Principal, source: Source) -> bool:
    """By id, users see the sources that they added, also those of a team."""
    is_own = principal.is_owner and (
        principal.is_in_own_scope or source.user_id == principal.user_id
    )
    return is_own or visibility_of(principal).admits_source(source)


def visibility_of(principal: Principal) -> Visibility:
    """Clearance applies to the principal's own scope only."""
    cleared = principal.cleared and principal.is_in_own_scope
    return Visibility(cleared, principal.agent, principal.categories)


def visibility_in(principal: Principal, reading: ReadableScope) -> Visibility:
    return visibility_of(principal.at(reading.scope))


# ——— rules and souls ———


def proposes(principal: Principal, memory: Memory) -> bool:
    """True if the caller may only propose it: rules and souls for all agents are the owner's, and
    so is everything else in their categories, which all agents see whatever its agent_id."""
    if principal.decides or not instructs_agents(memory.kind, memory.category):
        return False
    return memory.agent_id is None or memory.kind not in PRIVATE_TO_AGENT_KINDS


def may_change_instruction(engine: EngineContext, principal: Principal, memory: Memory) -> bool:
    """An agent changes only rules and souls that name it, and none that the owner wrote for it."""
    if principal.decides or not instructs_agents(memory.kind, memory.category):
        return True
    if proposes(principal, memory) or memory.agent_id != principal.agent:
        return False
    rows = engine.store.journal(principal.scope, JournalQuery(subject=memory.id, events_only=True))
    return not any(row.actor == f"{OWNER_ACTOR_PREFIX}{principal.user_id}" for row in rows)


def require_may_change_instruction(
    engine: EngineContext, principal: Principal, memory: Memory
) -> None:
    if not may_change_instruction(engine, principal, memory):
        raise NotAllowed(
            f"The {memory.kind} {memory.id!r} is the owner's: {principal.agent} may not change it.",
            remedy="Propose another one with remember: it waits in the inbox (conflicts) until "
            "the owner decides. A rule or soul with your own agent_id needs no decision.",
            field="ids",
        )


def require_may_instruct(principal: Principal, memory: Memory) -> None:
    """For a change that would make a memory of the caller's an instruction to all agents."""
    if proposes(principal, memory):
        raise NotAllowed(
            f"Memories in the category {memory.category!r} are instructions to all agents, and the "
            f"owner's: {principal.agent} may not make one of this.",
            remedy="Propose it with remember: it waits in the inbox (conflicts) until the owner "
            "decides. A rule or soul with your own agent_id needs no decision.",
            field="category",
        )


def require_may_identify_owner(principal: Principal, node: Node, field: str) -> None:
    """Words under the owner's names and addresses count as the owner's own: an agent that adds one
    could make a stranger's words the owner's."""
    if node.is_owner and not principal.decides:
        raise NotAllowed(
            f"{principal.agent} may not change by which names and addresses the owner is known.",
            remedy="Ask the owner, or an agent that may resolve. For another person, use another "
            "node; a nickname can be proposed for the profile (preferred_name).",
            field=field,
        )


# ——— readable scopes ———


def readable_scopes(
    engine: EngineContext, principal: Principal, *, searching: bool = True
) -> tuple[ReadableScope, ...]:
    """The scopes that the principal may read now, their own first. This is the only place that maps
    a principal to scopes. It queries the database each time, so that leaving a team takes effect at
    once. If a team is active, searches leave out the other teams."""
    own = ReadableScope(principal.own_scope)
    if not visibility_of(principal).sees_sources:
        return (own,)
    access = engine.store.access(principal.own_scope)
    teams = reachable_teams(principal, access.memberships)
    active = [one for one in teams if one.is_active] if searching else []
    others = [ReadableScope(one.team_scope, is_own=False) for one in active or teams]
    if principal.team is None:
        accepted = [share for share in access.granted if share.is_accepted]
        shares = current_shares(accepted, _shares_by_owner(engine, accepted))
        guests = guest_sources(shares, {one.team_scope for one in teams})
        others += [ReadableScope(scope, is_own=False, sources=ids) for scope, ids in guests.items()]
    return (own, *sorted(others, key=lambda reading: reading.scope.key))


def list_pending_invitations(
    engine: EngineContext, principal: Principal
) -> list[tuple[Share, Source]]:
    """Sources that other users offer to the caller, who cannot read them yet; oldest first."""
    if principal.team is not None or not visibility_of(principal).sees_sources:
        return []
    access = engine.store.access(principal.own_scope)
    shares = current_shares(access.granted, _shares_by_owner(engine, access.granted))
    teams = {one.team_scope for one in access.memberships if one.is_member}
    return [
        (share, source)
        for share in pending_invitations(shares, teams)
        for source in engine.live_sources(share.owner, [share.source_id])
        if source.state is State.ACTIVE and source.sensitivity is not Sensitivity.HIGH
    ]


def _shares_by_owner(engine: EngineContext, shares: Sequence[Share]) -> list[Share]:
    """One query per owner."""
    owners = dict.fromkeys(share.owner for share in shares)
    return [
        share
        for owner in owners
        for share in engine.store.access(owner).shares
        if share.owner == owner
    ]


def principal_at_source(engine: EngineContext, principal: Principal, id: str) -> Principal:
    """The principal in the scope of the source with this id or alias; in their own scope if they
    can read no such source."""
    in_own_scope = principal.at(principal.own_scope)
    if not is_source_id(id) and split_alias(id) is None:
        return in_own_scope
    if _find_source(engine, principal.own_scope, id):  # the usual case: no further queries
        return in_own_scope
    for reading in readable_scopes(engine, principal, searching=False)[1:]:
        found = _find_source(engine, reading.scope, id)
        if found and reading.covers(found.id):
            return principal.at(reading.scope)
    return in_own_scope


def _find_source(engine: EngineContext, scope: Scope, id: str) -> Source | None:
    """The source with this id, passage id or alias."""
    if is_source_id(id):
        return next(iter(engine.live_sources(scope, [split_passage_id(id)[0]])), None)
    alias = split_alias(id)
    return engine.live_source_by_alias(scope, *alias) if alias else None

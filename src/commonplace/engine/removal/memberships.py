"""Memberships and shares of a user who is erased."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime

from commonplace.engine.context import EngineContext
from commonplace.model.access.principal import Principal, Scope
from commonplace.model.access.team import (
    Membership,
    SetGrant,
    SetMember,
    SetMembership,
    SetShare,
    TeamRole,
    next_owner,
)
from commonplace.model.changeset import Changeset, ChangesetStep, ClearScope
from commonplace.model.journal import Entry, Event, JournalNode, Op

_REVOKE_ENTRY = Entry(op=Op.REVOKE, node=JournalNode.API)
_GRANT_ENTRY = Entry(op=Op.GRANT, node=JournalNode.API)


def remove_memberships_and_shares(
    engine: EngineContext, principal: Principal, now: datetime
) -> list[Changeset]:
    """Remove the user from every team and every share. Sources that they added to a team belong to
    the team and stay; a team without other members is deleted."""
    steps: dict[Scope, list[ChangesetStep]] = {}
    decided_on: dict[Scope, int] = {}
    for membership in engine.store.access(principal.own_scope).memberships:
        decided_on[membership.team_scope] = engine.store.counters(membership.team_scope).revision
        for scope, step in _leave_team(engine, membership):
            steps.setdefault(scope, []).append(step)
    for share in engine.store.access(principal.own_scope).shares:
        if share.owner == principal.own_scope:
            steps.setdefault(share.guest_scope, []).append(
                SetGrant(share, _REVOKE_ENTRY, gone=True)
            )
        else:
            steps.setdefault(share.owner, []).append(SetShare(share, _REVOKE_ENTRY, gone=True))
    return [
        Changeset(scope, now, principal.actor, tuple(each), decided_on.get(scope))
        for scope, each in steps.items()
    ]


def _leave_team(engine: EngineContext, one: Membership) -> Iterator[tuple[Scope, ChangesetStep]]:
    team = one.team_scope
    memberships = engine.store.access(team).memberships
    others = [each for each in memberships if each.is_member and each.user_id != one.user_id]
    if one.is_member and not others:
        yield team, ClearScope(Entry(op=Op.DELETE, event=Event.ERASE, node=JournalNode.API))
        for invited in memberships:
            if invited.user_id != one.user_id:
                yield invited.user_scope, SetMembership(invited, _REVOKE_ENTRY, gone=True)
        return
    yield team, SetMember(one, _REVOKE_ENTRY, gone=True)
    if (successor := next_owner(memberships, one.user_id)) is not None:
        yield team, SetMember(replace(successor, role=TeamRole.OWNER), _GRANT_ENTRY)
        for held in engine.store.access(successor.user_scope).memberships:
            if held.team_scope == team:
                yield (
                    successor.user_scope,
                    SetMembership(replace(held, role=TeamRole.OWNER), _GRANT_ENTRY),
                )

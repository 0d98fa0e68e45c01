"""What an erased user leaves with others: memberships, shares, and teams that need an owner."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime

from commonplace.desk import Desk
from commonplace.model.changes import Changeset, RemoveEverything, Step
from commonplace.model.company_steps import SetGrant, SetMember, SetMembership, SetShare
from commonplace.model.journal import Entry, Event, Node, Op
from commonplace.model.scope import Principal, Scope
from commonplace.model.team import Membership, Role, heir_of

_GONE = Entry(op=Op.REVOKE, node=Node.API)
_GRANTED = Entry(op=Op.GRANT, node=Node.API)


def leaving_everybody(desk: Desk, principal: Principal, now: datetime) -> list[Changeset]:
    """In every team and with every guest the user's name goes. What they brought into a team is
    the team's, and stays; a team that nobody else is in goes with them."""
    steps: dict[Scope, list[Step]] = {}
    decided_on: dict[Scope, int] = {}
    for one in desk.store.memberships(principal.home):
        decided_on[one.team_scope] = desk.store.counters(one.team_scope).revision
        for scope, step in _leaving(desk, one):
            steps.setdefault(scope, []).append(step)
    for share in desk.store.shares(principal.home):
        if share.owner == principal.home:
            steps.setdefault(share.guest_scope, []).append(SetGrant(share, _GONE, gone=True))
        else:
            steps.setdefault(share.owner, []).append(SetShare(share, _GONE, gone=True))
    return [
        Changeset(scope, now, principal.actor, tuple(each), decided_on.get(scope))
        for scope, each in steps.items()
    ]


def _leaving(desk: Desk, one: Membership) -> Iterator[tuple[Scope, Step]]:
    team = one.team_scope
    people = desk.store.memberships(team)
    others = [each for each in people if each.is_member and each.user_id != one.user_id]
    if one.is_member and not others:
        yield team, RemoveEverything(Entry(op=Op.DELETE, event=Event.ERASE, node=Node.API))
        for invited in people:
            if invited.user_id != one.user_id:
                yield invited.user_scope, SetMembership(invited, _GONE, gone=True)
        return
    yield team, SetMember(one, _GONE, gone=True)
    if (heir := heir_of(people, one.user_id)) is not None:
        yield team, SetMember(replace(heir, role=Role.OWNER), _GRANTED)
        for mine in desk.store.memberships(heir.user_scope):
            if mine.team_scope == team:
                yield heir.user_scope, SetMembership(replace(mine, role=Role.OWNER), _GRANTED)

"""Which team is meant, and how one stands in it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import NoReturn

from commonplace.desk import Desk
from commonplace.errors import InvalidInput, LimitReached, NotAllowed, NotFound
from commonplace.model.scope import Principal, Scope
from commonplace.model.team import MAX_TEAMS, Membership, Role, Standing, Team, may_manage

PRIMARY = "primary"  # the word for one's primary team
ASK_AN_OWNER = "Ask an owner of the team; `commonplace teams show` says who that is."


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownMember:
    """How somebody stands in a team. Which teams they chose for their searches is their own."""

    team_id: str
    team_name: str | None  # None: the team has ended meanwhile
    user_id: str
    role: Role
    standing: Standing
    invited_by: str
    since: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownTeam:
    """A team as one of its people sees it."""

    id: str
    name: str
    role: Role
    standing: Standing
    invited_by: str
    since: datetime
    is_primary: bool
    is_active: bool
    retention_days: int | None = None
    members: tuple[ShownMember, ...] = ()  # told to members alone


def teams_of(desk: Desk, principal: Principal) -> list[ShownTeam]:
    """Those that one is in, and those that one is invited to."""
    mine = own_memberships(desk, principal)
    found = ((one, desk.store.team(one.team_scope)) for one in mine)
    return [shown_team(team, one) for one, team in found if team is not None]


def show_team(desk: Desk, principal: Principal, wanted: str) -> ShownTeam:
    one = membership_in(desk, principal, wanted)
    team = team_at(desk, one.team_scope)
    people = desk.store.memberships(one.team_scope) if one.is_member else []
    here = [shown_member(team, each) for each in people if each.standing is not Standing.LEFT]
    return replace(shown_team(team, one), members=tuple(here))


def team_at(desk: Desk, scope: Scope) -> Team:
    team = desk.store.team(scope)
    if team is None:
        no_such_team()
    return team


def shown_team(team: Team, one: Membership) -> ShownTeam:
    return ShownTeam(
        id=team.id,
        name=team.name,
        role=one.role,
        standing=one.standing,
        invited_by=one.invited_by,
        since=one.since,
        is_primary=one.is_primary,
        is_active=one.is_active,
        retention_days=team.retention_days if one.is_member else None,
    )


def show_member(desk: Desk, one: Membership) -> ShownMember:
    return shown_member(desk.store.team(one.team_scope), one)


def shown_member(team: Team | None, one: Membership) -> ShownMember:
    return ShownMember(
        team_id=one.team_id,
        team_name=team.name if team else None,
        user_id=one.user_id,
        role=one.role,
        standing=one.standing,
        invited_by=one.invited_by,
        since=one.since,
    )


def own_memberships(desk: Desk, principal: Principal) -> list[Membership]:
    """A key that is for one team knows of no other."""
    mine = desk.store.memberships(principal.home)
    return [one for one in mine if principal.team in (None, one.team_id)]


def membership_in(desk: Desk, principal: Principal, wanted: str) -> Membership:
    """One's own, in the team of this id or name; `primary` is a name, too. Whoever stands outside
    learns nothing, not even that there is such a team."""
    mine = own_memberships(desk, principal)
    found = [one for one in mine if one.team_id == wanted]
    if not found and wanted == PRIMARY:
        found = [one for one in mine if one.is_primary]
    if not found:
        called = [one for one in mine if _is_called(desk.store.team(one.team_scope), wanted)]
        # A stranger's invitation to a team of the same name takes no name away.
        found = [one for one in called if one.is_member] or called
    if len(found) > 1:
        raise InvalidInput(
            f"Several of your teams have the name {wanted!r}.",
            remedy="Give its id: see `commonplace teams`.",
            field="team",
        )
    if not found:
        no_such_team()
    return found[0]


def _is_called(team: Team | None, name: str) -> bool:
    return team is not None and team.name.casefold() == name.casefold()


def member_of(desk: Desk, principal: Principal, wanted: str) -> Membership:
    one = membership_in(desk, principal, wanted)
    if not one.is_member:
        no_such_team()
    return one


def no_such_team() -> NoReturn:
    raise NotFound("Unknown team.", remedy="See `commonplace teams`.", field="team")


def standing_in(desk: Desk, principal: Principal, wanted: str) -> tuple[Membership, int]:
    """One's own membership, and the team's revision that a decision about it rests on. Every
    membership moves that revision, and it is read first: whatever changes since makes the decision
    stale."""
    team = membership_in(desk, principal, wanted).team_id
    revision = desk.store.counters(Scope.of_team(team)).revision
    return membership_in(desk, principal, team), revision


def managing(
    desk: Desk, principal: Principal, wanted: str, role: Role | None = None
) -> tuple[Membership, int]:
    """The same for those who look after the team. With a role: whether one may give it."""
    one, revision = standing_in(desk, principal, wanted)
    if not one.is_member:
        no_such_team()
    if not one.manages:
        raise NotAllowed(
            "Only owners and admins may manage a team.", remedy=ASK_AN_OWNER, field="team"
        )
    if role is not None:
        hold_below(one, role)
    return one, revision


def hold_below(mine: Membership, role: Role) -> None:
    if not may_manage(mine, role):
        raise NotAllowed(f"Only an owner may manage {role}s.", remedy=ASK_AN_OWNER, field="as_role")


def hold_to_limit(mine: Sequence[Membership]) -> None:
    """Invitations do not count: nobody fills another's places."""
    if sum(one.is_member for one in mine) >= MAX_TEAMS:
        raise LimitReached(f"A user is in at most {MAX_TEAMS} teams.", remedy="Leave one first.")

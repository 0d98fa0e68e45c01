"""Team members: look up, invite, join, leave, remove, set roles."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import NoReturn

from commonplace.engine.context import EngineContext, RequestContext
from commonplace.engine.transaction import run_transaction_across_scopes
from commonplace.errors import InvalidInput, LimitReached, NotAllowed, NotFound
from commonplace.model.access.principal import Principal, Scope
from commonplace.model.access.team import (
    MAX_MEMBERS,
    MAX_TEAMS,
    Membership,
    MembershipStatus,
    SetGrant,
    SetMember,
    SetMembership,
    SetShare,
    Team,
    TeamRole,
    is_last_owner,
    may_manage,
)
from commonplace.model.changeset import Changeset, ChangesetStep
from commonplace.model.journal import Entry, JournalNode, Op

PRIMARY = "primary"  # the word for one's primary team
ASK_OWNER_REMEDY = "Ask an owner of the team; `commonplace teams show` says who that is."


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownMember:
    """How somebody stands in a team. Which teams they chose for their searches is their own."""

    team_id: str
    team_name: str | None  # None: the team has ended meanwhile
    user_id: str
    role: TeamRole
    standing: MembershipStatus
    invited_by: str
    since: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownTeam:
    """A team as one of its people sees it."""

    id: str
    name: str
    role: TeamRole
    standing: MembershipStatus
    invited_by: str
    since: datetime
    is_primary: bool
    is_active: bool
    retention_days: int | None = None
    members: tuple[ShownMember, ...] = ()  # told to members alone


def list_teams(engine: EngineContext, principal: Principal) -> list[ShownTeam]:
    """Those that one is in, and those that one is invited to."""
    mine = own_memberships(engine, principal)
    found = ((one, engine.store.access(one.team_scope).team) for one in mine)
    return [describe_team(team, one) for one, team in found if team is not None]


def show_team(engine: EngineContext, principal: Principal, wanted: str) -> ShownTeam:
    one = find_membership(engine, principal, wanted)
    team = load_team(engine, one.team_scope)
    people = engine.store.access(one.team_scope).memberships if one.is_member else []
    here = [
        describe_member(team, each) for each in people if each.standing is not MembershipStatus.LEFT
    ]
    return replace(describe_team(team, one), members=tuple(here))


def load_team(engine: EngineContext, scope: Scope) -> Team:
    team = engine.store.access(scope).team
    if team is None:
        raise_no_such_team()
    return team


def describe_team(team: Team, one: Membership) -> ShownTeam:
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


def show_member(engine: EngineContext, one: Membership) -> ShownMember:
    return describe_member(engine.store.access(one.team_scope).team, one)


def describe_member(team: Team | None, one: Membership) -> ShownMember:
    return ShownMember(
        team_id=one.team_id,
        team_name=team.name if team else None,
        user_id=one.user_id,
        role=one.role,
        standing=one.standing,
        invited_by=one.invited_by,
        since=one.since,
    )


def own_memberships(engine: EngineContext, principal: Principal) -> list[Membership]:
    """A key that is for one team knows of no other."""
    mine = engine.store.access(principal.own_scope).memberships
    return [one for one in mine if principal.team in (None, one.team_id)]


def find_membership(engine: EngineContext, principal: Principal, wanted: str) -> Membership:
    """One's own, in the team of this id or name; `primary` is a name, too. Whoever stands outside
    learns nothing, not even that there is such a team."""
    mine = own_memberships(engine, principal)
    found = [one for one in mine if one.team_id == wanted]
    if not found and wanted == PRIMARY:
        found = [one for one in mine if one.is_primary]
    if not found:
        called = [
            one for one in mine if _has_name(engine.store.access(one.team_scope).team, wanted)
        ]
        # A stranger's invitation to a team of the same name takes no name away.
        found = [one for one in called if one.is_member] or called
    if len(found) > 1:
        raise InvalidInput(
            f"Several of your teams have the name {wanted!r}.",
            remedy="Give its id: see `commonplace teams`.",
            field="team",
        )
    if not found:
        raise_no_such_team()
    return found[0]


def _has_name(team: Team | None, name: str) -> bool:
    return team is not None and team.name.casefold() == name.casefold()


def require_member(engine: EngineContext, principal: Principal, wanted: str) -> Membership:
    one = find_membership(engine, principal, wanted)
    if not one.is_member:
        raise_no_such_team()
    return one


def raise_no_such_team() -> NoReturn:
    raise NotFound("Unknown team.", remedy="See `commonplace teams`.", field="team")


def membership_and_revision(
    engine: EngineContext, principal: Principal, wanted: str
) -> tuple[Membership, int]:
    """One's own membership, and the team's revision that a decision about it rests on. Every
    membership moves that revision, and it is read first: whatever changes since makes the decision
    stale."""
    team = find_membership(engine, principal, wanted).team_id
    revision = engine.store.counters(Scope.of_team(team)).revision
    return find_membership(engine, principal, team), revision


def require_manager(
    engine: EngineContext, principal: Principal, wanted: str, role: TeamRole | None = None
) -> tuple[Membership, int]:
    """The same for those who look after the team. With a role: whether one may give it."""
    one, revision = membership_and_revision(engine, principal, wanted)
    if not one.is_member:
        raise_no_such_team()
    if not one.manages:
        raise NotAllowed(
            "Only owners and admins may manage a team.", remedy=ASK_OWNER_REMEDY, field="team"
        )
    if role is not None:
        require_rights_over_role(one, role)
    return one, revision


def require_rights_over_role(mine: Membership, role: TeamRole) -> None:
    if not may_manage(mine, role):
        raise NotAllowed(
            f"Only an owner may manage {role}s.", remedy=ASK_OWNER_REMEDY, field="as_role"
        )


def check_team_limit(mine: Sequence[Membership]) -> None:
    """Invitations do not count: nobody fills another's places."""
    if sum(one.is_member for one in mine) >= MAX_TEAMS:
        raise LimitReached(f"A user is in at most {MAX_TEAMS} teams.", remedy="Leave one first.")


def invite_member(
    engine: EngineContext, request: RequestContext, wanted: str, user_id: str, role: TeamRole
) -> Membership:
    """Nothing is seen until it is accepted: nobody's searches are filled by strangers."""
    principal = request.principal
    now = engine.clock()

    def decide() -> tuple[list[Changeset], Membership]:
        mine, revision = require_manager(engine, principal, wanted, role)
        people = engine.store.access(mine.team_scope).memberships
        known = next((each for each in people if each.user_id == user_id), None)
        if known is not None and known.standing is not MembershipStatus.LEFT:
            return [], known
        if len(people) >= MAX_MEMBERS:
            raise LimitReached(f"A team has at most {MAX_MEMBERS} people.")
        invited = Membership(
            team_id=mine.team_id,
            user_id=user_id,
            role=role,
            standing=MembershipStatus.INVITED,
            invited_by=principal.user_id,
            since=now,
        )
        return membership_changesets(engine, principal, now, [invited], revision, by=mine), invited

    return run_transaction_across_scopes(engine, request, decide)


def join_team(engine: EngineContext, request: RequestContext, wanted: str) -> ShownTeam:
    principal = request.principal
    now = engine.clock()

    def decide() -> tuple[list[Changeset], str]:
        one, revision = membership_and_revision(engine, principal, wanted)
        mine = engine.store.access(principal.own_scope).memberships
        if one.is_member:
            return [], one.team_id
        check_team_limit(mine)
        is_first = not any(each.is_primary for each in mine)
        joined = replace(one.becomes(MembershipStatus.MEMBER, now), is_primary=is_first)
        return membership_changesets(engine, principal, now, [joined], revision), one.team_id

    return show_team(engine, principal, run_transaction_across_scopes(engine, request, decide))


def leave_team(engine: EngineContext, request: RequestContext, wanted: str) -> Membership:
    """Also declines an invitation."""
    principal = request.principal
    now = engine.clock()

    def decide() -> tuple[list[Changeset], Membership]:
        one, revision = membership_and_revision(engine, principal, wanted)
        _require_other_owner(engine, one, "team")
        return end_membership(engine, principal, one, now, revision), one.becomes(
            MembershipStatus.LEFT, now
        )

    return run_transaction_across_scopes(engine, request, decide)


def remove_member(
    engine: EngineContext, request: RequestContext, wanted: str, user_id: str
) -> Membership:
    principal = request.principal
    now = engine.clock()
    if user_id == principal.user_id:
        return leave_team(engine, request, wanted)

    def decide() -> tuple[list[Changeset], Membership]:
        mine, revision = require_manager(engine, principal, wanted)
        one = _find_member(engine, mine, user_id)
        require_rights_over_role(mine, one.role)
        _require_other_owner(engine, one, "member")
        return end_membership(engine, principal, one, now, revision, by=mine), one.becomes(
            MembershipStatus.LEFT, now
        )

    return run_transaction_across_scopes(engine, request, decide)


def set_role(
    engine: EngineContext, request: RequestContext, wanted: str, user_id: str, role: TeamRole
) -> Membership:
    principal = request.principal
    now = engine.clock()

    def decide() -> tuple[list[Changeset], Membership]:
        mine, revision = require_manager(engine, principal, wanted, role)
        one = _find_member(engine, mine, user_id)
        require_rights_over_role(mine, one.role)
        if role is not TeamRole.OWNER:
            _require_other_owner(engine, one, "as_role")
        after = replace(one, role=role)
        if after == one:
            return [], one
        return membership_changesets(engine, principal, now, [after], revision, by=mine), after

    return run_transaction_across_scopes(engine, request, decide)


def _require_other_owner(engine: EngineContext, one: Membership, field: str) -> None:
    if is_last_owner(engine.store.access(one.team_scope).memberships, one.user_id):
        raise NotAllowed(
            "A team needs at least one owner.",
            remedy="Make another member owner first (`teams role`), or delete the team.",
            field=field,
        )


def _find_member(engine: EngineContext, mine: Membership, user_id: str) -> Membership:
    people = engine.store.access(mine.team_scope).memberships
    for one in people:
        if one.user_id == user_id and one.standing is not MembershipStatus.LEFT:
            return one
    raise NotFound(
        f"{user_id!r} is not in this team.",
        remedy="See who is: `commonplace teams show`.",
        field="member",
    )


# ——— both sides of it ———


def membership_changesets(
    engine: EngineContext,
    principal: Principal,
    now: datetime,
    changed: Sequence[Membership],
    revision: int,
    *,
    team_steps: tuple[ChangesetStep, ...] = (),
    by: Membership | None = None,
) -> list[Changeset]:
    """The choices (primary, active) are the user's own: the team's side does not hold them."""
    team = changed[0].team_scope
    plain = [replace(one, is_primary=False, is_active=False) for one in changed]
    told = [SetMember(one, access_entry(Op.GRANT, one.team_id, one)) for one in plain]
    sides = [
        Changeset(
            team,
            now,
            principal.actor,
            (*team_steps, *told),
            revision,
            member=by.user_id if by else None,
        )
    ]
    for one in changed:
        kept = _keep_choices(engine, one)
        step = SetMembership(kept, access_entry(Op.GRANT, one.team_id))
        sides.append(Changeset(one.user_scope, now, principal.actor, (step,)))
    return sides


def _keep_choices(engine: EngineContext, one: Membership) -> Membership:
    """Another's hand does not change which team is somebody's primary or active one."""
    mine = {each.team_id: each for each in engine.store.access(one.user_scope).memberships}
    known = mine.get(one.team_id)
    if known is None:
        return one
    return replace(
        one,
        is_primary=one.is_primary or known.is_primary,
        is_active=one.is_active or known.is_active,
    )


def end_membership(
    engine: EngineContext,
    principal: Principal,
    one: Membership,
    now: datetime,
    revision: int,
    by: Membership | None = None,
) -> list[Changeset]:
    """The team remembers who has left, so that nobody makes them a guest by mistake; what they
    could read as a guest goes with the membership."""
    team, told = one.team_scope, access_entry(Op.REVOKE, one.team_id, one)
    left = replace(one.becomes(MembershipStatus.LEFT, now), is_primary=False, is_active=False)
    shares = [share for share in engine.store.access(team).shares if share.guest == one.user_id]
    of_team: list[ChangesetStep] = [SetMember(left, told)]
    of_team += [SetShare(s, access_entry(Op.REVOKE, s.source_id), gone=True) for s in shares]
    of_user: list[ChangesetStep] = [
        SetMembership(one, access_entry(Op.REVOKE, one.team_id), gone=True)
    ]
    of_user += [SetGrant(s, access_entry(Op.REVOKE, s.source_id), gone=True) for s in shares]
    member = by.user_id if by else None
    return [
        Changeset(team, now, principal.actor, tuple(of_team), revision, member=member),
        Changeset(one.user_scope, now, principal.actor, tuple(of_user)),
    ]


def access_entry(op: Op, subject: str, one: Membership | None = None) -> Entry:
    meta = {"user": one.user_id, "role": str(one.role)} if one else {}
    return Entry(op=op, node=JournalNode.API, subject=subject, meta=meta)

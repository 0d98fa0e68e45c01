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

PRIMARY = "primary"  # names the caller's primary team
ASK_OWNER_REMEDY = "Ask an owner of the team; `commonplace teams show` says who that is."


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownMember:
    """A user's membership in a team. Their choice of primary and active team is private."""

    team_id: str
    team_name: str | None  # None: the team was deleted meanwhile
    user_id: str
    role: TeamRole
    standing: MembershipStatus
    invited_by: str
    since: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownTeam:
    """A team as a member or an invited user sees it."""

    id: str
    name: str
    role: TeamRole
    standing: MembershipStatus
    invited_by: str
    since: datetime
    is_primary: bool
    is_active: bool
    retention_days: int | None = None
    members: tuple[ShownMember, ...] = ()  # shown to members only


def list_teams(engine: EngineContext, principal: Principal) -> list[ShownTeam]:
    """Teams of which the caller is a member, and teams to which they are invited."""
    mine = own_memberships(engine, principal)
    with_team = (
        (membership, engine.store.access(membership.team_scope).team) for membership in mine
    )
    return [describe_team(team, membership) for membership, team in with_team if team is not None]


def show_team(engine: EngineContext, principal: Principal, wanted: str) -> ShownTeam:
    membership = find_membership(engine, principal, wanted)
    team = load_team(engine, membership.team_scope)
    memberships = (
        engine.store.access(membership.team_scope).memberships if membership.is_member else []
    )
    members = [
        describe_member(team, each)
        for each in memberships
        if each.standing is not MembershipStatus.LEFT
    ]
    return replace(describe_team(team, membership), members=tuple(members))


def load_team(engine: EngineContext, scope: Scope) -> Team:
    team = engine.store.access(scope).team
    if team is None:
        raise_no_such_team()
    return team


def describe_team(team: Team, membership: Membership) -> ShownTeam:
    return ShownTeam(
        id=team.id,
        name=team.name,
        role=membership.role,
        standing=membership.standing,
        invited_by=membership.invited_by,
        since=membership.since,
        is_primary=membership.is_primary,
        is_active=membership.is_active,
        retention_days=team.retention_days if membership.is_member else None,
    )


def show_member(engine: EngineContext, membership: Membership) -> ShownMember:
    return describe_member(engine.store.access(membership.team_scope).team, membership)


def describe_member(team: Team | None, membership: Membership) -> ShownMember:
    return ShownMember(
        team_id=membership.team_id,
        team_name=team.name if team else None,
        user_id=membership.user_id,
        role=membership.role,
        standing=membership.standing,
        invited_by=membership.invited_by,
        since=membership.since,
    )


def own_memberships(engine: EngineContext, principal: Principal) -> list[Membership]:
    """A key that is limited to one team sees only that team."""
    mine = engine.store.access(principal.own_scope).memberships
    return [membership for membership in mine if principal.team in (None, membership.team_id)]


def find_membership(engine: EngineContext, principal: Principal, wanted: str) -> Membership:
    """The caller's membership in the team with this id or name; `primary` is a name, too. Others
    get the same error as for an unknown team."""
    mine = own_memberships(engine, principal)
    found = [membership for membership in mine if membership.team_id == wanted]
    if not found and wanted == PRIMARY:
        found = [membership for membership in mine if membership.is_primary]
    if not found:
        by_name = [
            membership
            for membership in mine
            if _has_name(engine.store.access(membership.team_scope).team, wanted)
        ]
        # A membership takes precedence over an invitation to a team of the same name.
        found = [membership for membership in by_name if membership.is_member] or by_name
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
    membership = find_membership(engine, principal, wanted)
    if not membership.is_member:
        raise_no_such_team()
    return membership


def raise_no_such_team() -> NoReturn:
    raise NotFound("Unknown team.", remedy="See `commonplace teams`.", field="team")


def membership_and_revision(
    engine: EngineContext, principal: Principal, wanted: str
) -> tuple[Membership, int]:
    """The caller's membership, and the team's revision for decisions about it. Every change of a
    membership increments that revision. It is read first, so that any later change makes the
    decision stale."""
    team = find_membership(engine, principal, wanted).team_id
    revision = engine.store.counters(Scope.of_team(team)).revision
    return find_membership(engine, principal, team), revision


def require_manager(
    engine: EngineContext, principal: Principal, wanted: str, role: TeamRole | None = None
) -> tuple[Membership, int]:
    """The same for owners and admins of the team. With a role: the caller must be allowed to give
    it."""
    membership, revision = membership_and_revision(engine, principal, wanted)
    if not membership.is_member:
        raise_no_such_team()
    if not membership.manages:
        raise NotAllowed(
            "Only owners and admins may manage a team.", remedy=ASK_OWNER_REMEDY, field="team"
        )
    if role is not None:
        require_rights_over_role(membership, role)
    return membership, revision


def require_rights_over_role(mine: Membership, role: TeamRole) -> None:
    if not may_manage(mine, role):
        raise NotAllowed(
            f"Only an owner may manage {role}s.", remedy=ASK_OWNER_REMEDY, field="as_role"
        )


def check_team_limit(mine: Sequence[Membership]) -> None:
    """Invitations do not count, so that other users cannot exhaust the limit."""
    if sum(membership.is_member for membership in mine) >= MAX_TEAMS:
        raise LimitReached(f"A user is in at most {MAX_TEAMS} teams.", remedy="Leave one first.")


def invite_member(
    engine: EngineContext, request: RequestContext, wanted: str, user_id: str, role: TeamRole
) -> Membership:
    """Searches include the team only after the user has accepted."""
    principal = request.principal
    now = engine.clock()

    def decide() -> tuple[list[Changeset], Membership]:
        mine, revision = require_manager(engine, principal, wanted, role)
        memberships = engine.store.access(mine.team_scope).memberships
        known = next((each for each in memberships if each.user_id == user_id), None)
        if known is not None and known.standing is not MembershipStatus.LEFT:
            return [], known
        if len(memberships) >= MAX_MEMBERS:
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
        membership, revision = membership_and_revision(engine, principal, wanted)
        mine = engine.store.access(principal.own_scope).memberships
        if membership.is_member:
            return [], membership.team_id
        check_team_limit(mine)
        is_first = not any(each.is_primary for each in mine)
        joined = replace(membership.becomes(MembershipStatus.MEMBER, now), is_primary=is_first)
        return membership_changesets(engine, principal, now, [joined], revision), membership.team_id

    return show_team(engine, principal, run_transaction_across_scopes(engine, request, decide))


def leave_team(engine: EngineContext, request: RequestContext, wanted: str) -> Membership:
    """Also declines an invitation."""
    principal = request.principal
    now = engine.clock()

    def decide() -> tuple[list[Changeset], Membership]:
        membership, revision = membership_and_revision(engine, principal, wanted)
        _require_other_owner(engine, membership, "team")
        return end_membership(engine, principal, membership, now, revision), membership.becomes(
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
        membership = _find_member(engine, mine, user_id)
        require_rights_over_role(mine, membership.role)
        _require_other_owner(engine, membership, "member")
        return end_membership(
            engine, principal, membership, now, revision, by=mine
        ), membership.becomes(MembershipStatus.LEFT, now)

    return run_transaction_across_scopes(engine, request, decide)


def set_role(
    engine: EngineContext, request: RequestContext, wanted: str, user_id: str, role: TeamRole
) -> Membership:
    principal = request.principal
    now = engine.clock()

    def decide() -> tuple[list[Changeset], Membership]:
        mine, revision = require_manager(engine, principal, wanted, role)
        membership = _find_member(engine, mine, user_id)
        require_rights_over_role(mine, membership.role)
        if role is not TeamRole.OWNER:
            _require_other_owner(engine, membership, "as_role")
        after = replace(membership, role=role)
        if after == membership:
            return [], membership
        return membership_changesets(engine, principal, now, [after], revision, by=mine), after

    return run_transaction_across_scopes(engine, request, decide)


def _require_other_owner(engine: EngineContext, membership: Membership, field: str) -> None:
    if is_last_owner(engine.store.access(membership.team_scope).memberships, membership.user_id):
        raise NotAllowed(
            "A team needs at least one owner.",
            remedy="Make another member owner first (`teams role`), or delete the team.",
            field=field,
        )


def _find_member(engine: EngineContext, mine: Membership, user_id: str) -> Membership:
    memberships = engine.store.access(mine.team_scope).memberships
    for membership in memberships:
        if membership.user_id == user_id and membership.standing is not MembershipStatus.LEFT:
            return membership
    raise NotFound(
        f"{user_id!r} is not in this team.",
        remedy="See who is: `commonplace teams show`.",
        field="member",
    )


# ——— changesets of the team and of its members ———


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
    """One for the team and one per user. The choices (primary, active) are stored on the user's
    side only."""
    team = changed[0].team_scope
    without_choices = [
        replace(membership, is_primary=False, is_active=False) for membership in changed
    ]
    member_steps = [
        SetMember(membership, access_entry(Op.GRANT, membership.team_id, membership))
        for membership in without_choices
    ]
    changesets = [
        Changeset(
            team,
            now,
            principal.actor,
            (*team_steps, *member_steps),
            revision,
            member=by.user_id if by else None,
        )
    ]
    for membership in changed:
        kept = _keep_choices(engine, membership)
        step = SetMembership(kept, access_entry(Op.GRANT, membership.team_id))
        changesets.append(Changeset(membership.user_scope, now, principal.actor, (step,)))
    return changesets


def _keep_choices(engine: EngineContext, membership: Membership) -> Membership:
    """A change by another user does not change which team is primary or active."""
    mine = {each.team_id: each for each in engine.store.access(membership.user_scope).memberships}
    known = mine.get(membership.team_id)
    if known is None:
        return membership
    return replace(
        membership,
        is_primary=membership.is_primary or known.is_primary,
        is_active=membership.is_active or known.is_active,
    )


def end_membership(
    engine: EngineContext,
    principal: Principal,
    membership: Membership,
    now: datetime,
    revision: int,
    by: Membership | None = None,
) -> list[Changeset]:
    """The team records who has left, so that they are not made a guest by mistake. Shares of the
    team with them end too."""
    team, entry = membership.team_scope, access_entry(Op.REVOKE, membership.team_id, membership)
    left = replace(
        membership.becomes(MembershipStatus.LEFT, now), is_primary=False, is_active=False
    )
    shares = [
        share for share in engine.store.access(team).shares if share.guest == membership.user_id
    ]
    team_steps: list[ChangesetStep] = [SetMember(left, entry)]
    team_steps += [SetShare(s, access_entry(Op.REVOKE, s.source_id), gone=True) for s in shares]
    user_steps: list[ChangesetStep] = [
        SetMembership(membership, access_entry(Op.REVOKE, membership.team_id), gone=True)
    ]
    user_steps += [SetGrant(s, access_entry(Op.REVOKE, s.source_id), gone=True) for s in shares]
    member = by.user_id if by else None
    return [
        Changeset(team, now, principal.actor, tuple(team_steps), revision, member=member),
        Changeset(membership.user_scope, now, principal.actor, tuple(user_steps)),
    ]


def access_entry(op: Op, subject: str, membership: Membership | None = None) -> Entry:
    meta = {"user": membership.user_id, "role": str(membership.role)} if membership else {}
    return Entry(op=op, node=JournalNode.API, subject=subject, meta=meta)

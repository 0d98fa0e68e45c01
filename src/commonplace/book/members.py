"""Who belongs to a team: invited, joined, given a role, left. Both rows of a membership change in
one transaction."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from commonplace.book.which_team import (
    ShownTeam,
    hold_below,
    hold_to_limit,
    managing,
    show_team,
    standing_in,
)
from commonplace.desk import Desk
from commonplace.errors import LimitReached, NotAllowed, NotFound
from commonplace.model.changes import Changeset, Step
from commonplace.model.company_steps import SetGrant, SetMember, SetMembership, SetShare
from commonplace.model.journal import Entry, Node, Op
from commonplace.model.scope import Principal
from commonplace.model.team import MAX_MEMBERS, Membership, Role, Standing, is_last_owner


def invite(desk: Desk, principal: Principal, wanted: str, user_id: str, role: Role) -> Membership:
    """Nothing is seen until it is accepted: nobody's searches are filled by strangers."""
    now = desk.clock()

    def decide() -> tuple[list[Changeset], Membership]:
        mine, revision = managing(desk, principal, wanted, role)
        people = desk.store.memberships(mine.team_scope)
        known = next((each for each in people if each.user_id == user_id), None)
        if known is not None and known.standing is not Standing.LEFT:
            return [], known
        if len(people) >= MAX_MEMBERS:
            raise LimitReached(f"A team has at most {MAX_MEMBERS} people.")
        invited = Membership(
            team_id=mine.team_id,
            user_id=user_id,
            role=role,
            standing=Standing.INVITED,
            invited_by=principal.user_id,
            since=now,
        )
        return both_sides(desk, principal, now, [invited], revision, by=mine), invited

    return desk.decide_together(decide)


def join(desk: Desk, principal: Principal, wanted: str) -> ShownTeam:
    now = desk.clock()

    def decide() -> tuple[list[Changeset], str]:
        one, revision = standing_in(desk, principal, wanted)
        mine = desk.store.memberships(principal.home)
        if one.is_member:
            return [], one.team_id
        hold_to_limit(mine)
        is_first = not any(each.is_primary for each in mine)
        joined = replace(one.becomes(Standing.MEMBER, now), is_primary=is_first)
        return both_sides(desk, principal, now, [joined], revision), one.team_id

    return show_team(desk, principal, desk.decide_together(decide))


def leave(desk: Desk, principal: Principal, wanted: str) -> Membership:
    """Also declines an invitation."""
    now = desk.clock()

    def decide() -> tuple[list[Changeset], Membership]:
        one, revision = standing_in(desk, principal, wanted)
        _keep_an_owner(desk, one, "team")
        return ended(desk, principal, one, now, revision), one.becomes(Standing.LEFT, now)

    return desk.decide_together(decide)


def remove(desk: Desk, principal: Principal, wanted: str, user_id: str) -> Membership:
    now = desk.clock()
    if user_id == principal.user_id:
        return leave(desk, principal, wanted)

    def decide() -> tuple[list[Changeset], Membership]:
        mine, revision = managing(desk, principal, wanted)
        one = _person(desk, mine, user_id)
        hold_below(mine, one.role)
        _keep_an_owner(desk, one, "member")
        return ended(desk, principal, one, now, revision, by=mine), one.becomes(Standing.LEFT, now)

    return desk.decide_together(decide)


def set_role(desk: Desk, principal: Principal, wanted: str, user_id: str, role: Role) -> Membership:
    now = desk.clock()

    def decide() -> tuple[list[Changeset], Membership]:
        mine, revision = managing(desk, principal, wanted, role)
        one = _person(desk, mine, user_id)
        hold_below(mine, one.role)
        if role is not Role.OWNER:
            _keep_an_owner(desk, one, "as_role")
        after = replace(one, role=role)
        if after == one:
            return [], one
        return both_sides(desk, principal, now, [after], revision, by=mine), after

    return desk.decide_together(decide)


def _keep_an_owner(desk: Desk, one: Membership, field: str) -> None:
    if is_last_owner(desk.store.memberships(one.team_scope), one.user_id):
        raise NotAllowed(
            "A team needs at least one owner.",
            remedy="Make another member owner first (`teams role`), or delete the team.",
            field=field,
        )


def _person(desk: Desk, mine: Membership, user_id: str) -> Membership:
    people = desk.store.memberships(mine.team_scope)
    for one in people:
        if one.user_id == user_id and one.standing is not Standing.LEFT:
            return one
    raise NotFound(
        f"{user_id!r} is not in this team.",
        remedy="See who is: `commonplace teams show`.",
        field="member",
    )


# ——— both sides of it ———


def both_sides(
    desk: Desk,
    principal: Principal,
    now: datetime,
    changed: Sequence[Membership],
    revision: int,
    *,
    team_steps: tuple[Step, ...] = (),
    by: Membership | None = None,
) -> list[Changeset]:
    """The choices (primary, active) are the user's own: the team's side does not hold them."""
    team = changed[0].team_scope
    plain = [replace(one, is_primary=False, is_active=False) for one in changed]
    told = [SetMember(one, told_of(Op.GRANT, one.team_id, one)) for one in plain]
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
        kept = _with_choices(desk, one)
        step = SetMembership(kept, told_of(Op.GRANT, one.team_id))
        sides.append(Changeset(one.user_scope, now, principal.actor, (step,)))
    return sides


def _with_choices(desk: Desk, one: Membership) -> Membership:
    """Another's hand does not change which team is somebody's primary or active one."""
    mine = {each.team_id: each for each in desk.store.memberships(one.user_scope)}
    known = mine.get(one.team_id)
    if known is None:
        return one
    return replace(
        one,
        is_primary=one.is_primary or known.is_primary,
        is_active=one.is_active or known.is_active,
    )


def ended(
    desk: Desk,
    principal: Principal,
    one: Membership,
    now: datetime,
    revision: int,
    by: Membership | None = None,
) -> list[Changeset]:
    """The team remembers who has left, so that nobody makes them a guest by mistake; what they
    could read as a guest goes with the membership."""
    team, told = one.team_scope, told_of(Op.REVOKE, one.team_id, one)
    left = replace(one.becomes(Standing.LEFT, now), is_primary=False, is_active=False)
    shares = [share for share in desk.store.shares(team) if share.guest == one.user_id]
    of_team: list[Step] = [SetMember(left, told)]
    of_team += [SetShare(s, told_of(Op.REVOKE, s.source_id), gone=True) for s in shares]
    of_user: list[Step] = [SetMembership(one, told_of(Op.REVOKE, one.team_id), gone=True)]
    of_user += [SetGrant(s, told_of(Op.REVOKE, s.source_id), gone=True) for s in shares]
    member = by.user_id if by else None
    return [
        Changeset(team, now, principal.actor, tuple(of_team), revision, member=member),
        Changeset(one.user_scope, now, principal.actor, tuple(of_user)),
    ]


def told_of(op: Op, subject: str, one: Membership | None = None) -> Entry:
    meta = {"user": one.user_id, "role": str(one.role)} if one else {}
    return Entry(op=op, node=Node.API, subject=subject, meta=meta)

"""Teams: made, changed, chosen and ended."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime
from typing import Literal

from commonplace.book.members import both_sides, told_of
from commonplace.book.which_team import (
    ASK_AN_OWNER,
    ShownTeam,
    hold_to_limit,
    managing,
    member_of,
    show_team,
    shown_member,
    shown_team,
    team_at,
    teams_of,
)
from commonplace.desk import Desk
from commonplace.errors import NotAllowed
from commonplace.model.changes import Changeset, Receipt, RemoveEverything, Step
from commonplace.model.company_steps import PutTeam, SetGrant, SetMembership
from commonplace.model.journal import Entry, Event, Node, Op
from commonplace.model.scope import Principal, Scope
from commonplace.model.team import Membership, Role, Standing, Team

Choice = Literal["primary", "active"]


def create_team(desk: Desk, principal: Principal, name: str, retention: int | None) -> ShownTeam:
    if principal.team is not None:
        raise NotAllowed(
            "This API key is limited to one team.",
            remedy="Use a key that is not limited to a team.",
        )
    now, id = desk.clock(), desk.new_id()
    mine = desk.store.memberships(principal.home)
    hold_to_limit(mine)
    team = Team(
        id=id,
        name=name,
        created_by=principal.user_id,
        created_at=now,
        retention_days=retention,
    )
    first = Membership(
        team_id=id,
        user_id=principal.user_id,
        role=Role.OWNER,
        standing=Standing.MEMBER,
        invited_by=principal.user_id,
        since=now,
        is_primary=not any(one.is_primary for one in mine),
    )
    made = PutTeam(team, told_of(Op.CREATE, id))
    desk.apply_together(both_sides(desk, principal, now, [first], 0, team_steps=(made,)))
    return replace(shown_team(team, first), members=(shown_member(team, first),))


def change_team(
    desk: Desk, principal: Principal, wanted: str, name: str | None, retention: int | None
) -> ShownTeam:
    """What is not given stays; a retention of 0 means that nothing is let go."""

    def decide() -> tuple[list[Changeset], None]:
        one, revision = managing(desk, principal, wanted)
        team = team_at(desk, one.team_scope)
        kept = team.retention_days if retention is None else retention or None
        after = replace(team, name=name or team.name, retention_days=kept)
        step = PutTeam(after, told_of(Op.UPDATE, team.id))
        changeset = Changeset(
            one.team_scope,
            desk.clock(),
            principal.actor,
            (step,),
            revision,
            member=principal.user_id,
        )
        return [changeset], None

    desk.decide_together(decide)
    return show_team(desk, principal, wanted)


@dataclass(frozen=True, slots=True)
class TeamEnded:
    id: str
    name: str
    sources: int
    receipt: Receipt


def delete_team(desk: Desk, principal: Principal, wanted: str) -> TeamEnded:
    """For good, with all its sources; nobody is a member or a guest of it any more."""
    now, receipt_id = desk.clock(), desk.new_id()

    def decide() -> tuple[list[Changeset], TeamEnded]:
        one, revision = managing(desk, principal, wanted)
        if not one.owns:
            raise NotAllowed(
                "Only an owner of the team may delete it.", remedy=ASK_AN_OWNER, field="team"
            )
        scope = one.team_scope
        name = team_at(desk, scope).name
        count = sum(each.count for each in desk.store.census(scope).sources)
        receipt = Receipt(receipt_id, now, count)
        ended = RemoveEverything(Entry(op=Op.DELETE, event=Event.ERASE, node=Node.API))
        team = Changeset(
            scope, now, principal.actor, (ended,), revision, receipt=receipt, member=one.user_id
        )
        return [team, *_without_team(desk, principal, scope, now)], TeamEnded(
            one.team_id, name, count, receipt
        )

    return desk.decide_together(decide)


def _without_team(desk: Desk, principal: Principal, team: Scope, now: datetime) -> list[Changeset]:
    """Of everybody who had something to do with it: their side of it goes, too."""
    steps: dict[Scope, list[Step]] = {}
    for one in desk.store.memberships(team):
        told = told_of(Op.REVOKE, one.team_id)
        steps.setdefault(one.user_scope, []).append(SetMembership(one, told, gone=True))
    for share in desk.store.shares(team):
        told = told_of(Op.REVOKE, share.source_id)
        steps.setdefault(share.guest_scope, []).append(SetGrant(share, told, gone=True))
    return [Changeset(scope, now, principal.actor, tuple(each)) for scope, each in steps.items()]


def choose(desk: Desk, principal: Principal, wanted: str | None, which: Choice) -> list[ShownTeam]:
    """One team, or none, is the primary or the active one: a matter of the user's side alone."""
    now = desk.clock()

    def decide() -> tuple[list[Changeset], None]:
        revisions = {
            one.team_scope: desk.store.counters(one.team_scope).revision
            for one in desk.store.memberships(principal.home)
        }
        chosen = None if wanted is None else member_of(desk, principal, wanted).team_id
        mine = [
            one for one in desk.store.memberships(principal.home) if one.team_scope in revisions
        ]
        after = [_chosen(one, which, one.team_id == chosen) for one in mine]
        changed = [new for old, new in zip(mine, after, strict=True) if old != new]
        steps = tuple(SetMembership(one, told_of(Op.UPDATE, one.team_id)) for one in changed)
        # Held to what each team says meanwhile: a choice does not bring back who was removed.
        held = [
            Changeset(one.team_scope, now, principal.actor, (), revisions[one.team_scope])
            for one in changed
        ]
        return [
            Changeset(principal.home, now, principal.actor, steps),
            *held,
        ] if steps else [], None

    desk.decide_together(decide)
    return teams_of(desk, principal)


def _chosen(one: Membership, which: Choice, chosen: bool) -> Membership:
    if which == "primary":
        return replace(one, is_primary=chosen)
    return replace(one, is_active=chosen)

"""Teams: create, change, choose, delete."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime
from typing import Literal

from commonplace.engine.context import EngineContext, RequestContext
from commonplace.engine.teams.members import (
    ASK_OWNER_REMEDY,
    ShownTeam,
    access_entry,
    check_team_limit,
    describe_member,
    describe_team,
    list_teams,
    load_team,
    membership_changesets,
    require_manager,
    require_member,
    show_team,
)
from commonplace.engine.transaction import apply_changesets, run_transaction_across_scopes
from commonplace.errors import NotAllowed
from commonplace.model.access.principal import Principal, Scope
from commonplace.model.access.team import (
    Membership,
    MembershipStatus,
    PutTeam,
    SetGrant,
    SetMembership,
    Team,
    TeamRole,
)
from commonplace.model.changeset import Changeset, ChangesetStep, ClearScope, Receipt
from commonplace.model.filters import Visibility
from commonplace.model.journal import Entry, Event, JournalNode, Op
from commonplace.model.memory.memory import State
from commonplace.store.queries import NO_LIMIT, SourceListing

TeamChoice = Literal["primary", "active"]


def create_team(
    engine: EngineContext, request: RequestContext, name: str, retention: int | None
) -> ShownTeam:
    principal = request.principal
    if principal.team is not None:
        raise NotAllowed(
            "This API key is limited to one team.",
            remedy="Use a key that is not limited to a team.",
        )
    now, id = engine.clock(), engine.new_id()
    mine = engine.store.access(principal.own_scope).memberships
    check_team_limit(mine)
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
        role=TeamRole.OWNER,
        standing=MembershipStatus.MEMBER,
        invited_by=principal.user_id,
        since=now,
        is_primary=not any(membership.is_primary for membership in mine),
    )
    made = PutTeam(team, access_entry(Op.CREATE, id))
    apply_changesets(
        engine,
        request,
        membership_changesets(engine, principal, now, [first], 0, team_steps=(made,)),
    )
    return replace(describe_team(team, first), members=(describe_member(team, first),))


def change_team(
    engine: EngineContext,
    request: RequestContext,
    wanted: str,
    name: str | None,
    retention: int | None,
) -> ShownTeam:
    """Values that are not given stay; a retention of 0 means no limit."""

    principal = request.principal

    def decide() -> tuple[list[Changeset], None]:
        membership, revision = require_manager(engine, principal, wanted)
        team = load_team(engine, membership.team_scope)
        kept = team.retention_days if retention is None else retention or None
        after = replace(team, name=name or team.name, retention_days=kept)
        step = PutTeam(after, access_entry(Op.UPDATE, team.id))
        changeset = Changeset(
            membership.team_scope,
            engine.clock(),
            principal.actor,
            (step,),
            revision,
            member=principal.user_id,
        )
        return [changeset], None

    run_transaction_across_scopes(engine, request, decide)
    return show_team(engine, principal, wanted)


@dataclass(frozen=True, slots=True)
class TeamEnded:
    id: str
    name: str
    sources: int
    receipt: Receipt


def delete_team(engine: EngineContext, request: RequestContext, wanted: str) -> TeamEnded:
    """Erase the team with all its sources, memberships and shares."""
    principal = request.principal
    now, receipt_id = engine.clock(), engine.new_id()

    def decide() -> tuple[list[Changeset], TeamEnded]:
        membership, revision = require_manager(engine, principal, wanted)
        if not membership.owns:
            raise NotAllowed(
                "Only an owner of the team may delete it.", remedy=ASK_OWNER_REMEDY, field="team"
            )
        scope = membership.team_scope
        name = load_team(engine, scope).name
        count = sum(each.count for each in engine.store.statistics(scope).sources)
        receipt = Receipt(receipt_id, now, count)
        ended = ClearScope(Entry(op=Op.DELETE, event=Event.ERASE, node=JournalNode.API))
        team = Changeset(
            scope,
            now,
            principal.actor,
            (ended,),
            revision,
            receipt=receipt,
            member=membership.user_id,
        )
        return [team, *_remove_from_users(engine, principal, scope, now)], TeamEnded(
            membership.team_id, name, count, receipt
        )

    return run_transaction_across_scopes(engine, request, decide)


def _remove_from_users(
    engine: EngineContext, principal: Principal, team: Scope, now: datetime
) -> list[Changeset]:
    """Remove the memberships and shares of the team from its users' scopes, and what models
    answered them about its sources."""
    steps: dict[Scope, list[ChangesetStep]] = {}
    for membership in engine.store.access(team).memberships:
        entry = access_entry(Op.REVOKE, membership.team_id)
        steps.setdefault(membership.user_scope, []).append(
            SetMembership(membership, entry, gone=True)
        )
    for share in engine.store.access(team).shares:
        entry = access_entry(Op.REVOKE, share.source_id)
        steps.setdefault(share.guest_scope, []).append(SetGrant(share, entry, gone=True))
    everything = SourceListing(
        states=tuple(State), visibility=Visibility(cleared=True), limit=NO_LIMIT
    )
    ended = tuple(source.id for source in engine.store.sources(team, everything))
    return [
        Changeset(scope, now, principal.actor, tuple(each), ended_sources=ended)
        for scope, each in steps.items()
    ]


def choose_team(
    engine: EngineContext, request: RequestContext, wanted: str | None, which: TeamChoice
) -> list[ShownTeam]:
    """Make one team, or none, the primary or the active one. This changes the user's scope only."""
    principal = request.principal
    now = engine.clock()

    def decide() -> tuple[list[Changeset], None]:
        revisions = {
            membership.team_scope: engine.store.counters(membership.team_scope).revision
            for membership in engine.store.access(principal.own_scope).memberships
        }
        chosen = None if wanted is None else require_member(engine, principal, wanted).team_id
        mine = [
            membership
            for membership in engine.store.access(principal.own_scope).memberships
            if membership.team_scope in revisions
        ]
        after = [
            _with_choice(membership, which, membership.team_id == chosen) for membership in mine
        ]
        changed = [new for old, new in zip(mine, after, strict=True) if old != new]
        steps = tuple(
            SetMembership(membership, access_entry(Op.UPDATE, membership.team_id))
            for membership in changed
        )
        # Checked against each team's revision: a choice must not restore a removed membership.
        revision_checks = [
            Changeset(
                membership.team_scope, now, principal.actor, (), revisions[membership.team_scope]
            )
            for membership in changed
        ]
        return [
            Changeset(principal.own_scope, now, principal.actor, steps),
            *revision_checks,
        ] if steps else [], None

    run_transaction_across_scopes(engine, request, decide)
    return list_teams(engine, principal)


def _with_choice(membership: Membership, which: TeamChoice, chosen: bool) -> Membership:
    if which == "primary":
        return replace(membership, is_primary=chosen)
    return replace(membership, is_active=chosen)

"""Teams: create, change, choose, delete; sources shared with guests."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Literal

from commonplace.engine.access import principal_at_source
from commonplace.engine.context import EngineContext, RequestContext
from commonplace.engine.sources.listing import load_visible_source
from commonplace.engine.sources.removal import locate_items
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
from commonplace.errors import InvalidInput, LimitReached, NotAllowed, NotFound
from commonplace.model.access.principal import Principal, Scope
from commonplace.model.access.team import (
    Membership,
    MembershipStatus,
    PutTeam,
    SetGrant,
    SetMembership,
    SetShare,
    Share,
    Team,
    TeamRole,
)
from commonplace.model.changeset import Changeset, ChangesetStep, ClearScope, Receipt
from commonplace.model.journal import Entry, Event, JournalNode, Op
from commonplace.model.memory.memory import Sensitivity
from commonplace.model.sources.source import Source

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
    """Remove the memberships and shares of the team from its users' scopes."""
    steps: dict[Scope, list[ChangesetStep]] = {}
    for membership in engine.store.access(team).memberships:
        entry = access_entry(Op.REVOKE, membership.team_id)
        steps.setdefault(membership.user_scope, []).append(
            SetMembership(membership, entry, gone=True)
        )
    for share in engine.store.access(team).shares:
        entry = access_entry(Op.REVOKE, share.source_id)
        steps.setdefault(share.guest_scope, []).append(SetGrant(share, entry, gone=True))
    return [Changeset(scope, now, principal.actor, tuple(each)) for scope, each in steps.items()]


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


MAX_GUESTS = 1000  # shares per owner


@dataclass(frozen=True, slots=True)
class Shared:
    """The users who may read a source besides its owner."""

    id: str
    guests: tuple[str, ...]


def share_source(engine: EngineContext, request: RequestContext, id: str, guest: str) -> Shared:
    principal = request.principal
    source, acting = _find_shareable(engine, principal, id)
    if guest == principal.user_id:
        raise InvalidInput("You can read this source already.", field="with_user")
    if source.sensitivity is Sensitivity.HIGH:
        raise InvalidInput(
            "A source with sensitivity high cannot be shared.",
            remedy="Ingest it again with a lower sensitivity first.",
            field="id",
        )
    if _standing_in_team(engine, source, guest) is MembershipStatus.LEFT:
        raise NotAllowed(
            f"{guest!r} has left the team and cannot be a guest of it.",
            remedy="Invite them again: `teams invite`.",
            field="with_user",
        )
    _grant_share(engine, request.acting_as(acting), source, guest)
    return _shared_answer(engine, source)


def unshare_source(
    engine: EngineContext, request: RequestContext, id: str, guest: str | None
) -> Shared:
    """Without a guest: the caller declines another user's share, permanently."""
    principal = request.principal
    placed = principal_at_source(engine, principal, id)
    if guest is None:
        return _decline_share(engine, request.acting_as(placed), id)
    source, acting = _find_shareable(engine, principal, id)
    for known in _shares_of_source(engine, source):
        if known.guest == guest and not known.declined:
            _apply_share(engine, request.acting_as(acting), known, gone=True)
    return _shared_answer(engine, source)


def share_with_participants(
    engine: EngineContext, request: RequestContext, source: Source, named: Sequence[str]
) -> None:
    """Share a source with the participants that its owner names, if they are users of this store.
    Names found in a text give no rights, and neither do participants named for a source that
    another user added."""
    acting = request.principal
    may_share = source.user_id == acting.user_id or acting.manages
    if not acting.is_owner or not may_share or source.sensitivity is Sensitivity.HIGH:
        return
    known = {each.guest for each in _shares_of_source(engine, source)}
    for guest in dict.fromkeys(named):
        if guest in known or guest == acting.user_id or not _is_user(engine, guest):
            continue
        if _standing_in_team(engine, source, guest) in (None, MembershipStatus.INVITED):
            _grant_share(engine, request, source, guest)


def _find_shareable(
    engine: EngineContext, principal: Principal, id: str
) -> tuple[Source, Principal]:
    """Sharing a source needs the same right as removing it."""
    source = load_visible_source(engine, principal, id, "id")
    return source, locate_items(engine, principal, [source.id])


def _is_user(engine: EngineContext, user_id: str) -> bool:
    counters = engine.store.counters(Scope.of_user(user_id))
    return counters.journal > 0


def _standing_in_team(
    engine: EngineContext, source: Source, user_id: str
) -> MembershipStatus | None:
    if source.team_id is None:
        return None
    memberships = engine.store.access(source.scope).memberships
    return next((each.standing for each in memberships if each.user_id == user_id), None)


def _shares_of_source(engine: EngineContext, source: Source) -> list[Share]:
    shares = engine.store.access(source.scope).shares
    return [each for each in shares if each.owner == source.scope and each.source_id == source.id]


def _grant_share(
    engine: EngineContext, request: RequestContext, source: Source, guest: str
) -> None:
    """Valid only at the revision at which the source existed and the guest had not left."""

    acting = request.principal

    def decide() -> tuple[list[Changeset], None]:
        revision = engine.store.counters(source.scope).revision
        shares = [
            each for each in engine.store.access(source.scope).shares if each.owner == source.scope
        ]
        existing = engine.live_sources(source.scope, [source.id])
        if not existing or _standing_in_team(engine, source, guest) is MembershipStatus.LEFT:
            raise NotFound(f"There is no {source.id!r} here.", field="id")
        if any(_is_settled(each, source, guest) for each in shares):
            return [], None
        if len(shares) >= MAX_GUESTS:
            raise LimitReached(
                f"Too many shares: the limit is {MAX_GUESTS}.", remedy="End some of them first."
            )
        share = Share(
            owner=source.scope,
            source_id=source.id,
            guest=guest,
            granted_by=acting.user_id,
            granted_at=engine.clock(),
        )
        return _share_changesets(engine, acting, share, revision), None

    run_transaction_across_scopes(engine, request, decide)


def _is_settled(known: Share, source: Source, guest: str) -> bool:
    """True if it is shared already, or if the guest has declined a share of this owner: they get no
    further shares from this owner."""
    return known.guest == guest and (known.source_id == source.id or known.declined)


def _decline_share(engine: EngineContext, request: RequestContext, id: str) -> Shared:
    placed = request.principal
    for known in engine.store.access(placed.own_scope).shares:
        if known.source_id != id or known.owner == placed.own_scope:
            continue
        if known in engine.store.access(known.owner).shares:  # else its source was removed
            _apply_share(engine, request, replace(known, declined=True))
            return Shared(id, ())
    raise NotFound(f"There is no {id!r} here.", field="id")


def _apply_share(
    engine: EngineContext, request: RequestContext, share: Share, *, gone: bool = False
) -> None:
    acting = request.principal
    apply_changesets(engine, request, _share_changesets(engine, acting, share, None, gone=gone))


def _share_changesets(
    engine: EngineContext,
    acting: Principal,
    share: Share,
    revision: int | None,
    *,
    gone: bool = False,
) -> list[Changeset]:
    entry = access_entry(Op.REVOKE if gone or share.declined else Op.GRANT, share.source_id)
    now, actor = engine.clock(), acting.actor
    member = None if share.declined else acting.member
    owner_changeset = Changeset(
        share.owner, now, actor, (SetShare(share, entry, gone),), revision, member=member
    )
    guest_entry = replace(entry, subject=None)  # only the owner's journal names the source
    guest_changeset = Changeset(
        share.guest_scope, now, actor, (SetGrant(share, guest_entry, gone),)
    )
    return [owner_changeset, guest_changeset]


def _shared_answer(engine: EngineContext, source: Source) -> Shared:
    guests = (each.guest for each in _shares_of_source(engine, source) if not each.declined)
    return Shared(source.id, tuple(sorted(guests)))

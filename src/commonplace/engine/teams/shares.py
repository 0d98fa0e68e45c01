"""Sources shared with guests: invite, revoke, list invitations, accept, decline.

Nobody learns from these verbs who is a user of the store: an invitation leaves the same journal
entry whether its addressee exists, has declined, or has not answered. Only who has accepted is
named.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from commonplace.engine.access import list_pending_invitations, principal_at_source
from commonplace.engine.context import EngineContext, RequestContext
from commonplace.engine.sources.listing import load_visible_source
from commonplace.engine.sources.originals import IngestAction
from commonplace.engine.sources.receive import Ingested
from commonplace.engine.sources.removal import locate_items
from commonplace.engine.teams.members import access_entry
from commonplace.engine.transaction import run_transaction_across_scopes
from commonplace.errors import InvalidInput, LimitReached, NotAllowed, NotFound
from commonplace.language.safety.prompt_injection import is_suspicious
from commonplace.model.access.principal import Principal, Scope
from commonplace.model.access.team import (
    MembershipStatus,
    SetGrant,
    SetShare,
    Share,
    ShareStatus,
    current_shares,
)
from commonplace.model.changeset import Changeset, ChangesetStep
from commonplace.model.delta import shorten
from commonplace.model.journal import Op
from commonplace.model.memory.memory import Sensitivity
from commonplace.model.paging import take_page
from commonplace.model.sources.source import Source

MAX_GUESTS = 1000  # shares per owner, with those that are not accepted


@dataclass(frozen=True, slots=True)
class Shared:
    """Who may read a source besides its owner."""

    id: str
    guests: tuple[str, ...]  # who have accepted
    invited: str | None = None  # by this call; also a name that is no user's


@dataclass(frozen=True, slots=True, kw_only=True)
class Invitation:
    """Another user's source that is offered to the caller."""

    id: str  # of the source
    from_user: str
    title: str  # in the other's words; empty: none, it reads like instructions, or for an agent
    source_type: str
    date: datetime | None  # of the source
    invited_at: datetime
    standing: ShareStatus


# ——— of the owner ———


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
    _invite(engine, request.acting_as(acting), source, {guest: True}, _require_outside_team)
    guests = _list_guests(engine, source)
    return Shared(source.id, guests, None if guest in guests else guest)


def _require_outside_team(guest: str, standing: MembershipStatus | None) -> None:
    if standing is MembershipStatus.MEMBER:
        raise InvalidInput(
            f"{guest!r} is a member of the team and can read this source already.",
            field="with_user",
        )
    if standing is MembershipStatus.LEFT:
        raise NotAllowed(
            f"{guest!r} has left the team and cannot be a guest of it.",
            remedy="Invite them again: `teams invite`.",
            field="with_user",
        )


def invite_participants(
    engine: EngineContext, request: RequestContext, ingested: Ingested, named: Sequence[str]
) -> Ingested:
    """Invite the participants that the owner of a source names, if they are users of this store.
    Names found in a text invite nobody, and neither do participants named for a source that another
    user added, or for one that is unchanged."""
    acting, source = request.principal, ingested.source
    may_share = source.user_id == acting.user_id or acting.manages
    if not acting.is_owner or not may_share or source.sensitivity is Sensitivity.HIGH:
        return ingested
    others = [name for name in dict.fromkeys(named) if name != acting.user_id]
    if not others or ingested.action is IngestAction.UNCHANGED:
        return ingested
    guests = {name: _is_user(engine, name) for name in others}
    _invite(engine, request, source, guests)
    return replace(ingested, revision=engine.store.counters(source.scope).revision)


def _count_named(engine: EngineContext, owner: Scope, shares: Mapping[Any, Share]) -> int:
    """The shares that `sources share` made. Those with participants do not count: only users get
    one, so that reaching the limit would tell who is a user."""
    if len(shares) <= MAX_GUESTS:
        return len(shares)
    ids = list({share.source_id for share in shares.values()})
    sources = {source.id: source.participants for source in engine.live_sources(owner, ids)}
    return sum(share.guest not in sources.get(share.source_id, ()) for share in shares.values())


def unshare_source(
    engine: EngineContext, request: RequestContext, id: str, guest: str | None
) -> Shared:
    """Without a guest: the caller gives up another user's source and blocks that user."""
    principal = request.principal
    if guest is None:
        placed = principal_at_source(engine, principal, id)
        _answer(engine, request.acting_as(placed), id, ShareStatus.BLOCKED)
        return Shared(id, ())
    source, acting = _find_shareable(engine, principal, id)
    _revoke(engine, request.acting_as(acting), source, guest)
    return Shared(source.id, _list_guests(engine, source))


def _find_shareable(
    engine: EngineContext, principal: Principal, id: str
) -> tuple[Source, Principal]:
    """Sharing a source needs the same right as removing it."""
    source = load_visible_source(engine, principal, id, "id")
    return source, locate_items(engine, principal, [source.id])


def _is_user(engine: EngineContext, user_id: str) -> bool:
    return engine.store.counters(Scope.of_user(user_id)).journal > 0


def _standing_in_team(
    engine: EngineContext, source: Source, user_id: str
) -> MembershipStatus | None:
    if source.team_id is None:
        return None
    memberships = engine.store.access(source.scope).memberships
    return next((each.standing for each in memberships if each.user_id == user_id), None)


def _list_guests(engine: EngineContext, source: Source) -> tuple[str, ...]:
    rows = _owner_rows(engine, source.scope)
    return tuple(
        sorted(row.guest for row in rows if row.source_id == source.id and row.is_accepted)
    )


def _owner_rows(engine: EngineContext, owner: Scope) -> list[Share]:
    return [share for share in engine.store.access(owner).shares if share.owner == owner]


def _invite(
    engine: EngineContext,
    request: RequestContext,
    source: Source,
    guests: Mapping[str, bool],
    check: Callable[[str, MembershipStatus | None], None] | None = None,
) -> None:
    """``guests``: names, and whether each gets an invitation. Without a ``check`` there are no
    errors about guests: they would tell which of them are users. Valid only at the revision at
    which the source existed and nobody of them had left the team."""
    acting = request.principal

    def decide() -> tuple[list[Changeset], None]:
        revision = engine.store.counters(source.scope).revision
        if not engine.live_sources(source.scope, [source.id]):
            raise NotFound(f"There is no {source.id!r} here.", field="id")
        known = {share.key: share for share in _owner_rows(engine, source.scope)}
        now = engine.clock()
        steps: list[ChangesetStep] = []
        grants: list[Changeset] = []
        for guest, is_addressed in guests.items():
            standing = _standing_in_team(engine, source, guest)
            if check is not None:
                check(guest, standing)
            if standing in _NOT_INVITED:
                continue
            new = _new_share(source, guest, acting, now)
            share = known.get(new.key, new)
            if share.is_accepted:
                continue
            is_full = check is None and share.key not in known and len(known) >= 2 * MAX_GUESTS
            is_new = is_addressed and not is_full and not _has_refused(engine, share)
            is_stored = is_new or share.key in known
            steps.append(SetShare(share, access_entry(Op.GRANT, source.id), gone=not is_stored))
            known |= {share.key: share} if is_stored else {}
            grants += [_guest_changeset(acting, now, share)] if is_new else []
        if check is not None and _count_named(engine, source.scope, known) > MAX_GUESTS:
            raise LimitReached(
                f"Too many shares: the limit is {MAX_GUESTS}.", remedy="End some of them first."
            )
        if not steps:
            return [], None
        owner = Changeset(
            source.scope, now, acting.actor, tuple(steps), revision, member=acting.member
        )
        return [owner, *grants], None

    run_transaction_across_scopes(engine, request, decide)


_NOT_INVITED = (MembershipStatus.MEMBER, MembershipStatus.LEFT)


def _new_share(source: Source, guest: str, acting: Principal, now: datetime) -> Share:
    return Share(
        owner=source.scope,
        source_id=source.id,
        guest=guest,
        granted_by=acting.user_id,
        granted_at=now,
    )


def _has_refused(engine: EngineContext, share: Share) -> bool:
    """True if the guest has declined this share, or has blocked its owner."""
    return any(
        row.is_refused and (row.key == share.key or row.standing is ShareStatus.BLOCKED)
        for row in _guest_rows(engine, share.guest_scope)
        if row.owner == share.owner
    )


def _guest_rows(engine: EngineContext, guest: Scope) -> tuple[Share, ...]:
    return engine.store.access(guest).granted


def _guest_changeset(
    acting: Principal, now: datetime, share: Share, op: Op = Op.GRANT, gone: bool = False
) -> Changeset:
    """Only the owner's journal names the source."""
    step = SetGrant(share, replace(access_entry(op, share.source_id), subject=None), gone)
    return Changeset(share.guest_scope, now, acting.actor, (step,))


def _revoke(engine: EngineContext, request: RequestContext, source: Source, guest: str) -> None:
    """The rows of a guest who has declined stay: they are not asked again."""
    acting = request.principal

    def decide() -> tuple[list[Changeset], None]:
        revision = engine.store.counters(source.scope).revision
        now = engine.clock()
        wanted = _new_share(source, guest, acting, now)
        rows = {share.key: share for share in _owner_rows(engine, source.scope)}
        share = rows.get(wanted.key, wanted)
        is_kept = share.key in rows and _has_refused(engine, share)
        step = SetShare(share, access_entry(Op.REVOKE, source.id), gone=not is_kept)
        owner = Changeset(source.scope, now, acting.actor, (step,), revision, member=acting.member)
        if is_kept or share.key not in rows:
            return [owner], None
        return [owner, _guest_changeset(acting, now, share, Op.REVOKE, gone=True)], None

    run_transaction_across_scopes(engine, request, decide)


# ——— of the guest ———


def list_invitations(
    engine: EngineContext, principal: Principal, limit: int, after: str | None = None
) -> list[Invitation]:
    """Oldest first. Agents get no titles: strangers wrote them, and nobody has accepted them."""
    found = list_pending_invitations(engine, principal)
    page = [_describe(share, source) for share, source in found]
    if not principal.is_owner:
        page = [replace(each, title="") for each in page]
    return take_page(page, after, limit)


def answer_invitation(
    engine: EngineContext, request: RequestContext, id: str, *, accepts: bool
) -> Invitation:
    """Also changes an earlier answer."""
    answer = ShareStatus.ACCEPTED if accepts else ShareStatus.DECLINED
    return _answer(engine, request, id, answer)


def _answer(
    engine: EngineContext, request: RequestContext, id: str, answer: ShareStatus
) -> Invitation:
    """Decided on the revision of the source's owner: a share that is revoked, or whose team has
    removed the guest meanwhile, is not accepted."""
    principal = request.principal

    def decide() -> tuple[list[Changeset], Invitation]:
        owner = _find_own_share(engine, principal, id).owner
        revision = engine.store.counters(owner).revision
        share = _find_own_share(engine, principal, id, owner)
        source = _load_offered_source(engine, share)
        is_blocked = share.standing is ShareStatus.BLOCKED and answer is ShareStatus.DECLINED
        if share.standing is answer or is_blocked:
            return [], _describe(share, source)
        after = replace(share, standing=answer)
        return _answer_changesets(engine, principal, share, after, revision), _describe(
            after, source
        )

    return run_transaction_across_scopes(engine, request, decide)


def _answer_changesets(
    engine: EngineContext, principal: Principal, before: Share, after: Share, revision: int
) -> list[Changeset]:
    """The owner learns that somebody accepts, and that they give it up after that."""
    now = engine.clock()
    op = Op.GRANT if after.is_accepted else Op.REVOKE
    told = after if after.is_accepted else replace(after, standing=ShareStatus.INVITED)
    step = SetShare(told, access_entry(op, after.source_id))
    is_told = before.is_accepted or after.is_accepted
    steps = (step,) if is_told else ()  # without steps: a check of the revision
    owner = Changeset(after.owner, now, principal.actor, steps, revision)
    return [owner, _guest_changeset(principal, now, after, op)]


def _find_own_share(
    engine: EngineContext, principal: Principal, id: str, owner: Scope | None = None
) -> Share:
    """An accepted one before an open one before a declined one; of these the first. With an owner:
    theirs."""
    found = [
        share
        for share in _guest_rows(engine, principal.own_scope)
        if share.source_id == id and owner in (None, share.owner)
    ]
    for share in sorted(found, key=_precedence):
        if current_shares([share], _owner_rows(engine, share.owner)):
            return share
    raise NotFound(f"There is no invitation to {id!r}.", remedy=_SEE_INVITATIONS, field="id")


_SEE_INVITATIONS = "See `commonplace sources invitations`."
_ORDER = (
    ShareStatus.ACCEPTED,
    ShareStatus.INVITED,
    ShareStatus.DECLINED,
    ShareStatus.BLOCKED,
)


def _precedence(share: Share) -> tuple[int, datetime]:
    return _ORDER.index(share.standing), share.granted_at


def _load_offered_source(engine: EngineContext, share: Share) -> Source:
    sources: Iterable[Source] = engine.live_sources(share.owner, [share.source_id])
    for source in sources:
        has_left = _standing_in_team(engine, source, share.guest) is MembershipStatus.LEFT
        if source.sensitivity is not Sensitivity.HIGH and not has_left:
            return source
    raise NotFound(
        f"There is no invitation to {share.source_id!r}.", remedy=_SEE_INVITATIONS, field="id"
    )


def _describe(share: Share, source: Source) -> Invitation:
    title = shorten(source.title or "")
    return Invitation(
        id=source.id,
        from_user=share.granted_by,
        title="" if is_suspicious(title) else title,
        source_type=str(source.source_type),
        date=source.started_at,
        invited_at=share.granted_at,
        standing=share.standing,
    )

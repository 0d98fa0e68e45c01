"""Guests: who may read one source of another's, and no more than that."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from commonplace.book.members import told_of
from commonplace.desk import Desk, placed_for
from commonplace.errors import InvalidInput, LimitReached, NotAllowed, NotFound
from commonplace.model.changes import Changeset
from commonplace.model.company_steps import SetGrant, SetShare
from commonplace.model.journal import Op
from commonplace.model.memory import Sensitivity
from commonplace.model.scope import Principal, Scope
from commonplace.model.source import Source
from commonplace.model.team import Share, Standing
from commonplace.recall.look_up_sources import visible_source
from commonplace.remember.whose import acting_on

MAX_GUESTS = 1000  # of one owner, counted by source


@dataclass(frozen=True, slots=True)
class Shared:
    """Who may read a source beside its owner."""

    id: str
    guests: tuple[str, ...]


def share(desk: Desk, principal: Principal, id: str, guest: str) -> Shared:
    source, acting = _to_be_shared(desk, principal, id)
    if guest == principal.user_id:
        raise InvalidInput("You can read this source already.", field="with_user")
    if source.sensitivity is Sensitivity.HIGH:
        raise InvalidInput(
            "A source with sensitivity high cannot be shared.",
            remedy="Ingest it again with a lower sensitivity first.",
            field="id",
        )
    if _standing(desk, source, guest) is Standing.LEFT:
        raise NotAllowed(
            f"{guest!r} has left the team and cannot be a guest of it.",
            remedy="Invite them again: `teams invite`.",
            field="with_user",
        )
    _grant(desk, acting, source, guest)
    return _shared(desk, source)


def unshare(desk: Desk, principal: Principal, id: str, guest: str | None) -> Shared:
    """Without a guest: one declines what another shared, for good."""
    placed = placed_for(desk, principal, id)
    if guest is None:
        return _decline(desk, placed, id)
    source, acting = _to_be_shared(desk, principal, id)
    for known in _of_source(desk, source):
        if known.guest == guest and not known.declined:
            _apply(desk, acting, known, gone=True)
    return _shared(desk, source)


def share_with_participants(
    desk: Desk, acting: Principal, source: Source, named: Sequence[str]
) -> None:
    """Those whom the owner names as taking part, where they are users of this store. Names that
    are only read in a text give nobody a right, and neither does naming them beside what another
    has brought."""
    brought = source.user_id == acting.user_id or acting.manages
    if not acting.is_owner or not brought or source.sensitivity is Sensitivity.HIGH:
        return
    known = {each.guest for each in _of_source(desk, source)}
    for guest in dict.fromkeys(named):
        if guest in known or guest == acting.user_id or not _is_user(desk, guest):
            continue
        if _standing(desk, source, guest) in (None, Standing.INVITED):
            _grant(desk, acting, source, guest)


def _to_be_shared(desk: Desk, principal: Principal, id: str) -> tuple[Source, Principal]:
    """Whoever may take a source away may also let others read it."""
    source = visible_source(desk, principal, id, "id")
    return source, acting_on(desk, principal, [source.id])


def _is_user(desk: Desk, user_id: str) -> bool:
    counters = desk.store.counters(Scope.of_user(user_id))
    return counters.journal > 0


def _standing(desk: Desk, source: Source, user_id: str) -> Standing | None:
    if source.team_id is None:
        return None
    people = desk.store.memberships(source.scope)
    return next((each.standing for each in people if each.user_id == user_id), None)


def _of_source(desk: Desk, source: Source) -> list[Share]:
    shares = desk.store.shares(source.scope)
    return [each for each in shares if each.owner == source.scope and each.source_id == source.id]


def _grant(desk: Desk, acting: Principal, source: Source, guest: str) -> None:
    """Held to the revision at which the source stood and the guest had not left."""

    def decide() -> tuple[list[Changeset], None]:
        revision = desk.store.counters(source.scope).revision
        given = [each for each in desk.store.shares(source.scope) if each.owner == source.scope]
        there = desk.sources(source.scope, [source.id])
        if not there or _standing(desk, source, guest) is Standing.LEFT:
            raise NotFound(f"There is no {source.id!r} here.", field="id")
        if any(_is_settled(each, source, guest) for each in given):
            return [], None
        if len(given) >= MAX_GUESTS:
            raise LimitReached(
                f"Too many shares: the limit is {MAX_GUESTS}.", remedy="End some of them first."
            )
        share = Share(
            owner=source.scope,
            source_id=source.id,
            guest=guest,
            granted_by=acting.user_id,
            granted_at=desk.clock(),
        )
        return _both_sides(desk, acting, share, revision), None

    desk.decide_together(decide)


def _is_settled(known: Share, source: Source, guest: str) -> bool:
    """It is given already; or the guest has declined something of this owner's, and is not given
    anything of theirs any more."""
    return known.guest == guest and (known.source_id == source.id or known.declined)


def _decline(desk: Desk, placed: Principal, id: str) -> Shared:
    for known in desk.store.shares(placed.home):
        if known.source_id != id or known.owner == placed.home:
            continue
        if known in desk.store.shares(known.owner):  # else its source is gone
            _apply(desk, placed, replace(known, declined=True))
            return Shared(id, ())
    raise NotFound(f"There is no {id!r} here.", field="id")


def _apply(desk: Desk, acting: Principal, share: Share, *, gone: bool = False) -> None:
    desk.apply_together(_both_sides(desk, acting, share, None, gone=gone))


def _both_sides(
    desk: Desk, acting: Principal, share: Share, revision: int | None, *, gone: bool = False
) -> list[Changeset]:
    told = told_of(Op.REVOKE if gone or share.declined else Op.GRANT, share.source_id)
    now, actor = desk.clock(), acting.actor
    member = None if share.declined else acting.member
    given = Changeset(
        share.owner, now, actor, (SetShare(share, told, gone),), revision, member=member
    )
    told_to_guest = replace(told, subject=None)  # a source is known in its owner's journal alone
    taken = Changeset(share.guest_scope, now, actor, (SetGrant(share, told_to_guest, gone),))
    return [given, taken]


def _shared(desk: Desk, source: Source) -> Shared:
    guests = (each.guest for each in _of_source(desk, source) if not each.declined)
    return Shared(source.id, tuple(sorted(guests)))

"""Keys, teams, memberships and shares on SQL."""

from __future__ import annotations

from abc import ABC, abstractmethod
from contextlib import AbstractContextManager
from datetime import datetime

from commonplace.errors import NotFound, StaleDecision
from commonplace.model.access.key import Key
from commonplace.model.access.principal import Scope
from commonplace.model.access.team import (
    AddKey,
    ChangeKey,
    Membership,
    MembershipStatus,
    PutTeam,
    SetGrant,
    SetMember,
    SetMembership,
    SetShare,
    Share,
    ShareStatus,
    Team,
    TeamAccess,
    TeamRole,
)
from commonplace.store.sql.rows import Row, RowCodec, Session, instant, micros

_KEY = RowCodec(Key, ("user_id",))
KEY_COLUMNS = ", ".join(_KEY.names)
_NEVER = -1  # the expiry of a key without one


class SqlKeys(ABC):
    @abstractmethod
    def _reading(self, scope: Scope) -> AbstractContextManager[Session]:
        """A read transaction on one scope."""

    def keys(self, scope: Scope, id: str | None = None) -> dict[Key, bytes]:
        with self._reading(scope) as session:
            rows = session.rows("keys") if id is None else session.rows("key", id=id)
        return {_key_from(scope, row): bytes(digest) for *row, digest in rows}


def add_key(session: Session, step: AddKey) -> None:
    if step.if_first and session.one("any_admin_key"):
        raise StaleDecision("Another process created the first key.")
    session.run("insert_key", **_KEY.values(step.key), digest=step.digest)


def end_key(session: Session, step: ChangeKey) -> None:
    ends = {
        "expires_at": micros(step.after.expires_at),
        "revoked_at": micros(step.after.revoked_at),
    }
    before = _NEVER if step.before.expires_at is None else micros(step.before.expires_at)
    if session.one("end_key", id=step.after.id, ended_before=before, **ends) is None:
        raise StaleDecision("Another process changed this key.")


def mark_keys_used(session: Session, ids: tuple[str, ...], at: datetime) -> None:
    day = micros(at.replace(hour=0, minute=0, second=0, microsecond=0))
    session.run_many("mark_key_used", [{"id": id, "day": day} for id in dict.fromkeys(ids)])


def _key_from(scope: Scope, row: Row) -> Key:
    return Key(user_id=scope.name if scope.is_user else None, **_KEY.decode(row))


class SqlTeams(ABC):
    @abstractmethod
    def _reading(self, scope: Scope) -> AbstractContextManager[Session]:
        """A read transaction on one scope."""

    def access(self, scope: Scope) -> TeamAccess:
        with self._reading(scope) as session:
            team = session.one("team") if scope.is_team else None
            memberships = session.rows("memberships")
            shares = session.rows("shares")
        return TeamAccess(
            scope,
            _team_from(team) if team else None,
            tuple(_membership_from(scope, row) for row in memberships),
            tuple(_share_from(scope, row) for row in shares),
        )


def require_member(session: Session, user_id: str) -> None:
    """Checked while the team's counters are locked, which removing a member locks, too. Not a stale
    decision: deciding again would not help."""
    if session.one("is_member", other=Scope.of_user(user_id).key) is None:
        raise NotFound("Unknown team.", field="team")


def put_team(session: Session, step: PutTeam) -> None:
    team = step.team
    session.run(
        "put_team",
        id=team.id,
        name=team.name,
        created_by=team.created_by,
        created_at=micros(team.created_at),
        retention_days=team.retention_days,
    )


def set_membership(session: Session, step: SetMember | SetMembership) -> None:
    one = step.membership
    other = one.user_scope if isinstance(step, SetMember) else one.team_scope
    if step.gone:
        session.run("drop_membership", other=other.key)
        return
    session.run(
        "put_membership",
        other=other.key,
        role=one.role,
        standing=one.standing,
        invited_by=one.invited_by,
        since=micros(one.since),
        is_primary=int(one.is_primary),
        is_active=int(one.is_active),
    )


def set_share(session: Session, step: SetShare | SetGrant) -> None:
    share = step.share
    other = share.guest_scope if isinstance(step, SetShare) else share.owner
    if step.gone:
        session.run("drop_share", other=other.key, source_id=share.source_id)
        return
    session.run(
        "put_share",
        other=other.key,
        source_id=share.source_id,
        granted_by=share.granted_by,
        granted_at=micros(share.granted_at),
        standing=share.standing,
        is_given=int(isinstance(step, SetShare)),
    )


def _team_from(row: Row) -> Team:
    id, name, created_by, created_at, retention_days = row
    return Team(
        id=id,
        name=name,
        created_by=created_by,
        created_at=instant(created_at),
        retention_days=retention_days,
    )


def _membership_from(scope: Scope, row: Row) -> Membership:
    other, role, standing, invited_by, since, is_primary, is_active = row
    team, user = (scope, Scope(other)) if scope.is_team else (Scope(other), scope)
    return Membership(
        team_id=team.name,
        user_id=user.name,
        role=TeamRole(role),
        standing=MembershipStatus(standing),
        invited_by=invited_by,
        since=instant(since),
        is_primary=bool(is_primary),
        is_active=bool(is_active),
    )


def _share_from(scope: Scope, row: Row) -> Share:
    """A user has rows of both sides: what they share, and what is shared with them."""
    other, source_id, granted_by, granted_at, standing, is_given = row
    owner, guest = (scope, Scope(other)) if is_given else (Scope(other), scope)
    return Share(
        owner=owner,
        source_id=source_id,
        guest=guest.name,
        granted_by=granted_by,
        granted_at=instant(granted_at),
        standing=ShareStatus(standing),
    )

"""Teams, memberships and shares; changeset steps for keys and teams.

A membership is stored twice, in the team's scope and in the user's, so that both can read it from
their own scope; both rows change in one transaction.
"""

from __future__ import annotations

from collections.abc import Container, Iterable
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum

from commonplace.model.access.key import Key
from commonplace.model.access.principal import Principal, Scope
from commonplace.model.journal import Entry

MAX_TEAMS = 100  # of one user
MAX_MEMBERS = 1000  # of one team, including former members
MAX_RETENTION_DAYS = 36_500


class TeamRole(StrEnum):
    """Rights in a team, highest first."""

    OWNER = "owner"  # everything, including owners and deletion of the team
    ADMIN = "admin"  # members, settings, all sources
    MEMBER = "member"  # reads all sources, adds sources, removes own ones


class MembershipStatus(StrEnum):
    INVITED = "invited"  # sees nothing yet
    MEMBER = "member"
    LEFT = "left"  # sees nothing any more, not even sources they added


@dataclass(frozen=True, slots=True, kw_only=True)
class Team:
    id: str
    name: str
    created_by: str
    created_at: datetime
    retention_days: int | None = None  # sources older than this are removed; None: never

    @property
    def scope(self) -> Scope:
        return Scope.of_team(self.id)


@dataclass(frozen=True, slots=True, kw_only=True)
class Membership:
    team_id: str
    user_id: str
    role: TeamRole
    standing: MembershipStatus
    invited_by: str
    since: datetime  # of the status
    is_primary: bool = False  # the team that "primary" means
    is_active: bool = False  # searches are limited to this team

    @property
    def is_member(self) -> bool:
        return self.standing is MembershipStatus.MEMBER

    @property
    def manages(self) -> bool:
        return self.is_member and self.role in (TeamRole.OWNER, TeamRole.ADMIN)

    @property
    def owns(self) -> bool:
        return self.is_member and self.role is TeamRole.OWNER

    @property
    def team_scope(self) -> Scope:
        return Scope.of_team(self.team_id)

    @property
    def user_scope(self) -> Scope:
        return Scope.of_user(self.user_id)

    def becomes(self, standing: MembershipStatus, at: datetime) -> Membership:
        return replace(self, standing=standing, since=at)


class ShareStatus(StrEnum):
    """Only the guest's row says that a share was declined or blocked: its owner is not told."""

    INVITED = "invited"  # the guest has not accepted it and cannot read the source
    ACCEPTED = "accepted"
    DECLINED = "declined"  # this source is not offered again
    BLOCKED = "blocked"  # nothing of this owner is offered again


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """A source that is shared with a guest, who reads it after accepting. Stored twice, like a
    membership: neither row is there without the other."""

    owner: Scope  # of the source
    source_id: str
    guest: str  # user id
    granted_by: str
    granted_at: datetime
    standing: ShareStatus = ShareStatus.INVITED

    @property
    def guest_scope(self) -> Scope:
        return Scope.of_user(self.guest)

    @property
    def key(self) -> tuple[Scope, str, str]:
        """The same in both rows."""
        return self.owner, self.source_id, self.guest

    @property
    def is_accepted(self) -> bool:
        return self.standing is ShareStatus.ACCEPTED

    @property
    def is_refused(self) -> bool:
        return self.standing in (ShareStatus.DECLINED, ShareStatus.BLOCKED)


@dataclass(frozen=True, slots=True)
class TeamAccess:
    """The team, memberships and shares of a scope, read in one snapshot."""

    scope: Scope
    team: Team | None = None  # where the scope is a team's
    memberships: tuple[Membership, ...] = ()  # of the team or user, oldest first, with ended ones
    shares: tuple[Share, ...] = ()  # granted by this scope, and to this user

    @property
    def granted(self) -> tuple[Share, ...]:
        """The shares in which this user is the guest."""
        return tuple(share for share in self.shares if share.owner != self.scope)


# ——— read access ———


def reachable_teams(principal: Principal, memberships: Iterable[Membership]) -> list[Membership]:
    """The current memberships. A key that is limited to one team reaches no other."""
    return [one for one in memberships if one.is_member and principal.team in (None, one.team_id)]


def current_shares(shares: Iterable[Share], owner_rows: Iterable[Share]) -> list[Share]:
    """A guest's rows that are valid: removing a source deletes only the owner's row. Both rows have
    to say that a share was accepted."""
    accepted = {one.key: one.is_accepted for one in owner_rows}
    return [
        one for one in shares if one.key in accepted and (accepted[one.key] or not one.is_accepted)
    ]


def guest_sources(shares: Iterable[Share], teams: Container[Scope]) -> dict[Scope, frozenset[str]]:
    """Accepted sources by owner, without those of the user's teams, which they read as a member. An
    id refers to the source that was shared first under it, so that nobody can substitute it."""
    granted: dict[Scope, set[str]] = {}
    seen: set[str] = set()
    for share in sorted(shares, key=lambda each: each.granted_at):
        if not share.is_accepted or share.owner in teams or share.source_id in seen:
            continue
        seen.add(share.source_id)
        granted.setdefault(share.owner, set()).add(share.source_id)
    return {scope: frozenset(ids) for scope, ids in granted.items()}


def pending_invitations(shares: Iterable[Share], teams: Container[Scope]) -> list[Share]:
    """Shares that wait for the guest's answer, oldest first. As above: one for each id."""
    known = {one.source_id for one in shares if one.is_accepted}
    first: dict[str, Share] = {}
    for share in sorted(shares, key=lambda each: (each.granted_at, each.owner.key)):
        is_open = share.standing is ShareStatus.INVITED and share.owner not in teams
        if is_open and share.source_id not in known:
            first.setdefault(share.source_id, share)
    return list(first.values())


# ——— management rights ———


def may_manage(actor: Membership, role: TeamRole) -> bool:
    """Owners manage every role, admins only members."""
    return actor.owns or (actor.manages and role is TeamRole.MEMBER)


def next_owner(members: Iterable[Membership], leaving: str) -> Membership | None:
    """The new owner when the last owner leaves: the longest-standing member of those with the
    highest role. None: another owner remains, or nobody is left."""
    people = list(members)
    if not is_last_owner(people, leaving):
        return None
    others = [each for each in people if each.is_member and each.user_id != leaving]
    ranks = list(TeamRole)
    return min(others, key=lambda each: (ranks.index(each.role), each.since), default=None)


def is_last_owner(members: Iterable[Membership], user_id: str) -> bool:
    owners = [each.user_id for each in members if each.owns]
    return owners == [user_id]


@dataclass(frozen=True, slots=True)
class AddKey:
    key: Key
    digest: bytes  # of its token
    entry: Entry
    if_first: bool = False  # precondition: its owner has no keys yet


@dataclass(frozen=True, slots=True)
class ChangeKey:
    """Revokes a key, or changes its expiry."""

    before: Key
    after: Key
    entry: Entry


@dataclass(frozen=True, slots=True)
class PutTeam:
    team: Team
    entry: Entry


@dataclass(frozen=True, slots=True)
class SetMember:
    """The team's row of a membership. It moves the team's revision, so that of two concurrent
    decisions about one team only one succeeds."""

    membership: Membership
    entry: Entry
    gone: bool = False


@dataclass(frozen=True, slots=True)
class SetMembership:
    """The user's row of the membership, in the same transaction. Their revision does not move."""

    membership: Membership
    entry: Entry
    gone: bool = False


@dataclass(frozen=True, slots=True)
class SetShare:
    """The owner's row of a share. It moves the owner's revision: a member who is removed meanwhile
    must not become a guest."""

    share: Share
    entry: Entry
    gone: bool = False


@dataclass(frozen=True, slots=True)
class SetGrant:
    """The guest's row of the share, in the same transaction."""

    share: Share
    entry: Entry
    gone: bool = False


AccessStep = AddKey | ChangeKey | PutTeam | SetMember | SetMembership | SetShare | SetGrant

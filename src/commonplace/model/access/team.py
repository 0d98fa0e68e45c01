"""Teams, memberships and shares; changeset steps for keys and teams.

A membership is written twice, under the team and under the user, so that either finds it under
its own name; both rows change in one transaction.
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
MAX_MEMBERS = 1000  # of one team, whoever has left included
MAX_RETENTION_DAYS = 36_500


class TeamRole(StrEnum):
    """What one may do in a team, most first."""

    OWNER = "owner"  # everything: other owners, the end of the team
    ADMIN = "admin"  # members, settings, everybody's sources
    MEMBER = "member"  # reads all sources, brings sources, takes back own ones


class MembershipStatus(StrEnum):
    INVITED = "invited"  # sees nothing yet
    MEMBER = "member"
    LEFT = "left"  # sees nothing any more, not even what they brought


@dataclass(frozen=True, slots=True, kw_only=True)
class Team:
    id: str
    name: str
    created_by: str
    created_at: datetime
    retention_days: int | None = None  # sources older than this are let go; None: never

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
    since: datetime  # of the standing
    is_primary: bool = False  # the team that "primary" means
    is_active: bool = False  # searches look into this team alone

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


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """A guest's right to read one source of another's. Written twice, like a membership."""

    owner: Scope  # of the source
    source_id: str
    guest: str  # user id
    granted_by: str
    granted_at: datetime
    declined: bool = False  # the guest does not want it, and is not given it again

    @property
    def guest_scope(self) -> Scope:
        return Scope.of_user(self.guest)


@dataclass(frozen=True, slots=True)
class TeamAccess:
    """Who may read what of a scope, or with it, at this moment: read in one snapshot."""

    scope: Scope
    team: Team | None = None  # of a team's scope
    memberships: tuple[Membership, ...] = ()  # of the team or the user, oldest first; ended, too
    shares: tuple[Share, ...] = ()  # what is shared from here, and with this user

    @property
    def granted(self) -> tuple[Share, ...]:
        """Those in which this user is the guest."""
        return tuple(share for share in self.shares if share.owner != self.scope)


# ——— what somebody may read ———


def reachable_teams(principal: Principal, memberships: Iterable[Membership]) -> list[Membership]:
    """A key that is for one team reaches no other."""
    return [one for one in memberships if one.is_member and principal.team in (None, one.team_id)]


def current_shares(shares: Iterable[Share], told_by_owners: Iterable[Share]) -> list[Share]:
    """The owners' side says what holds: a source that is gone has taken its shares with it."""
    given = {(one.owner, one.source_id, one.guest) for one in told_by_owners if not one.declined}
    return [one for one in shares if (one.owner, one.source_id, one.guest) in given]


def guest_sources(shares: Iterable[Share], teams: Container[Scope]) -> dict[Scope, frozenset[str]]:
    """Sources by their owners; whoever is in a team reads its sources as a member. An id means
    what was shared under it first: nobody puts another text in its place."""
    found: dict[Scope, set[str]] = {}
    met: set[str] = set()
    for share in sorted(shares, key=lambda each: each.granted_at):
        if share.declined or share.owner in teams or share.source_id in met:
            continue
        met.add(share.source_id)
        found.setdefault(share.owner, set()).add(share.source_id)
    return {scope: frozenset(ids) for scope, ids in found.items()}


# ——— who may do what to whom ———


def may_manage(actor: Membership, role: TeamRole) -> bool:
    """Those who manage a team do so with everybody below them; owners with everybody."""
    return actor.owns or (actor.manages and role is TeamRole.MEMBER)


def next_owner(members: Iterable[Membership], leaving: str) -> Membership | None:
    """Who owns the team when its last owner is gone: of those with the highest role, whoever has
    been there longest. None: it has an owner, or nobody is left."""
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
    if_first: bool = False  # refused where its owner has keys already


@dataclass(frozen=True, slots=True)
class ChangeKey:
    """It ends: at once, or at another moment than before."""

    before: Key
    after: Key
    entry: Entry


@dataclass(frozen=True, slots=True)
class PutTeam:
    team: Team
    entry: Entry


@dataclass(frozen=True, slots=True)
class SetMember:
    """Under the team: who belongs to it. It is a change of the team, so that two who decide at
    once about one team cannot both win."""

    membership: Membership
    entry: Entry
    gone: bool = False


@dataclass(frozen=True, slots=True)
class SetMembership:
    """The same under the user, in the same transaction. No change of their memory."""

    membership: Membership
    entry: Entry
    gone: bool = False


@dataclass(frozen=True, slots=True)
class SetShare:
    """Under the owner of a source: who may read it as a guest."""

    share: Share
    entry: Entry
    gone: bool = False


@dataclass(frozen=True, slots=True)
class SetGrant:
    """The same under the guest, in the same transaction."""

    share: Share
    entry: Entry
    gone: bool = False


AccessStep = AddKey | ChangeKey | PutTeam | SetMember | SetMembership | SetShare | SetGrant

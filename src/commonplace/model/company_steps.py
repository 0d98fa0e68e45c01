"""What a changeset does to keys, and to the company that somebody keeps: teams, members, guests."""

from __future__ import annotations

from dataclasses import dataclass

from commonplace.model.journal import Entry
from commonplace.model.key import Key
from commonplace.model.team import Membership, Share, Team


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


CompanyStep = AddKey | ChangeKey | PutTeam | SetMember | SetMembership | SetShare | SetGrant

"""What a store promises of teams: both sides of a membership or a share change together or not at
all, and each is found under its own owner alone."""

from __future__ import annotations

from dataclasses import replace
from threading import Barrier, Thread

import pytest

from commonplace.errors import NotFound, StaleDecision
from commonplace.model.access.principal import Scope
from commonplace.model.access.team import (
    Membership,
    MembershipStatus,
    PutTeam,
    SetGrant,
    SetMember,
    SetMembership,
    SetShare,
    Share,
    Team,
    TeamRole,
)
from commonplace.model.changeset import Changeset
from commonplace.model.journal import Entry, Op
from commonplace.store import failpoints
from support.clock import START
from support.making import ANA, BOB, a_memory, put

TEAM = Scope.of_team("crew")
TOLD = Entry(op=Op.GRANT)
CREW = Team(id="crew", name="The crew", created_by="ana", created_at=START, retention_days=9)


def a_membership(user: str = "ana", **more) -> Membership:
    given = {
        "role": TeamRole.OWNER,
        "standing": MembershipStatus.MEMBER,
        "invited_by": "ana",
        "since": START,
    }
    return Membership(team_id="crew", user_id=user, **{**given, **more})


def both_sides(one: Membership, *, gone: bool = False, **more) -> list[Changeset]:
    team = Changeset(TEAM, START, "user:ana", (SetMember(one, TOLD, gone),), **more)
    user = Changeset(one.user_scope, START, "user:ana", (SetMembership(one, TOLD, gone),))
    return [user, team]


@pytest.fixture
def pull_the_plug():
    def at(name: str) -> None:
        def hook(reached: str) -> None:
            if reached == name:
                raise RuntimeError(name)

        failpoints.install_hook(hook)

    yield at
    failpoints.install_hook(None)


def test_team_and_memberships_round_trip_every_field(store):
    one = a_membership(is_primary=True, role=TeamRole.ADMIN)
    store.apply(Changeset(TEAM, START, "user:ana", (PutTeam(CREW, TOLD),)))
    store.apply(*both_sides(one))
    assert store.access(TEAM).team == CREW
    assert store.access(TEAM).memberships == store.access(ANA).memberships == (one,)
    assert store.access(ANA).team is None
    assert store.access(BOB).memberships == ()
    renamed = replace(CREW, name="All hands", retention_days=None)
    store.apply(Changeset(TEAM, START, "user:ana", (PutTeam(renamed, TOLD),)))
    assert store.access(TEAM).team == renamed


def test_membership_change_increments_the_revision_of_the_team_only(store):
    put(store, [a_memory()])
    before = store.counters(ANA).revision
    store.apply(*both_sides(a_membership()))
    assert store.counters(TEAM).revision == 1
    assert store.counters(ANA).revision == before


def test_membership_change_on_a_stale_team_revision_is_refused(store):
    store.apply(*both_sides(a_membership(), decided_on=0))
    with pytest.raises(StaleDecision):
        store.apply(*both_sides(a_membership("bob"), decided_on=0))
    assert store.access(BOB).memberships == ()


@pytest.mark.parametrize("moment", ["apply.rows", "apply.journal", "apply.before_commit"])
def test_membership_change_interrupted_before_commit_leaves_neither_side(
    store, pull_the_plug, moment
):
    pull_the_plug(moment)
    with pytest.raises(RuntimeError):
        store.apply(*both_sides(a_membership()))
    assert store.access(ANA).memberships == store.access(TEAM).memberships == ()


def test_team_change_requires_an_active_member(store):
    one = a_membership()
    store.apply(*both_sides(one))
    change = Changeset(TEAM, START, "user:ana", (PutTeam(CREW, TOLD),), member="ana")
    store.apply(change)
    for standing in (MembershipStatus.INVITED, MembershipStatus.LEFT):
        store.apply(*both_sides(replace(one, standing=standing)))
        with pytest.raises(NotFound):
            store.apply(change)


def test_share_is_found_by_owner_and_guest(store):
    share = Share(owner=ANA, source_id="source:1", guest="bob", granted_by="ana", granted_at=START)
    given = Changeset(ANA, START, "user:ana", (SetShare(share, TOLD),))
    taken = Changeset(BOB, START, "user:ana", (SetGrant(share, TOLD),))
    store.apply(given, taken)
    assert store.access(ANA).shares == store.access(BOB).shares == (share,)
    assert store.access(BOB).granted == (share,)
    assert store.access(ANA).granted == (), "one is not one's own guest"


def test_share_changes_in_opposite_directions_do_not_deadlock(store):
    """Ana shares with Bob while Bob shares with Ana: scopes are locked in one order."""
    start, failed = Barrier(2), []

    def share(owner: Scope, guest: Scope) -> None:
        start.wait(30)
        try:
            for number in range(20):
                one = Share(
                    owner=owner,
                    source_id=f"source:{owner.name}-{number}",
                    guest=guest.name,
                    granted_by=owner.name,
                    granted_at=START,
                )
                given = Changeset(owner, START, "user", (SetShare(one, TOLD),))
                store.apply(given, Changeset(guest, START, "user", (SetGrant(one, TOLD),)))
        except Exception as error:
            failed.append(error)

    both = [Thread(target=share, args=pair) for pair in ((ANA, BOB), (BOB, ANA))]
    for each in both:
        each.start()
    for each in both:
        each.join(60)
    assert failed == []
    assert len(store.access(ANA).shares) == len(store.access(BOB).shares) == 40

"""Who may do what in a team: pure rules."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from hypothesis import given
from hypothesis import strategies as st

from commonplace.model.access.principal import Principal, Scope
from commonplace.model.access.team import (
    Membership,
    MembershipStatus,
    Share,
    ShareStatus,
    TeamRole,
    current_shares,
    guest_sources,
    is_last_owner,
    may_manage,
    next_owner,
    pending_invitations,
    reachable_teams,
)
from support.clock import START


def member(
    user: str, role: TeamRole, standing: MembershipStatus = MembershipStatus.MEMBER, day: int = 0
) -> Membership:
    return Membership(
        team_id="t",
        user_id=user,
        role=role,
        standing=standing,
        invited_by="x",
        since=START + timedelta(days=day),
    )


people = st.lists(
    st.builds(
        member,
        st.sampled_from("abcdef"),
        st.sampled_from(TeamRole),
        st.sampled_from(MembershipStatus),
        st.integers(0, 9),
    ),
    unique_by=lambda one: one.user_id,
)


@given(people, st.sampled_from("abcdef"))
def test_next_owner_is_the_highest_remaining_role(team, leaving):
    heir = next_owner(team, leaving)
    others = [one for one in team if one.is_member and one.user_id != leaving]
    if not is_last_owner(team, leaving):
        assert heir is None
    elif others:
        assert heir in others
        best = min(list(TeamRole).index(one.role) for one in others)
        assert list(TeamRole).index(heir.role) == best
    else:
        assert heir is None


@given(people)
def test_may_manage_is_false_for_non_members(team):
    for one in team:
        if one.standing is not MembershipStatus.MEMBER:
            assert not any(may_manage(one, role) for role in TeamRole)


def test_reachable_teams_are_limited_to_the_team_of_a_key():
    mine = [member("a", TeamRole.OWNER)]
    assert reachable_teams(Principal("a"), mine) == mine
    assert reachable_teams(Principal("a", team="t"), mine) == mine
    assert reachable_teams(Principal("a", team="other"), mine) == []


def a_share(owner: Scope, id: str, standing: ShareStatus = ShareStatus.ACCEPTED) -> Share:
    return Share(
        owner=owner,
        source_id=id,
        guest="gil",
        granted_by="ana",
        granted_at=START,
        standing=standing,
    )


def test_guest_sources_are_accepted_ones_without_teams_of_membership():
    team, ana = Scope.of_team("t"), Scope.of_user("ana")
    others = [a_share(ana, str(each), each) for each in ShareStatus if each != "accepted"]
    shares = [a_share(team, "1"), a_share(ana, "2"), a_share(ana, "3"), *others]
    assert current_shares(shares, shares[:2] + others) == [*shares[:2], *others], (
        "as owners tell it"
    )
    assert guest_sources(shares, {team}) == {ana: frozenset({"2", "3"})}
    assert guest_sources(shares, ()) == {ana: frozenset({"2", "3"}), team: frozenset({"1"})}


def test_current_shares_are_accepted_only_if_both_rows_say_so():
    ana = Scope.of_user("ana")
    accepted, invited = (
        a_share(ana, "1", each) for each in (ShareStatus.ACCEPTED, ShareStatus.INVITED)
    )
    assert current_shares([accepted], [invited]) == []
    assert current_shares([invited], [accepted]) == [invited]
    assert current_shares([accepted], [accepted]) == [accepted]


def test_pending_invitations_are_one_for_each_id_that_is_not_accepted():
    team, ana, mal = Scope.of_team("t"), Scope.of_user("ana"), Scope.of_user("mal")
    known, open_ = a_share(ana, "1"), a_share(ana, "2", ShareStatus.INVITED)
    forged = [replace(each, owner=mal, standing=ShareStatus.INVITED) for each in (known, open_)]
    forged = [replace(each, granted_at=START + timedelta(days=1)) for each in forged]
    refused = a_share(ana, "3", ShareStatus.DECLINED)
    of_team = a_share(team, "4", ShareStatus.INVITED)
    shares = [known, open_, *forged, refused, of_team]
    assert pending_invitations(shares, {team}) == [open_]
    assert pending_invitations(shares, ()) == [of_team, open_]

"""Who may do what in a team: pure rules."""

from __future__ import annotations

from datetime import timedelta

from hypothesis import given
from hypothesis import strategies as st

from commonplace.model.access.principal import Principal, Scope
from commonplace.model.access.team import (
    Membership,
    MembershipStatus,
    Share,
    TeamRole,
    current_shares,
    guest_sources,
    is_last_owner,
    may_manage,
    next_owner,
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


def test_guest_sources_exclude_teams_of_membership_and_declined_shares():
    team, ana = Scope.of_team("t"), Scope.of_user("ana")

    def share(owner: Scope, id: str, declined: bool = False) -> Share:
        return Share(
            owner=owner,
            source_id=id,
            guest="gil",
            granted_by="ana",
            granted_at=START,
            declined=declined,
        )

    shares = [share(team, "1"), share(ana, "2"), share(ana, "3"), share(ana, "4", declined=True)]
    assert current_shares(shares, shares[:2] + shares[3:]) == shares[:2], "as their owners tell it"
    assert guest_sources(shares, {team}) == {ana: frozenset({"2", "3"})}
    assert guest_sources(shares, ()) == {ana: frozenset({"2", "3"}), team: frozenset({"1"})}

"""Who may do what in a team: pure rules."""

from __future__ import annotations

from datetime import timedelta

from hypothesis import given
from hypothesis import strategies as st

from commonplace.model.scope import Principal, Scope
from commonplace.model.team import (
    Membership,
    Role,
    Share,
    Standing,
    as_guest,
    heir_of,
    is_last_owner,
    may_manage,
    still_given,
    teams_within,
)
from support.clock import START


def member(user: str, role: Role, standing: Standing = Standing.MEMBER, day: int = 0) -> Membership:
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
        st.sampled_from(Role),
        st.sampled_from(Standing),
        st.integers(0, 9),
    ),
    unique_by=lambda one: one.user_id,
)


@given(people, st.sampled_from("abcdef"))
def test_after_anybody_leaves_a_team_has_an_owner_while_anybody_is_left(team, leaving):
    heir = heir_of(team, leaving)
    others = [one for one in team if one.is_member and one.user_id != leaving]
    if not is_last_owner(team, leaving):
        assert heir is None
    elif others:
        assert heir in others
        best = min(list(Role).index(one.role) for one in others)
        assert list(Role).index(heir.role) == best
    else:
        assert heir is None


@given(people)
def test_whoever_is_no_member_manages_nobody(team):
    for one in team:
        if one.standing is not Standing.MEMBER:
            assert not any(may_manage(one, role) for role in Role)


def test_a_key_for_one_team_leaves_the_others_out():
    mine = [member("a", Role.OWNER)]
    assert teams_within(Principal("a"), mine) == mine
    assert teams_within(Principal("a", team="t"), mine) == mine
    assert teams_within(Principal("a", team="other"), mine) == []


def test_whoever_is_in_a_team_is_no_guest_of_it():
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
    assert still_given(shares, shares[:2] + shares[3:]) == shares[:2], "as their owners tell it"
    assert as_guest(shares, {team}) == {ana: frozenset({"2", "3"})}
    assert as_guest(shares, ()) == {ana: frozenset({"2", "3"}), team: frozenset({"1"})}

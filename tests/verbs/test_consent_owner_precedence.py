"""What the owner has said, declined or forgotten is not overruled by signals, however many."""

from __future__ import annotations

import pytest

from commonplace.engine.profile.proposals import ProposalOutcome


@pytest.fixture
def helper(me):
    return me.agent("helper")


@pytest.fixture
def coach(me):
    return me.agent("coach")


def fields(me):
    return me.profile().fields


def test_propose_declined_value_waits_for_the_owner_for_a_while(me, helper, coach, clock):
    me.decline(helper.propose("tone", "brief").id)
    assert helper.propose("tone", "brief", confidence=1.0).outcome == ProposalOutcome.WAITING
    assert coach.propose("tone", "brief").outcome == ProposalOutcome.WAITING
    assert fields(me) == {}
    clock.tick(days=8)
    helper.propose("tone", "brief")
    assert coach.propose("tone", "brief").outcome == ProposalOutcome.APPLIED


def test_propose_declined_goal_does_not_block_other_agents(me, helper, coach):
    me.decline(helper.propose("goals_add", "smoke more").id)
    assert coach.propose("goals_add", "run", confidence=0.9).outcome == ProposalOutcome.APPLIED
    for goal in ("smoke more", "read"):
        assert helper.propose("goals_add", goal, confidence=0.9).outcome == ProposalOutcome.WAITING
    assert fields(me) == {"goals": ["run"]}


@pytest.mark.parametrize("how", ["set", "accepted", "updated", "restored"])
def test_propose_never_overrides_a_value_set_by_the_owner(me, helper, coach, clock, how):
    if how == "accepted":
        me.accept(helper.propose("tone", "warm").id)
    else:
        me.profile_set("tone", "formal" if how == "updated" else "warm")
    if how == "updated":
        me.update("profile:tone", metadata={"value": "warm"})
    if how == "restored":
        me.forget("profile:tone")
        me.restore("profile:tone")
    clock.tick(days=30)
    assert helper.propose("tone", "brief", confidence=1.0).outcome == ProposalOutcome.WAITING
    assert coach.propose("tone", "brief").outcome == ProposalOutcome.WAITING
    (waiting,) = me.proposals()
    assert (fields(me), waiting.needs_owner) == ({"tone": "warm"}, True)


def test_propose_overrides_a_value_set_by_signals(me, helper, coach):
    helper.propose("tone", "warm", confidence=0.9)
    coach.propose("tone", "brief")
    assert [each.needs_owner for each in me.proposals()] == [False]
    assert helper.propose("tone", "brief").outcome == ProposalOutcome.APPLIED


@pytest.mark.parametrize("end", ["forget", "erase"])
@pytest.mark.parametrize(("name", "field"), [("tone", "tone"), ("goals_add", "goals")])
def test_propose_forgotten_or_erased_value_waits_for_the_owner_for_a_while(
    me, helper, clock, end, name, field
):
    helper.propose(name, "warm", confidence=0.9)
    getattr(me, end)(f"profile:{field}")
    again = helper.propose(name, "warm", confidence=0.9)
    assert (again.outcome, fields(me)) == (ProposalOutcome.WAITING, {})
    clock.tick(days=8)
    assert helper.propose(name, "warm", confidence=0.9).outcome == ProposalOutcome.APPLIED


def test_propose_goal_removed_by_the_owner_waits_for_the_owner(me, helper):
    helper.propose("goals_add", "Run", confidence=0.9)
    me.profile_set("goals", ["read"])
    assert helper.propose("goals_add", "run", confidence=0.9).outcome == ProposalOutcome.WAITING
    assert helper.propose("goals_add", "swim", confidence=0.9).outcome == ProposalOutcome.APPLIED

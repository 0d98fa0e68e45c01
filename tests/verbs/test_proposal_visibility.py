"""Who is told what of proposals: the header, the journal, agents that may see more or less."""

from __future__ import annotations

from datetime import timedelta

import pytest

from commonplace.engine.profile.proposals import ProposalOutcome
from commonplace.errors import NotFound


@pytest.fixture
def helper(me):
    return me.agent("helper")


@pytest.fixture
def coach(me):
    return me.agent("coach")


def test_changes_report_a_proposal_only_after_the_profile_changed(me, helper):
    asked = helper.propose("city", "Berlin", thread="t")
    assert helper.changes().changes == ()
    me.accept(asked.id)
    assert [change.bullet for change in helper.changes().changes] == [
        "- +created: [profile] City is Berlin (imp=2)"
    ]
    me.decline(helper.propose("city", "Jaffa").id)
    assert helper.changes().header == ""


def test_journal_of_a_proposal_names_actors_and_no_value(me, helper):
    me.accept(helper.propose("city", "Xanadu", reason="Xanadu it is", thread="t").id)
    rows = me.history("profile:city")
    assert {row["event"] for row in rows} == {"CONSENT"}
    assert [row["actor"] for row in reversed(rows)] == ["agent:helper", "user:ana", "user:ana"]
    assert [row["event"] for row in me.change_log("t")] == ["CONSENT"]
    assert "Xanadu" not in repr((rows, me.change_log("t"), me.events()))


def test_journal_of_a_proposal_is_hidden_from_other_agents(me, helper, coach):
    """In which conversation, and when, is between that one and the owner."""
    asked = helper.propose("city", "Berlin", thread="therapy")
    with pytest.raises(NotFound):
        coach.history("profile:city")
    assert coach.change_log("therapy") == []
    assert "propose" not in {row["op"] for row in coach.events()}
    assert len(helper.history("profile:city")) == len(helper.change_log("therapy")) == 1
    me.accept(asked.id, thread="therapy")
    assert [row["actor"] for row in coach.history("profile:city")] == ["user:ana"]
    assert len(helper.history("profile:city")) == 3  # and what became of it


def test_proposals_hide_reason_and_evidence_from_other_agents(me, helper, coach):
    helper.propose("city", "Berlin", reason="A flat", evidence=["I signed for the flat"])
    (own,), (others,) = helper.proposals(), coach.proposals()
    assert (own.reason, own.evidence) == ("A flat", ("I signed for the flat",))
    assert (others.value, others.reason, others.evidence) == ("Berlin", "", ())


def test_propose_for_a_sensitive_field_reveals_nothing(me, helper):
    me.profile_set("tone", "brief")
    me.update("profile:tone", sensitivity="high")
    answer = helper.propose("tone", "brief", confidence=1.0)
    assert answer.outcome == ProposalOutcome.WAITING
    assert helper.proposals() == []
    assert helper.stats().proposals == 0
    assert [each.stands for each in me.proposals()] == ["brief"]


def test_propose_by_an_agent_without_profile_access_reveals_nothing(me, helper):
    """The shipped allowlist of the planner does not name the profile."""
    planner = me.agent("planner")
    me.profile_set("city", "Haifa")
    right, wrong = planner.propose("city", "Haifa"), planner.propose("city", "Berlin")
    assert (right.outcome, wrong.outcome) == (ProposalOutcome.WAITING, ProposalOutcome.WAITING)
    assert (planner.proposals(), planner.stats().proposals) == ([], 0)
    assert planner.changes().changes == ()
    with pytest.raises(NotFound):
        planner.history("profile:city")
    helper.propose("city", "Porto")
    assert len(helper.proposals()) == len(me.proposals()) == 3


def test_propose_answer_without_profile_access_omits_other_signals(me, helper, clock):
    planner = me.agent("planner")
    helper.propose("tone", "Brief")
    clock.tick(days=1)
    answer = planner.propose("tone", "brief")
    assert me.profile().fields == {"tone": "Brief"}
    assert (answer.outcome, answer.value, answer.signals) == (ProposalOutcome.WAITING, "brief", 1)
    assert answer.ends_at == clock() + timedelta(days=7)


def test_propose_goals_add_without_profile_access_adds_no_duplicates(me, helper):
    planner = me.agent("planner")
    me.profile_set("goals", ["Read"])
    for goal in ("read", "run"):
        assert planner.propose("goals_add", goal, confidence=0.9).outcome == ProposalOutcome.APPLIED
    assert me.profile().fields == {"goals": ["Read", "run"]}


def test_stats_count_open_proposals(me, helper):
    helper.propose("city", "Berlin")
    helper.propose("city", "Jaffa")
    assert me.stats().proposals == 2

"""erase reaches proposals, and what became of them without the owner's word."""

from __future__ import annotations

import pytest

from commonplace.errors import NotFound
from commonplace.model.changes import Changeset
from commonplace.model.proposal import SignalKind
from commonplace.remember.consent import Outcome, claim, steps_for

SECRET = "Xanadu"


@pytest.fixture
def hear(me):
    """What an agent hears goes into the store as the verb that listens would put it there."""

    def hear(name, value, agent="helper", **origin):
        agent = me.agent(agent)
        desk, principal = agent._desk, agent.principal
        said = claim(name, value, **origin)
        revision = desk.store.counters(principal.scope).revision
        steps, (answer,) = steps_for(desk, principal, [said])
        if steps:
            desk.store.apply(
                Changeset(principal.scope, desk.clock(), principal.actor, steps, revision)
            )
        return answer

    return hear


@pytest.fixture
def sources(me):
    return [me.ingest(f"A letter, number {number}").id for number in range(3)]


def sure(source):
    return {"kind": SignalKind.INSIGHT, "confidence": 0.9, "source_id": source}


def test_a_proposal_is_erased_by_its_id(me):
    asked = me.agent("helper").propose("city", SECRET, thread=f"about {SECRET}", reason=SECRET)
    erased = me.erase(asked.id)
    assert (erased.ids, erased.receipt.items) == ((asked.id,), 1)
    assert (me.proposals(), me.verify_forget(SECRET).clean) == ([], True)


def test_an_agent_erases_its_own_and_no_other(me):
    helper, coach = me.agent("helper"), me.agent("coach")
    asked = helper.propose("city", SECRET)
    with pytest.raises(NotFound):
        coach.erase(asked.id)
    helper.erase(asked.id)
    shared = helper.propose("city", SECRET)
    coach.propose("city", SECRET)
    with pytest.raises(NotFound):
        helper.erase(shared.id)
    assert len(me.proposals()) == 1


def test_a_proposal_goes_with_the_source_it_came_from(me, hear, sources):
    hear("city", SECRET, source_id=sources[0], evidence=[f"I live in {SECRET}"])
    other = hear("city", "Haifa", source_id=sources[1])
    erased = me.erase(sources[0])
    assert erased.receipt.items == len(erased.ids) == 2
    assert [each.id for each in me.proposals()] == [other.id]
    assert me.verify_forget(SECRET).clean


def test_a_proposal_goes_with_the_memory_it_came_from(me, hear):
    memory = me.remember("Tea is better than coffee")
    hear("city", SECRET, memory_id=memory.id)
    me.erase(memory.id)
    assert (me.proposals(), me.verify_forget(SECRET).clean) == ([], True)


def test_forgetting_a_source_leaves_what_waits(me, hear, sources):
    hear("city", "Haifa", source_id=sources[0])
    me.forget(sources[0])
    assert len(me.proposals()) == 1


def test_a_field_that_only_erased_sources_spoke_for_goes_with_them(me, hear, sources):
    assert hear("tone", SECRET, **sure(sources[0])).outcome == Outcome.APPLIED
    erased = me.erase(sources[0])
    assert "profile:tone" in erased.ids
    assert (me.profile().fields, me.verify_forget(SECRET).clean) == ({}, True)


def test_while_another_source_speaks_for_it_a_field_stays(me, hear, sources):
    hear("tone", SECRET, source_id=sources[0])
    hear("tone", SECRET, agent="coach", source_id=sources[1])
    me.erase(sources[0])
    assert me.profile().fields == {"tone": SECRET}
    me.erase(sources[1])
    assert me.verify_forget(SECRET).clean


def test_of_several_goals_one_goes(me, hear, sources):
    me.profile_set("goals", ["read"])
    hear("goals_add", f"leave {SECRET}", **sure(sources[0]))
    hear("goals_add", "run", **sure(sources[1]))
    assert me.profile().fields["goals"] == ["read", f"leave {SECRET}", "run"]
    assert "profile:goals" in me.erase(sources[0]).rewritten
    assert me.profile().fields["goals"] == ["read", "run"]
    assert me.verify_forget(SECRET).clean
    assert [hit.text for hit in me.recall("goals run read").hits] == ["Goals are read; run"]
    me.erase(sources[1])
    assert me.profile().fields["goals"] == ["read"]


@pytest.mark.parametrize("own_word", ["set", "accept", "goals_add"])
def test_what_the_owner_said_too_stays(me, hear, sources, own_word):
    if own_word == "set":
        hear("tone", "brief", **sure(sources[0]))
        me.profile_set("tone", "brief")
        kept = {"tone": "brief"}
    elif own_word == "accept":
        me.accept(hear("city", "Haifa", source_id=sources[0]).id)
        kept = {"city": "Haifa"}
    else:
        hear("goals_add", "run", **sure(sources[0]))
        me.profile_set("goals_add", "run")
        kept = {"goals": ["run"]}
    me.erase(sources[0])
    assert me.profile().fields == kept


def test_of_what_was_set_since_no_earlier_version_is_left(me, hear, sources):
    hear("tone", SECRET, **sure(sources[0]))
    me.profile_set("tone", "brief")
    me.erase(sources[0])
    assert me.profile().fields == {"tone": "brief"}
    assert me.verify_forget(SECRET).clean


def test_a_field_for_which_an_agent_alone_spoke_rests_on_no_source(me, hear, sources):
    hear("tone", "brief", source_id=sources[0])
    hear("tone", "brief", agent="coach")
    me.erase(sources[0])
    assert me.profile().fields == {"tone": "brief"}


def test_erasing_a_field_leaves_what_waits_for_it(me):
    me.profile_set("city", SECRET)
    me.agent("helper").propose("city", "Haifa")
    me.erase("profile:city")
    assert [each.value for each in me.proposals()] == ["Haifa"]
    assert me.verify_forget(SECRET).clean


def test_erasing_a_user_erases_what_waits(me):
    me.agent("helper").propose("city", SECRET)
    me.erase_user()
    assert (me.proposals(), me.verify_forget(SECRET).clean) == ([], True)

"""erase reaches proposals, and what became of them without the owner's word."""

from __future__ import annotations

import pytest

from commonplace.engine.profile.proposals import ProposalOutcome, propose_claims, read_claim
from commonplace.errors import NotFound
from commonplace.model.changeset import Changeset
from commonplace.model.profile.fields import SignalKind

SECRET = "Xanadu"


@pytest.fixture
def hear(me):
    """What an agent hears goes into the store as the verb that listens would put it there."""

    def hear(name, value, agent="helper", **origin):
        agent = me.agent(agent)
        engine, principal = agent._engine, agent.principal
        said = read_claim(name, value, **origin)
        revision = engine.store.counters(principal.scope).revision
        steps, (answer,) = propose_claims(engine, principal, [said])
        if steps:
            engine.store.apply(
                Changeset(principal.scope, engine.clock(), principal.actor, steps, revision)
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
    assert hear("tone", SECRET, **sure(sources[0])).outcome == ProposalOutcome.APPLIED
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


def test_an_erasure_of_something_else_takes_no_field_whose_source_is_gone_already(
    me, hear, sources, clock
):
    """Purged by the night, or expired: nobody has asked for the field's end."""
    log = me.remember("Be warm, please", kind="log")
    hear("tone", "warm", **{**sure(None), "memory_id": log.id})
    hear("goals_add", "run", **sure(sources[0]))
    me.forget(sources[0])
    clock.tick(days=40)
    me.tidy()
    before = me.profile().fields
    me.erase(me.remember("Something else").id)
    assert me.profile().fields == before == {"tone": "warm", "goals": ["run"]}


def test_a_support_that_is_gone_already_keeps_no_field_either(me, hear, sources, clock):
    hear("tone", SECRET, source_id=sources[0])
    hear("tone", SECRET, agent="coach", source_id=sources[1])
    me.forget(sources[0])
    clock.tick(days=31)
    me.tidy()
    me.erase(sources[1])
    assert (me.profile().fields, me.verify_forget(SECRET).clean) == ({}, True)


@pytest.mark.parametrize(
    ("name", "value", "again", "fields"),
    [
        ("tone", "warm", "Warm", {"tone": "warm"}),
        ("goals_add", "Run a marathon", "run a marathon", {"goals": ["Run a marathon"]}),
    ],
)
def test_what_another_source_says_too_outlives_the_first(
    me, hear, sources, name, value, again, fields
):
    hear(name, value, **sure(sources[0]))
    before = me.show(f"profile:{next(iter(fields))}").versions
    assert hear(name, again, agent="coach", **sure(sources[1])).outcome == ProposalOutcome.HOLDS
    assert len(before) == len(me.show(f"profile:{next(iter(fields))}").versions) == 1
    me.erase(sources[0])
    assert me.profile().fields == fields
    me.erase(sources[1])
    assert me.profile().fields == {}


def test_what_is_heard_again_is_in_the_journal_and_in_no_header(me, hear, sources):
    coach = me.agent("coach")
    hear("tone", "warm", **sure(sources[0]))
    coach.changes()
    hear("tone", "warm", agent="coach", source_id=sources[1])
    assert coach.changes().header == ""
    assert me.history("profile:tone")[0]["actor"] == "agent:coach"
    revision = me.revision
    hear("tone", "warm", agent="coach", source_id=sources[1])
    assert me.revision == revision


def test_what_the_owner_set_needs_no_support_and_gets_none(me, hear, sources):
    me.profile_set("tone", "warm")
    assert hear("tone", "warm", source_id=sources[0]).outcome == ProposalOutcome.HOLDS
    me.erase(sources[0])
    assert me.profile().fields == {"tone": "warm"}


def test_an_export_carries_what_a_field_rests_on(me, hear, sources, book):
    hear("tone", "warm", **sure(sources[0]))
    hear("tone", "warm", agent="coach", source_id=sources[1])
    ben = book.user("ben")
    ben.import_(list(me.export()))
    ben.erase(sources[0])
    assert ben.profile().fields == {"tone": "warm"}
    ben.erase(sources[1])
    assert ben.profile().fields == {}


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


def test_who_proposes_names_what_it_rests_on(me, sources):
    helper = me.agent("helper")
    memory = me.remember("Tea is better than coffee")
    helper.propose("city", SECRET, evidence=[f"I love {SECRET}"], source_id=sources[0])
    helper.propose("pronouns", SECRET, memory_id=memory.id)
    me.erase([sources[0], memory.id])
    assert (me.proposals(), me.verify_forget(SECRET).clean) == ([], True)


def test_which_must_be_there_for_them(me, book, sources):
    planner, ben = me.agent("planner"), book.user("ben")
    hidden = me.remember("Tea", category="interests")
    for who, origin in (
        (planner, {"memory_id": hidden.id}),
        (me, {"memory_id": "nothing"}),
        (me.agent("helper"), {"source_id": "source:11111111-1111-4111-8111-111111111111"}),
        (ben.agent("helper"), {"source_id": sources[0]}),
    ):
        with pytest.raises(NotFound) as refused:
            who.propose("city", "Haifa", **origin)
        assert refused.value.field in origin
    assert me.proposals() == ben.proposals() == []

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


def test_erase_deletes_a_proposal_by_id(me):
    asked = me.agent("helper").propose("city", SECRET, thread=f"about {SECRET}", reason=SECRET)
    erased = me.erase(asked.id)
    assert (erased.ids, erased.receipt.items) == ((asked.id,), 1)
    assert (me.proposals(), me.verify_forget(SECRET).clean) == ([], True)


def test_erase_of_a_proposal_deletes_the_questions_that_only_it_explains(open_book):
    """Its value, its reason and its evidence are all words of the erased item."""
    me = open_book(recall_log=True).user("ana")
    me.remember("The weather is mild")
    told = {"reason": "Ana writes from Yorkton", "evidence": ["I left Wexburg"]}
    asked = me.agent("helper").propose("city", "Zamboville", **told)
    for question in ("is Zamboville my town?", "what of Yorkton?", "was it Wexburg?"):
        me.recall(question)
    me.recall("how is the weather?")
    erased = me.erase(asked.id, now=True)
    assert erased.receipt.scrub == "complete"
    for word in ("Zamboville", "Yorkton", "Wexburg"):
        assert me.verify_forget(word).clean
    assert not me.verify_forget("weather").clean


def test_erase_of_a_proposal_says_where_its_value_remains(me):
    me.remember("Boats leave Zamboville at noon")
    asked = me.agent("helper").propose("city", "Zamboville")
    erased = me.erase(asked.id, now=True)
    assert (erased.receipt.scrub, "memories" in erased.receipt.found_in) == ("text remains", True)


def test_erase_by_an_agent_accepts_only_that_agents_own_proposals(me):
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


def test_erase_of_a_source_erases_proposals_based_on_the_source(me, hear, sources):
    hear("city", SECRET, source_id=sources[0], evidence=[f"I live in {SECRET}"])
    other = hear("city", "Haifa", source_id=sources[1])
    erased = me.erase(sources[0])
    assert erased.receipt.items == len(erased.ids) == 2
    assert [each.id for each in me.proposals()] == [other.id]
    assert me.verify_forget(SECRET).clean


def test_erase_of_a_memory_erases_proposals_based_on_the_memory(me, hear):
    memory = me.remember("Tea is better than coffee")
    hear("city", SECRET, memory_id=memory.id)
    me.erase(memory.id)
    assert (me.proposals(), me.verify_forget(SECRET).clean) == ([], True)


def test_erase_of_a_source_erases_profile_fields_without_other_support(me, hear, sources):
    assert hear("tone", SECRET, **sure(sources[0])).outcome == ProposalOutcome.APPLIED
    erased = me.erase(sources[0])
    assert "profile:tone" in erased.ids
    assert (me.profile().fields, me.verify_forget(SECRET).clean) == ({}, True)


def test_erase_keeps_a_profile_field_supported_by_another_source(me, hear, sources):
    hear("tone", SECRET, source_id=sources[0])
    hear("tone", SECRET, agent="coach", source_id=sources[1])
    me.erase(sources[0])
    assert me.profile().fields == {"tone": SECRET}
    me.erase(sources[1])
    assert me.verify_forget(SECRET).clean


def test_erase_of_a_source_removes_only_the_goal_from_that_source(me, hear, sources):
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
def test_erase_of_a_source_keeps_profile_fields_confirmed_by_the_owner(me, hear, sources, own_word):
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


def test_erase_of_a_source_deletes_earlier_versions_of_a_profile_field(me, hear, sources):
    hear("tone", SECRET, **sure(sources[0]))
    me.profile_set("tone", "brief")
    me.erase(sources[0])
    assert me.profile().fields == {"tone": "brief"}
    assert me.verify_forget(SECRET).clean


def test_erase_of_a_source_keeps_a_field_also_proposed_without_a_source(me, hear, sources):
    hear("tone", "brief", source_id=sources[0])
    hear("tone", "brief", agent="coach")
    me.erase(sources[0])
    assert me.profile().fields == {"tone": "brief"}


def test_unrelated_erase_keeps_profile_fields_of_purged_or_expired_origins(
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


def test_erase_of_the_last_source_ignores_support_by_a_purged_source(me, hear, sources, clock):
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
def test_erase_keeps_a_field_until_the_last_supporting_source_is_erased(
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


def test_repeated_proposal_is_journaled_but_not_in_the_delta_header(me, hear, sources):
    coach = me.agent("coach")
    hear("tone", "warm", **sure(sources[0]))
    coach.changes()
    hear("tone", "warm", agent="coach", source_id=sources[1])
    assert coach.changes().header == ""
    assert me.history("profile:tone")[0]["actor"] == "agent:coach"
    revision = me.revision
    hear("tone", "warm", agent="coach", source_id=sources[1])
    assert me.revision == revision


def test_erase_of_a_source_keeps_a_field_set_by_the_owner(me, hear, sources):
    me.profile_set("tone", "warm")
    assert hear("tone", "warm", source_id=sources[0]).outcome == ProposalOutcome.HOLDS
    me.erase(sources[0])
    assert me.profile().fields == {"tone": "warm"}


def test_export_carries_the_supporting_sources_of_a_profile_field(me, hear, sources, book):
    hear("tone", "warm", **sure(sources[0]))
    hear("tone", "warm", agent="coach", source_id=sources[1])
    ben = book.user("ben")
    ben.import_(list(me.export()))
    ben.erase(sources[0])
    assert ben.profile().fields == {"tone": "warm"}
    ben.erase(sources[1])
    assert ben.profile().fields == {}


def test_erase_of_a_profile_field_keeps_pending_proposals(me):
    me.profile_set("city", SECRET)
    me.agent("helper").propose("city", "Haifa")
    me.erase("profile:city")
    assert [each.value for each in me.proposals()] == ["Haifa"]
    assert me.verify_forget(SECRET).clean


def test_erase_user_deletes_proposals(me):
    me.agent("helper").propose("city", SECRET)
    me.erase_user()
    assert (me.proposals(), me.verify_forget(SECRET).clean) == ([], True)


def test_propose_with_source_or_memory_id_is_erased_with_that_origin(me, sources):
    helper = me.agent("helper")
    memory = me.remember("Tea is better than coffee")
    helper.propose("city", SECRET, evidence=[f"I love {SECRET}"], source_id=sources[0])
    helper.propose("pronouns", SECRET, memory_id=memory.id)
    me.erase([sources[0], memory.id])
    assert (me.proposals(), me.verify_forget(SECRET).clean) == ([], True)


def test_propose_rejects_an_origin_the_caller_cannot_see(me, book, sources):
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

"""What others would have the profile say waits for its owner, or for enough signals."""

from __future__ import annotations

import pytest

from commonplace.engine.profile.proposals import ProposalOutcome
from commonplace.errors import InvalidInput, LimitReached, NotAllowed, NotFound
from commonplace.model.profile.consent import MAX_OPEN, MAX_OPEN_BY_ONE, SENSITIVE_FIELDS
from commonplace.model.validation import MAX_LIST
from support.embedders import Interrupted, Likening


@pytest.fixture
def helper(me):
    return me.agent("helper")


@pytest.fixture
def coach(me):
    return me.agent("coach")


def fields(me):
    return me.profile().fields


def decisions(me, field):
    """What the journal says became of a field's proposals, oldest first."""
    rows = reversed(me.history(f"profile:{field}"))
    return [row["meta"]["decision"] for row in rows if "decision" in row["meta"]]


# ——— sensitive fields ———


@pytest.mark.parametrize("name", sorted(SENSITIVE_FIELDS))
def test_propose_sensitive_field_waits_for_the_owner_despite_many_signals(
    me, helper, coach, clock, name
):
    for day in range(3):
        for agent in (helper, coach):
            asked = agent.propose(name, "Ada", confidence=1.0, thread=f"thread {day}")
            assert asked.outcome == ProposalOutcome.WAITING
        clock.tick(days=1)
    assert fields(me) == {}
    (waiting,) = me.proposals()
    assert (waiting.name, waiting.value, waiting.needs_owner) == (name, "Ada", True)
    assert (waiting.signals, waiting.by) == (2, ("agent:helper", "agent:coach"))


def test_propose_unclassified_field_waits_for_the_owner(me, helper, coach):
    helper.propose("shoe size", 41, confidence=1.0)
    assert coach.propose("shoe size", 41).outcome == ProposalOutcome.WAITING
    assert fields(me) == {}


def test_accept_proposal_sets_the_profile_field(me, helper):
    me.profile_set("city", "Haifa")
    asked = helper.propose(
        "city", "Berlin", reason="A new flat", evidence=["I have moved to Berlin"], thread="t"
    )
    (waiting,) = me.proposals()
    assert (waiting.id, waiting.stands, waiting.value) == (asked.id, "Haifa", "Berlin")
    assert (waiting.reason, waiting.evidence) == ("A new flat", ("I have moved to Berlin",))
    accepted = me.accept(asked.id)
    assert (accepted.decision, accepted.field) == ("accepted", "profile:city")
    assert fields(me) == {"city": "Berlin"}
    assert me.proposals() == []
    assert [hit.text for hit in me.recall("city Berlin").hits] == ["City is Berlin"]
    assert [v.memory.metadata["value"] for v in me.show("profile:city").versions] == [
        "Haifa",
        "Berlin",
    ]


def test_decline_proposal_leaves_the_profile_unchanged(me, helper):
    me.profile_set("city", "Haifa")
    asked = helper.propose("city", "Berlin")
    assert me.decline(asked.id).decision == "declined"
    assert (fields(me), me.proposals()) == ({"city": "Haifa"}, [])
    assert decisions(me, "city") == ["declined"]


def test_proposal_can_be_decided_only_once(me, helper):
    asked = helper.propose("city", "Berlin")
    me.decline(asked.id)
    for verb in (me.accept, me.decline):
        with pytest.raises(NotFound):
            verb(asked.id)
    assert fields(me) == {}


def test_proposal_expires_after_seven_days_and_tidy_removes_residue(me, helper, clock):
    asked = helper.propose("city", "Berlin")
    clock.tick(days=7, seconds=-1)
    assert [each.id for each in me.proposals()] == [asked.id]
    clock.tick(seconds=1)
    assert (me.proposals(), me.stats().proposals) == ([], 0)
    with pytest.raises(NotFound):
        me.accept(asked.id)
    assert me.verify_forget("Berlin").found_in == ("proposals",)
    assert me.tidy().proposals == 1
    assert me.tidy().proposals == 0
    assert me.verify_forget("Berlin").clean
    assert decisions(me, "city") == ["ended"]


def test_proposal_lifetime_follows_the_setting(open_book, clock):
    me = open_book(proposal_days=1).user("ana")
    me.agent("helper").propose("city", "Berlin")
    clock.tick(days=1)
    assert me.proposals() == []


def test_propose_after_expiry_makes_a_new_proposal(me, helper, clock):
    first = helper.propose("city", "Berlin")
    clock.tick(days=8)
    second = helper.propose("city", "Berlin")
    assert (second.signals, second.id != first.id) == (1, True)
    assert [each.id for each in me.proposals()] == [second.id]


# ——— who decides ———


@pytest.mark.parametrize("trusted", [False, True])
def test_accept_and_decline_refuse_every_agent(me, trusted):
    agent = me.agent("helper", may_resolve=trusted)
    asked = agent.propose("city", "Berlin")
    for verb in (agent.accept, agent.decline):
        with pytest.raises(NotAllowed):
            verb(asked.id)
    assert [each.id for each in me.proposals()] == [asked.id]


def test_profile_set_and_note_refuse_an_agent_and_suggest_propose(helper):
    for attempt in (
        lambda: helper.profile_set("city", "Berlin"),
        lambda: helper.profile_note("Likes tea"),
    ):
        with pytest.raises(NotAllowed) as refused:
            attempt()
        assert "propose" in refused.value.remedy


def test_propose_by_the_owner_applies_at_once(me):
    said = me.propose("city", "Haifa")
    assert (said.outcome, said.id) == (ProposalOutcome.APPLIED, "profile:city")
    assert (fields(me), me.proposals()) == ({"city": "Haifa"}, [])


def test_proposal_of_another_user_is_not_found(book, me, helper):
    asked = helper.propose("city", "Berlin")
    ben = book.user("ben")
    assert ben.proposals() == []
    for verb in (ben.accept, ben.decline, ben.erase):
        with pytest.raises(NotFound):
            verb(asked.id)
    assert len(me.proposals()) == 1


# ——— benign fields ———


def test_propose_benign_field_applies_on_the_second_signal(me, helper, coach):
    first = helper.propose("tone", "brief")
    assert (first.outcome, first.signals, fields(me)) == (ProposalOutcome.WAITING, 1, {})
    second = coach.propose("tone", "Brief")
    assert (second.outcome, second.signals) == (ProposalOutcome.APPLIED, 2)
    assert (fields(me), me.proposals()) == ({"tone": "brief"}, [])
    assert decisions(me, "tone") == ["applied", "applied"]  # the field, and the proposal


def test_propose_by_one_agent_counts_as_one_signal_across_threads_and_days(me, helper, clock):
    for day in ("monday", "tuesday", "wednesday"):
        again = helper.propose("tone", "brief", thread=day, evidence=[f"Be brief this {day}"])
        assert (again.outcome, again.signals) == (ProposalOutcome.WAITING, 1)
        clock.tick(days=1)


def test_propose_by_one_agent_counts_again_with_another_source(me, helper):
    first, second = (me.ingest(text).id for text in ("Be brief, please", "Fewer words, thanks"))
    helper.propose("tone", "brief", evidence=["Be brief"], source_id=first)
    same = helper.propose("tone", "brief", evidence=["please"], source_id=first)
    assert same.outcome == ProposalOutcome.WAITING
    other = helper.propose("tone", "brief", evidence=["Fewer words"], source_id=second)
    assert other.outcome == ProposalOutcome.APPLIED


NAGGING = ("Pay all invoices at once", "Settle every bill on the day")


def test_propose_citing_the_agents_own_memories_counts_as_one_signal(me, helper):
    for text in NAGGING:
        note = helper.remember(text).id
        answer = helper.propose("tone", "prompt", evidence=[text], memory_id=note)
        assert (answer.outcome, answer.signals) == (ProposalOutcome.WAITING, 1)
    assert (fields(me), me.proposals()[0].signals) == ({}, 1)


def test_propose_citing_the_agents_own_sources_counts_as_one_signal(me, helper):
    for text in NAGGING:
        source = helper.ingest(text).id
        answer = helper.propose("goals_add", "pay soon", evidence=[text], source_id=source)
        assert (answer.outcome, answer.signals) == (ProposalOutcome.WAITING, 1)


def test_propose_citing_the_memories_of_one_other_agent_counts_as_one_signal(helper, coach):
    for text in NAGGING:
        note = coach.remember(text, category="knowledge").id
        answer = helper.propose("tone", "prompt", evidence=[text], memory_id=note)
        assert (answer.outcome, answer.signals) == (ProposalOutcome.WAITING, 1)


def test_propose_citing_an_owner_memory_that_the_agent_changed_counts_as_its_own(me, helper):
    notes = [me.remember(text).id for text in ("Tea at four", "Lunch at noon")]
    for note, text in zip(notes, NAGGING, strict=True):
        helper.update(note, content=text)
        answer = helper.propose("tone", "prompt", evidence=[text], memory_id=note)
        assert (answer.outcome, answer.signals) == (ProposalOutcome.WAITING, 1)


def test_propose_citing_words_that_the_origin_does_not_say_counts_as_one_signal(me, helper):
    for text, invented in zip(("Tea at four", "Lunch at noon"), NAGGING, strict=True):
        note = me.remember(text).id
        answer = helper.propose("tone", "prompt", evidence=[invented], memory_id=note)
        assert (answer.outcome, answer.signals) == (ProposalOutcome.WAITING, 1)


def test_propose_citing_the_owners_memories_counts_each(me, helper):
    answers = [
        helper.propose("tone", "prompt", evidence=[text], memory_id=me.remember(text).id)
        for text in NAGGING
    ]
    assert [each.signals for each in answers] == [1, 2]
    assert answers[1].outcome == ProposalOutcome.APPLIED


@pytest.mark.parametrize(("role", "outcome"), [("user", "applied"), ("assistant", "waiting")])
def test_propose_citing_observed_turns_counts_those_of_the_owner(me, helper, role, outcome):
    for thread, text in zip("ab", NAGGING, strict=True):
        source = helper.observe(text, role=role, thread=thread).source_id
        answer = helper.propose("tone", "prompt", evidence=[text], source_id=source)
    assert answer.outcome == outcome


def test_observe_of_a_goal_in_two_conversations_applies_it(me, helper):
    helper.observe("My goal is to learn Greek.", role="user", thread="a")
    again = helper.observe("My main goal is to learn Greek.", role="user", thread="b")
    assert [each.outcome for each in again.proposals] == [ProposalOutcome.APPLIED]


def test_propose_insight_from_the_agents_own_memory_waits(me, helper):
    note = helper.remember("Ana wants bills paid at once").id
    answer = helper.propose("tone", "prompt", confidence=0.9, memory_id=note)
    assert (answer.outcome, fields(me)) == (ProposalOutcome.WAITING, {})


def test_propose_with_the_same_evidence_by_two_agents_counts_once(me, helper, coach):
    words = ["Could you please be brief?"]
    helper.propose("tone", "brief", evidence=words, thread="a")
    again = coach.propose("tone", "brief", evidence=words, thread="b")
    assert (again.outcome, again.signals) == (ProposalOutcome.WAITING, 1)


@pytest.mark.parametrize(("confidence", "outcome"), [(0.8, "applied"), (0.79, "waiting")])
def test_propose_benign_field_applies_at_high_confidence(me, helper, confidence, outcome):
    assert helper.propose("tone", "brief", confidence=confidence).outcome == outcome


def test_propose_goals_add_appends_to_goals(me, helper, coach):
    me.profile_set("goals", ["read more"])
    helper.propose("goals_add", "run a marathon", thread="a")
    coach.propose("goals_add", "run a marathon", thread="b")
    helper.propose("goals_add", "sleep well", confidence=0.9)
    assert fields(me) == {"goals": ["read more", "run a marathon", "sleep well"]}


def test_propose_replacing_goals_waits_for_the_owner(me, helper, coach):
    me.profile_set("goals", ["read more"])
    helper.propose("goals", ["run"], confidence=1.0)
    asked = coach.propose("goals", ["run"])
    assert (asked.outcome, fields(me)) == (ProposalOutcome.WAITING, {"goals": ["read more"]})
    me.accept(asked.id)
    assert fields(me) == {"goals": ["run"]}


def test_accept_applies_a_proposal_with_a_single_signal(me, helper):
    me.accept(helper.propose("goals_add", "run").id)
    assert fields(me) == {"goals": ["run"]}


def test_profile_set_goals_add_appends_to_goals(me):
    me.profile_set("goals", ["read more"])
    me.profile_set("goals_add", "run")
    assert fields(me) == {"goals": ["read more", "run"]}


# ——— values that differ ———


def test_accept_declines_other_proposals_for_the_field(me, helper, coach):
    berlin = helper.propose("city", "Berlin")
    jaffa = coach.propose("city", "Jaffa")
    name = coach.propose("preferred_name", "Ana")
    assert len(me.proposals()) == 3
    assert me.accept(jaffa.id).declined == (berlin.id,)
    assert fields(me) == {"city": "Jaffa"}
    assert [each.id for each in me.proposals()] == [name.id]
    assert sorted(decisions(me, "city")) == ["accepted", "accepted", "declined"]


def test_propose_contradicting_values_do_not_add_up_as_signals(me, helper, coach):
    helper.propose("tone", "brief")
    assert coach.propose("tone", "elaborate").outcome == ProposalOutcome.WAITING
    assert (fields(me), len(me.proposals())) == ({}, 2)


def test_propose_applied_value_ends_other_proposals_for_the_field(me, helper, coach):
    helper.propose("tone", "elaborate")
    helper.propose("tone", "brief")
    coach.propose("tone", "brief")
    assert (fields(me), me.proposals()) == ({"tone": "brief"}, [])
    assert decisions(me, "tone") == ["applied", "applied", "outdone"]


@pytest.mark.parametrize(("similarity", "proposals"), [(0.92, 2), (0.94, 1)])
def test_propose_merges_reworded_values_only_at_high_similarity(open_book, similarity, proposals):
    """A rewording of a memory would need 0.88."""
    likening = Likening({"short and friendly": 1.0, "curt and amiable": similarity})
    me = open_book(embedder=likening).user("ana")
    me.agent("helper").propose("language", "short and friendly")
    me.agent("coach").propose("language", "curt and amiable")
    assert len(me.proposals()) == proposals


def test_propose_current_profile_value_is_not_stored(me, helper):
    me.profile_set("city", "Haifa")
    me.profile_set("goals", ["run", "read"])
    before = me.revision
    for name, value, id in (
        ("city", "haifa", "profile:city"),
        ("goals_add", "Read", "profile:goals"),
    ):
        answer = helper.propose(name, value)
        assert (answer.outcome, answer.id) == (ProposalOutcome.HOLDS, id)
    assert (me.revision, me.proposals()) == (before, [])


def test_propose_compares_numbers_by_value(me, helper, coach):
    asked = helper.propose("shoe_size", 41)
    for value in (41.0, "41"):
        assert coach.propose("shoe_size", value).id == asked.id
    assert coach.propose("shoe_size", 41.5).id != asked.id
    me.profile_set("shoe_size", "41")
    assert (me.proposals(), sorted(decisions(me, "shoe_size"))) == ([], ["accepted", "declined"])


def test_propose_goal_beyond_the_list_limit_is_refused_and_observe_continues(me, helper):
    """In a conversation, nothing else that was said may be lost for it."""
    me.profile_set("goals", [f"goal {number}" for number in range(MAX_LIST)])
    with pytest.raises(LimitReached) as refused:
        helper.propose("goals_add", "one too many", confidence=0.9)
    assert "100" in str(refused.value)
    heard = helper.observe("My goal is to run a marathon", thread="t")
    assert [each.outcome for each in heard.proposals] == [ProposalOutcome.FULL]
    assert len(heard.stored) == 1


def test_propose_forgotten_profile_value_waits(me, helper):
    me.profile_set("city", "Haifa")
    me.forget("profile:city")
    asked = helper.propose("city", "Haifa")
    assert asked.outcome == ProposalOutcome.WAITING
    me.accept(asked.id)
    assert fields(me) == {"city": "Haifa"}


def test_profile_set_decides_open_proposals_for_the_field(me, helper):
    helper.propose("city", "Berlin")
    helper.propose("city", "Haifa")
    helper.propose("goals_add", "run")
    me.profile_set("city", "Haifa")
    assert [each.name for each in me.proposals()] == ["goals_add"]
    assert sorted(decisions(me, "city")) == ["accepted", "declined"]
    me.profile_set("goals", ["read"])
    assert len(me.proposals()) == 1
    me.profile_set("goals_add", "run")
    assert me.proposals() == []


# ——— two at once ———


def test_propose_decides_again_after_a_concurrent_profile_change(open_book):
    """Decided on a profile that says nothing, applied to one that does: a version more."""
    embedder = Interrupted()
    here, there = open_book(embedder=embedder).user("ana"), open_book().user("ana")
    embedder.meanwhile = lambda: there.agent("coach").propose("tone", "warm", confidence=0.9)
    answer = here.agent("helper").propose("tone", "brief", confidence=0.9)
    assert (answer.outcome, answer.revision) == (ProposalOutcome.APPLIED, 2)
    versions = there.show("profile:tone").versions
    assert [version.memory.metadata["value"] for version in versions] == ["warm", "brief"]


# ——— what is refused ———


@pytest.mark.parametrize(
    ("name", "value", "more"),
    [
        ("1st", "x", {}),
        ("city", None, {}),
        ("city", "\x00", {}),
        ("city", {"a": 1}, {}),
        ("time_zone", "Mars/Olympus", {}),
        ("goals_add", ["run", "read"], {}),
        ("shoe", [], {}),
        ("tone", ["warm", "brief"], {}),
        ("tone", "brief", {"source_id": 5}),
        ("tone", "brief", {"confidence": 1.1}),
        ("tone", "brief", {"confidence": "sure"}),
        ("tone", "brief", {"reason": 5}),
        ("tone", "brief", {"evidence": "one text"}),
        ("tone", "brief", {"thread": ""}),
    ],
)
def test_propose_refuses_invalid_input(me, helper, name, value, more):
    for who in (helper, me):
        with pytest.raises(InvalidInput):
            who.propose(name, value, **more)
    assert (me.revision, me.proposals()) == (0, [])


def test_propose_limits_open_proposals_per_agent(me, helper, coach):
    for number in range(MAX_OPEN_BY_ONE):
        helper.propose(f"field_{number}", number)
    with pytest.raises(LimitReached):
        helper.propose("one_more", 1)
    assert helper.propose("field_1", 1).outcome == ProposalOutcome.WAITING
    assert coach.propose("one_more", 1).outcome == ProposalOutcome.WAITING
    assert helper.propose("one_more", 1).signals == 2


def test_propose_limits_open_proposals_per_user(me, helper):
    for number in range(MAX_OPEN):
        me.agent(f"agent {number // MAX_OPEN_BY_ONE}").propose(f"field_{number}", number)
    with pytest.raises(LimitReached):
        helper.propose("one_more", 1)
    assert helper.propose("field_1", 1).outcome == ProposalOutcome.WAITING
    assert len(me.proposals(limit=1000)) == MAX_OPEN
    (full,) = [finding for finding in me.doctor() if finding.what == "proposals"]
    assert (full.ok, full.detail) == (False, f"{MAX_OPEN} wait for the owner")
    assert "profile proposals" in full.remedy
    assert len(me.proposals(limit=3)) == 3

"""Who decides what the profile says: the rules, without a database."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.model.journal import Event, JournalNode, Op
from commonplace.model.profile.consent import (
    BENIGN_FIELDS,
    MAX_SIGNALS,
    SENSITIVE_FIELDS,
    SURE_INSIGHT,
    ProposalDecision,
    add_signal,
    build_erasure,
    build_proposal,
    build_settlement,
    competing_proposals,
    count_independent,
    counted_signals,
    has_enough_signals,
    needs_consent,
    requires_owner,
)
from commonplace.model.profile.fields import Proposal, Signal, SignalKind, target_field
from support.clock import START
from support.pure_values import journal_row

DAY = timedelta(days=1)
WEEK = timedelta(days=7)


def heard(by="agent:planner", thread="monday", days=0, *evidence, **more):
    at = START + days * DAY
    return Signal(actor=by, at=at, thread=thread, evidence=evidence, **more)


def insight(confidence):
    return heard(kind=SignalKind.INSIGHT, confidence=confidence)


def proposal(name="tone", value="brief", *signals, **more):
    made = {"id": f"proposal:{name}={value}", "proposed_at": START, "ends_at": START + WEEK}
    return Proposal(name=name, value=value, signals=signals or (heard(),), **{**made, **more})


signals = st.lists(
    st.builds(
        Signal,
        actor=st.sampled_from(["agent:a", "agent:b"]),
        at=st.sampled_from([START, START + DAY]),
        thread=st.sampled_from(["t", "u", None]),
        evidence=st.lists(st.sampled_from(["Be brief", "No small talk"]), max_size=2).map(tuple),
        source_id=st.sampled_from(["source:1", "source:2", None]),
        kind=st.just(SignalKind.HEARD),
        confidence=st.none() | st.floats(0, 1),
    ),
    max_size=6,
)


# ——— what waits ———


@pytest.mark.parametrize("name", sorted(SENSITIVE_FIELDS))
def test_consent_is_required_for_sensitive_fields(name):
    sure = [insight(1.0), heard(days=1), heard(by="agent:coach"), heard(thread="tuesday")]
    assert needs_consent(name)
    assert not has_enough_signals(name, sure)


@pytest.mark.parametrize("name", ["shoe_size", "goals", "diagnosis", "time_zone"])
def test_consent_is_required_for_unclassified_fields(name):
    """To replace all goals is not the same as to add one."""
    assert not has_enough_signals(name, [insight(1.0), heard(days=1)])


@pytest.mark.parametrize("name", sorted(BENIGN_FIELDS))
def test_benign_field_applies_with_two_signals_or_one_sure_insight(name):
    assert not has_enough_signals(name, [heard()])
    assert has_enough_signals(name, [heard(), heard("agent:coach")])
    assert has_enough_signals(name, [insight(SURE_INSIGHT)])
    assert not has_enough_signals(name, [insight(SURE_INSIGHT - 0.01)])


def test_confidence_of_a_plain_signal_does_not_replace_a_second_one():
    """That something was heard clearly is no reason to believe it at once."""
    assert not has_enough_signals("tone", [heard(confidence=1.0)])


@given(st.sampled_from([*SENSITIVE_FIELDS, "goals", "anything_else"]), signals)
def test_consent_is_required_whatever_the_number_of_signals(name, told):
    assert not has_enough_signals(name, told)


# ——— independent signals ———


@pytest.mark.parametrize(
    ("other", "count"),
    [
        (heard(), 1),
        (heard(by="agent:coach"), 2),
        (heard(thread="tuesday", days=1), 1),
        (heard("agent:planner", "tuesday", 1, "No small talk", source_id="source:1"), 1),
    ],
)
def test_independent_signals_count_agents_not_threads_or_days(other, count):
    """Those are for the agent to choose."""
    assert count_independent([heard(), other]) == count


@pytest.mark.parametrize(
    ("words", "origin", "count"),
    [
        ("No small talk", {"source_id": "source:2"}, 2),
        ("No small talk", {"source_id": "source:1", "memory_id": "m"}, 2),
        ("No small talk", {"source_id": "source:1"}, 1),
        ("no small  TALK", {}, 1),
        ("Be brief", {"source_id": "source:2"}, 1),
    ],
)
def test_independent_signals_of_one_agent_need_other_evidence_and_source(words, origin, count):
    first = heard("agent:planner", "monday", 0, "Be brief", source_id="source:1")
    second = heard("agent:planner", "monday", 0, words, **origin)
    assert count_independent([first, second]) == count


def test_independent_signals_are_not_reduced_by_a_signal_without_evidence():
    shown = [
        heard("agent:planner", "monday", 0, "Be brief", source_id="source:1"),
        heard("agent:planner", "monday", 0, "No small talk", source_id="source:2"),
    ]
    assert count_independent([*shown, heard()]) == 2


def test_independent_signals_with_equal_evidence_count_once():
    copied = heard("agent:coach", "tuesday", 3, "please  BE brief")
    assert count_independent([heard("agent:planner", "monday", 0, "Please be brief"), copied]) == 1


def test_independent_signals_are_grouped_transitively():
    first = heard("agent:planner", "monday", 0, "Be brief")
    forwarded = heard("agent:coach", "tuesday", 1, "Be brief", "No small talk")
    heard_again = heard("agent:writer", "friday", 4, "No small talk")
    assert count_independent([first, heard_again]) == 2
    assert count_independent([first, heard_again, forwarded]) == 1


@given(signals, st.randoms())
def test_independent_signal_count_ignores_order_and_is_bounded(told, dice):
    shuffled = list(told)
    dice.shuffle(shuffled)
    assert count_independent(shuffled) == count_independent(told) <= len(told)
    assert (count_independent(told) == 0) == (not told)


@given(signals)
def test_independent_signal_count_ignores_copies(told):
    assert count_independent([*told, *told]) == count_independent(told)


# ——— one proposal, several signals ———


def test_add_signal_ignores_a_repeat_on_the_same_day():
    once = proposal()
    assert add_signal(once, replace(heard(), at=START + timedelta(hours=1))) is once


def test_add_signal_keeps_the_deadline_of_the_first_signal():
    joined = add_signal(proposal(), heard(days=2))
    assert [signal.at for signal in joined.signals] == [START, START + 2 * DAY]
    assert joined.ends_at == START + WEEK


def test_add_signal_limits_the_number_of_stored_signals():
    kept = proposal()
    for day in range(2 * MAX_SIGNALS):
        kept = add_signal(kept, heard(days=day))
    assert len(kept.signals) == MAX_SIGNALS


def test_proposal_is_open_until_its_deadline():
    assert proposal().is_open(START + WEEK - timedelta(microseconds=1))
    assert not proposal().is_open(START + WEEK)


# ——— what one decision answers ———


def test_competing_proposals_are_other_values_of_the_same_field():
    brief, warm = proposal("tone", "brief"), proposal("tone", "warm")
    city = proposal("city", "Haifa")
    assert competing_proposals(brief, [brief, warm, city]) == [warm]


def test_competing_proposals_are_empty_for_list_fields():
    run, read = proposal("goals_add", "run"), proposal("goals_add", "read")
    anew = proposal("goals", ["sleep"])
    assert competing_proposals(run, [run, read, anew]) == []
    assert competing_proposals(anew, [run, read, anew]) == []
    assert target_field("goals_add") == run.field == "goals"


# ——— the journal ———


def told(step, actor="user:ana", seq=1):
    entry = {name: getattr(step.entry, name) for name in ("op", "event", "category", "meta")}
    return replace(journal_row("profile:tone", **entry), ts=START, actor=actor, seq=seq)


def written(op, event, actor, seq=1, **more):
    row = journal_row("profile:tone", op=op, event=event, new_ref="profile:tone@1", **more)
    return replace(row, ts=START, actor=actor, seq=seq)


def test_declined_proposal_requires_the_owner_for_one_waiting_period():
    no = [told(build_settlement(proposal(), ProposalDecision.DECLINED))]
    assert requires_owner(proposal(), no, False, START + 6 * DAY - WEEK)
    assert not requires_owner(proposal(), no, False, START + WEEK - WEEK)


@pytest.mark.parametrize(
    "decision", [each for each in ProposalDecision if each != ProposalDecision.DECLINED]
)
def test_proposal_settled_otherwise_than_declined_does_not_require_the_owner(decision):
    rows = [
        told(build_settlement(proposal(), decision)),
        told(build_proposal(proposal()), "agent:a"),
    ]
    assert not requires_owner(proposal(), rows, False, START - WEEK)


@pytest.mark.parametrize(
    ("op", "event"),
    [
        (Op.CREATE, Event.ADD),
        (Op.UPDATE, Event.UPDATE),
        (Op.UPDATE, Event.CONSENT),
        (Op.RESTORE, Event.RESTORE),
    ],
)
def test_field_last_written_by_the_owner_requires_the_owner(op, event):
    """However long ago; a list has room for more."""
    rows = [written(op, event, "user:ana", 2), written(Op.CREATE, Event.ADD, "agent:a", 1)]
    assert requires_owner(proposal(), rows, True, START + WEEK)
    assert not requires_owner(proposal(), rows, False, START + WEEK)
    assert not requires_owner(proposal("goals_add", "run"), rows, True, START + WEEK)
    since = [*rows, written(Op.UPDATE, Event.CONSENT, "agent:a", 3)]
    assert not requires_owner(proposal(), since, True, START + WEEK)


def test_field_rebuilt_after_an_erase_does_not_require_the_owner():
    rows = [written(Op.UPDATE, Event.UPDATE, "user:ana", meta={"rebuilt": True})]
    assert not requires_owner(proposal(), rows, True, START - DAY)


@pytest.mark.parametrize("event", [Event.DELETE, Event.ERASE])
@pytest.mark.parametrize("wanted", [proposal(), proposal("goals_add", "run")])
def test_field_recently_deleted_by_the_owner_requires_the_owner(event, wanted):
    rows = [written(Op.DELETE, event, "user:ana")]
    assert requires_owner(wanted, rows, False, START - DAY)
    assert not requires_owner(wanted, rows, False, START)
    by_the_night = [written(Op.DELETE, event, "user:ana", node=JournalNode.WORKER)]
    assert not requires_owner(wanted, by_the_night, False, START - DAY)


def test_signals_of_an_agent_with_a_declined_goal_are_not_counted():
    smoke = proposal("goals_add", "smoke")
    rows = [
        told(build_proposal(smoke), "agent:planner"),
        told(build_settlement(smoke, ProposalDecision.DECLINED)),
    ]
    run = proposal("goals_add", "run", heard("agent:planner"), heard("agent:coach"))
    assert [each.actor for each in counted_signals(run, rows, START - DAY)] == ["agent:coach"]
    assert counted_signals(run, rows, START) == run.signals


def test_proposal_journal_entries_contain_no_values():
    secret = proposal("tone", "the secret word", heard("agent:a", "t", 0, "the secret word"))
    secret = replace(secret, id="proposal:1", reason="the secret word")
    for step in (
        build_proposal(secret),
        build_settlement(secret, ProposalDecision.DECLINED),
        build_erasure(secret),
    ):
        assert "the secret word" not in repr(step.entry)
    entry = build_settlement(secret, ProposalDecision.DECLINED).entry
    assert (entry.op, entry.event) == (Op.RESOLVE, Event.CONSENT)
    assert (entry.subject, entry.category) == ("profile:tone", "profile")
    assert entry.meta == {"proposal": "proposal:1", "decision": "declined"}


def test_proposal_comes_from_its_sources_and_memories():
    from_mail = proposal("tone", "brief", heard(), heard(source_id="source:1", memory_id="m"))
    assert from_mail.comes_from({"source:1"})
    assert from_mail.comes_from({"m"})
    assert not from_mail.comes_from({"source:2"})

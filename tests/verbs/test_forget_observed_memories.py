"""Who has a memory forgotten that came of a conversation is told where its words still stand."""

import pytest

SAID = "Remember that the wifi password is crocus44."


@pytest.fixture
def heard(me):
    seen = me.observe(SAID, thread="t1")
    return seen.stored[0].remembered.id, seen.passages[0]


def test_forget_that_keeps_evidence_names_the_turn(me, heard):
    memory, turn = heard
    assert me.forget(memory, keep_evidence=True).still_in == (turn,)


def test_erase_that_keeps_evidence_names_the_turn(me, heard):
    memory, turn = heard
    assert me.erase(memory, keep_evidence=True).still_in == (turn,)


def test_forget_names_no_turn_of_a_forgotten_conversation(me, heard):
    memory, turn = heard
    me.forget(turn.partition("#")[0])
    assert me.forget(memory).still_in == ()


def test_forget_names_no_turn_to_an_agent_without_source_access(me, heard):
    memory, _ = heard
    me.update(memory, category="tasks")
    assert me.agent("planner").forget(memory).still_in == ()


def test_forget_of_a_remembered_memory_names_no_turn(me):
    assert me.forget(me.remember("The spare keys are in the drawer").id).still_in == ()

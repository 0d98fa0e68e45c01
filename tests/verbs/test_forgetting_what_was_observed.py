"""Who has a memory forgotten that came of a conversation is told where its words still stand."""

import pytest

SAID = "Remember that the wifi password is crocus44."


@pytest.fixture
def heard(me):
    seen = me.observe(SAID, thread="t1")
    return seen.stored[0].remembered.id, seen.passages[0]


def test_forgetting_it_names_the_turn(me, heard):
    memory, turn = heard
    assert me.forget(memory).still_in == (turn,)


def test_erasing_it_names_the_turn(me, heard):
    memory, turn = heard
    assert me.erase(memory).still_in == (turn,)


def test_with_its_conversation_nothing_is_left(me, heard):
    memory, turn = heard
    me.forget(turn.partition("#")[0])
    assert me.forget(memory).still_in == ()


def test_who_sees_no_conversations_is_told_of_none(me, heard):
    memory, _ = heard
    me.update(memory, category="tasks")
    assert me.agent("planner").forget(memory).still_in == ()


def test_what_was_remembered_by_itself_stands_nowhere_else(me):
    assert me.forget(me.remember("The spare keys are in the drawer").id).still_in == ()

"""An agent may tell of a category that its allowlist does not name: nothing is stored twice for
that, and the answer says nothing of what is there."""

import pytest

DANA = {"kind": "contact", "metadata": {"name": "Dana Levi", "phone": "03-555-0100"}}
MOVED = {"kind": "contact", "metadata": {"name": "Dana Levi", "phone": "03-555-0199"}}


@pytest.fixture
def planner(me):
    return me.agent("planner")  # sees no relationships


def test_another_value_waits_for_the_owner(me, planner):
    dana = me.remember("Dana Levi, 03-555-0100", **DANA).id
    planner.remember("Dana Levi, 03-555-0199", **MOVED)
    (question,) = me.conflicts()
    assert [side.id for side in question.standing] == [dana]
    assert planner.conflicts() == []


def test_what_is_known_already_is_not_stored_again(me, planner):
    me.remember("Dana Levi, 03-555-0100", **DANA)
    planner.remember("Dana Levi, 03-555-0100", **DANA)
    assert len(me.list().memories) == 1


@pytest.mark.parametrize("told", [DANA, MOVED])
def test_the_answer_is_the_same_whatever_is_there(me, planner, told):
    into_the_blue = planner.remember("Dana Levi", **told)
    me.erase([memory.id for memory in me.list().memories])
    me.remember("Dana Levi, 03-555-0100", **DANA)
    onto_something = planner.remember("Dana Levi", **told)
    assert _without_ids(onto_something) == _without_ids(into_the_blue)
    assert onto_something.id not in {memory.id for memory in me.list().memories}


def _without_ids(answer):
    return (answer.relation, answer.action, answer.conflict, answer.others, answer.reason)

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


HAIFA = "Dana lives in Haifa"
UNSEEN = {"kind": "fact", "category": "style"}  # by the planner
SAID_OTHERWISE = [
    "Dana lives in Berlin",  # another value
    "Dana lives in Haifa, near the port",  # with more detail
]


@pytest.mark.parametrize("words", SAID_OTHERWISE)
def test_what_one_does_not_see_one_does_not_take_the_place_of(me, planner, words):
    """It is stored beside: the owner sees both."""
    dana = me.remember(HAIFA, kind="fact", category="relationships").id
    told = planner.remember(words, **UNSEEN)
    assert (told.action, told.others, told.undo) == ("stored", (), ())
    assert me.show(dana).memory.state == "active"
    assert {memory.content for memory in me.list().memories} == {HAIFA, words}
    assert me.remember(words, kind="fact", category="relationships").action != "stored"


def test_the_owner_and_who_sees_it_supersede_it(me):
    dana = me.remember(HAIFA, kind="fact", category="relationships").id
    seeing = me.agent("supervisor").remember("Dana lives in Berlin", **UNSEEN)
    assert me.show(dana).memory.superseded_by == seeing.id


def test_telling_it_again_changes_nothing_of_it(me, planner):
    """Neither its category, nor how long it lives, nor how well it is guarded."""
    dana = me.remember(HAIFA, kind="fact", category="relationships").id
    before = me.show(dana)
    given = {"sensitivity": "low", "ttl_days": 1, "importance": 5, "metadata": {"said": "so"}}
    planner.remember(HAIFA, **UNSEEN, **given)
    assert me.show(dana) == before
    assert len(me.list().memories) == 1


def test_a_contact_that_one_does_not_see_is_only_filled_in(me, planner):
    dana = me.remember("Dana Levi, 03-555-0100", **DANA).id
    more = {"name": "Dana Levi", "email": "dana@example.com"}
    planner.remember("Dana Levi", kind="contact", metadata=more, importance=5, ttl_days=1)
    (contact,) = me.list().memories
    assert (contact.id, contact.importance, contact.expires_at) == (dana, 2, None)
    assert contact.metadata["phone"] == "03-555-0100"
    assert contact.metadata["email"] == "dana@example.com"


def test_who_may_decide_does_not_decide_about_what_they_do_not_see(me):
    dana = me.remember("Dana Levi, 03-555-0100", **DANA).id
    trusted = me.agent("planner", may_resolve=True)
    trusted.remember("Dana Levi, 03-555-0199", **MOVED, on_conflict="override")
    assert me.show(dana).memory.metadata["phone"] == "03-555-0100"
    assert len(me.conflicts()) == 1


# ——— the answer says so ———


def test_an_agent_that_no_allowlist_names_is_told_that_it_will_not_see_it_again(me):
    newcomer = me.agent("newcomer")
    (warning,) = newcomer.remember("Chess is fun", category="interests").warnings
    for name in ("'interests'", "'default'", "newcomer"):
        assert name in warning
    assert not newcomer.recall("chess").hits
    assert [hit.text for hit in me.recall("chess").hits] == ["Chess is fun"]


def test_an_agent_with_a_list_of_its_own_is_told_its_name(me, planner):
    (warning,) = planner.remember("Short sentences", category="style").warnings
    assert "'planner'" in warning


def test_one_among_many_is_told_apart(me):
    both = [
        {"content": "Chess is fun", "category": "interests"},
        {"content": "The gate is green", "category": "knowledge"},
    ]
    chess, gate = me.agent("newcomer").remember_many(both)
    assert chess.warnings
    assert not gate.warnings


def test_moving_a_memory_out_of_sight_is_warned_of(me):
    newcomer = me.agent("newcomer")
    kept = newcomer.remember("Chess is fun", category="knowledge")
    assert not kept.warnings
    assert "'interests'" in newcomer.update(kept.id, category="interests").warnings[0]
    told = newcomer.remember("Go is fun", category="knowledge")
    changed = newcomer.update(told.id, content="Go is great fun", category="interests")
    assert "'interests'" in changed.warnings[0]


def test_the_owner_sees_all_and_is_warned_of_nothing(me):
    assert me.remember("Chess is fun", category="interests").warnings == ()

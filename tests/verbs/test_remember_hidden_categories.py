"""An agent may tell of a category that its allowlist does not name: nothing is stored twice for
that, and the answer says nothing of what is there."""

import pytest

DANA = {"kind": "contact", "metadata": {"name": "Dana Levi", "phone": "03-555-0100"}}
MOVED = {"kind": "contact", "metadata": {"name": "Dana Levi", "phone": "03-555-0199"}}


@pytest.fixture
def planner(me):
    return me.agent("planner")  # sees no relationships


def test_remember_holds_a_value_contradicting_a_memory_hidden_from_the_agent(me, planner):
    dana = me.remember("Dana Levi, 03-555-0100", **DANA).id
    planner.remember("Dana Levi, 03-555-0199", **MOVED)
    (question,) = me.conflicts()
    assert [side.id for side in question.standing] == [dana]
    assert planner.conflicts() == []


def test_remember_by_an_agent_does_not_duplicate_a_hidden_memory(me, planner):
    me.remember("Dana Levi, 03-555-0100", **DANA)
    planner.remember("Dana Levi, 03-555-0100", **DANA)
    assert len(me.list().memories) == 1


@pytest.mark.parametrize("told", [DANA, MOVED])
def test_remember_answer_does_not_reveal_a_hidden_memory(me, planner, told):
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
def test_remember_by_an_agent_does_not_supersede_a_hidden_fact(me, planner, words):
    """It is stored beside: the owner sees both."""
    dana = me.remember(HAIFA, kind="fact", category="relationships").id
    told = planner.remember(words, **UNSEEN)
    assert (told.action, told.others, told.undo) == ("stored", (), ())
    assert me.show(dana).memory.state == "active"
    assert {memory.content for memory in me.list().memories} == {HAIFA, words}
    assert me.remember(words, kind="fact", category="relationships").action != "stored"


def test_remember_by_an_agent_with_access_supersedes_the_fact(me):
    dana = me.remember(HAIFA, kind="fact", category="relationships").id
    seeing = me.agent("supervisor").remember("Dana lives in Berlin", **UNSEEN)
    assert me.show(dana).memory.superseded_by == seeing.id


def test_remember_by_an_agent_does_not_change_fields_of_a_hidden_memory(me, planner):
    """Neither its category, nor how long it lives, nor how well it is guarded."""
    dana = me.remember(HAIFA, kind="fact", category="relationships").id
    before = me.show(dana)
    given = {"sensitivity": "low", "ttl_days": 1, "importance": 5, "metadata": {"said": "so"}}
    planner.remember(HAIFA, **UNSEEN, **given)
    assert me.show(dana) == before
    assert len(me.list().memories) == 1


def test_remember_by_an_agent_only_adds_missing_fields_to_a_hidden_contact(me, planner):
    dana = me.remember("Dana Levi, 03-555-0100", **DANA).id
    more = {"name": "Dana Levi", "email": "dana@example.com"}
    planner.remember("Dana Levi", kind="contact", metadata=more, importance=5, ttl_days=1)
    (contact,) = me.list().memories
    assert (contact.id, contact.importance, contact.expires_at) == (dana, 2, None)
    assert contact.metadata["phone"] == "03-555-0100"
    assert contact.metadata["email"] == "dana@example.com"


def test_remember_override_by_a_trusted_agent_holds_against_a_hidden_memory(me):
    dana = me.remember("Dana Levi, 03-555-0100", **DANA).id
    trusted = me.agent("planner", may_resolve=True)
    trusted.remember("Dana Levi, 03-555-0199", **MOVED, on_conflict="override")
    assert me.show(dana).memory.metadata["phone"] == "03-555-0100"
    assert len(me.conflicts()) == 1


# ——— the answer says so ———


def test_remember_warns_an_unlisted_agent_of_a_category_hidden_from_the_agent(me):
    newcomer = me.agent("newcomer")
    (warning,) = newcomer.remember("Chess is fun", category="style").warnings
    for name in ("'style'", "'default'", "newcomer"):
        assert name in warning
    assert not newcomer.recall("chess").hits
    assert [hit.text for hit in me.recall("chess").hits] == ["Chess is fun"]


def test_remember_warning_names_the_allowlist_of_the_agent(me, planner):
    (warning,) = planner.remember("Short sentences", category="style").warnings
    assert "'planner'" in warning


def test_remember_many_warns_per_memory(me):
    both = [
        {"content": "Chess is fun", "category": "style"},
        {"content": "The gate is green", "category": "knowledge"},
    ]
    chess, gate = me.agent("newcomer").remember_many(both)
    assert chess.warnings
    assert not gate.warnings


def test_update_warns_an_agent_of_a_move_to_a_hidden_category(me):
    newcomer = me.agent("newcomer")
    kept = newcomer.remember("Chess is fun", category="knowledge")
    assert not kept.warnings
    assert "'style'" in newcomer.update(kept.id, category="style").warnings[0]
    told = newcomer.remember("Go is fun", category="knowledge")
    changed = newcomer.update(told.id, content="Go is great fun", category="style")
    assert "'style'" in changed.warnings[0]


def test_remember_does_not_warn_the_owner_of_categories(me):
    assert me.remember("Chess is fun", category="style").warnings == ()

"""Where a node is named: by its id, or by what it is called."""

from __future__ import annotations

import pytest

from commonplace.errors import InvalidInput, NotFound


@pytest.fixture
def two(me):
    """Dana Levi and Ben Cohen, who work at Acme."""
    ids = [me.nodes_add(name).id for name in ("Dana Levi", "Ben Cohen")]
    me.nodes_add("Acme", node_type="Entity", type="organization")
    for id in ids:
        me.relate(id, "Acme", "works-at")
    me.relate("me", ids[0], "friend")
    return ids


def test_nodes_are_merged_by_their_names(me, two):
    merged = me.merge(["Dana Levi", "Ben Cohen"])
    assert (merged.id, merged.merged) == (two[0], (two[1],))


def test_the_owner_speaks_for_another_by_the_word_me(me, two):
    assert me.merge(["me", two[1]]).node.is_owner


def test_memories_are_merged_as_ever(me, two):
    one, other = me.remember("Dana Levi").id, me.remember("Ben Cohen likes tea").id
    assert set(me.merge([one, other]).merged) == {one, other}


@pytest.mark.parametrize("ids", [["Dana Levi", "Nobody"], ["Nobody", "No One"]])
def test_what_is_neither_memory_nor_node_is_not_merged(me, two, ids):
    with pytest.raises(NotFound):
        me.merge(ids)


@pytest.mark.parametrize("ids", [["Dana Levi", "Zzz"], ["Zzz", "Dana Levi"]])
def test_an_error_of_merging_names_the_one_that_is_not_there(me, two, ids):
    with pytest.raises(NotFound) as refused:
        me.merge(ids)
    assert "'Zzz'" in refused.value.message
    assert "Dana" not in refused.value.message


def test_a_memory_and_a_node_are_not_merged(me, two):
    tea = me.remember("Likes tea").id
    with pytest.raises(InvalidInput) as refused:
        me.merge([tea, "Dana Levi"])
    assert "'Dana Levi' is a node" in refused.value.message


def test_a_name_means_whose_first_name_it_is_before_who_has_it_beside_others(me, two):
    me.nodes_update(two[1], aliases=["Dana Stone"])
    me.nodes_update(two[0], name="Dana Stone")
    assert me.node("Dana Stone").node.id == two[0]
    me.nodes_update(two[0], name="Dana Levi")
    with pytest.raises(InvalidInput):
        me.node("Dana Stone")


@pytest.mark.parametrize("seed", ["Acme", "acme", "me"])
def test_a_walk_begins_at_a_name(me, two, seed):
    found = me.traverse(seed_nodes=[seed])
    assert found.seeds == (me.node(seed).node.id,)
    assert "Dana Levi" in {each.name for each in found.reached}


def test_a_walk_from_nowhere_tells_where_to_look(me, two):
    with pytest.raises(NotFound) as refused:
        me.traverse(seed_nodes=["Nobody"])
    assert refused.value.field == "seed_nodes"
    assert "people" in refused.value.remedy


@pytest.mark.parametrize("named", ["Dana Levi", "me"])
def test_a_node_is_shown_by_its_name(me, two, named):
    assert me.show(named).node.id == me.node(named).node.id


def test_a_name_shows_nothing_that_an_agent_may_not_see(me, two):
    with pytest.raises(NotFound):
        me.agent("planner").show("Dana Levi")


@pytest.mark.parametrize("verb", ["forget", "erase"])
def test_nothing_is_taken_away_by_a_name_but_the_error_tells_the_id(me, two, verb):
    with pytest.raises(NotFound) as refused:
        getattr(me, verb)(["Dana Levi"])
    assert two[0] in refused.value.remedy
    assert me.node("Dana Levi").node.id == two[0]
    with pytest.raises(NotFound) as refused:
        getattr(me, verb)(["Nobody"])
    assert "node:" not in refused.value.remedy


@pytest.mark.parametrize(
    "say",
    [
        lambda me: me.node("Nobody"),
        lambda me: me.relate("me", "Nobody", "friend"),
        lambda me: me.note("Nobody", "Likes tea"),
        lambda me: me.nodes_update("Nobody", description="x"),
        lambda me: me.edges(node="Nobody"),
    ],
)
def test_whoever_is_not_there_is_looked_for_where_nodes_are(me, two, say):
    with pytest.raises(NotFound) as refused:
        say(me)
    for word in ("explore", "people", "concepts", "entities", "nodes add"):
        assert word in refused.value.remedy


def test_a_note_on_one_of_several_relationships_says_on_which(me, two):
    dana = two[0]
    friends = me.note(["me", dana], "They hike on Fridays").note.about
    reports = me.relate("me", dana, "reports-to").id
    with pytest.raises(InvalidInput) as refused:
        me.note(["me", dana], "They hike on Mondays")
    assert friends in refused.value.remedy
    assert reports in refused.value.remedy
    assert me.note([reports], "They meet on Mondays").note.about == reports


def test_of_several_relationships_the_one_that_holds_is_meant(me, two, clock):
    dana = two[0]
    clock.tick(days=1)
    me.relate("me", dana, "friend", ended=True)
    reports = me.relate("me", dana, "reports-to").id
    assert me.note(["me", dana], "They meet on Mondays").note.about == reports

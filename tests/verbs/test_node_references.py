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


def test_merge_accepts_node_names(me, two):
    merged = me.merge(["Dana Levi", "Ben Cohen"])
    assert (merged.id, merged.merged) == (two[0], (two[1],))


def test_merge_accepts_me_for_the_owner_node(me, two):
    assert me.merge(["me", two[1]]).node.is_owner


def test_merge_of_memory_ids_works_with_nodes_of_the_same_names(me, two):
    one, other = me.remember("Dana Levi").id, me.remember("Ben Cohen likes tea").id
    assert set(me.merge([one, other]).merged) == {one, other}


@pytest.mark.parametrize("ids", [["Dana Levi", "Nobody"], ["Nobody", "No One"]])
def test_merge_refuses_unknown_names(me, two, ids):
    with pytest.raises(NotFound):
        me.merge(ids)


@pytest.mark.parametrize("ids", [["Dana Levi", "Zzz"], ["Zzz", "Dana Levi"]])
def test_merge_error_names_the_unknown_id(me, two, ids):
    with pytest.raises(NotFound) as refused:
        me.merge(ids)
    assert "'Zzz'" in refused.value.message
    assert "Dana" not in refused.value.message


def test_merge_refuses_a_memory_with_a_node(me, two):
    tea = me.remember("Likes tea").id
    with pytest.raises(InvalidInput) as refused:
        me.merge([tea, "Dana Levi"])
    assert "'Dana Levi' is a node" in refused.value.message


def test_node_lookup_prefers_a_name_over_an_alias_and_refuses_two_aliases(me, two):
    me.nodes_update(two[1], aliases=["Dana Stone"])
    me.nodes_update(two[0], name="Dana Stone")
    assert me.node("Dana Stone").node.id == two[0]
    me.nodes_update(two[0], name="Dana Levi")
    with pytest.raises(InvalidInput):
        me.node("Dana Stone")


@pytest.mark.parametrize("seed", ["Acme", "acme", "me"])
def test_traverse_accepts_node_names_as_seeds(me, two, seed):
    found = me.traverse(seed_nodes=[seed])
    assert found.seeds == (me.node(seed).node.id,)
    assert "Dana Levi" in {each.name for each in found.reached}


def test_traverse_unknown_seed_error_has_a_remedy(me, two):
    with pytest.raises(NotFound) as refused:
        me.traverse(seed_nodes=["Nobody"])
    assert refused.value.field == "seed_nodes"
    assert "people" in refused.value.remedy


@pytest.mark.parametrize("named", ["Dana Levi", "me"])
def test_show_accepts_a_node_name(me, two, named):
    assert me.show(named).node.id == me.node(named).node.id


def test_show_by_name_hides_nodes_from_an_unauthorised_agent(me, two):
    with pytest.raises(NotFound):
        me.agent("planner").show("Dana Levi")


@pytest.mark.parametrize("verb", ["forget", "erase"])
def test_forget_and_erase_refuse_a_node_name_and_suggest_its_id(me, two, verb):
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
def test_unknown_node_error_suggests_graph_listing_verbs(me, two, say):
    with pytest.raises(NotFound) as refused:
        say(me)
    for word in ("explore", "people", "concepts", "entities", "nodes add"):
        assert word in refused.value.remedy


def test_note_on_ambiguous_relationship_asks_for_an_edge_id(me, two):
    dana = two[0]
    friends = me.note(["me", dana], "They hike on Fridays").note.about
    reports = me.relate("me", dana, "reports-to").id
    with pytest.raises(InvalidInput) as refused:
        me.note(["me", dana], "They hike on Mondays")
    assert friends in refused.value.remedy
    assert reports in refused.value.remedy
    assert me.note([reports], "They meet on Mondays").note.about == reports


def test_note_on_several_relationships_chooses_the_current_one(me, two, clock):
    dana = two[0]
    clock.tick(days=1)
    me.relate("me", dana, "friend", ended=True)
    reports = me.relate("me", dana, "reports-to").id
    assert me.note(["me", dana], "They meet on Mondays").note.about == reports

"""The owner is in their graph as soon as anything is, however it came; and there is one of them."""

from __future__ import annotations

import json

import pytest

from commonplace.errors import NotAllowed, NotFound
from support.settled import settled


def a_note(me):
    """In a graph that holds something, so that there is something to note it on."""
    me.note([me.nodes_add("Dan").id], "Plays chess")


WAYS = {
    "a node": lambda me: me.nodes_add("Dan"),
    "a concept": lambda me: me.nodes_add("chess", node_type="Concept"),
    "a note": a_note,
    "a note on the owner": lambda me: me.note(["me"], "Left-handed"),
    "an artifact": lambda me: me.artifacts_create("Draft", "Dear Dan, …"),
    "an agent's artifact": lambda me: me.agent("supervisor").artifacts_create(
        "Draft", "Dear Dan, …"
    ),
}


def is_there(me):
    """By every way to ask for the owner."""
    shown = me.node("me").node
    assert me.edges(node="me").edges == ()
    assert me.traverse(mode="ppr", seed_nodes=["me"]).seeds[0] == shown.id
    found = me.traverse(cypher="MATCH (u:Person {is_owner: true}) RETURN u.entity_key")
    assert found.rows == ((shown.id,),)
    assert [node.id for node in me.people(limit=100).nodes if node.is_owner] == [shown.id]
    return shown


@pytest.mark.parametrize("way", WAYS)
def test_owner_node_is_created_with_the_first_graph_item(me, way):
    WAYS[way](me)
    owner = is_there(me)
    assert (owner.name, owner.confidence, owner.salience) == ("ana", 1.0, 1.0)
    assert (owner.state, owner.ttl_policy) == ("core", "keep_forever")


def test_owner_node_is_created_in_the_same_revision(me):
    added = me.nodes_add("Dan")
    assert added.revision == 1
    assert me.node("me").node.created_at == added.node.created_at


def test_owner_node_is_created_by_an_extraction_about_others(open_book):
    book = open_book(extraction="auto")
    me = book.user("ana")
    me.ingest("Tal: My brother Dan Levi works at Acme.", format="transcript", date="2026-01-05")
    settled(book)
    assert is_there(me).name == "ana"


def test_owner_node_is_created_by_an_import_without_one(me, book):
    me.nodes_add("Dan")
    lines = [line for line in me.export() if not json.loads(line).get("is_owner")]
    dana = book.user("dana")
    dana.import_([line.replace('"ana"', '"dana"') for line in lines])
    assert is_there(dana).name == "dana"
    noa = book.user("noa")
    noa.remember("The wifi password is tulip42")
    noa.import_([line.replace('"ana"', '"noa"') for line in lines])
    assert is_there(noa).name == "noa"


def test_owner_node_is_unique_after_repeated_imports(me, book):
    me.nodes_add("Dan")
    lines = [line.replace('"ana"', '"dana"') for line in me.export()]
    dana = book.user("dana")
    dana.nodes_add("Noa")
    before = is_there(dana).id
    dana.import_(lines)
    dana.import_(lines)
    assert is_there(dana).id == before


def test_owner_node_name_follows_the_profile(me):
    me.profile_set("preferred_name", "Ana Levi")
    me.artifacts_create("Draft", "Dear Dan, …")
    assert is_there(me).name == "Ana Levi"


def test_nodes_add_with_the_name_of_the_owner_creates_the_owner_node(me):
    """As it is when they are there already."""
    added = me.nodes_add("Ana", description="Plays the oboe")
    assert added.node.is_owner
    assert added.is_new
    assert is_there(me).description == "Plays the oboe"
    assert not me.nodes_add("ana").is_new


def test_owner_node_error_on_an_empty_graph_has_a_remedy(me):
    for ask in (
        lambda: me.node("me"),
        lambda: me.edges(node="me"),
        lambda: me.traverse(mode="ppr", seed_nodes=["me"]),
    ):
        with pytest.raises(NotFound) as refused:
            ask()
        assert "is created with the first item in the graph" in refused.value.remedy


def test_owner_node_is_not_created_by_a_refused_relate(me):
    with pytest.raises(NotFound):
        me.relate("Dan", "Noa", "friend")
    with pytest.raises(NotFound):
        me.node("me")


def test_owner_node_is_not_created_by_reads(me):
    me.remember("The wifi password is tulip42")
    me.people()
    me.explore(granularity=1)
    assert me.people().nodes == ()
    assert me.stats().revision == 1


def test_owner_node_survives_erase_of_all_other_nodes(me):
    dan = me.nodes_add("Dan").id
    me.erase([dan])
    assert is_there(me).is_owner


@pytest.mark.parametrize(
    "attempt",
    [
        lambda agent: agent.nodes_update("me", aliases=["Dan Evil"]),
        lambda agent: agent.nodes_update("me", addresses=["dan@evil.example"]),
        lambda agent: agent.nodes_update("me", not_aliases=["Ana Cohen"]),
        lambda agent: agent.nodes_add("ana", aliases=["Dan Evil"]),
        lambda agent: agent.nodes_add("ana", addresses=["dan@evil.example"]),
        lambda agent: agent.merge(["me", "Dan Evil"]),
        lambda agent: agent.split("me", name="Another", names=["Annie"]),
    ],
    ids=[
        *("aliases", "addresses", "not_aliases"),
        *("nodes_add aliases", "nodes_add addresses", "merge", "split"),
    ],
)
def test_agent_cannot_change_by_which_names_the_owner_is_known(me, attempt):
    me.nodes_add("Dan Evil", description="A stranger")
    me.nodes_update("me", aliases=["Annie"])
    before = me.node("me").node
    with pytest.raises(NotAllowed) as refused:
        attempt(me.agent("helper"))
    assert "owner" in refused.value.remedy
    assert me.node("me").node == before


def test_agent_that_may_resolve_can_add_a_name_of_the_owner(me):
    me.nodes_add("Dan")
    judge = me.agent("judge", may_resolve=True)
    assert "Annie" in judge.nodes_update("me", aliases=["Annie"]).node.aliases

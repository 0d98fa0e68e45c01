"""Nodes, edges, notes and artifacts are forgotten, restored, purged and erased by their ids."""

from __future__ import annotations

import json

import pytest

from commonplace.errors import InvalidInput, NotFound


@pytest.fixture
def friends(me):
    me.nodes_add("Sarah Chen")
    me.nodes_add("Acme", node_type="Entity", type="organization")
    me.relate("Sarah Chen", "Acme", "works-at")
    me.relate("me", "Sarah Chen", "friend", attitude=5)
    me.note("Sarah Chen", "Plays the cello", lifetime="forever")
    return me


def names(me):
    return {node.name for page in (me.people(), me.entities()) for node in page.nodes}


def told(me):
    """All of it, but for when it was last changed."""
    graph = json.loads(me.graph(past=True))
    for node in graph["nodes"]:
        del node["updated_at"]
    return graph


def edges(me):
    return {edge.relationship_type for edge in me.edges(past=True).edges}


def test_forget_node_and_restore_bring_back_edges_and_notes(friends):
    me = friends
    before, sarah = told(me), me.node("Sarah Chen").node.id
    assert me.forget(sarah).ids == (sarah,)
    assert "Sarah Chen" not in names(me)
    assert edges(me) == set()
    with pytest.raises(NotFound):
        me.node(sarah)
    assert me.forget(sarah).already == (sarah,)
    assert me.restore(sarah).ids == (sarah,)
    assert me.restore(sarah).already == (sarah,)
    assert told(me) == before
    assert [note.content for note in me.node(sarah).notes] == ["Plays the cello"]


def test_relate_revives_a_forgotten_edge(friends):
    me = friends
    edge = next(each for each in me.edges().edges if each.relationship_type == "friend")
    me.forget(edge.id)
    assert me.relate("me", "Sarah Chen", "friend").is_new
    assert edges(me) == {"friend", "works-at"}
    assert me.edges(node="me").edges[0].id == edge.id


def test_forget_and_restore_of_an_edge_and_a_note_leave_the_node(friends):
    me = friends
    sarah = me.node("Sarah Chen")
    edge = next(edge for edge in sarah.edges if edge.relationship_type == "friend")
    me.forget([edge.id, sarah.notes[0].id])
    assert edges(me) == {"works-at"}
    assert me.node("Sarah Chen").notes == ()
    me.restore([edge.id, sarah.notes[0].id])
    assert edges(me) == {"works-at", "friend"}
    assert [note.content for note in me.node("Sarah Chen").notes] == ["Plays the cello"]


def test_tidy_purges_a_forgotten_node_after_thirty_days(friends, clock):
    me = friends
    sarah = me.node("Sarah Chen").node.id
    me.forget(sarah)
    clock.tick(days=31)
    me.tidy()
    with pytest.raises(NotFound):
        me.restore(sarah)
    assert me.verify_forget("cello").clean
    assert names(me) == {me.principal.user_id, "Acme"}


def test_erase_accepts_forgotten_graph_items(friends):
    me = friends
    me.artifacts_create("Letter", "A letter about whales")
    sarah = me.node("Sarah Chen")
    works = next(edge for edge in sarah.edges if edge.relationship_type == "works-at")
    ids = [works.id, sarah.notes[0].id, me.artifacts().artifacts[0].id, sarah.node.id]
    me.forget(ids)
    for id in ids:
        assert id in me.erase(id).ids
        with pytest.raises(NotFound):
            me.restore(id)
    assert names(me) == {me.principal.user_id, "Acme"}
    assert me.verify_forget("cello").clean
    assert me.verify_forget("whales").clean


def test_restore_refuses_a_node_with_a_name_taken_since(friends):
    me = friends
    sarah = me.node("Sarah Chen").node.id
    me.forget(sarah)
    other = me.nodes_add("Sarah Chen")
    assert other.is_new
    with pytest.raises(InvalidInput, match="Another node has the name"):
        me.restore(sarah)
    assert me.node("Sarah Chen").node.id == other.id


def test_erase_node_erases_edges_and_notes(friends):
    me = friends
    sarah = me.node("Sarah Chen").node.id
    erased = me.erase(sarah, now=True)
    assert sarah in erased.ids
    assert names(me) == {me.principal.user_id, "Acme"}
    assert edges(me) == set()
    for text in ("Sarah", "cello"):
        assert me.verify_forget(text).clean


def test_forget_and_erase_refuse_the_owner_node(friends):
    me = friends
    owner = me.node("me").node.id
    for take_away in (me.forget, me.erase):
        with pytest.raises(InvalidInput):
            take_away(owner)
    assert me.node("me").node.is_owner


def test_forget_restore_and_erase_of_an_artifact(me):
    made = me.artifacts_create("Draft", {"text": "Dear Sarah"}, content_type="action").id
    me.forget(made)
    assert me.artifacts().artifacts == ()
    me.restore(made)
    assert [each.id for each in me.artifacts().artifacts] == [made]
    me.erase(made, now=True)
    assert me.artifacts().artifacts == ()
    assert me.verify_forget("Dear Sarah").clean


def test_note_expires_after_the_given_lifetime(friends, clock):
    me = friends
    me.note("Acme", "Closed for the holidays", lifetime="week")
    clock.tick(days=8)
    assert me.node("Acme").notes == ()
    me.tidy()
    assert me.verify_forget("holidays").clean


def test_erase_of_a_source_leaves_no_text_in_nodes_of_a_forgotten_source(me):
    """Hidden, it waits for the source that may come back, and says what that one says."""
    ids = []
    for number in range(2):
        said = f"Ana: I love hiking in Zork{number}ville.\nBob: Ok.\nAna: Yes."
        day = f"2026-01-1{number}"
        ids.append(me.ingest(said, format="transcript", date=day, external_id=day).id)
    me.extract()
    me.forget(ids[0])
    me.erase(ids[1], now=True)
    assert me.verify_forget("Zork1ville").clean
    me.restore(ids[0])
    (hiking,) = me.concepts().nodes
    assert "Zork0ville" in hiking.description

"""Nodes, edges, notes and artifacts are hits of recall, query, context and whole_context."""

from __future__ import annotations

import pytest


@pytest.fixture
def family(me):
    """A graph that only its owner's own words made: no source, no memory."""
    me.nodes_add("Rafael")
    me.nodes_add("Mira", description="A potter from Jaffa")
    me.nodes_add("Kelp Labs", node_type="Entity", type="organization")
    me.relate("me", "Rafael", "spouse", valid_from="2019-06-01")
    me.relate("me", "Mira", "friend")
    me.relate("Mira", "Kelp Labs", "works-at")
    me.note("Mira", "allergic to walnuts", lifetime="forever")
    me.note(["me", "Mira"], "met at a pottery class in Acre", lifetime="forever")
    me.artifacts_create("Packing list", content_type="md_file", output="tent, stove, raincoat")
    return me


def first(user, question, **more):
    found = user.recall(question, **more).hits
    return (found[0].kind, found[0].text) if found else None


@pytest.mark.parametrize(
    ("question", "kind", "words"),
    [
        ("who is my husband?", "edge", "Rafael is the user's spouse"),
        ("מי הבעל שלי?", "edge", "Rafael is the user's spouse"),
        ("who are my friends?", "edge", "Mira is the user's friend"),
        ("where does Mira work?", "edge", "Mira works at Kelp Labs"),
        ("where does my friend work?", "edge", "Mira works at Kelp Labs"),
        ("who works at Kelp Labs?", "edge", "Mira works at Kelp Labs"),
        ("who is Rafael?", "node", "Rafael is the user's spouse"),
        ("what do you know about Mira?", "node", "A potter from Jaffa"),
        ("who is allergic to walnuts?", "node", "allergic to walnuts"),
        ("is Mira allergic to anything?", "node", "allergic to walnuts"),
        ("pottery class in Acre", "edge", "met at a pottery class in Acre"),
        ("where is my packing list?", "artifact", "raincoat"),
    ],
)
def test_recall_finds_items_of_the_graph_by_a_plain_question(family, question, kind, words):
    found_kind, text = first(family, question)
    assert found_kind == kind
    assert words in text


def test_recall_of_the_graph_is_part_of_every_read(family):
    question = "who is my husband?"
    assert "Rafael is the user's spouse" in family.query(question).text
    assert "Rafael is the user's spouse" in family.context(question, thread="t").text
    assert "Rafael is the user's spouse" in family.whole_context(question).text


def test_recall_gives_an_edge_with_all_fields_of_a_hit(family):
    hit = family.recall("who is my husband?", explain=True).hits[0]
    assert hit.id.startswith("edge:")
    assert (hit.category, hit.forgettable, hit.suspicious) == ("relationships", True, False)
    assert hit.text.endswith("since 2019-06-01.")
    assert hit.why.startswith("Recalled because")
    assert sum(hit.parts.values()) == pytest.approx(hit.score, abs=1e-5)
    assert family.show(hit.id).edge.id == hit.id


def test_recall_gives_no_start_of_a_relation_that_nobody_stated(family):
    assert "since" not in first(family, "where does Mira work?")[1]


@pytest.mark.parametrize(
    "question",
    ["where is the nearest swimming pool?", "what is my blood type?", "where do I work?"],
)
def test_recall_of_what_the_graph_does_not_say_is_empty(family, question):
    assert family.recall(question).is_empty


def test_recall_asks_for_the_role_that_is_meant(me):
    me.nodes_add("Hanna", description="The user's sister")
    me.relate("me", "Hanna", "sibling")
    me.nodes_add("Edda")
    me.relate("me", "Edda", "child")
    assert "Hanna" in first(me, "what is my sister's name?")[1]
    assert me.recall("do I have a brother?").is_empty
    assert "Edda" in first(me, "who is my mother?")[1]
    assert me.recall("who is my son?").is_empty


def test_recall_shows_a_memory_and_not_the_edge_that_says_the_same(family):
    family.remember("Mira works at Kelp Labs")
    hits = family.recall("where does Mira work?").hits
    assert hits[0].text == "Mira works at Kelp Labs"
    assert "edge" not in {hit.kind for hit in hits}


def test_recall_gives_most_places_to_memories(me):
    for name in ("Ada", "Bea", "Cleo", "Dora", "Ella", "Fay"):
        me.nodes_add(name, description="Sings in the harbour choir")
        me.remember(f"{name} brought cake to the harbour choir")
    kinds = [hit.kind for hit in me.recall("the harbour choir", k=6).hits]
    assert (kinds.count("node"), len(kinds)) == (2, 6)


def test_recall_filters_apply_to_the_graph(family, clock):
    question = "who is my husband?"
    assert family.recall(question, categories=["relationships"]).hits
    assert family.recall(question, categories=["knowledge"]).is_empty
    assert family.recall(question, kinds=["note"]).is_empty
    assert family.recall(question, filters={"thread_id": "t"}).is_empty
    assert family.recall(question, filters={"created_after": clock().isoformat()}).is_empty
    assert family.recall(question, sources=["none"]).hits
    assert family.recall(question, sources=["only"]).is_empty
    assert family.recall(question, threshold=0.99).is_empty


def test_recall_of_the_graph_respects_the_allowlist(family):
    planner = family.agent("planner")  # its shipped allowlist does not name relationships
    assert planner.recall("who is my husband?").is_empty
    assert family.agent("supervisor").recall("who is my husband?").hits


def test_recall_finds_no_forgotten_or_erased_item_at_any_time(family, clock):
    edge = family.recall("who is my husband?").hits[0].id
    then = clock()
    clock.tick(days=1)
    assert family.recall("who is my husband?", known_at=then).hits
    family.forget(edge)
    assert family.recall("who is my husband?").is_empty
    assert family.recall("who is my husband?", known_at=then).is_empty
    family.restore(edge)
    assert family.recall("who is my husband?").hits
    family.erase(edge)
    assert family.recall("who is my husband?").is_empty
    assert family.recall("who is my husband?", known_at=then).is_empty


def test_recall_at_another_time_gives_the_relation_of_then(family, clock):
    assert family.recall("who is my husband?", as_of="2018-01-01").is_empty
    assert family.recall("who is my husband?", as_of="2020-01-01").hits


def test_recall_finds_no_expired_note(me, clock):
    me.nodes_add("Mira")
    me.note("Mira", "borrowed the long ladder", lifetime="week")
    assert me.recall("who borrowed the ladder?").hits
    clock.tick(days=8)
    assert me.recall("who borrowed the ladder?").is_empty


def test_recall_counts_as_a_read_of_the_graph(family, book):
    hit = family.recall("who is my husband?").hits[0]
    book.flush()
    assert family.show(hit.id).edge.state == "active"


def test_recall_log_explains_hits_of_the_graph(open_book):
    me = open_book(recall_log=True).user("ana")
    me.nodes_add("Rafael")
    me.relate("me", "Rafael", "spouse")
    me.recall("who is my husband?")
    (search,) = me.why("main").asked
    assert [hit.text for hit in search.returned] == ["Rafael is the user's spouse."]

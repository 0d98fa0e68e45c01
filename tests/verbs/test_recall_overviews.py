"""Overviews: "what do you know about Finn?" tells each thing once, the node first."""

import pytest

FACTS = (
    "Finn is a park ranger",
    "Finn has a park ranger job",
    "Finn is allergic to walnuts",
    "Finn plays the cello in a trio",
)


@pytest.fixture
def told(me):
    me.nodes_add("Finn", description="The user's little brother in Darwin.")
    me.relate("me", "Finn", "sibling", description="Finn is the user's brother.")
    for fact in FACTS:
        me.remember(fact, kind="fact")
    me.observe("I saw Finn at the pool, he says hi", thread="t")
    return me


def test_overview_tells_the_node_first_and_passages_last(told):
    kinds = [hit.kind for hit in told.recall("what do you know about Finn?", k=8).hits]
    assert kinds[0] == "node"
    assert "passage" not in kinds[1:4]


@pytest.mark.parametrize(
    "question",
    ["what do u know about finn", "tell me everything youve got on finn", "sum up Finn"],
)
def test_overview_tells_different_things_within_few_items(told, question):
    said = " ".join(hit.text for hit in told.recall(question, k=4).hits)
    assert all(word in said for word in ("brother", "walnuts", "cello", "ranger"))


def test_overview_does_not_repeat_an_edge_that_the_node_tells(told):
    texts = [hit.text for hit in told.recall("what do you know about Finn?", k=8).hits]
    assert sum("brother" in text for text in texts) == 1


def test_question_how_somebody_is_related_answers_with_no_other_relative(me):
    for name in ("Lorraine", "Otis"):
        me.nodes_add(name)
    me.relate("me", "Lorraine", "child", description="Lorraine is the user's mum.")
    me.relate("Otis", "me", "nephew", description="Otis is the user's nephew.")
    first = me.recall("how is Otis related to me?", k=2).hits[0]
    assert "nephew" in first.text


def test_question_for_one_relative_does_not_find_another_by_its_sound(me):
    me.nodes_add("my sister")
    me.relate("me", "my sister", "sibling")
    me.remember("My son Karim plays left back", kind="fact")
    assert "sister" not in me.recall("sum up what you know of my son", k=1).hits[0].text

"""explore answers plain questions without any tuning."""

from __future__ import annotations

import pytest

ABOUT_ME = (
    "My husband Rafael works at Kelp Labs. My sister Hanna lives in Lyon. My boss is Linda Berg. "
    "I love climbing. I hate coriander. My friend Amara and I play tennis. "
    "I want to learn the cello this year. I got an offer from Bluefin Health. "
    "My friend Carla is allergic to walnuts."
)


@pytest.fixture
def known(me):
    me.ingest(ABOUT_ME, format="text", external_id="about")
    me.extract()
    return me


def names(found):
    semantic = found.semantic
    return {hit.name for hit in (*semantic.people, *semantic.concepts, *semantic.entities)}


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("who are my friends", {"Amara", "Carla"}),
        ("what are my goals", {"learn the cello"}),
        ("what do I dislike", {"coriander"}),
        ("job offers", {"Bluefin Health"}),
        ("what do I know about my husband?", {"Rafael"}),
        ("where does my sister live?", {"Hanna", "Lyon"}),
        ("who is my boss?", {"Linda Berg"}),
        ("allergic to walnuts", {"Carla"}),
        ("close friendly relationships", {"Amara", "Carla"}),
    ],
)
def test_explore_answers_a_plain_question(known, question, expected):
    assert expected <= names(known.explore(question))


@pytest.fixture
def family(me):
    me.ingest(
        "My husband Rafael works at Kelp Labs. My daughter Ivy is six. My sister Hanna is tall. "
        "My mother Ruth is a nurse. My mother-in-law Olga sings. My friend Amara plays tennis.",
        format="text",
        external_id="family",
    )
    me.extract()
    return me


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("who's in my family", {"Rafael", "Ivy", "Hanna", "Ruth", "Olga"}),
        ("who are my relatives?", {"Rafael", "Ivy", "Hanna", "Ruth", "Olga"}),
        ("family", {"Rafael", "Ivy", "Hanna", "Ruth", "Olga"}),
        ("who are my kids", {"Ivy"}),
        ("who are my parents", {"Ruth"}),
        ("who are my siblings", {"Hanna"}),
        ("who are my in-laws", {"Olga"}),
        ("מי במשפחה שלי?", {"Rafael", "Ivy", "Hanna", "Ruth", "Olga"}),
        ("מי הילדים שלי?", {"Ivy"}),
        ("מי ההורים שלי?", {"Ruth"}),
        ("מי האחים שלי?", {"Hanna"}),
    ],
)
def test_explore_knows_who_is_family(family, question, expected):
    found = family.explore(question).semantic
    asked = {person.name for person in found.people}
    assert expected <= asked
    assert "Amara" not in asked


def test_explore_shows_only_the_relationships_that_are_asked_for(known):
    found = known.explore("who are my friends").semantic
    assert {hit.relationship_type for hit in found.relationships} == {"friend"}


def test_explore_takes_one_query_or_several(known):
    one = known.explore("Carla")
    assert one.meta == known.explore(query="Carla").meta == known.explore(queries=["Carla"]).meta
    assert (one.meta.granularity, names(one)) == (1, {"Carla"})
    assert names(known.explore("Carla", queries=["Hanna"])) >= {"Carla", "Hanna"}


def test_explore_of_something_unknown_finds_nobody(known):
    assert names(known.explore("gardening tools")) == set()


def test_explore_keeps_a_threshold_that_is_given(known):
    strict = known.explore(queries=[{"query": "people who climb rocks", "threshold": 0.95}])
    assert names(strict) == set()

"""Concepts, by the rules of when to create one: what somebody states that they want, prefer …"""

from __future__ import annotations

import pytest

from commonplace.language.extract.values import AttributedPassage, SourceExtraction
from commonplace.model.graph.types import NodeType
from tests.support.reading_relations import read
from tests.support.spotting import AT


def ideas(found: SourceExtraction) -> dict[str, str]:
    """By name, the type of the edge."""
    return {
        found.nodes[edge.b].name: edge.type
        for edge in found.edges
        if found.nodes[edge.b].type is NodeType.CONCEPT
    }


@pytest.mark.parametrize(
    ("said", "name", "type"),
    [
        # The examples of the contract.
        ("I want to hit $1M ARR.", "hit $1M ARR", "goal"),
        ("I prefer async communication.", "async communication", "prefers"),
        ("I'm worried about runway.", "runway", "worries-about"),
        ("I value work-life balance.", "work-life balance", "values"),
        ("I'm interested in AI safety.", "AI safety", "interested-in"),
        # Others like them.
        ("My goal this year is to learn Portuguese.", "learn Portuguese", "goal"),
        ("I want to learn to code by Christmas.", "learn to code", "goal"),
        ("I want to hit 5,000 users in May.", "hit 5,000 users", "goal"),
        ("I prefer written feedback to long meetings.", "written feedback", "prefers"),
        ("I'd rather work from home.", "work from home", "prefers"),
        ("I'm so worried about my cartilage though.", "cartilage", "worries-about"),
        ("I care a lot about transparency.", "transparency", "values"),
        ("Honesty is important to me.", "Honesty", "values"),
        ("I'm passionate about climate policy.", "climate policy", "interested-in"),
        ("I love hiking.", "hiking", "likes"),
        ("I can't stand long meetings.", "long meetings", "dislikes"),
        ("I'm studying marine biology.", "marine biology", "studies"),
        ("אני מעדיפה פגישות בבוקר.", "פגישות בבוקר", "prefers"),
        ("אני רוצה ללמוד ספרדית.", "ללמוד ספרדית", "goal"),
        ("אני מודאגת מהעומס על הצוות.", "העומס על הצוות", "worries-about"),
    ],
)
def test_concept_extraction_reads_stated_goals_preferences_and_interests(
    said: str, name: str, type: str
) -> None:
    assert ideas(read(said)) == {name: type}


@pytest.mark.parametrize(
    "said",
    [
        "I want to know the time.",
        "I want to order pizza.",
        "I love it.",
        "I like this.",
        "I love Berlin.",  # it has a name: a place
        "I prefer Slack.",
        "I'm interested in you.",
        "Do I prefer async communication?",
        "I don't want to learn Portuguese.",
        "If I were worried about runway, I'd say so.",
        "I'm worried about Dana.",
        "Let's talk about AI safety.",
        "I love the way this looks.",
    ],
)
def test_concept_extraction_ignores_questions_negations_and_named_entities(said: str) -> None:
    assert ideas(read(said)) == {}


def test_concept_edge_starts_at_the_speaker() -> None:
    found = read(AttributedPassage(number=0, text="I value honesty.", at=AT, speaker="Dana"))
    (edge,) = found.edges
    assert (found.nodes[edge.a].name, found.nodes[edge.b].name) == ("Dana", "honesty")


def test_concept_edge_attitude_follows_the_wording() -> None:
    said = ["I love hiking.", "I can't stand queues.", "I'm worried about runway."]
    assert [edge.attitude for edge in read(*said).edges] == [5, 1, 2]


def test_concept_stated_twice_is_one_node_with_two_passages() -> None:
    found = read("I value honesty.", "As ever, I value honesty.")
    (idea,) = (node for node in found.nodes if node.type is NodeType.CONCEPT)
    assert idea.passages == (0, 1)


def test_concept_goal_that_names_an_event_links_to_the_event() -> None:
    found = read("I want to finish PyCon.")
    (edge,) = found.edges
    assert (found.nodes[edge.b].name, edge.type) == ("PyCon", "goal")

"""What explore may be asked, and what is said of the rest."""

import pytest

from commonplace.errors import InvalidInput, MissingField, TooLong, UnknownField
from commonplace.language.asking.abbreviations import NO_ABBREVIATIONS, shipped, terminology
from commonplace.model.graph.words import NodeType
from commonplace.recall.explore.asked import Query, Weights, asked_for
from commonplace.recall.explore.queries import executed
from support.pictures import a_node, a_picture


def test_the_defaults_are_the_contracts():
    asked = asked_for(granularity=1)
    assert asked.weights == Weights(semantic=0.3, time=0.3, salience=0.4)
    assert not asked.widen
    assert not asked.return_explanations
    assert not asked.include_archived


def test_a_query_is_a_text_or_a_map_with_a_threshold():
    asked = asked_for(granularity=1, queries=[{"query": "offer", "threshold": 0.8}, "garden"])
    assert asked.queries == (Query("offer", 0.8), Query("garden", 0.5))
    assert asked_for(granularity=1, queries="offer").queries == (Query("offer", 0.5),)


@pytest.mark.parametrize(
    ("mode", "multi_query", "widen"),
    [
        ("fast", None, False),
        ("deep", None, True),
        ("fast", True, True),
        ("deep", False, False),
    ],
)
def test_further_queries_are_made_when_deep_or_asked_for(mode, multi_query, widen):
    assert asked_for(granularity=1, mode=mode, multi_query=multi_query).widen is widen


@pytest.mark.parametrize(
    ("asked", "error", "field"),
    [
        ({"granularity": None}, MissingField, "granularity"),
        ({"granularity": 0}, InvalidInput, "granularity"),
        ({"granularity": 4}, InvalidInput, "granularity"),
        ({"granularity": "1"}, InvalidInput, "granularity"),
        ({"queries": [{"query": "a", "threshold": 1.1}]}, InvalidInput, "threshold"),
        ({"queries": [{"query": "a", "threshold": -0.1}]}, InvalidInput, "threshold"),
        ({"queries": [{"threshold": 0.5}]}, MissingField, "query"),
        ({"queries": [{"query": "a", "floor": 1}]}, UnknownField, "floor"),
        ({"queries": [7]}, InvalidInput, "queries"),
        ({"queries": 7}, InvalidInput, "queries"),
        ({"queries": ["a"] * 21}, TooLong, "queries"),
        ({"text_matches": [7]}, InvalidInput, "text_matches"),
        ({"mode": "slow"}, InvalidInput, "mode"),
        ({"multi_query": "yes"}, InvalidInput, "multi_query"),
        ({"time_weight": 1.5}, InvalidInput, "time_weight"),
        ({"salience_weight": -1}, InvalidInput, "salience_weight"),
        ({"semantic_weight": float("nan")}, InvalidInput, "semantic_weight"),
        ({"return_explanations": 1}, InvalidInput, "return_explanations"),
        ({"include_archived": "no"}, InvalidInput, "include_archived"),
        ({"relationship_filters": ["friend"]}, InvalidInput, "relationship_filters"),
        ({"relationship_filters": {"min_warmth": 3}}, UnknownField, "min_warmth"),
        ({"relationship_filters": {"min_attitude": 6}}, InvalidInput, "min_attitude"),
        ({"relationship_filters": {"max_proximity": 0}}, InvalidInput, "max_proximity"),
        (
            {"relationship_filters": {"min_attitude": 4, "max_attitude": 2}},
            InvalidInput,
            "min_attitude",
        ),
        ({"relationship_filters": {"relationship_types": 3}}, InvalidInput, "relationship_types"),
    ],
)
def test_what_makes_no_sense_is_refused_by_name(asked, error, field):
    with pytest.raises(error) as refused:
        asked_for(**{"granularity": 1, **asked})
    assert refused.value.field == field


def queries_made(query, words=NO_ABBREVIATIONS, **asked):
    picture = a_picture([a_node("Ben Carter"), a_node("Google", NodeType.ENTITY)])
    asked = asked_for(granularity=1, queries=[query], **asked)
    return [each.query for each in executed(asked, picture, words)]


def test_a_fast_exploration_looks_for_what_was_asked():
    assert queries_made("Should Ben take the Google job?") == ["Should Ben take the Google job?"]


def test_a_deep_one_looks_for_the_names_and_for_what_is_asked_about_them():
    assert queries_made("Should Ben take the Google job?", mode="deep") == [
        "Should Ben take the Google job?",
        "Ben Carter, Google",
        "Should take the job?",
    ]


def test_a_deep_one_spells_abbreviations_out():
    made = queries_made("the YC deadline", terminology(shipped()), mode="deep")
    assert made == ["the YC deadline", "the YC (Y Combinator) deadline"]


def test_a_query_that_is_made_keeps_the_threshold():
    asked = asked_for(
        granularity=1, queries=[{"query": "Ask Ben about tea", "threshold": 0.7}], mode="deep"
    )
    made = executed(asked, a_picture([a_node("Ben")]), NO_ABBREVIATIONS)
    assert [each.threshold for each in made] == [0.7, 0.7, 0.7]

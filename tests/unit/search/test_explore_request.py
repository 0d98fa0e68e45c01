"""What explore may be asked, and what is said of the rest."""

import pytest

from commonplace.engine.graph_search.explore_request import (
    ExploreQuery,
    ExploreWeights,
    read_explore_request,
    widen_queries,
)
from commonplace.errors import InvalidInput, MissingField, TooLong, UnknownField
from commonplace.language.query.abbreviations import (
    NO_ABBREVIATIONS,
    build_terminology,
    load_shipped_abbreviations,
)
from commonplace.model.graph.types import NodeType
from support.pictures import a_node, a_picture


def test_explore_request_has_the_contract_defaults():
    asked = read_explore_request()
    assert asked.granularity == read_explore_request(granularity=None).granularity == 1
    assert asked.weights == ExploreWeights(semantic=0.3, time=0.3, salience=0.4)
    assert not asked.widen
    assert not asked.return_explanations
    assert not asked.include_archived


def test_explore_query_is_a_text_or_a_map_with_threshold():
    asked = read_explore_request(
        granularity=1, queries=[{"query": "offer", "threshold": 0.8}, "garden"]
    )
    assert asked.queries == (ExploreQuery("offer", 0.8), ExploreQuery("garden", None))
    assert read_explore_request(granularity=1, queries="offer").queries == (ExploreQuery("offer"),)
    assert read_explore_request(query="offer", queries=["garden"]).queries == (
        ExploreQuery("offer"),
        ExploreQuery("garden"),
    )


@pytest.mark.parametrize(
    ("mode", "multi_query", "widen"),
    [
        ("fast", None, False),
        ("deep", None, True),
        ("fast", True, True),
        ("deep", False, False),
    ],
)
def test_explore_request_widens_queries_in_deep_mode_or_on_request(mode, multi_query, widen):
    assert read_explore_request(granularity=1, mode=mode, multi_query=multi_query).widen is widen


@pytest.mark.parametrize(
    ("asked", "error", "field"),
    [
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
def test_explore_request_error_names_the_invalid_field(asked, error, field):
    with pytest.raises(error) as refused:
        read_explore_request(**{"granularity": 1, **asked})
    assert refused.value.field == field


def queries_made(query, words=NO_ABBREVIATIONS, **asked):
    snapshot = a_picture([a_node("Ben Carter"), a_node("Google", NodeType.ENTITY)])
    asked = read_explore_request(granularity=1, queries=[query], **asked)
    return [each.query for each in widen_queries(asked, snapshot, words)]


def test_explore_fast_mode_keeps_the_original_query():
    assert queries_made("Should Ben take the Google job?") == ["Should Ben take the Google job?"]


def test_explore_deep_mode_adds_queries_for_names_and_remainder():
    assert queries_made("Should Ben take the Google job?", mode="deep") == [
        "Should Ben take the Google job?",
        "Ben Carter, Google",
        "Should take the job?",
    ]


def test_explore_deep_mode_expands_abbreviations():
    made = queries_made(
        "the YC deadline", build_terminology(load_shipped_abbreviations()), mode="deep"
    )
    assert made == ["the YC deadline", "the YC (Y Combinator) deadline"]


def test_explore_widened_queries_keep_the_threshold():
    asked = read_explore_request(
        granularity=1, queries=[{"query": "Ask Ben about tea", "threshold": 0.7}], mode="deep"
    )
    made = widen_queries(asked, a_picture([a_node("Ben")]), NO_ABBREVIATIONS)
    assert [each.threshold for each in made] == [0.7, 0.7, 0.7]

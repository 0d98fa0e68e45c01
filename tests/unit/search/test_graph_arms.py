"""The graph in recall: from the names in a question to sources that share no words with it."""

import pytest

from commonplace.engine.graph_search.graph_view import (
    GraphView,
    find_certain_nodes,
    find_nodes_by_name,
)
from commonplace.engine.graph_search.pagerank import build_transition_matrix
from commonplace.engine.search.graph.expansion import lift_per_passage, score_sources
from commonplace.model.graph.types import NodeType
from support.clock import START
from support.pictures import a_node, a_picture, a_source, two_hops


def scores_of(snapshot, names=(), top_sources=None):
    return score_sources(
        GraphView(snapshot),
        build_transition_matrix(snapshot, START),
        names=names,
        top_sources=top_sources or {},
    )


def test_graph_expansion_reaches_a_source_two_hops_away():
    found = scores_of(two_hops(), names=["node:the-long-road"])
    assert set(found) == {"source:film", "source:her"}
    assert found["source:film"] == 1.0
    assert 0 < found["source:her"] < 1


def test_graph_expansion_is_empty_without_named_nodes():
    found = scores_of(two_hops(), top_sources={"source:film": 1.0})
    assert found == {}


def test_graph_expansion_is_raised_by_top_sources():
    alone = scores_of(two_hops(), names=["node:the-long-road"])
    helped = scores_of(
        two_hops(), names=["node:the-long-road"], top_sources={"source:her": 2.0, "source:x": 1.0}
    )
    assert helped["source:her"] > alone["source:her"]
    assert helped["source:film"] == 1.0


def test_graph_expansion_ignores_nodes_mentioned_in_every_source():
    ana = a_node("Ana")
    sources = [a_source(str(number)) for number in range(4)]
    snapshot = a_picture([ana], sources=sources, mentions=[(source, ana) for source in sources])
    assert scores_of(snapshot, names=[ana.id]) == {}


def test_graph_expansion_weighs_rarer_names_higher():
    rare, usual = a_node("Rare"), a_node("Usual")
    sources = [a_source(str(number)) for number in range(4)]
    mentions = [(sources[0], rare), *((source, usual) for source in sources[1:])]
    snapshot = a_picture([rare, usual], sources=sources, mentions=mentions)
    found = scores_of(snapshot, names=[rare.id, usual.id])
    assert found[sources[0].id] == 1.0
    assert found[sources[1].id] < 0.5


@pytest.mark.parametrize(
    ("query", "named"),
    [
        ("Where was the director of The Long Road born?", ["node:the-long-road"]),
        ("Is Lorient's harbour older than the long road?", ["node:the-long-road", "node:lorient"]),
        ("What did Moreau say?", []),
        ("Who is it?", []),
    ],
)
def test_find_nodes_by_name_matches_whole_names(query, named):
    assert find_nodes_by_name(query, GraphView(two_hops())) == named


def test_find_nodes_by_name_prefers_the_longer_name():
    york, new_york = a_node("York", NodeType.ENTITY), a_node("New York", NodeType.ENTITY)
    view = GraphView(a_picture([york, new_york]))
    assert find_nodes_by_name("the mayor of New York", view) == [new_york.id]
    assert find_nodes_by_name("from York to New York", view) == [new_york.id, york.id]


@pytest.mark.parametrize(
    ("query", "is_meant"),
    [
        ("Where does Grace live?", True),
        ("where does grace live", True),
        ("What did Captain Grace say?", True),
        ("Is Grace's Berlin office open?", True),
        ("Where does Grace Duckett live?", True),
        ("Where does Grace Miller live?", False),
        ("Where do Anna Grace and Tom live?", False),
        ("Does Grace Miller know Grace?", True),
        ("WHERE DOES GRACE LIVE", True),
    ],
)
def test_find_certain_nodes_ignores_part_of_another_persons_name(query, is_meant):
    grace = a_node("Grace Duckett", aliases=("Grace",))
    assert find_certain_nodes(query, GraphView(a_picture([grace]))) == [grace.id] * is_meant


def test_find_certain_nodes_accepts_part_of_a_longer_name_for_things():
    """ "The Terminal" stands in what a film is called, too."""
    terminal = a_node("Terminal", NodeType.ENTITY)
    assert find_certain_nodes("Who played in Terminal Blues?", GraphView(a_picture([terminal])))


def test_find_nodes_by_name_ignores_stop_words():
    assert (
        find_nodes_by_name("it is late", GraphView(a_picture([a_node("It", NodeType.ENTITY)])))
        == []
    )


def test_graph_lift_is_a_share_of_the_highest_score():
    assert lift_per_passage({"source:a": 1.0, "source:b": 0.5}, {}, highest=2.0, weight=0.5) == {
        "source:a": 1.0,
        "source:b": 0.5,
    }


def test_graph_lift_is_divided_among_the_passages_of_a_source():
    """A mention does not say where in its source; long conversations must not crowd in."""
    told = lift_per_passage(
        {"source:a": 1.0, "source:b": 1.0}, {"source:b": 4}, highest=1.0, weight=0.5
    )
    assert told == {"source:a": 0.5, "source:b": 0.125}

"""What the bench of the graph's arms measures beside recall's own: edges closest to a question."""

import pytest

from benchmarks.quality.graph_recall import fuse_scores, seeds_of
from commonplace.engine.graph_search.graph_view import GraphView
from commonplace.engine.graph_search.pagerank import build_transition_matrix
from commonplace.engine.search.graph.expansion import score_sources, score_sources_from
from support.clock import START
from support.pictures import two_hops

FILM, BORN_IN = "node:the-long-road", "edge:ines-moreau-born-in-lorient"
BEST = {"source:film": 1.0, "source:other": 0.5}


def scores_of(names=(), close_edges=None, top_sources=None):
    view, web = GraphView(two_hops()), build_transition_matrix(two_hops(), START)
    return score_sources_from(web, seeds_of(view, names, close_edges or {}), top_sources or {})


def test_graph_arm_scores_from_names_alone_equal_those_of_recall():
    view, web = GraphView(two_hops()), build_transition_matrix(two_hops(), START)
    assert scores_of([FILM], top_sources=BEST) == score_sources(
        view, web, names=[FILM], top_sources=BEST
    )


def test_graph_arm_scores_start_from_edges_close_to_the_question():
    found = scores_of(close_edges={BORN_IN: 0.8, "edge:hidden": 0.9})
    assert found["source:her"] == 1.0


def test_graph_arm_scores_combine_names_and_close_edges():
    found = scores_of([FILM], {BORN_IN: 0.8, "edge:hidden": 0.9}, BEST)
    assert found == {
        "source:film": 1.0,
        "source:her": pytest.approx(0.90301, abs=1e-4),
        "source:other": pytest.approx(0.02241, abs=1e-4),
    }


def test_fuse_scores_splits_the_graph_score_among_passages_of_a_source():
    ranked = [("source:a#1", 1.0), ("source:b#1", 0.9), ("source:b#2", 0.2)]
    told = fuse_scores(ranked, {"source:b": 1.0}, weight=0.5)
    assert told == [
        ("source:b#1", pytest.approx(1.15)),
        ("source:a#1", 1.0),
        ("source:b#2", pytest.approx(0.45)),
    ]
    assert fuse_scores(ranked, {}) == ranked

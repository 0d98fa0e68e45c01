"""traverse(mode="ppr"): what hangs on some seeds, as a plain reference implementation has it."""

import sys
from datetime import timedelta
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from commonplace.engine.graph_search.pagerank import (
    MENTION_WEIGHT,
    PageRankRequest,
    build_transition_matrix,
    pagerank,
    rank_from_seeds,
    read_pagerank_request,
    seed_weights,
)
from commonplace.engine.graph_search.traverse import source_label
from commonplace.errors import BadSettings, InvalidInput, MissingField, NotFound
from commonplace.model.graph.salience import AccessStats
from commonplace.model.graph.types import NodeType
from commonplace.model.memory.lifecycle import PointInTime
from support.clock import START
from support.pictures import a_node, a_picture, a_source, an_artifact, an_edge


def walk_from(snapshot, *seeds, now=START, then=None, **asked):
    web = build_transition_matrix(snapshot, now, *([then] if then else []))
    return rank_from_seeds(web, snapshot, PageRankRequest(seeds=seeds, **asked))


def ids_of(found):
    return [each.entity_key for each in found.reached]


def chain(length):
    nodes = [a_node(f"N{number}") for number in range(length)]
    edges = [an_edge(a, b) for a, b in pairwise(nodes)]
    return nodes, edges


# ——— against a dense reference ———


def dense_reference(size, ways, home, damping):
    """The fixed point, solved directly."""
    weights = np.zeros((size, size))
    for a, b, weight in ways:
        weights[a, b] += weight
        weights[b, a] += weight
    away = weights.sum(axis=0)
    chances = np.divide(weights, away, out=np.zeros_like(weights), where=away > 0)
    chances[:, away == 0] = home[:, None]
    return np.linalg.solve(np.eye(size) - damping * chances, (1 - damping) * home)


@st.composite
def graphs(draw):
    size = draw(st.integers(2, 9))
    pairs = st.tuples(st.integers(0, size - 1), st.integers(0, size - 1))
    confidence = st.sampled_from([0.5, 0.8, 1.0])
    ways = draw(st.dictionaries(pairs.filter(lambda p: p[0] < p[1]), confidence, max_size=20))
    seeds = draw(st.sets(st.integers(0, size - 1), min_size=1, max_size=size))
    damping = draw(st.sampled_from([0.0, 0.5, 0.85, 0.95]))
    return size, ways, sorted(seeds), damping


def picture_of(size, ways, names):
    nodes = [a_node(names[number]) for number in range(size)]
    edges = [
        an_edge(nodes[a], nodes[b], confidence=confidence) for (a, b), confidence in ways.items()
    ]
    return nodes, a_picture(nodes, edges)


@settings(max_examples=50, deadline=None)
@given(graphs())
def test_pagerank_scores_agree_with_a_dense_reference(graph):
    size, ways, seeds, damping = graph
    nodes, snapshot = picture_of(size, ways, [f"N{number}" for number in range(size)])
    web = build_transition_matrix(snapshot, START)
    scores = pagerank(web, seed_weights(web, snapshot, [nodes[seed].id for seed in seeds]), damping)
    home = np.zeros(size)
    home[seeds] = 1 / len(seeds)
    wanted = dense_reference(
        size, [(a, b, 0.5 * confidence) for (a, b), confidence in ways.items()], home, damping
    )
    mine = [scores[web.slots[node.id]] for node in nodes]
    assert mine == pytest.approx(wanted, abs=2e-5)


@settings(max_examples=50, deadline=None)
@given(graphs(), st.randoms(use_true_random=False))
def test_pagerank_is_independent_of_node_names(graph, chance):
    size, ways, seeds, damping = graph
    names = [f"N{number}" for number in range(size)]
    others = names[:]
    chance.shuffle(others)
    told = []
    for each in (names, others):
        nodes, snapshot = picture_of(size, ways, each)
        found = walk_from(snapshot, *(nodes[seed].id for seed in seeds), damping=damping)
        place = {node.id: number for number, node in enumerate(nodes)}
        told.append({place[hit.entity_key]: (hit.score, hit.depth) for hit in found.reached})
    assert told[0].keys() == told[1].keys()
    for place, (score, depth) in told[0].items():
        assert told[1][place] == (pytest.approx(score, abs=1e-5), depth)


# ——— what is answered ———


def test_pagerank_omits_nodes_beyond_max_depth():
    nodes, edges = chain(6)
    found = walk_from(a_picture(nodes, edges), nodes[0].id)
    assert ids_of(found) == [node.id for node in nodes[1:4]]
    found = walk_from(a_picture(nodes, edges), nodes[0].id, max_depth=1)
    assert ids_of(found) == [nodes[1].id]


def test_pagerank_returns_at_most_top_k_best_first():
    hub, *others = [a_node(f"N{number}") for number in range(30)]
    edges = [
        an_edge(hub, other, confidence=0.9 if number < 3 else 0.3)
        for number, other in enumerate(others)
    ]
    found = walk_from(a_picture([hub, *others], edges), hub.id)
    assert len(found.reached) == 20
    assert set(ids_of(found)[:3]) == {other.id for other in others[:3]}
    assert len(walk_from(a_picture([hub, *others], edges), hub.id, top_k=3).reached) == 3


def test_pagerank_omits_the_seeds():
    nodes, edges = chain(3)
    found = walk_from(a_picture(nodes, edges), nodes[0].id, nodes[2].id)
    assert ids_of(found) == [nodes[1].id]


def test_pagerank_hits_include_the_path_to_the_seed():
    nodes, edges = chain(3)
    first, second = walk_from(a_picture(nodes, edges), nodes[0].id).reached
    assert (first.depth, second.depth) == (1, 2)
    assert [(step.edge, step.to) for step in second.path] == [
        (edges[0].id, nodes[1].id),
        (edges[1].id, nodes[2].id),
    ]
    assert second.seed == nodes[0].id


def test_pagerank_reaches_sources_and_passes_through_them():
    ben, eva = a_node("Ben"), a_node("Eva")
    talk = a_source("talk")
    snapshot = a_picture([ben, eva], sources=[talk], mentions=[(talk, ben), (talk, eva)])
    to_source, to_eva = walk_from(snapshot, ben.id).reached
    assert (to_source.entity_key, to_eva.entity_key) == (talk.id, eva.id)
    assert [(step.edge, step.to) for step in to_eva.path] == [(None, talk.id), (None, eva.id)]
    assert set(ids_of(walk_from(snapshot, talk.id))) == {ben.id, eva.id}


def test_pagerank_reaches_artifacts_through_their_source():
    ben, talk = a_node("Ben"), a_source("talk")
    draft = an_artifact("Draft", talk)
    snapshot = a_picture([ben], sources=[talk], mentions=[(talk, ben)], artifacts=[draft])
    assert ids_of(walk_from(snapshot, ben.id)) == [talk.id, draft.id]
    assert ids_of(walk_from(snapshot, draft.id)) == [talk.id, ben.id]


def test_transition_matrix_for_given_sources_omits_artifacts():
    """Recall asks how far each source is: what agents made must not take a share of it."""
    ben, talk = a_node("Ben"), a_source("talk")
    draft = an_artifact("Draft", talk)
    snapshot = a_picture([ben], sources=[talk], mentions=[(talk, ben)], artifacts=[draft])
    assert build_transition_matrix(snapshot, START, sources=[talk.id]).ids == [ben.id, talk.id]


@pytest.mark.parametrize(
    ("told", "name"),
    [
        ({"title": "Monday"}, "Monday"),
        ({"summary": "We met."}, "We met."),
        ({"summary": "word " * 40}, ("word " * 40)[:59].rstrip() + "…"),
        ({"summary": ""}, "meeting of 2026-03-01"),
    ],
)
def test_source_label_uses_title_summary_or_type_and_date(told, name):
    assert source_label(a_source("a" * 64, **told)) == name


def test_pagerank_edge_seed_expands_to_both_ends():
    nodes, edges = chain(3)
    found = walk_from(a_picture(nodes, edges), edges[0].id)
    assert set(ids_of(found)) == {node.id for node in nodes}
    assert {hit.seed for hit in found.reached} == {edges[0].id}
    assert {hit.entity_key: hit.depth for hit in found.reached} == {
        nodes[0].id: 0,
        nodes[1].id: 0,
        nodes[2].id: 1,
    }


def test_pagerank_ranks_salient_edges_higher():
    ben, eva, dan = a_node("Ben"), a_node("Eva"), a_node("Dan")
    dear, dull = an_edge(ben, eva), an_edge(ben, dan)
    marks = {dear.id: AccessStats(salience=1.0), dull.id: AccessStats(salience=0.2)}
    found = walk_from(a_picture([ben, eva, dan], [dull, dear], marks=marks), ben.id)
    assert ids_of(found) == [eva.id, dan.id]


def test_pagerank_ignores_edges_outside_their_validity():
    ben, acme = a_node("Ben"), a_node("Acme", NodeType.ENTITY)
    june = START + timedelta(days=100)
    edge = an_edge(ben, acme, "works-at", valid_to=june, invalidated_at=june)
    snapshot = a_picture([ben, acme], [edge])
    assert ids_of(walk_from(snapshot, ben.id, now=june)) == []
    assert ids_of(walk_from(snapshot, ben.id, now=june, then=PointInTime(as_of=START))) == [acme.id]


def test_pagerank_passes_through_hidden_nodes():
    nodes, edges = chain(3)
    snapshot = a_picture(nodes, edges)
    found = rank_from_seeds(
        build_transition_matrix(snapshot, START),
        snapshot,
        PageRankRequest(seeds=(nodes[0].id,)),
        is_shown=lambda id: id != nodes[1].id,
    )
    assert ids_of(found) == [nodes[2].id]


# ——— what makes no sense ———


@pytest.mark.parametrize("seed", ["node:unknown", "edge:unknown", "source:unknown", "Ben"])
def test_pagerank_error_names_the_unknown_seed(seed):
    with pytest.raises(NotFound, match=seed) as refused:
        walk_from(a_picture([a_node("Ben")]), seed)
    assert refused.value.field == "seed_nodes"


@pytest.mark.parametrize(
    ("asked", "error", "field"),
    [
        ({"seed_nodes": []}, MissingField, "seed_nodes"),
        ({"seed_nodes": [3]}, InvalidInput, "seed_nodes"),
        ({"damping": 1}, InvalidInput, "damping"),
        ({"damping": -0.1}, InvalidInput, "damping"),
        ({"max_depth": 0}, InvalidInput, "max_depth"),
        ({"max_depth": 1.5}, InvalidInput, "max_depth"),
        ({"top_k": 0}, InvalidInput, "top_k"),
        ({"top_k": 1001}, InvalidInput, "top_k"),
    ],
)
def test_pagerank_request_error_names_the_invalid_field(asked, error, field):
    with pytest.raises(error) as refused:
        read_pagerank_request(**{"seed_nodes": ["node:1"], **asked})
    assert refused.value.field == field


def test_pagerank_request_has_the_contract_defaults():
    walk = read_pagerank_request(seed_nodes="node:1")
    assert (walk.damping, walk.max_depth, walk.top_k) == (0.85, 3, 20)


def test_pagerank_without_scipy_error_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "scipy.sparse", None)
    with pytest.raises(BadSettings) as refused:
        build_transition_matrix(a_picture([a_node("Ben")]), START)
    assert "commonplace[graph]" in refused.value.remedy


def test_mention_weight_equals_that_of_an_unread_edge():
    ben, eva, talk = a_node("Ben"), a_node("Eva"), a_source("talk")
    snapshot = a_picture([ben, eva], [an_edge(ben, eva)], sources=[talk], mentions=[(talk, ben)])
    assert build_transition_matrix(snapshot, START).weights.tolist() == pytest.approx(
        [MENTION_WEIGHT, MENTION_WEIGHT]
    )

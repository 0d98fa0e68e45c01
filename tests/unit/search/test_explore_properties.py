"""What holds of every exploration, whatever the graph and whatever is asked."""

from datetime import timedelta

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from commonplace.engine.graph_search.explore_candidates import (
    EmbeddedItems,
    ExploreInput,
    SourceMatch,
)
from commonplace.engine.graph_search.explore_request import ExploreQuery
from commonplace.model.graph.salience import AccessStats
from commonplace.model.graph.types import NodeType
from support.clock import START
from support.exploring import explored
from support.pictures import a_node, a_picture, a_source, an_edge

NAMES = ("Ben", "Eva", "Dan", "Acme", "Tea", "Google", "Sara", "Sarah")
TYPES = ("friend", "rival", "works-at")
shares = st.floats(0, 1)
days = st.integers(-30, 400)


@st.composite
def worlds(draw):
    nodes = [
        a_node(
            name,
            draw(st.sampled_from(NodeType)),
            updated_at=START - timedelta(days=draw(days)),
            confidence=draw(shares),
        )
        for name in draw(st.lists(st.sampled_from(NAMES), unique=True, max_size=8))
    ]
    pairs = [(a, b) for a in nodes for b in nodes if a.id < b.id]
    edges = [
        an_edge(
            a,
            b,
            draw(st.sampled_from(TYPES)),
            attitude=draw(st.integers(1, 5)),
            proximity=draw(st.integers(1, 5)),
        )
        for a, b in (draw(st.lists(st.sampled_from(pairs), unique=True)) if pairs else ())
    ]
    sources = [
        a_source(str(number), keywords=(draw(st.sampled_from(NAMES)).lower(),))
        for number in range(draw(st.integers(0, 7)))
    ]
    mentions = [(source, node) for source in sources for node in nodes if draw(st.booleans())]
    marks = {
        each.id: AccessStats(salience=draw(shares), access_count=draw(st.integers(0, 12)))
        for each in (*nodes, *edges, *sources)
        if draw(st.booleans())
    }
    return a_picture(nodes, edges, sources=sources, mentions=mentions, marks=marks)


@st.composite
def explorations(draw):
    snapshot = draw(worlds())
    queries = tuple(
        ExploreQuery(f"query {number}", draw(shares)) for number in range(draw(st.integers(0, 3)))
    )
    vectors = st.lists(st.floats(-1, 1), min_size=3, max_size=3)

    def embedded(things):
        rows = np.array([draw(vectors) for _ in things], dtype=np.float32).reshape(-1, 3)
        return EmbeddedItems(
            list(things), rows / np.maximum(1, np.linalg.norm(rows, axis=1))[:, None]
        )

    hits = ExploreInput(
        queries=queries,
        query_vectors=np.eye(3, dtype=np.float32)[: len(queries)],
        nodes=embedded(snapshot.nodes),
        edges=embedded(snapshot.edges),
        sources=[
            SourceMatch(place, id, draw(shares))
            for place in range(len(queries))
            for id in snapshot.sources
        ],
    )
    asked = {
        "granularity": draw(st.integers(1, 3)),
        "queries": queries,
        "text_matches": draw(st.lists(st.sampled_from((*NAMES, *TYPES)), max_size=3)),
        "mode": draw(st.sampled_from(["fast", "deep"])),
        "time_weight": draw(shares),
        "salience_weight": draw(shares),
        "semantic_weight": draw(shares),
        "relationship_filters": {
            "min_attitude": draw(st.sampled_from([None, 2, 4])),
            "max_proximity": draw(st.sampled_from([None, 3])),
            "exclude_relationship_types": draw(st.sampled_from([(), ("rival",)])),
        },
        "include_archived": draw(st.booleans()),
        "return_explanations": True,
    }
    return snapshot, hits, asked


def all_hits(found):
    semantic, episodic = found.semantic, found.episodic
    return (
        semantic.people,
        semantic.concepts,
        semantic.entities,
        semantic.relationships,
        episodic.sources,
        episodic.artifacts,
    )


@settings(max_examples=50, deadline=None)
@given(explorations())
def test_explore_invariants_hold_for_random_graphs_and_requests(exploration):
    snapshot, hits, asked = exploration
    found = explored(snapshot, hits, **asked)
    for section in all_hits(found):
        scores = [hit.explanation.score for hit in section]
        assert scores == sorted(scores, reverse=True)
        for hit in section:
            told = hit.explanation
            signals = (told.score, told.semantic, told.recency, told.salience, told.similarity)
            assert all(0 <= signal <= 1 for signal in signals)
            parts = told.parts.semantic + told.parts.time + told.parts.salience
            assert told.score == pytest.approx(parts)
    shown = {hit.entity_key for section in all_hits(found)[:3] for hit in section}
    assert len(shown) <= 5
    assert len(found.semantic.relationships) <= 10
    assert len(found.episodic.sources) <= (5 if asked["granularity"] == 1 else 0)
    assert not shown & {node.entity_key for node in found.semantic.neighbors}
    for hit in found.semantic.relationships:
        assert {hit.from_entity_key, hit.to_entity_key} & shown
        assert hit.attitude >= (asked["relationship_filters"]["min_attitude"] or 1)
        assert hit.proximity <= (asked["relationship_filters"]["max_proximity"] or 5)
        excluded = asked["relationship_filters"]["exclude_relationship_types"]
        assert hit.relationship_type not in excluded
    if not asked["include_archived"]:
        states = {hit.state for section in all_hits(found)[:4] for hit in section}
        assert "archived" not in states

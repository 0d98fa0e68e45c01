"""What explore finds: by meaning and by words, filtered, scored, cut and expanded."""

from datetime import timedelta

import numpy as np
import pytest

from commonplace.engine.graph_search.explore_candidates import (
    EmbeddedItems,
    ExploreInput,
    SourceMatch,
)
from commonplace.engine.graph_search.explore_request import ExploreQuery
from commonplace.language.embedders.embedder import Calibration
from commonplace.model.graph.salience import AccessStats
from commonplace.model.graph.types import NodeType
from commonplace.model.memory.kinds import TtlPolicy
from support.clock import START
from support.exploring import edges_of, explored, names_of, nodes_of, sources_of
from support.pictures import a_node, a_note, a_picture, a_source, an_artifact, an_edge


def toward(*cosines):
    """Vectors with these cosines to the query (1, 0)."""
    return np.array([[c, np.sqrt(1 - c * c)] for c in cosines], dtype=np.float32)


QUERY = np.array([[1.0, 0.0]], dtype=np.float32)


# ——— by meaning ———


def near(ids, cosines, threshold=0.5, **more):
    return ExploreInput(
        queries=(ExploreQuery("hiking", threshold),),
        query_vectors=QUERY,
        nodes=EmbeddedItems(ids, toward(*cosines)),
        **more,
    )


def test_explore_similarity_threshold_selects_nodes():
    ben, eva = a_node("Ben"), a_node("Eva")
    found = explored(
        a_picture([ben, eva]), near([ben.id, eva.id], [0.7, 0.69], 0.699), queries=["hiking"]
    )
    assert nodes_of(found) == [ben.id]


def test_explore_thresholds_apply_per_query():
    ben, eva = a_node("Ben"), a_node("Eva")
    given = ExploreInput(
        queries=(ExploreQuery("one", 0.9), ExploreQuery("two", 0.3)),
        query_vectors=np.eye(2, dtype=np.float32),
        nodes=EmbeddedItems([ben.id, eva.id], np.array([[0.8, 0.6], [0.8, 0.2]], dtype=np.float32)),
    )
    found = explored(a_picture([ben, eva]), given, queries=["one", "two"])
    assert nodes_of(found) == [ben.id]


def test_explore_node_similarity_is_calibrated():
    ben = a_node("Ben")
    scale = Calibration({"latin": ((0.0, 0.0), (0.5, 0.9), (1.0, 1.0))})
    found = explored(
        a_picture([ben]),
        near([ben.id], [0.5], 0.85, calibration=scale),
        queries=["hiking"],
        return_explanations=True,
    )
    assert found.semantic.people[0].explanation.similarity == pytest.approx(0.9)


def test_explore_source_similarity_is_calibrated():
    talk = a_source("talk")
    scale = Calibration({"latin": ((0.0, 0.0), (0.5, 0.9), (1.0, 1.0))})
    given = ExploreInput(
        queries=(ExploreQuery("hiking", 0.85),),
        sources=[SourceMatch(0, talk.id, 0.5)],
        calibration=scale,
    )
    assert sources_of(explored(a_picture(sources=[talk]), given, queries=["hiking"])) == [talk.id]


def test_explore_never_returns_items_outside_the_visible_graph():
    """Vectors and hits may be of things that the caller must not see."""
    given = near(["node:hidden"], [1.0], sources=[SourceMatch(0, "source:hidden", 1.0)])
    found = explored(a_picture(), given, queries=["hiking"])
    assert nodes_of(found) == sources_of(found) == []


def test_explore_source_similarity_is_that_of_the_closest_passage():
    talk, other = a_source("talk"), a_source("other")
    given = ExploreInput(
        queries=(ExploreQuery("hiking", 0.5),),
        sources=[
            SourceMatch(0, talk.id, 0.6),
            SourceMatch(0, talk.id, 0.8),
            SourceMatch(0, other.id, 0.4),
        ],
    )
    found = explored(
        a_picture(sources=[talk, other]), given, queries=["hiking"], return_explanations=True
    )
    assert sources_of(found) == [talk.id]
    assert found.episodic.sources[0].explanation.similarity == 0.8


# ——— by words ———


@pytest.mark.parametrize(
    ("written", "name"),
    [("Sara", "Sarah"), ("Goggle", "Google"), ("jon", "John"), ("Andrew", "Andrew Smith")],
)
def test_explore_text_match_finds_similar_spellings(written, name):
    node = a_node(name)
    found = explored(a_picture([node]), text_matches=[written], return_explanations=True)
    (match,) = found.semantic.people[0].explanation.matches
    assert match.by == "fuzzy"
    assert 0.85 <= match.similarity < 1


@pytest.mark.parametrize(("written", "name"), [("Mark", "Mary"), ("Al", "Ali"), ("Paris", "Ben")])
def test_explore_text_match_rejects_different_names(written, name):
    assert nodes_of(explored(a_picture([a_node(name)]), text_matches=[written])) == []


@pytest.mark.parametrize("written", ["BEN", "ben carter", "Benny", "Bén"])
def test_explore_text_match_finds_names_and_aliases_in_any_case(written):
    ben = a_node("Ben Carter", aliases=("Benny", "Ben"))
    found = explored(a_picture([ben]), text_matches=[written], return_explanations=True)
    (match,) = found.semantic.people[0].explanation.matches
    assert (match.by, match.similarity) == ("exact", 1.0)


def test_explore_text_match_finds_sources_by_keyword_and_tag():
    by_keyword = a_source("one", keywords=("offer",))
    by_tag = a_source("two", tags=("offer",))
    other = a_source("three", keywords=("garden",))
    found = explored(a_picture(sources=[by_keyword, by_tag, other]), text_matches=["offer"])
    assert set(sources_of(found)) == {by_keyword.id, by_tag.id}


def test_explore_text_match_finds_edges_by_type_description_and_note():
    ben, eva = a_node("Ben"), a_node("Eva")
    one = an_edge(ben, eva, "sibling")
    two = an_edge(ben, eva, "rival", description="They fight over the garden.")
    three = an_edge(ben, eva, "neighbour")
    snapshot = a_picture([ben, eva], [one, two, three], notes=[a_note(three, "Shares a hedge.")])
    for text, edge in (("sibling", one), ("garden", two), ("hedge", three)):
        found = explored(snapshot, text_matches=[text], return_explanations=True)
        met = [
            hit.entity_key
            for hit in found.semantic.relationships
            if any(match.by == "exact" for match in hit.explanation.matches)
        ]
        assert met == [edge.id]


def test_explore_text_match_ignores_expired_notes():
    ben, eva = a_node("Ben"), a_node("Eva")
    edge = an_edge(ben, eva)
    ended = a_note(edge, "Shares a hedge.", expires_at=START + timedelta(days=7))
    snapshot = a_picture([ben, eva], [edge], notes=[ended])
    assert edges_of(explored(snapshot, text_matches=["hedge"])) == [edge.id]
    later = START + timedelta(days=7)
    assert edges_of(explored(snapshot, text_matches=["hedge"], now=later)) == []


def test_explore_text_match_finds_artifacts_by_name_and_description():
    one = an_artifact("Letter to the bank")
    two = an_artifact("Draft", description="A letter about the roof.")
    found = explored(a_picture(artifacts=[one, two]), text_matches=["roof"])
    assert names_of(found.episodic.artifacts) == ["Draft"]
    found = explored(a_picture(artifacts=[one, two]), text_matches=["Letter to the bank"])
    assert names_of(found.episodic.artifacts) == ["Letter to the bank"]


# ——— what a hit brings along ———


def test_explore_matched_edge_brings_its_end_nodes():
    ben, eva, dan = a_node("Ben"), a_node("Eva"), a_node("Dan")
    edge = an_edge(ben, eva, "sibling")
    found = explored(a_picture([ben, eva, dan], [edge]), text_matches=["sibling"])
    assert set(nodes_of(found)) == {ben.id, eva.id}
    assert edges_of(found) == [edge.id]


def test_explore_matched_nodes_precede_expanded_nodes():
    bens = [a_node(f"Ben {number}", aliases=("Ben",)) for number in range(5)]
    eva = a_node("Eva", ttl_policy=TtlPolicy.KEEP_FOREVER)
    edge = an_edge(bens[0], eva, description="Ben trusts her.")
    found = explored(a_picture([*bens, eva], [edge]), text_matches=["Ben"])
    assert set(nodes_of(found)) == {ben.id for ben in bens}


def test_explore_matched_sources_precede_mentioning_sources():
    ben = a_node("Ben")
    met = a_source("met", keywords=("ben",), started_at=START - timedelta(days=300))
    speaking = [a_source(f"talk-{number}") for number in range(6)]
    snapshot = a_picture(
        [ben], sources=[met, *speaking], mentions=[(source, ben) for source in speaking]
    )
    found = sources_of(explored(snapshot, text_matches=["Ben"]))
    assert met.id in found
    assert len(found) == 5


def test_explore_edges_between_hits_precede_other_edges():
    ben, eva = a_node("Ben"), a_node("Eva")
    others = [a_node(f"Somebody {number}") for number in range(12)]
    joining = an_edge(ben, eva, updated_at=START - timedelta(days=900))
    loose = [an_edge(ben, other) for other in others]
    found = explored(a_picture([ben, eva, *others], [joining, *loose]), text_matches=["Ben", "Eva"])
    assert joining.id in edges_of(found)
    assert len(edges_of(found)) == 10


# ——— how many ———


def crowd():
    people = [a_node(f"P{n}", aliases=("Pat",)) for n in range(9)]
    things = [a_node(f"T{n}", NodeType.ENTITY, aliases=("Pat",)) for n in range(9)]
    edges = [an_edge(a, b, "knows") for a in people for b in things]
    sources = [a_source(f"s{n}", keywords=("pat",)) for n in range(12)]
    artifacts = [an_artifact(f"Pat {n}") for n in range(9)]
    mentions = [(sources[0], node) for node in (*people, *things)]
    return a_picture(
        [*people, *things], edges, sources=sources, mentions=mentions, artifacts=artifacts
    )


@pytest.mark.parametrize(("granularity", "sources"), [(1, 5), (2, 0), (3, 0)])
def test_explore_limits_results_by_granularity(granularity, sources):
    found = explored(crowd(), granularity=granularity, text_matches=["Pat"])
    assert len(nodes_of(found)) == 5
    assert len(edges_of(found)) == 10
    assert len(sources_of(found)) == sources
    assert len(found.episodic.artifacts) == 5


def test_explore_source_hit_lists_at_most_ten_nodes():
    found = explored(crowd(), text_matches=["Pat"])
    first = next(hit for hit in found.episodic.sources if hit.entity_key == "source:s0")
    assert len(first.mentioned_nodes) == 10


def test_explore_edges_touch_a_shown_node():
    found = explored(crowd(), text_matches=["Pat", "knows"])
    shown = set(nodes_of(found))
    for hit in found.semantic.relationships:
        assert {hit.from_entity_key, hit.to_entity_key} & shown


def test_explore_note_snippets_are_limited():
    ben = a_node("Ben")
    notes = [a_note(ben, f"{number:02}" + "x" * 600, number) for number in range(12)]
    (hit,) = explored(a_picture([ben], notes=notes), text_matches=["Ben"]).semantic.people
    assert [text[:2] for text in hit.notes_snippets] == [f"{n:02}" for n in range(11, 1, -1)]
    assert {len(text) for text in hit.notes_snippets} == {500}


# ——— the score ———


def explanation_of(snapshot, **asked):
    found = explored(snapshot, text_matches=["Ben"], return_explanations=True, **asked)
    return found.semantic.people[0].explanation


def test_explore_score_is_the_sum_of_weighted_signals():
    ben = a_node("Ben", updated_at=START - timedelta(days=10))
    told = explanation_of(a_picture([ben]))
    assert told.parts.semantic == pytest.approx(0.3 * 1.0)
    assert told.parts.time == pytest.approx(0.3 * np.exp(-0.2))
    assert told.parts.salience == pytest.approx(0.4 * 0.5)
    assert told.score == pytest.approx(told.parts.semantic + told.parts.time + told.parts.salience)


def test_explore_recency_halves_after_35_days():
    told = explanation_of(a_picture([a_node("Ben", updated_at=START - timedelta(days=35))]))
    assert told.recency == pytest.approx(0.5, abs=0.005)


@pytest.mark.parametrize(
    ("weights", "first"),
    [
        ({"time_weight": 1, "salience_weight": 0, "semantic_weight": 0}, "new"),
        ({"time_weight": 0, "salience_weight": 1, "semantic_weight": 0}, "salient"),
        ({"time_weight": 0, "salience_weight": 0, "semantic_weight": 1}, "exact"),
    ],
)
def test_explore_weights_determine_the_order(weights, first):
    old = START - timedelta(days=100)
    new = a_node("Sara A", id="node:new", aliases=("Sarah",))
    salient = a_node("Sara B", id="node:salient", aliases=("Sarah",), updated_at=old)
    exact = a_node("Sara", id="node:exact", updated_at=old)
    marks = {salient.id: AccessStats(salience=1.0, access_count=1, touched_at=START)}
    found = explored(
        a_picture([new, salient, exact], marks=marks), text_matches=["Sara"], **weights
    )
    assert found.semantic.people[0].entity_key == f"node:{first}"


def test_explore_explanations_are_absent_unless_requested():
    found = explored(a_picture([a_node("Ben")]), text_matches=["Ben"])
    assert found.semantic.people[0].explanation is None

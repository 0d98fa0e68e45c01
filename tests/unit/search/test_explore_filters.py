"""Filters come before scoring; what is archived or of another time is left out."""

from datetime import timedelta

import pytest

from commonplace.model.graph.types import NodeType
from commonplace.model.memory.kinds import TtlPolicy
from commonplace.model.memory.lifecycle import PointInTime
from support.clock import START
from support.exploring import edges_of, explored, names_of, nodes_of, sources_of
from support.pictures import NEVER_READ, a_node, a_note, a_picture, a_source, an_edge

# ——— filters ———


def relations():
    ben, eva, dan = a_node("Ben"), a_node("Eva"), a_node("Dan")
    close = an_edge(ben, eva, "friend", attitude=5, proximity=5)
    cold = an_edge(ben, dan, "rival", attitude=1, proximity=2)
    return a_picture([ben, eva, dan], [close, cold]), close, cold


@pytest.mark.parametrize(
    ("filters", "kept"),
    [
        ({"min_attitude": 3}, "close"),
        ({"max_attitude": 3}, "cold"),
        ({"min_proximity": 5}, "close"),
        ({"max_proximity": 4}, "cold"),
        ({"relationship_types": ["friend"]}, "close"),
        ({"relationship_types": "Rival"}, "cold"),
        ({"exclude_relationship_types": ["friend"]}, "cold"),
    ],
)
def test_explore_relationship_filters_select_edges(filters, kept):
    snapshot, close, cold = relations()
    found = explored(snapshot, text_matches=["Ben"], relationship_filters=filters)
    assert edges_of(found) == [{"close": close, "cold": cold}[kept].id]


def test_explore_filtered_edges_bring_no_nodes_or_neighbors():
    """Filters come before scoring: an end is no hit because of a relationship that is out."""
    snapshot, _, cold = relations()
    found = explored(snapshot, text_matches=["rival"], relationship_filters={"min_attitude": 3})
    assert cold.id not in edges_of(found)
    assert nodes_of(found) == []
    assert found.semantic.neighbors == ()


def test_explore_type_filter_matches_the_inverse_type():
    ben, eva = a_node("Ben"), a_node("Eva")
    edge = an_edge(ben, eva, "reports-to")
    found = explored(
        a_picture([ben, eva], [edge]), relationship_filters={"relationship_types": ["manages"]}
    )
    assert edges_of(found) == [edge.id]


def test_explore_with_filters_alone_returns_edges_and_their_ends():
    snapshot, close, _ = relations()
    found = explored(snapshot, relationship_filters={"min_attitude": 4})
    assert edges_of(found) == [close.id]
    assert set(nodes_of(found)) == {"node:ben", "node:eva"}


def test_explore_without_query_orders_by_recency_and_salience():
    new, old = a_node("New"), a_node("Old", updated_at=START - timedelta(days=90))
    talk = a_source("talk")
    found = explored(a_picture([old, new], sources=[talk]))
    assert names_of(found.semantic.people) == ["New", "Old"]
    assert sources_of(found) == [talk.id]


# ——— archived, and other times ———


def test_explore_omits_archived_items_unless_requested():
    ben, eva = a_node("Ben"), a_node("Ben", id="node:other", ttl_policy=TtlPolicy.EPHEMERAL)
    edge, talk = an_edge(ben, eva), a_source("talk", keywords=("ben",))
    marks = dict.fromkeys((ben.id, edge.id, talk.id), NEVER_READ)
    snapshot = a_picture([ben, eva], [edge], sources=[talk], marks=marks)
    later = START + timedelta(days=91)
    found = explored(snapshot, text_matches=["Ben"], now=later)
    assert nodes_of(found) == edges_of(found) == sources_of(found) == []
    found = explored(snapshot, text_matches=["Ben"], now=later, include_archived=True)
    assert set(nodes_of(found)) == {ben.id, eva.id}
    assert edges_of(found) == [edge.id]
    assert sources_of(found) == [talk.id]
    assert {hit.state for hit in found.semantic.people} == {"archived"}


def test_explore_as_of_returns_edges_valid_at_that_time():
    ben, acme = a_node("Ben"), a_node("Acme", NodeType.ENTITY)
    june = START + timedelta(days=100)
    before = an_edge(ben, acme, "works-at", id="edge:1", valid_to=june, invalidated_at=june)
    after = an_edge(ben, acme, "left", id="edge:2", valid_from=june, recorded_at=june)
    snapshot, now = a_picture([ben, acme], [before, after]), june + timedelta(days=1)
    assert edges_of(explored(snapshot, text_matches=["Ben"], now=now)) == ["edge:2"]
    for then in (PointInTime(as_of=START), PointInTime(known_at=START, as_of=now)):
        found = explored(snapshot, text_matches=["Ben"], now=now, then=then)
        assert edges_of(found) == ["edge:1"]


def test_explore_known_at_omits_later_items_and_notes():
    ben, talk = a_node("Ben"), a_source("talk", keywords=("ben",))
    snapshot = a_picture([ben], sources=[talk], notes=[a_note(ben, "Later.", 65)])
    before = PointInTime(known_at=START - timedelta(days=1))
    found = explored(snapshot, text_matches=["Ben"], then=before)
    assert nodes_of(found) == sources_of(found) == []
    (hit,) = explored(
        snapshot, text_matches=["Ben"], then=PointInTime(known_at=START)
    ).semantic.people
    assert hit.notes_snippets == ()

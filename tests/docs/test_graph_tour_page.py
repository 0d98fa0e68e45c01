"""The tour of the graph and its picture are what the commands answer, and the answers are right."""

import json
import re
from collections import Counter
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tools import graph_tour, reference
from tools.graph_layout import Frame, placed
from tools.graph_picture import graph_picture
from tools.spring import ARRIVALS, Calendar, live_through_it, opened

DOCS = Path(__file__).parents[2] / "docs"
PICTURE = (DOCS / "images/graph.svg").read_text()
SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture
def lived():
    """Somebody in April, and the ids of what came in before."""
    calendar = Calendar()
    with opened(calendar) as book:
        me = book.user("ana")
        ids = [ingested.id for _, ingested, _ in live_through_it(me, calendar)]
        yield me, ids


def told(edges):
    return {(e.from_name, e.relationship_type, e.to_name) for e in edges}


def of_omer(edges, type):
    return {
        (edge.to_name, edge.valid_to is None) for edge in edges if edge.relationship_type == type
    }


def test_graph_tour_page_is_current():
    made = reference._MADE + graph_tour.graph_tour_page()
    assert made == (DOCS / "graph-tour.md").read_text(), "run `make docs`"


def test_graph_tour_picture_is_current():
    assert graph_picture() == PICTURE, "run `make docs`"


def test_graph_tour_picture_shows_every_node_and_edge(lived):
    me, _ = lived
    graph = json.loads(me.graph(past=True))
    words = [each.text for each in ElementTree.fromstring(PICTURE).iter(f"{SVG}text")]
    for node in graph["nodes"]:
        assert words.count("Ana" if node["is_owner"] else node["name"]) == 1
    types = Counter(edge["relationship_type"] for edge in graph["edges"])
    assert {type: words.count(type) for type in types} == types


def test_graph_tour_picture_labels_do_not_overlap():
    boxes = [
        tuple(float(box.get(side)) for side in ("x", "y", "width", "height"))
        for box in ElementTree.fromstring(PICTURE).iter(f"{SVG}rect")
        if box.get("class")
    ]
    assert len(boxes) > 15
    for place, (x, y, width, height) in enumerate(boxes):
        for ox, oy, owidth, oheight in boxes[:place]:
            apart = x >= ox + owidth or ox >= x + width or y >= oy + oheight or oy >= y + height
            assert apart


def test_graph_tour_layout_places_unconnected_nodes_in_the_frame():
    frame = Frame(400, 300, (20, 10))
    at = placed(["a", "b", "c", "d"], [("a", "b")], frame)
    assert len(set(at.values())) == 4
    assert all(20 <= x <= 380 and 10 <= y <= 290 for x, y in at.values())


def test_graph_tour_job_and_city_change_keeps_past_edges(lived):
    omer = lived[0].node("Omer")
    assert of_omer(omer.edges, "works-at") == {("Brightwater", True)}
    assert of_omer(omer.others, "works-at") == {("Northwind", False)}
    assert of_omer(omer.edges, "lives-in") == {("Lisbon", True)}
    assert of_omer(omer.others, "lives-in") == {("Haifa", False)}


def test_graph_tour_conflict_edge_has_a_start_and_an_end(lived):
    (quarrel,) = [e for e in lived[0].node("Omer").others if e.relationship_type == "conflict"]
    assert {quarrel.from_name, quarrel.to_name} == {"Omer", "Tamar"}
    assert (quarrel.attitude_word, f"{quarrel.valid_from:%d}–{quarrel.valid_to:%d}") == (
        "unfriendly",
        "15–21",
    )


def test_graph_tour_goal_and_worry_are_edges_of_the_owner(lived):
    edges = lived[0].node("me").edges
    assert {type: to for _, type, to in told(edges) if type in ("goal", "worries-about")} == {
        "goal": "run a half marathon",
        "worries-about": "knee",
    }


def test_graph_tour_node_as_of_and_known_at_differ(lived):
    me, _ = lived
    true_then = me.node("Omer", as_of=graph_tour.THEN)
    known_then = me.node("Omer", as_of=graph_tour.THEN, known_at=graph_tour.THEN)
    assert of_omer(true_then.edges, "lives-in") == {("Lisbon", True)}
    assert of_omer(known_then.edges, "lives-in") == {("Haifa", True)}
    assert [source.title for source in known_then.sources] == [ARRIVALS[0].title]
    assert not known_then.notes
    assert not known_then.others


def test_graph_tour_cypher_query_finds_colleagues(lived):
    rows = lived[0].traverse("cypher", cypher=graph_tour.COLLEAGUES).rows
    assert [tuple(row) for row in rows] == [("Gil", "Helios"), ("Idan", "Helios")]


def test_graph_tour_erase_leaves_the_graph_as_without_the_source(lived):
    me, ids = lived
    me.erase(ids[-1], now=True)
    calendar = Calendar()
    with opened(calendar) as book:
        other = book.user("ana")
        for arrival, _, _ in live_through_it(other, calendar):
            if arrival is ARRIVALS[-2]:
                break
        assert told(me.edges(past=True, limit=100).edges) == told(
            other.edges(past=True, limit=100).edges
        )
        assert _counts(me) == _counts(other)
    assert me.verify_forget(graph_tour.ERASED_TEXT).clean
    assert not me.verify_forget(graph_tour.STANDING_TEXT).clean


def _counts(me):
    return {node["name"]: node["source_count"] for node in json.loads(me.graph())["nodes"]}


def test_graph_tour_page_shortens_ids():
    page = (DOCS / "graph-tour.md").read_text()
    assert not re.search(r"[0-9a-f]{8}-[0-9a-f]{4}", page)
    assert "source:…1" in page

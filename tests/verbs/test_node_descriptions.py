"""What a node is said to be follows what tells it: the owner's word, then the last source's."""

from __future__ import annotations

import pytest

FIRST = "Ana: My sister Noa Levi works at Acme. Noa Levi is a nurse."
LATER = "Ana: Noa Levi is a teacher. Noa Levi lives in Haifa."


def told(me, said, date):
    return me.ingest(said, format="transcript", date=date).id


def description(me):
    return me.node("Noa Levi").node.description


@pytest.fixture
def both(me):
    """The later one is taken in first: what counts is when it was said."""
    later = told(me, LATER, "2026-02-05")
    me.extract()
    first = told(me, FIRST, "2026-01-05")
    me.extract()
    return first, later


def test_node_description_comes_from_the_source_with_the_latest_date(me, both):
    assert description(me) == "Noa Levi is a teacher."


def test_node_description_falls_back_when_the_source_is_erased(me, both):
    first, later = both
    me.erase([later])
    assert description(me) == "Noa Levi is a nurse."
    me.erase([first])
    assert "Noa Levi" not in {node.name for node in me.people().nodes}


def test_node_description_returns_when_the_source_is_restored(me, both):
    _, later = both
    me.forget([later])
    assert description(me) == "Noa Levi is a nurse."
    me.restore([later])
    assert description(me) == "Noa Levi is a teacher."


def test_node_description_by_the_owner_outranks_sources(me, both):
    me.nodes_update("Noa Levi", description="A midwife")
    assert description(me) == "A midwife"
    told(me, "Ana: Noa Levi is a chef. Noa Levi lives in Jena.", "2026-03-05")
    me.extract()
    assert description(me) == "A midwife"


def test_extract_again_leaves_the_graph_unchanged(me, both):
    before = me.graph(past=True)
    me.extract(list(both))
    assert me.graph(past=True) == before

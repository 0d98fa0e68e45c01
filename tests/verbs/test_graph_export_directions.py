"""The graph for other programs says who is whose child, and puts no arrow to what is mutual."""

from xml.etree import ElementTree

import pytest

GRAPHML = "{http://graphml.graphdrawing.org/xmlns}"


@pytest.fixture
def ids(me):
    found = {name: me.nodes_add(name).id for name in ("Noa", "Tamar", "Omer")}
    me.relate("Tamar", "Noa", "child")
    me.relate("Noa", "Omer", "manages")  # kept as: Omer reports to Noa
    me.relate("Tamar", "Omer", "friend")
    return found


def test_graph_dot_draws_arrows_for_directed_relationships_only(me, ids):
    lines = me.graph(format="dot").splitlines()
    assert lines[0] == "digraph memory {"
    drawn = {line.split("label=")[1]: line for line in lines if "->" in line}
    child = drawn['"child"];']
    assert child.strip().startswith(f'"{ids["Tamar"]}" -> "{ids["Noa"]}"')
    reports = drawn['"reports-to"];']
    assert reports.strip().startswith(f'"{ids["Omer"]}" -> "{ids["Noa"]}"')
    assert '"friend", dir=none];' in drawn


def test_graph_graphml_marks_mutual_relationships_undirected(me, ids):
    graph = ElementTree.fromstring(me.graph(format="graphml")).find(f"{GRAPHML}graph")
    assert graph.get("edgedefault") == "directed"
    told = {
        edge.find(f"{GRAPHML}data[@key='edge.relationship_type']").text: edge
        for edge in graph.iter(f"{GRAPHML}edge")
    }
    child = told["child"]
    assert (child.get("source"), child.get("target")) == (ids["Tamar"], ids["Noa"])
    assert child.get("directed") is None
    assert told["friend"].get("directed") == "false"

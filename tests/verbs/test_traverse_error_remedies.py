"""A query that cannot be answered is told what to write instead."""

import pytest

import commonplace
from commonplace.errors import BadCypher, InvalidInput, TooLong


@pytest.fixture(scope="module")
def me():
    with commonplace.open(":memory:", embedder="hashing", worker="off") as book:
        opened = book.user("ana")
        opened.nodes_add("Dana Levi")
        yield opened


@pytest.mark.parametrize(
    ("query", "message", "remedy"),
    [
        (
            "MATCH (a)-[:`works-at`]->(b) RETURN a.name",
            "There is no relationship works-at",
            "in their property relationship_type",
        ),
        ("MATCH (p:Person) RETURN q.name", "The variable q is not defined", "Variables: p"),
        ("MATCH (p:Person) RETURN p.nickname", "There is no property nickname", "--schema"),
        ("MATCH (p:Person) RETURN p.name ORDER BY count(*)", "an aggregate", "order by its name"),
    ],
)
def test_traverse_cypher_error_suggests_a_correction(me, query, message, remedy):
    with pytest.raises(BadCypher) as refused:
        me.traverse(cypher=query)
    assert message in refused.value.message
    assert remedy in refused.value.remedy


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({"mode": "ppr", "seed_nodes": ["Dana Levi"], "cypher": "RETURN 1"}, "cypher"),
        ({"mode": "ppr", "seed_nodes": ["Dana Levi"], "params": {"x": 1}}, "params"),
        ({"mode": "ppr", "seed_nodes": ["Dana Levi"], "verbose": True}, "verbose"),
        ({"mode": "cypher", "cypher": "RETURN 1", "seed_nodes": ["Dana Levi"]}, "seed_nodes"),
        ({"cypher": "RETURN 1", "seed_nodes": ["Dana Levi"]}, "seed_nodes"),
        ({"cypher": "RETURN 1", "max_depth": 2}, "max_depth"),
        ({"cypher": "RETURN 1", "damping": 0.5}, "damping"),
        ({"cypher": "RETURN 1", "top_k": 5}, "top_k"),
    ],
)
def test_traverse_refuses_parameters_of_the_other_mode(me, given, field):
    with pytest.raises(InvalidInput) as refused:
        me.traverse(**given)
    assert refused.value.field == field
    for name in ("ppr takes seed_nodes", "cypher takes cypher, params"):
        assert name in refused.value.remedy


def test_traverse_too_long_cypher_error_suggests_params(me):
    with pytest.raises(TooLong) as refused:
        me.traverse(cypher=f"RETURN '{'x' * 32_000}'")
    assert "params" in refused.value.remedy
    assert "ingest" not in refused.value.remedy

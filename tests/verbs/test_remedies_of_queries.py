"""A query that cannot be answered is told what to write instead."""

import pytest

import commonplace
from commonplace.errors import BadCypher


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
            "backticks",
            "r.relationship_type = 'works-at'",
        ),
        ("MATCH (p:Person) WHERE p.name = 5 RETURN p.name", "Dana Levi", "toString"),
        ("MATCH (p:Person) RETURN p.name + 1", "+(STRING,INT64).", "toString"),
    ],
)
def test_what_to_write_instead(me, query, message, remedy):
    with pytest.raises(BadCypher) as refused:
        me.traverse(cypher=query)
    assert message in refused.value.message
    assert remedy in refused.value.remedy
    assert "Supported inputs" not in refused.value.message

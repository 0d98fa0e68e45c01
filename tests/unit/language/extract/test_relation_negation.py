"""Who is said not to be somebody's is not, and nobody is made up who would be."""

from __future__ import annotations

import pytest

from commonplace.language.extract.extract import extract
from support.accounts import account


def told(*texts):
    found = extract(account(*texts))
    names = [node.name for node in found.nodes]
    edges = {(names[edge.a], edge.type, names[edge.b]) for edge in found.edges if not edge.ends}
    return {node.name: node.aliases for node in found.nodes[1:]}, edges


@pytest.mark.parametrize(
    "text",
    [
        "Gil is not my friend.",
        "Gil isn't my brother.",
        "Gil was never my manager.",
        "Gil is no longer my manager.",
        "Is Gil my brother?",
        "Isn't Gil my manager?",
    ],
)
def test_negated_or_asked_relation_makes_no_edge_node_or_alias(text):
    nodes, edges = told(text)
    assert not edges
    assert set(nodes) <= {"Gil"}
    assert not any(nodes.values())


def test_negated_clause_leaves_no_alias():
    nodes, edges = told("Dan works at Intel. It is not true that Dan is my brother.")
    assert edges == {("Dan", "works-at", "Intel")}
    assert nodes["Dan"] == ()


def test_negated_apposition_makes_no_relation_to_a_namesake():
    _, edges = told("I met Ben Carter, not my uncle Ben, in Rome.")
    assert "relative" not in {type for _, type, _ in edges}


def test_negated_own_relation_makes_no_edge_to_the_speaker():
    nodes, edges = told(("Maya", "Greta isn't my cousin, she's Oren's cousin."))
    assert not [name for name in nodes if name.startswith("Maya's")]
    assert not [edge for edge in edges if "Maya" in edge]


def test_question_to_another_speaker_makes_no_relation():
    _, edges = told("I met Greta.", ("Maya", "Oh, nice."), "Is Greta your cousin?")
    assert "cousin" not in {type for _, type, _ in edges}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I don't like my manager.", ("Alex Rivera", "reports-to", "my manager")),
        ("Not even my brother Uri came.", ("Alex Rivera", "sibling", "Uri")),
        ("Is my brother Uri here?", ("Alex Rivera", "sibling", "Uri")),
    ],
)
def test_negation_of_another_clause_keeps_the_relation(text, expected):
    _, edges = told(text)
    assert {frozenset(edge) for edge in edges} == {frozenset(expected)}

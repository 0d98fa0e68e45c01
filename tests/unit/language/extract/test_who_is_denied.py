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
def test_who_is_not_somebodys_is_no_relation_and_nobody_else_is(text):
    nodes, edges = told(text)
    assert not edges
    assert set(nodes) <= {"Gil"}
    assert not any(nodes.values())


def test_what_is_denied_of_a_sentence_leaves_no_alias():
    nodes, edges = told("Dan works at Intel. It is not true that Dan is my brother.")
    assert edges == {("Dan", "works-at", "Intel")}
    assert nodes["Dan"] == ()


def test_another_of_that_name_is_not_taken_for_whom_it_is_not():
    _, edges = told("I met Ben Carter, not my uncle Ben, in Rome.")
    assert "relative" not in {type for _, type, _ in edges}


def test_not_mine_but_theirs():
    nodes, edges = told(("Maya", "Greta isn't my cousin, she's Oren's cousin."))
    assert not [name for name in nodes if name.startswith("Maya's")]
    assert not [edge for edge in edges if "Maya" in edge]


def test_what_is_asked_of_another_is_no_answer():
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
def test_who_is_somebodys_whatever_is_denied_of_them_stays_so(text, expected):
    _, edges = told(text)
    assert {frozenset(edge) for edge in edges} == {frozenset(expected)}

"""Whom a later source means: the owner's own people are not somebody else's, and of two who share
a name neither is taken for the other."""

from __future__ import annotations

import pytest


def read(me, *talks):
    """Talks on one day after another; their ids."""
    ids = []
    for day, talk in enumerate(talks, 1):
        ids.append(me.ingest(talk, format="transcript", date=f"2026-01-{day:02}").id)
        me.extract()
    return ids


def told(me):
    edges = me.edges(past=True).edges
    return {(edge.from_name, edge.relationship_type, edge.to_name) for edge in edges}


def called(me):
    return {node.name: set(node.aliases) for node in me.people().nodes if not node.is_owner}


@pytest.mark.parametrize(
    ("theirs", "mine"),
    [
        (
            "Maya: My husband Oren works at Intel.\nAna: Nice.",
            "Ana: My husband moved to Rome.\nNoa: Oh.",
        ),
        (
            "Tamar: Omer is my brother.\nAna: I know.",
            "Ana: My brother moved to Rome.\nNoa: Oh.",
        ),
        (
            "Emily: My manager Greg Hall says hi.\nAna: Thanks.",
            "Ana: My manager moved to Rome.\nNoa: Oh.",
        ),
    ],
)
def test_extract_keeps_relatives_of_other_speakers_apart_from_the_owner(me, theirs, mine):
    read(me, theirs)
    before = told(me)
    read(me, mine)
    assert told(me) >= before
    assert {edge for edge in told(me) if edge[2] == "Rome"} == {
        (name, "lives-in", "Rome") for name in called(me) if name.startswith("My ")
    }
    assert not [edge for edge in told(me) - before if set(edge) & {"Oren", "Omer", "Greg Hall"}]


@pytest.mark.parametrize(("name", "speaker"), [("Ana", "Ana Stein"), ("Ana Stein", "Ana")])
def test_extract_recognises_the_owner_by_a_longer_or_shorter_name(me, name, speaker):
    me.profile_set("preferred_name", name)
    read(me, f"Ruth Abel: Welcome.\n{speaker}: I live in Jena. My brother Uri works at Bosch.")
    assert (name, "lives-in", "Jena") in told(me)
    assert {edge[1] for edge in told(me) if {name, "Uri"} <= set(edge)} == {"sibling"}
    assert set(called(me)) == {"Ruth Abel", "Uri"}


def test_extract_keeps_a_namesake_of_the_owner_separate(me):
    me.profile_set("preferred_name", "Ana")
    read(me, "Ana: I live in Haifa.\nAna Brown: I live in Oslo.")
    assert told(me) == {("Ana", "lives-in", "Haifa"), ("Ana Brown", "lives-in", "Oslo")}
    read(me, "Ana Brown: I work at Bosch.\nRuth: Nice.")
    assert ("Ana Brown", "works-at", "Bosch") in told(me)


def test_profile_set_allows_a_preferred_name_of_an_existing_node(me):
    read(me, "Dana Levi: I live in Jena.\nRuth: Nice.")
    me.profile_set("preferred_name", "Dana Levi")
    assert me.node("me").node.name == "Dana Levi"
    assert set(called(me)) == {"Dana Levi", "Ruth"}


# ——— two with one first name ———

ALVAREZ = "Noa: Tom Alvarez lives in Porto.\nDan: Nice."
WHITFIELD = "Noa: Tom Whitfield lives in Rome.\nDan: Nice."
TOM = "Noa: Tom moved to Oslo.\nDan: Nice."


def test_extract_makes_a_new_node_for_an_ambiguous_first_name(me):
    read(me, ALVAREZ, WHITFIELD, TOM, "Noa: Tom works at Lumen.\nDan: Nice.")
    assert told(me) == {
        ("Tom Alvarez", "lives-in", "Porto"),
        ("Tom Whitfield", "lives-in", "Rome"),
        ("Tom", "lives-in", "Oslo"),
        ("Tom", "works-at", "Lumen"),
    }


def test_extract_keeps_earlier_edges_when_a_first_name_becomes_ambiguous(me):
    read(me, ALVAREZ, "Noa: Tom works at Lumen.\nDan: Nice.", WHITFIELD, TOM)
    assert ("Tom Alvarez", "works-at", "Lumen") in told(me)
    assert ("Tom", "lives-in", "Oslo") in told(me)
    assert all(edge.valid_to is None for edge in me.edges(past=True).edges)


@pytest.mark.parametrize("before", [(), (ALVAREZ,)])
def test_extract_keeps_an_ambiguous_first_name_separate_within_one_source(me, before):
    read(
        me,
        *before,
        "Noa: Tom Whitfield works at Lumen. Tom Alvarez lives in Porto.\nNoa: Tom is my friend.",
    )
    friends = {frozenset((edge[0], edge[2])) for edge in told(me) if edge[1] == "friend"}
    assert friends == {frozenset({"Noa", "Tom"})}

"""Nodes, relations and notes of a model, in the project's words and direction."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from commonplace.language.grounding.relation_types import read_relation_type
from commonplace.language.grounding.values import DropReason
from commonplace.model.graph.assertion import NoteLifetime
from commonplace.model.graph.types import NodeType
from support.given_passages import OWNER, contents, edges, found_in, given, memory, relation

ME = "Vera Lindqvist"


def name(called: str, type: str, quote: str, passage: int = 0, **fields: object):
    return {"passage": passage, "quote": quote, "name": called, "type": type, **fields}


@pytest.mark.parametrize(
    ("said", "one", "type", "other", "edge"),
    [
        ("my boss Ron", "me", "boss", "Ron", (ME, "reports-to", "Ron")),
        ("my boss Ron", "Ron", "boss-of", "me", ("Ron", "manages", ME)),
        ("my boss Ron", "me", "reports to", "Ron", (ME, "reports-to", "Ron")),
        ("my mother Ines", "Ines", "mother", "me", (ME, "child", "Ines")),
        ("my mother Ines", "me", "mother", "Ines", (ME, "child", "Ines")),
        ("my mother Ines", "Ines", "parent-of", "me", (ME, "child", "Ines")),
        ("I'm Mia's mother", "me", "mother", "Mia", ("Mia", "child", ME)),
        ("my son Ori", "Ori", "son-of", "me", ("Ori", "child", ME)),
        ("my son Ori", "me", "has-son", "Ori", ("Ori", "child", ME)),
        ("Ann's vet, Dr Bo", "Dr Bo", "vet-of", "Ann", ("Ann", "vet", "Dr Bo")),
        ("Ann's mentor Bo", "Bo", "mentor-of", "Ann", ("Ann", "mentor", "Bo")),
        ("Bo is Ann's girlfriend", "Bo", "girlfriend", "Ann", ("Ann", "partner", "Bo")),
        ("our cat Pickle", "Pickle", "pet-of", "me", (ME, "owns", "Pickle")),
        ("Acme hired Bo", "Acme", "employs", "Bo", ("Bo", "works-at", "Acme")),
        ("Bo lives in Cork", "Bo", "lives_in", "Cork", ("Bo", "lives-in", "Cork")),
        ("Bo drives for Ann", "Bo", "drives-for", "Ann", ("Bo", "drives-for", "Ann")),
    ],
)  # fmt: skip
def test_type_and_direction(said, one, type, other, edge):
    found = found_in(given(f"owner: {said}"), relations=[relation(one, type, other, said)])
    assert not found.dropped
    (kept,) = edges(found)
    mutual = {edge, (edge[2], edge[1], edge[0])} if edge[1] == "partner" else {edge}
    assert kept in mutual


@pytest.mark.parametrize("type", ["", "!!", "x" * 70, "DROP TABLE; --", "a-b-c-d-e-f-g-h"])
def test_type_that_is_not_well_formed(type):
    assert read_relation_type(type, from_owner=False, to_owner=False, quote="") is None


@pytest.mark.parametrize(
    ("item", "why"),
    [
        (relation("Nils", "spouse", "Greta", "Nils and I"), DropReason.UNGROUNDED_NAME),
        (relation("Nils", "friend", "me", "Nils is my friend"), DropReason.NO_QUOTE),
        (relation("Nils", "friend", "Nils", "Nils and I"), DropReason.MALFORMED),
        (relation("he", "friend", "me", "Nils and I"), DropReason.MALFORMED),
        (relation("my sister", "friend", "Nils", "Nils and I"), DropReason.MALFORMED),
        (relation("Tilda", "sibling", "me", "Tilda is not my sister"), DropReason.NEGATED),
    ],
)
def test_relation_that_is_not_carried_is_dropped(item, why):
    turns = given("owner: Nils and I watched the game. Tilda is not my sister")
    found = found_in(turns, relations=[item])
    assert not found.graph.edges
    assert found.dropped == {why: 1}


def test_owner_is_the_first_node():
    found = found_in(
        given("owner: I'm Vera, my sister is Ilka"),
        names=[name("Vera", "person", "I'm Vera")],
        relations=[relation("Ilka", "sister", "Vera", "my sister is Ilka")],
    )
    assert [(node.name, node.is_owner) for node in found.graph.nodes] == [
        (ME, True),
        ("Ilka", False),
    ]
    assert edges(found) == [("Vera Lindqvist", "sibling", "Ilka")] or edges(found) == [
        ("Ilka", "sibling", ME)
    ]


def test_shorter_name_is_the_same_person():
    turns = given("owner: Pavel Horak called. Pavel lives in Brno")
    found = found_in(
        turns,
        names=[
            name("Pavel", "person", "Pavel lives"),
            name("Pavel Horak", "person", "Pavel Horak called", aliases=["Pavel", "Pasha"]),
        ],
        relations=[relation("Pavel", "lives-in", "Brno", "Pavel lives in Brno")],
    )
    people = [node for node in found.graph.nodes[1:] if node.type is NodeType.PERSON]
    assert [(node.name, node.aliases) for node in people] == [("Pavel Horak", ("Pavel",))]


def test_fuller_name_is_known_from_a_far_passage():
    others = [f"owner: line {number}" for number in range(8)]
    turns = given("owner: Pavel Horak called", *others, "owner: Pavel moved to Brno")
    item = relation("Pavel Horak", "lives-in", "Brno", "Pavel moved to Brno", 9)
    fact = memory("Pavel Horak moved to Brno.", "Pavel moved to Brno", 9)
    found = found_in(turns, relations=[item], memories=[fact])
    assert edges(found) == [("Pavel Horak", "lives-in", "Brno")]
    assert len(found.memories) == 1
    other = relation("Pavel Novak", "lives-in", "Brno", "Pavel moved to Brno", 9)
    assert found_in(turns, relations=[other]).dropped == {DropReason.UNGROUNDED_NAME: 1}


def test_things_with_descriptive_names_are_names():
    turns = given("owner: at the University of Leeds, lunch at Joe's Pizza, my sister's office too")
    found = found_in(
        turns,
        names=[
            name("University of Leeds", "organization", "at the University of Leeds"),
            name("Joe's Pizza", "organization", "lunch at Joe's Pizza"),
            name("my sister's office", "place", "my sister's office"),
        ],
    )
    assert [node.name for node in found.graph.nodes[1:]] == ["University of Leeds", "Joe's Pizza"]


def test_animal_and_place_are_entities():
    turns = given("owner: our dog Rolf runs in Cobh")
    found = found_in(
        turns,
        names=[name("Rolf", "animal", "our dog Rolf"), name("Cobh", "place", "runs in Cobh")],
    )
    kinds = [(node.type, node.subtype) for node in found.graph.nodes[1:]]
    assert kinds == [(NodeType.ENTITY, "animal"), (NodeType.ENTITY, "location")]


@pytest.mark.parametrize("field", ["since", "until"])
def test_ended_relation_ends_at_its_day(field):
    turns = given("owner: left Acme in january")
    day = {field: "in january"}
    item = relation("me", "works-at", "Acme", "left Acme in january", ended=True, **day)
    (edge,) = found_in(turns, relations=[item]).graph.edges
    assert edge.ends
    assert edge.valid_from == datetime(2026, 1, 1, tzinfo=UTC)


def test_word_for_a_former_job_is_a_job_that_ended():
    turns = given("owner: Bo used to work at Acme")
    item = relation("Bo", "worked-at", "Acme", "Bo used to work at Acme")
    found = found_in(turns, relations=[item])
    assert edges(found) == [("Bo", "works-at", "Acme")]
    assert found.graph.edges[0].ends


def test_words_for_roles_of_people_are_not_said_of_firms():
    turns = given("owner: our customer is Tarn Mill, contact Bo. We work with Alder Press")
    firm = {"from_type": "organization", "to_type": "person"}
    found = found_in(
        turns,
        relations=[
            relation("Tarn Mill", "customer", "me", "our customer is Tarn Mill", **firm),
            relation("Alder Press", "works-with", "me", "We work with Alder Press", **firm),
            relation("Bo", "customer", "me", "contact Bo", from_type="person", to_type="person"),
        ],
    )
    assert {edge[1] for edge in edges(found)} == {"customer", "works-with", "contact"}


def test_what_a_conversation_is_about_need_not_be_named_again():
    turns = given(
        "owner: our band is called Low Tide", *["owner: and so on"] * 6, "owner: Pete quit in may"
    )
    quit = relation("Pete", "member-of", "Low Tide", "Pete quit in may", 7, ended=True)
    band = name("Low Tide", "group", "our band is called Low Tide")
    found = found_in(
        turns,
        names=[band],
        relations=[quit],
        memories=[memory("Pete quit Low Tide.", "Pete quit", 7)],
    )
    assert edges(found) == [("Pete", "member-of", "Low Tide")]
    assert contents(found) == ["Pete quit Low Tide."]


def test_hebrew_prefix_does_not_hide_a_feeling():
    turns = given("owner: אני אוהבת קרמיקה ושונאת פקקים")
    item = relation(
        "me", "dislikes", "פקקים", "ושונאת פקקים", to_type="concept", description="שונאת פקקים"
    )
    assert not found_in(turns, relations=[item]).dropped


def test_description_that_is_not_carried_is_left_out():
    turns = given("owner: my sister Ilka bakes")
    item = relation("Ilka", "sibling", "me", "my sister Ilka", description="Ilka is from Oslo.")
    (edge,) = found_in(turns, relations=[item]).graph.edges
    assert edge.description == ""


def test_first_person_of_another_speaker_is_that_speaker():
    turns = given("Jonas: my brother Emil is a cook")
    found = found_in(turns, relations=[relation("Emil", "sibling", "me", "my brother Emil")])
    assert edges(found) == [("Emil", "sibling", "Jonas")]
    assert found.graph.edges[0].confidence == 0.75


def test_suggestion_of_the_assistant_makes_no_relation():
    turns = given("owner: who is Bo?", "assistant: Bo is your colleague.")
    found = found_in(
        turns, relations=[relation("Bo", "colleague", "me", "Bo is your colleague", 1)]
    )
    assert found.dropped == {DropReason.NOT_THE_OWNER: 1}


def test_note_is_about_known_names():
    turns = given("Pavel: The kiln is fixed at last!")
    note = {"passage": 0, "quote": "The kiln is fixed at last", "lifetime": "year"}
    found = found_in(
        turns,
        names=[name("Pavel", "person", "The kiln is fixed")],
        notes=[
            note | {"about": ["Pavel"], "text": "Pavel's kiln is fixed."},
            note | {"about": ["Greta"], "text": "Greta's kiln is fixed."},
            note | {"about": ["Pavel"], "text": "Pavel's kiln cost 900."},
        ],
    )
    (kept,) = found.graph.notes
    assert (kept.content, kept.lifetime) == ("Pavel's kiln is fixed.", NoteLifetime.YEAR)
    assert found.graph.nodes[kept.about[0]].name == "Pavel"
    assert sum(found.dropped.values()) == 2


VERA = OWNER.name


@pytest.mark.parametrize(
    ("turn", "item", "edge"),
    [
        (
            "my daughter Ivy is six",
            ("me", "child", "Ivy"),
            ("Ivy", "child", VERA),
        ),
        (
            "my daughter Ivy is six",
            ("Ivy", "child", "me"),
            ("Ivy", "child", VERA),
        ),
        ("Ruth is my mother", ("Ruth", "child", "me"), (VERA, "child", "Ruth")),
        (
            "my boss Ron is late",
            ("Ron", "reports-to", "me"),
            (VERA, "reports-to", "Ron"),
        ),
    ],
)
def test_role_in_the_words_decides_the_direction(turn, item, edge):
    found = found_in(given(f"owner: {turn}"), relations=[relation(*item, turn)])
    assert edges(found) == [edge]


def test_hebrew_given_name_that_is_also_a_role_is_a_name():
    turns = given("owner: הלהקה הפנסים הכבויים. דניאלה בס ועמית שרה")
    item = relation("עמית", "member-of", "הפנסים הכבויים", "דניאלה בס ועמית שרה")
    assert edges(found_in(turns, relations=[item])) == [("עמית", "member-of", "הפנסים הכבויים")]

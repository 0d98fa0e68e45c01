"""Which known node a name means: exactly, by an alias, by an address, by part of a name, almost."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from commonplace.engine.graph.names import SEVERAL, build_name_index, name_key, resolve_node
from commonplace.engine.graph.visible_graph import find_node
from commonplace.errors import InvalidInput, NotFound
from commonplace.model.graph.elements import Node
from commonplace.model.graph.types import NodeType

NOW = datetime(2026, 3, 1, tzinfo=UTC)
P, C, E = NodeType.PERSON, NodeType.CONCEPT, NodeType.ENTITY


def node(name, type=P, subtype="", aliases=(), addresses=(), is_owner=False):
    return Node(
        id=f"node:{name}",
        user_id="ana",
        type=type,
        subtype=subtype,
        name=name,
        key=name_key(name),
        aliases=tuple(aliases),
        addresses=tuple(addresses),
        is_owner=is_owner,
        created_by="user:ana",
        created_at=NOW,
        updated_at=NOW,
    )


GRAPH = build_name_index(
    [
        node("Ana Levi", is_owner=True),
        node("Sarah Chen", aliases=["Sally"], addresses=["sarah@acme.com"]),
        node("Jonathan Price"),
        node("Dan Cohen"),
        node("Dan Levi"),
        node("Noa"),
        node("Noa's mentor"),
        node("my brother"),
        node("Ruth Katz", aliases=["my manager"]),
        node("Acme", E, "organization"),
        node("Phoenix", E, "location"),
        node("Q4 launch", E, "project"),
        node("Room 12", E, "location"),
        node("work-life balance", C),
        node("time with family", C),
        node("eyesight", C),
        node("חברת אופק", E, "organization"),
    ]
)


@pytest.mark.parametrize(
    ("name", "type", "subtype", "expected"),
    [
        ("Sarah Chen", P, "", "Sarah Chen"),
        ("sarah chen", P, "", "Sarah Chen"),
        ("Sally", P, "", "Sarah Chen"),
        ("Sarah", P, "", "Sarah Chen"),
        ("Chen", P, "", "Sarah Chen"),
        ("S. Chen", P, "", "Sarah Chen"),
        ("Jonathon Price", P, "", "Jonathan Price"),
        ("Noa Bar", P, "", "Noa"),
        ("Acme Inc.", E, "organization", "Acme"),
        ("ACME", E, "", "Acme"),
        ("Work-Life Balance", C, "", "work-life balance"),
        ("time with my family", C, "", "time with family"),
        ("the eyesight", C, "", "eyesight"),
        ("her eyesight", C, "", None),
        ("אופק", E, "organization", "חברת אופק"),
        ("my brother", P, "", "my brother"),
        ("Noa", P, "", "Noa"),
        ("Noa's mentee", P, "", None),
        ("Sarah's brother", P, "", None),
        ("Sarah Cohen", P, "", None),
        ("Sara Chan", P, "", None),
        ("Phoenix", E, "project", None),
        ("Room 13", E, "location", None),
        ("Acme", P, "", None),
        ("Levin", P, "", None),
        ("Acmeo", E, "organization", None),
    ],
)
def test_resolve_node_returns_only_the_unambiguous_node_of_a_name(name, type, subtype, expected):
    found = resolve_node(GRAPH, type, [name], subtype=subtype)
    assert found == (f"node:{expected}" if expected else None)


def test_resolve_node_matches_by_address_despite_another_name():
    assert resolve_node(GRAPH, P, ["S"], addresses=["Sarah@Acme.com"]) == "node:Sarah Chen"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Daniel Cohen", "Daniela Cohen"),
        ("Michael Stone", "Michaela Stone"),
        ("Martin Weber", "Martina Weber"),
        ("Christian Berg", "Christina Berg"),
        ("Alexander Kim", "Alexandra Kim"),
        ("Stephen King", "Stephan King"),
        ("Marcus Brown", "Markus Brown"),
        ("Daniel", "Daniela"),
        ("Brandolf Price", "Brandolfa Price"),
        ("גבריאל כהן", "גבריאלה כהן"),
    ],
)
def test_resolve_node_separates_similar_first_names(one, other):
    for known_one, read in ((one, other), (other, one)):
        assert resolve_node(build_name_index([node(known_one)]), P, [read]) is None


def test_resolve_node_tolerates_typing_errors():
    met = build_name_index([node("Stephanie Wagner"), node("Kubernetes", E, "product")])
    assert resolve_node(met, P, ["Stephannie Wagner"]) == "node:Stephanie Wagner"
    assert resolve_node(met, P, ["Stephanie Wagener"]) == "node:Stephanie Wagner"
    assert resolve_node(met, E, ["Kubernets"], subtype="product") == "node:Kubernetes"


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (["my manager"], "Ruth Katz"),
        (["Ruth", "my manager"], "Ruth Katz"),
        (["R. Katz", "my manager"], "Ruth Katz"),
        (["Tom", "my brother"], "my brother"),
        (["Zoe Bar", "my manager"], None),
        (["Ruth Cohen", "my manager"], None),
    ],
)
def test_resolve_node_never_joins_two_names_by_a_descriptive_alias(names, expected):
    """One manager follows another: who has another name is another person."""
    found = resolve_node(GRAPH, P, names)
    assert found == (f"node:{expected}" if expected else None)


TOMS = [node("Tom Alvarez", aliases=["Tom"]), node("Tom Whitfield")]


def test_resolve_node_finds_a_shared_first_name_ambiguous_despite_an_alias():
    assert resolve_node(build_name_index(TOMS[:1]), P, ["Tom"]) == "node:Tom Alvarez"
    assert resolve_node(build_name_index(TOMS), P, ["Tom"]) is SEVERAL
    assert (
        resolve_node(build_name_index(TOMS), P, ["Tom"], present={"node:Tom Whitfield"})
        == "node:Tom Whitfield"
    )


def test_resolve_node_prefers_the_node_named_by_first_name_alone():
    graph = build_name_index([*TOMS, node("Tom")])
    assert resolve_node(graph, P, ["Tom"]) == "node:Tom"
    assert resolve_node(graph, P, ["Tom Baker"]) is None
    assert resolve_node(build_name_index([node("Tom")]), P, ["Tom Baker"]) == "node:Tom"


def test_resolve_node_picks_the_participant_of_an_ambiguous_name():
    assert resolve_node(GRAPH, P, ["Dan"]) is SEVERAL
    assert resolve_node(GRAPH, P, ["Dan"], present={"node:Dan Levi"}) == "node:Dan Levi"
    assert resolve_node(GRAPH, P, ["Dan"], present={"node:Dan Levi", "node:Dan Cohen"}) is SEVERAL


def test_find_node_accepts_me_and_ids_and_refuses_ambiguous_or_unknown_names():
    assert find_node(GRAPH, "me").name == "Ana Levi"
    assert find_node(GRAPH, "node:Acme").name == "Acme"
    with pytest.raises(InvalidInput, match="Several"):
        find_node(GRAPH, "Dan")
    for unknown in ("node:nobody", "Zoe"):
        with pytest.raises(NotFound):
            find_node(GRAPH, unknown)

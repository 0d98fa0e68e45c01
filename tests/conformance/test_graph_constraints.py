"""What the database itself refuses, whatever the code above it does: two nodes of one name, two
owners of one graph, edges that lead nowhere or to somebody else's node."""

from __future__ import annotations

import pytest

from commonplace.errors import StoreError
from commonplace.model.graph.types import NodeType
from commonplace.store.queries import GraphQuery
from support.graph_making import (
    a_node,
    an_edge,
    changing_node,
    putting_edge,
    putting_node,
    removing_node,
)
from support.making import ANA, BOB, changeset
from support.stores import all_rows


def refused(store, store_url, *steps, scope=ANA):
    rows = all_rows(store_url)
    with pytest.raises(StoreError, match="refused"):
        store.apply(changeset(*steps, scope=scope))
    return all_rows(store_url) == rows


def test_a_name_stands_for_one_node_of_a_type(store, store_url):
    store.apply(changeset(putting_node(a_node("Mira"))))
    assert refused(store, store_url, putting_node(a_node("Mira")))
    others = [
        a_node("Mira", type=NodeType.ENTITY, subtype="location"),
        a_node("Mira", type=NodeType.ENTITY, subtype="project"),
        a_node("Mira", type=NodeType.CONCEPT),
    ]
    store.apply(changeset(*map(putting_node, others)))
    store.apply(changeset(putting_node(a_node("Mira", user_id="bob")), scope=BOB))
    assert store.graph_items(ANA, GraphQuery(nodes=[node.id for node in others])).nodes == others


def test_a_node_that_does_not_stand_or_is_merged_leaves_its_name_to_others(store, store_url):
    first, second = a_node("Mira"), a_node("Mira L", key="mira l")
    store.apply(changeset(putting_node(first), putting_node(second)))
    store.apply(changeset(changing_node(first, stands=False)))
    third = a_node("Mira")
    store.apply(changeset(putting_node(third)))
    gone = store.graph_items(ANA, GraphQuery(nodes=[first.id])).nodes[0]
    assert refused(store, store_url, changing_node(gone, stands=True))
    store.apply(changeset(changing_node(third, merged_into=second.id)))
    store.apply(changeset(changing_node(gone, stands=True)))


def test_names_can_be_exchanged_in_one_changeset(store):
    one, two = a_node("Mira"), a_node("Noa")
    store.apply(changeset(putting_node(one), putting_node(two)))
    exchanged = [changing_node(one, key="noa"), changing_node(two, key="mira")]
    store.apply(changeset(*exchanged))
    assert store.graph_items(ANA, GraphQuery(nodes=[one.id, two.id])).nodes == [
        step.after for step in exchanged
    ]


def test_a_name_goes_to_a_new_node_while_the_old_one_is_merged_into_it(store):
    old, new = a_node("Mira"), a_node("Mira", aliases=("Miri",))
    store.apply(changeset(putting_node(old)))
    store.apply(changeset(putting_node(new), changing_node(old, merged_into=new.id)))
    assert store.graph_items(ANA, GraphQuery(merged_into=[new.id])).nodes[0].id == old.id


def test_a_graph_has_one_owner(store, store_url):
    store.apply(changeset(putting_node(a_node("Ana", is_owner=True))))
    assert refused(store, store_url, putting_node(a_node("Anna", is_owner=True)))
    store.apply(changeset(putting_node(a_node("Bob", user_id="bob", is_owner=True)), scope=BOB))


def test_an_edge_needs_both_ends_and_both_of_its_own_owner(store, store_url):
    mine, his = a_node("Mira"), a_node("Noa", user_id="bob")
    store.apply(changeset(putting_node(mine)))
    store.apply(changeset(putting_node(his), scope=BOB))
    for edge in (an_edge(mine, his), an_edge(his, mine), an_edge(mine, a_node("Nobody"))):
        assert refused(store, store_url, putting_edge(edge))


def test_a_node_does_not_go_before_its_edges(store, store_url):
    mira, noa = a_node("Mira"), a_node("Noa")
    edge = an_edge(mira, noa)
    store.apply(changeset(putting_node(mira), putting_node(noa), putting_edge(edge)))
    assert refused(store, store_url, removing_node(mira))
    assert refused(store, store_url, removing_node(noa))
    assert store.graph_items(ANA, GraphQuery(edges=[edge.id])).edges == [edge]

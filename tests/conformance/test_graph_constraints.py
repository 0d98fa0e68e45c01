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


def test_node_key_is_unique_per_type_subtype_and_scope(store, store_url):
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


def test_node_key_is_free_after_a_node_is_inactive_or_merged(store, store_url):
    first, second = a_node("Mira"), a_node("Mira L", key="mira l")
    store.apply(changeset(putting_node(first), putting_node(second)))
    store.apply(changeset(changing_node(first, stands=False)))
    third = a_node("Mira")
    store.apply(changeset(putting_node(third)))
    gone = store.graph_items(ANA, GraphQuery(nodes=[first.id])).nodes[0]
    assert refused(store, store_url, changing_node(gone, stands=True))
    store.apply(changeset(changing_node(third, merged_into=second.id)))
    store.apply(changeset(changing_node(gone, stands=True)))


def test_node_keys_can_be_swapped_in_one_changeset(store):
    one, two = a_node("Mira"), a_node("Noa")
    store.apply(changeset(putting_node(one), putting_node(two)))
    exchanged = [changing_node(one, key="noa"), changing_node(two, key="mira")]
    store.apply(changeset(*exchanged))
    assert store.graph_items(ANA, GraphQuery(nodes=[one.id, two.id])).nodes == [
        step.after for step in exchanged
    ]


def test_node_key_moves_to_a_new_node_when_the_old_one_is_merged(store):
    old, new = a_node("Mira"), a_node("Mira", aliases=("Miri",))
    store.apply(changeset(putting_node(old)))
    store.apply(changeset(putting_node(new), changing_node(old, merged_into=new.id)))
    assert store.graph_items(ANA, GraphQuery(merged_into=[new.id])).nodes[0].id == old.id


def test_graph_has_at_most_one_owner_node(store, store_url):
    store.apply(changeset(putting_node(a_node("Ana", is_owner=True))))
    assert refused(store, store_url, putting_node(a_node("Anna", is_owner=True)))
    store.apply(changeset(putting_node(a_node("Bob", user_id="bob", is_owner=True)), scope=BOB))


def test_edge_requires_both_ends_in_the_same_scope(store, store_url):
    mine, his = a_node("Mira"), a_node("Noa", user_id="bob")
    store.apply(changeset(putting_node(mine)))
    store.apply(changeset(putting_node(his), scope=BOB))
    for edge in (an_edge(mine, his), an_edge(his, mine), an_edge(mine, a_node("Nobody"))):
        assert refused(store, store_url, putting_edge(edge))


def test_node_with_edges_cannot_be_removed(store, store_url):
    mira, noa = a_node("Mira"), a_node("Noa")
    edge = an_edge(mira, noa)
    store.apply(changeset(putting_node(mira), putting_node(noa), putting_edge(edge)))
    assert refused(store, store_url, removing_node(mira))
    assert refused(store, store_url, removing_node(noa))
    assert store.graph_items(ANA, GraphQuery(edges=[edge.id])).edges == [edge]

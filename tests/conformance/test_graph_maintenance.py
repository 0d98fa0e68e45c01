"""What upkeep promises of the graph: it is counted, searched for leftovers, embedded late and
embedded anew."""

from __future__ import annotations

from dataclasses import replace

import pytest

from commonplace.engine.maintenance.reembed import reembed
from commonplace.language.embedders.hashing import HashingEmbedder
from commonplace.model.changeset import Bookkeeping
from commonplace.model.filters import UNCLEARED, Visibility
from commonplace.model.graph.types import NodeType
from commonplace.model.memory.memory import Sensitivity
from commonplace.store.cache.graph_cache import GraphCache
from commonplace.store.queries import EmbedderIdentity, UnembeddedQuery
from support.clock import START
from support.graph_making import (
    a_node,
    a_node_telling,
    a_note,
    an_artifact,
    an_edge,
    an_edge_telling,
    changing_node,
    putting_artifact,
    putting_edge,
    putting_node,
    putting_note,
    removing_edge,
    removing_node,
)
from support.making import ANA, BOB, EMBEDDER, changeset
from support.stores import raw


@pytest.fixture
def graph(store):
    mira, noa = a_node("Mira"), a_node("Noa", sensitivity=Sensitivity.HIGH)
    acme = a_node("Acme", type=NodeType.ENTITY, subtype="organization")
    edges = an_edge(mira, noa), an_edge(mira, acme, "works-at")
    store.apply(
        changeset(
            *map(putting_node, (mira, noa, acme)),
            *map(putting_edge, edges),
            putting_note(a_note(mira)),
            putting_note(a_note(edges[0])),
            putting_artifact(an_artifact()),
        )
    )
    return mira, noa, acme, edges


def counted(store, **seen):
    graph = store.statistics(ANA, seen=Visibility(**seen)).graph
    nodes = {(each.type, each.subtype): each.count for each in graph.nodes}
    return nodes, graph.edges, graph.notes, graph.artifacts


def test_graph_statistics_count_visible_items(store, graph):
    mira, noa, acme, _ = graph
    organization = ("Entity", "organization")
    everything = {("Person", ""): 2, organization: 1}
    assert counted(store, cleared=True) == (everything, 2, 2, 1)
    assert counted(store) == ({("Person", ""): 1, organization: 1}, 1, 2, 1)
    people = frozenset({"relationships"})
    assert counted(store, categories=people) == ({("Person", ""): 1}, 0, 1, 0)
    store.apply(changeset(changing_node(noa, merged_into=mira.id)))
    store.apply(changeset(changing_node(acme, stands=False)))
    assert counted(store, cleared=True)[0] == {("Person", ""): 1}
    assert store.statistics(BOB, seen=UNCLEARED).graph.nodes == ()


def test_graph_statistics_report_rows_without_counterpart(store, store_url, graph):
    _, _, _, (edge, _) = graph

    def loose():
        return {what: n for what, n in store.statistics(ANA).loose_ends.items() if n}

    assert loose() == {}
    raw(store_url, "DELETE FROM edges WHERE id = ?", edge.id)
    assert loose() == {
        "assertions without an edge": 1,
        "notes without a node or an edge": 1,
        "vectors without a node or an edge": 1,
    }
    raw(store_url, "DELETE FROM node_tellings")
    raw(store_url, "DELETE FROM edge_tellings")
    assert loose()["nodes without an assertion"] == 3
    assert loose()["edges without an assertion"] == 1
    raw(store_url, "UPDATE nodes SET merged_into = 'node:none' WHERE name = 'Noa'")
    raw(store_url, "INSERT INTO marks VALUES ('user:ana', 'node:none', 1, 1, 1, 1, 1, 1, NULL)")
    assert loose()["merged nodes without a target"] == 1
    assert loose()["marks without an item"] == 1


@pytest.mark.parametrize(
    ("table", "steps"),
    [
        ("nodes", lambda n, m: [putting_node(replace(n, description="a SECRET"))]),
        ("nodes", lambda n, m: [putting_node(replace(n, aliases=("Se\u200bcret", "secret")))]),
        ("nodes", lambda n, m: [putting_node(n, text="the secret")]),
        ("node_tellings", lambda n, m: [putting_node(n, a_node_telling(n, name="Secret"))]),
        (
            "edges",
            lambda n, m: [
                putting_node(n),
                putting_node(m),
                putting_edge(an_edge(n, m, description="secret")),
            ],
        ),
        (
            "edge_tellings",
            lambda n, m: [
                putting_node(n),
                putting_node(m),
                putting_edge(e := an_edge(n, m), an_edge_telling(e, description="secret")),
            ],
        ),
        ("graph_notes", lambda n, m: [putting_node(n), putting_note(a_note(n, "secret"))]),
        ("artifacts", lambda n, m: [putting_artifact(an_artifact(output={"a": ["secret"]}))]),
    ],
)
def test_mentions_finds_a_text_in_every_graph_table(store, table, steps):
    assert store.mentions(ANA, "secret") == []
    store.apply(changeset(*steps(a_node("Mira"), a_node("Noa"))))
    assert store.mentions(ANA, "secret") == [table]
    assert store.mentions(BOB, "secret") == []


def test_mentions_finds_nothing_after_graph_erase(store, graph):
    mira, _, _, edges = graph
    assert store.mentions(ANA, "mira") != []
    store.apply(changeset(*map(removing_edge, edges), removing_node(mira)))
    assert store.mentions(ANA, "mira") == []
    assert store.mentions(ANA, "cello") == []


def test_reembed_replaces_vectors_of_nodes_and_edges(store, store_url, graph):
    """Also for whoever has a graph and nothing else."""
    store.claim_embedder(EmbedderIdentity(EMBEDDER.name, EMBEDDER.dimension))
    model = HashingEmbedder(16)
    done = reembed(store, model, lambda progress: None, START)
    assert done.memories == 5
    lengths = raw(store_url, "SELECT DISTINCT length(vector), generation FROM graph_vectors")
    assert lengths == [(64, 2)]
    store.claim_embedder(EmbedderIdentity(model.name, model.dimension))
    drawn = GraphCache(store, model.dimension).of(ANA)
    assert drawn.matrix.shape == (5, 16)


def test_switch_to_waits_until_all_graph_vectors_are_embedded(store, graph):
    store.claim_embedder(EmbedderIdentity(EMBEDDER.name, EMBEDDER.dimension))
    building = store.begin_generation(EmbedderIdentity("other", 16))
    assert store.unembedded(ANA, UnembeddedQuery(0, building.number, counted=True)).total == 5
    assert not store.switch_to(building.number)
    waiting = store.unembedded(ANA, UnembeddedQuery(2, building.number)).graph
    vectors = {ref: b"\0" * 64 for ref, _ in waiting}
    store.record(Bookkeeping(ANA, START, graph_vectors=vectors, generation=building.number))
    assert store.unembedded(ANA, UnembeddedQuery(0, building.number, counted=True)).total == 3


def test_unembedded_lists_graph_vectors_in_limited_batches(store):
    nodes = [a_node(f"Friend {number}") for number in range(5)]
    store.apply(changeset(*(replace(putting_node(node), vector=None) for node in nodes)))
    edge = replace(putting_edge(an_edge(nodes[0], nodes[1])), vector=None)
    store.apply(changeset(edge))
    assert len(store.unembedded(ANA, UnembeddedQuery(3)).graph) == 3
    waiting = store.unembedded(ANA, UnembeddedQuery(100)).graph
    assert {ref for ref, _ in waiting} == {each.ref for each in (*nodes, edge.after)}
    ready = {ref: bytes(EMBEDDER.dimension * 4) for ref, _ in waiting}
    store.record(Bookkeeping(ANA, START, graph_vectors=ready))
    assert store.unembedded(ANA, UnembeddedQuery(100)).graph == []

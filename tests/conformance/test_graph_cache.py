"""A picture kept in a process is the one that a new process would draw: it catches up with what
others write, and what was erased is in none of them."""

from __future__ import annotations

from datetime import timedelta
from threading import Thread

import numpy as np
import pytest

from commonplace.model.changeset import Bookkeeping
from commonplace.model.journal import Event
from commonplace.store.cache.graph_cache import GraphCache
from commonplace.store.queries import UnembeddedQuery
from support.clock import START
from support.graph_making import (
    a_node,
    a_node_telling,
    a_note,
    an_artifact,
    an_edge,
    changing_node,
    cited,
    putting_artifact,
    putting_edge,
    putting_node,
    putting_note,
    removing_edge,
    removing_node,
    removing_notes,
    vector_of,
)
from support.making import ANA, BOB, EMBEDDER, a_memory, changeset, put
from support.stores import open_store

LATER = START + timedelta(days=3)


@pytest.fixture
def pictures(store):
    return GraphCache(store, EMBEDDER.dimension)


@pytest.fixture
def friends(store):
    mira, noa = a_node("Mira"), a_node("Noa")
    edge = an_edge(mira, noa)
    store.apply(changeset(putting_node(mira), putting_node(noa), putting_edge(edge)))
    return mira, noa, edge


def same_as_new(store, pictures, scope=ANA):
    """What was kept, after a look whether it is what a new cache makes of the store."""
    kept, anew = pictures.of(scope), GraphCache(store, EMBEDDER.dimension).of(scope)
    assert kept.snapshot == anew.snapshot
    rows, others = (dict(zip(each.ids, each.matrix, strict=True)) for each in (kept, anew))
    assert rows.keys() == others.keys()
    assert all(np.array_equal(rows[id], others[id]) for id in rows)
    return kept


def test_graph_snapshot_holds_active_items_and_vectors(store, pictures, friends):
    mira, noa, edge = friends
    note, artifact = a_note(mira), an_artifact()
    store.apply(changeset(putting_note(note), putting_artifact(artifact)))
    drawn = same_as_new(store, pictures)
    snapshot = drawn.snapshot
    assert snapshot.nodes == {mira.id: mira, noa.id: noa}
    assert snapshot.edges == {edge.id: edge}
    assert snapshot.notes == {mira.id: (note,)}
    assert snapshot.artifacts == {artifact.id: artifact}
    assert {mention.node for mention in snapshot.mentions} == {mira.id, noa.id}
    assert snapshot.revision == store.counters(ANA).graph
    assert sorted(drawn.ids) == sorted([mira.id, noa.id, edge.id])
    assert drawn.matrix.dtype == np.float32
    assert drawn.matrix[drawn.ids.index(edge.id)].tobytes() == vector_of(edge.type)


def test_graph_snapshot_of_an_unknown_scope_is_empty(store, pictures):
    drawn = pictures.of(BOB)
    assert (drawn.snapshot.nodes, drawn.ids) == ({}, ())
    assert drawn.matrix.shape == (0, EMBEDDER.dimension)


def test_graph_cache_catches_up_with_another_process(store, store_url, pictures, friends):
    mira, noa, edge = friends
    before = pictures.of(ANA)
    other = open_store(store_url)
    try:
        ido = a_node("Ido")
        other.apply(changeset(putting_node(ido), putting_edge(an_edge(ido, mira))))
        other.apply(changeset(changing_node(mira, name="Mira L", text="Mira L")))
        other.apply(changeset(putting_note(a_note(edge)), putting_artifact(an_artifact())))
    finally:
        other.close()
    drawn = same_as_new(store, pictures)
    assert drawn.snapshot.nodes.keys() == {mira.id, noa.id, ido.id}
    assert drawn.snapshot.nodes[mira.id].name == "Mira L"
    assert mira.id not in drawn.ids, "its text is another, whose vector is to come"
    assert before.snapshot.nodes[mira.id].name == "Mira", "who reads is not disturbed"


def test_graph_cache_takes_in_a_late_vector_without_a_new_revision(store, pictures, friends):
    mira, _, _ = friends
    store.apply(changeset(changing_node(mira, text="Mira of the cello")))
    before = pictures.of(ANA)
    [(ref, text)] = store.unembedded(ANA, UnembeddedQuery(10)).graph
    assert text == "Mira of the cello"
    store.record(Bookkeeping(ANA, START, graph_vectors={ref: vector_of(text)}))
    drawn = same_as_new(store, pictures)
    assert drawn.snapshot.revision == before.snapshot.revision
    assert drawn.matrix[drawn.ids.index(mira.id)].tobytes() == vector_of(text)
    assert store.unembedded(ANA, UnembeddedQuery(10)).graph == []


def test_graph_vector_of_an_old_text_is_dropped(store, friends):
    mira, _, _ = friends
    changed = changing_node(mira, text="one")
    store.apply(changeset(changed))
    [(ref, text)] = store.unembedded(ANA, UnembeddedQuery(10)).graph
    store.apply(changeset(changing_node(changed.after, text="two")))
    store.record(Bookkeeping(ANA, START, graph_vectors={ref: vector_of(text)}))
    assert [text for _, text in store.unembedded(ANA, UnembeddedQuery(10)).graph] == ["two"]


@pytest.mark.parametrize("event", [Event.ERASE, Event.DELETE])
def test_graph_snapshot_excludes_removed_items(store, pictures, friends, event):
    mira, noa, edge = friends
    note = a_note(noa)
    store.apply(changeset(putting_note(note)))
    pictures.of(ANA)
    store.apply(changeset(removing_notes(note, event=event)))
    assert same_as_new(store, pictures).snapshot.notes == {}
    store.apply(changeset(removing_edge(edge, event), removing_node(mira, event)))
    drawn = same_as_new(store, pictures)
    assert drawn.snapshot.nodes.keys() == {noa.id}
    assert drawn.snapshot.edges == {}
    assert drawn.ids == (noa.id,)


def test_graph_snapshot_excludes_forgotten_nodes_until_restored(store, pictures, friends):
    mira, noa, edge = friends
    pictures.of(ANA)
    away = changing_node(mira, stands=False)
    store.apply(changeset(away))
    drawn = same_as_new(store, pictures)
    assert drawn.snapshot.nodes.keys() == {noa.id}
    assert drawn.snapshot.edges == {}, "it has lost an end"
    assert {mention.node for mention in drawn.snapshot.mentions} == {noa.id}
    assert drawn.ids == (noa.id,)
    store.apply(changeset(changing_node(away.after, stands=True)))
    drawn = same_as_new(store, pictures)
    assert drawn.snapshot.nodes.keys() == {mira.id, noa.id}
    assert sorted(drawn.ids) == sorted([mira.id, noa.id, edge.id])


def test_graph_snapshot_shows_merged_nodes_at_their_target(store, pictures):
    """Over several merges; between a node and itself there is no edge."""
    mira, miri, mimi, noa = (a_node(name) for name in ("Mira", "Miri", "Mimi", "Noa"))
    twice = [a_node_telling(node, source=cited("source:both")) for node in (mira, mimi)]
    late = a_node_telling(mimi, source=cited("source:late", said_at=LATER))
    with_noa, between = an_edge(mimi, noa), an_edge(mira, mimi)
    store.apply(
        changeset(
            putting_node(mira, twice[0]),
            putting_node(miri),
            putting_node(mimi, twice[1], late),
            putting_node(noa),
            putting_edge(with_noa),
            putting_edge(between),
            putting_note(a_note(mimi)),
        )
    )
    pictures.of(ANA)
    merged = changing_node(miri, merged_into=mira.id)
    store.apply(changeset(changing_node(mimi, merged_into=miri.id), merged))
    drawn = same_as_new(store, pictures)
    assert drawn.snapshot.nodes.keys() == {mira.id, noa.id}
    assert drawn.snapshot.edges == {with_noa.id: with_noa.evolve(a=mira.id)}
    assert drawn.snapshot.notes.keys() == {mira.id}
    spoken = [(mention.source, mention.node) for mention in drawn.snapshot.mentions]
    assert spoken.count(("source:both", mira.id)) == 1
    assert ("source:late", mira.id) in spoken
    assert set(drawn.ids) == {mira.id, noa.id, with_noa.id}
    store.apply(changeset(changing_node(merged.after, merged_into=None)))
    assert same_as_new(store, pictures).snapshot.nodes.keys() == {mira.id, miri.id, noa.id}


def test_graph_cache_is_unchanged_by_memory_writes(store, pictures, friends):
    before = pictures.of(ANA)
    put(store, [a_memory()])
    assert pictures.of(ANA) is before


def test_graph_cache_keeps_a_budget_and_evicts_the_oldest(store, friends):
    store.apply(changeset(putting_node(a_node("Bob", user_id="bob")), scope=BOB))
    room = GraphCache(store, EMBEDDER.dimension)
    room.of(ANA)
    of_ana = room.nbytes
    room.of(BOB)
    assert room.scopes() == ["user:ana", "user:bob"]
    assert room.nbytes > of_ana
    narrow = GraphCache(store, EMBEDDER.dimension, budget=of_ana)
    narrow.of(ANA)
    narrow.of(BOB)
    assert narrow.scopes() == ["user:bob"]
    assert narrow.of(ANA).snapshot == room.of(ANA).snapshot
    none = GraphCache(store, EMBEDDER.dimension, budget=1)
    assert none.of(ANA).snapshot == room.of(ANA).snapshot
    assert (none.scopes(), none.nbytes) == ([], 0)
    room.drop(ANA)
    assert room.scopes() == ["user:bob"]


def test_graph_cache_readers_see_consistent_snapshots_during_writes(store, pictures, friends):
    """Each new node comes with its edge: no reader ever sees one without the other."""
    mira, _, _ = friends
    failed: list[str] = []
    done: list[bool] = []

    def read() -> None:
        while not done:
            snapshot = pictures.of(ANA).snapshot
            if len(snapshot.edges) != len(snapshot.nodes) - 1:
                failed.append(f"{len(snapshot.nodes)} nodes, {len(snapshot.edges)} edges")

    readers = [Thread(target=read) for _ in range(3)]
    for each in readers:
        each.start()
    try:
        for number in range(15):
            node = a_node(f"Friend {number}")
            store.apply(changeset(putting_node(node), putting_edge(an_edge(mira, node))))
    finally:
        done.append(True)
        for each in readers:
            each.join(60)
    assert failed == []
    assert len(same_as_new(store, pictures).snapshot.nodes) == 17

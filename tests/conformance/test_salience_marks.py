"""What is read rises, per reader, and is no change of memory."""

from __future__ import annotations

from datetime import timedelta

import pytest

from commonplace.model.changeset import Bookkeeping
from commonplace.model.graph.salience import NEVER_READ, RISE, TOP_HIT_RISE, salience_at
from commonplace.model.memory.kinds import TtlPolicy
from commonplace.store.queries import GraphQuery
from support.clock import START
from support.graph_making import (
    a_node,
    a_storyline,
    an_edge,
    an_extraction,
    extracted,
    putting_edge,
    putting_node,
    putting_story,
    removing_edge,
    removing_node,
)
from support.making import ANA, BOB, a_memory, changeset, put
from support.sources import a_source, bringing, ending

DAY = timedelta(days=1)


@pytest.fixture
def friends(store):
    mira, noa = a_node("Mira"), a_node("Noa", confidence=0.6)
    edge = an_edge(mira, noa)
    store.apply(changeset(putting_node(mira), putting_node(noa), putting_edge(edge)))
    return mira, noa, edge


def test_record_of_reads_raises_salience_and_changes_no_revision(store, friends):
    mira, noa, edge = friends
    before = store.counters(ANA)
    store.record(Bookkeeping(ANA, START, read={mira.id: True, edge.id: False}))
    marks = store.graph_items(ANA, GraphQuery(marks=None)).marks
    assert marks.keys() == {mira.id, edge.id}
    assert marks[mira.id].salience == pytest.approx(NEVER_READ.salience + TOP_HIT_RISE)
    assert marks[edge.id].salience == pytest.approx(NEVER_READ.salience + RISE)
    assert marks[mira.id].touched_at == START
    assert store.graph_items(ANA, GraphQuery(marks=[edge.id, noa.id])).marks.keys() == {edge.id}
    after = store.counters(ANA)
    assert (after.revision, after.graph, after.seq, after.journal) == (
        before.revision,
        before.graph,
        before.seq,
        before.journal,
    )


def test_read_of_a_storyline_adds_to_its_salience_since_its_last_source(store, friends):
    mira, *_ = friends
    growing = a_storyline(mira.id, *range(0, 300, 7))
    store.apply(changeset(putting_story(growing)))
    store.record(Bookkeeping(ANA, START + 294 * DAY, read={growing.id: True}))
    marks = store.graph_items(ANA, GraphQuery(marks=None)).marks
    assert marks[growing.id].salience == pytest.approx(NEVER_READ.salience + TOP_HIT_RISE)


def test_marks_count_reads_and_their_intervals(store, friends):
    _, noa, _ = friends
    for day in (0, 1, 3):
        store.record(Bookkeeping(ANA, START + day * DAY, read={noa.id: False}))
    [marks] = store.graph_items(ANA, GraphQuery(marks=[noa.id])).marks.values()
    assert (marks.access_count, marks.recall_frequency) == (3, 3)
    assert marks.last_recall_interval == pytest.approx(2.0)
    assert marks.decay_gradient == pytest.approx(1.1)


def test_salience_fades_by_confidence_and_ttl_policy(store):
    sure = a_node("Sure", confidence=0.9)
    unsure = a_node("Unsure", confidence=0.5)
    kept = a_node("Kept", ttl_policy=TtlPolicy.KEEP_FOREVER)
    store.apply(changeset(*map(putting_node, (sure, unsure, kept))))
    later = START + 50 * DAY
    store.record(Bookkeeping(ANA, later, read={sure.id: False, unsure.id: False, kept.id: False}))
    marks = store.graph_items(ANA, GraphQuery(marks=None)).marks
    faded = salience_at(NEVER_READ, START, later, confidence=0.5)
    assert marks[sure.id].salience == pytest.approx(NEVER_READ.salience + RISE)
    assert marks[unsure.id].salience == pytest.approx(faded + RISE)
    assert marks[unsure.id].salience < marks[sure.id].salience
    assert marks[kept.id].salience == 1.0


def test_salience_of_sources_fades_since_arrival_or_extraction(store):
    own = a_source()
    theirs = an_extraction("source:theirs", scope="team:crew", started_at=START + 30 * DAY)
    store.apply(changeset(bringing(own), extracted(theirs)))
    later = START + 40 * DAY
    store.record(
        Bookkeeping(ANA, later, read={own.id: False, "source:theirs": False, "source:no": True})
    )
    marks = store.graph_items(ANA, GraphQuery(marks=None)).marks
    assert marks.keys() == {own.id, "source:theirs"}
    assert marks[own.id].salience < marks["source:theirs"].salience < NEVER_READ.salience + RISE
    store.apply(changeset(extracted(theirs, gone=True)))
    assert store.graph_items(ANA, GraphQuery(marks=None)).marks.keys() == {own.id}
    store.apply(changeset(ending(own)))
    assert store.graph_items(ANA, GraphQuery(marks=None)).marks == {}


def test_marks_go_with_removed_items_and_are_not_recreated(store, friends):
    mira, noa, edge = friends
    store.record(Bookkeeping(ANA, START, read={mira.id: True, edge.id: True}))
    store.apply(changeset(removing_edge(edge), removing_node(mira)))
    assert store.graph_items(ANA, GraphQuery(marks=None)).marks == {}
    store.record(Bookkeeping(ANA, START, read={mira.id: True, edge.id: True, noa.id: True}))
    assert store.graph_items(ANA, GraphQuery(marks=None)).marks.keys() == {noa.id}


def test_marks_are_not_written_for_items_of_another_scope(store, friends):
    mira, _, _ = friends
    put(store, [a_memory(user_id="bob")], scope=BOB)
    store.record(Bookkeeping(BOB, START, read={mira.id: True}))
    assert (
        store.graph_items(ANA, GraphQuery(marks=None)).marks
        == store.graph_items(BOB, GraphQuery(marks=None)).marks
        == {}
    )

"""Archived sources stay in recall at half weight."""

from __future__ import annotations

import pytest

from commonplace.model.graph.steps import SetArchived
from commonplace.model.journal import Entry, JournalNode, Op
from support.making import changeset

KILN = "The kiln is fired on Sunday at nine."
OVEN = "The oven is fired on Monday at six."


@pytest.fixture
def me(open_book):
    return open_book(worker="off").user("ana")


def archive(me, *ids):
    entry = Entry(op=Op.UPDATE, node=JournalNode.WORKER, subject=ids[0])
    step = SetArchived(ids, me._engine.clock(), entry)
    me._engine.store.apply(changeset(step, scope=me.principal.own_scope))


def scores(me, query="When is the kiln fired?", **more):
    return {hit.citation.source: hit.score for hit in me.recall(query, **more).hits if hit.citation}


def test_archived_source_counts_half_in_recall(me):
    kiln = me.ingest(KILN, format="text").id
    before = scores(me)[kiln]
    archive(me, kiln)
    assert scores(me)[kiln] == pytest.approx(before / 2, abs=1e-5)


def test_archived_source_stands_behind_one_that_is_not(me):
    first, second = (
        me.ingest(KILN + tail, format="text").id for tail in (" It is hot.", " Bring wood.")
    )
    top = next(iter(scores(me)))
    archive(me, top)
    assert next(iter(scores(me))) == ({first, second} - {top}).pop()


def test_archived_source_counts_in_full_if_asked_for(me):
    kiln = me.ingest(KILN, format="text").id
    before = scores(me)
    archive(me, kiln)
    assert scores(me, include_archived=True) == before
    (full,) = me.query("When is the kiln fired?", returns="full", include_archived=True).items
    assert full.score == pytest.approx(before[kiln])


def test_archived_source_that_is_recalled_is_active_again(me):
    kiln = me.ingest(KILN, format="text").id
    before = scores(me)[kiln]
    archive(me, kiln)
    scores(me)
    me._engine.access_log.flush()
    assert scores(me)[kiln] == pytest.approx(before)


def test_memory_of_an_archived_source_keeps_its_weight(me):
    stored = me.remember("My locker code is 4417")
    other = me.ingest(OVEN, format="text").id
    before = {hit.id: hit.score for hit in me.recall("What is my locker code?").hits}
    archive(me, other)
    after = {hit.id: hit.score for hit in me.recall("What is my locker code?").hits}
    assert after[stored.id] == before[stored.id]


def test_archived_source_leaves_explore_but_not_show(me):
    kiln = me.ingest(KILN, format="text").id
    archive(me, kiln)
    assert me.explore("kiln", granularity=1).episodic.sources == ()
    found = me.explore("kiln", granularity=1, include_archived=True).episodic.sources
    assert [hit.entity_key for hit in found] == [kiln]
    assert me.show(kiln).source.id == kiln

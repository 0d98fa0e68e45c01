"""Work on a source that is forgotten or erased is owed no longer; restored, it is owed again."""

from __future__ import annotations

import pytest

from support.embedders import Interrupted

TEXT = "The red canoe is in the shed behind the house"


@pytest.fixture
def book(open_book):
    return open_book(worker="off")


@pytest.fixture
def raw(me):
    """A source that waits for a worker."""
    id = me.ingest(TEXT, wait=False).id
    assert [job.kind for job in me.jobs()] == ["process"]
    return id


def test_forgetting_it_withdraws_the_work_and_restoring_it_owes_it_again(book, me, raw):
    me.forget(raw)
    assert me.jobs() == []
    assert book.work(once=True).done == 0
    me.restore(raw)
    assert [job.kind for job in me.jobs()] == ["process"]
    assert book.work(once=True).done == 1
    assert me.recall("red canoe").hits[0].id == f"{raw}#1"


def test_by_a_filter_as_by_its_id(me, raw):
    assert me.forget(source_type="text-import").ids == (raw,)
    assert me.jobs() == []


def test_erasing_it_withdraws_the_work(me, raw):
    me.erase(raw)
    assert me.jobs() == []
    assert me.verify_forget("red canoe").clean


def test_what_is_processed_owes_nothing_when_it_is_restored(book, me, raw):
    book.work(once=True)
    me.forget(raw)
    me.restore(raw)
    assert me.jobs() == []


def test_the_work_on_others_stays(me, raw):
    me.ingest("The map is in the drawer", wait=False)
    me.forget(raw)
    assert len(me.jobs()) == 1


def test_stats_count_sources_passages_and_what_is_owed(book, me, raw):
    assert me.stats().source_statuses == {"raw": 1}
    assert me.stats().jobs == {"queued": 1}
    book.work(once=True)
    me.forget(me.ingest("The map is in the drawer").id)
    counted = me.stats()
    assert (counted.sources, counted.passages, counted.jobs) == (1, 1, {})
    assert (counted.source_types, counted.source_statuses) == ({"text-import": 1}, {"processed": 1})


def test_a_worker_that_was_at_it_has_its_result_refused(open_book):
    embedder = Interrupted()
    book = open_book(worker="off", embedder=embedder)
    me = book.user("ana")
    id = me.ingest(TEXT, wait=False).id
    embedder.meanwhile = lambda: me.forget(id)
    assert book.work(once=True).done == 0
    me.restore(id)
    assert me.show(id).passages == ()
    assert book.work(once=True).done == 1
    assert [passage.text for passage in me.show(id).passages] == [TEXT]

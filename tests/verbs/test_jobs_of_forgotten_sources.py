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


def test_forget_source_cancels_its_process_job_and_restore_requeues(book, me, raw):
    me.forget(raw)
    assert me.jobs() == []
    assert book.work(once=True).done == 0
    me.restore(raw)
    assert [job.kind for job in me.jobs()] == ["process"]
    assert book.work(once=True).done == 1
    assert me.recall("red canoe").hits[0].id == f"{raw}#1"


def test_forget_by_filter_cancels_the_process_job(me, raw):
    assert me.forget(source_type="text-import").ids == (raw,)
    assert me.jobs() == []


def test_erase_source_cancels_its_process_job(me, raw):
    me.erase(raw)
    assert me.jobs() == []
    assert me.verify_forget("red canoe").clean


def test_restore_of_a_processed_source_queues_no_job(book, me, raw):
    book.work(once=True)
    me.forget(raw)
    me.restore(raw)
    assert me.jobs() == []


def test_forget_source_keeps_jobs_of_other_sources(me, raw):
    me.ingest("The map is in the drawer", wait=False)
    me.forget(raw)
    assert len(me.jobs()) == 1


def test_stats_count_sources_passages_and_jobs(book, me, raw):
    assert me.stats().source_statuses == {"raw": 1}
    assert me.stats().jobs == {"queued": 1}
    book.work(once=True)
    me.forget(me.ingest("The map is in the drawer").id)
    counted = me.stats()
    assert (counted.sources, counted.passages, counted.jobs) == (1, 1, {})
    assert (counted.source_types, counted.source_statuses) == ({"text-import": 1}, {"processed": 1})


def test_process_result_is_refused_after_a_concurrent_forget(open_book):
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

"""Processing is a job: now or later, by whoever; what fails is told and tried again."""

from __future__ import annotations

import pytest

from commonplace.engine.maintenance.worker import Worked
from commonplace.errors import NotFound
from commonplace.model.jobs import LEASE, JobState
from commonplace.model.sources.source import ProcessingStatus
from support.embedders import Interrupted, Switchable
from support.sources import chat, turn

TALK = chat(turn("Dana", "A heron sat on the wall."), turn("Ana", "Which wall?", 1))


@pytest.fixture
def quiet(open_book):
    """A book without a worker of its own."""
    return open_book(worker="off")


def test_ingest_without_wait_queues_processing_for_a_worker(quiet):
    me = quiet.user("ana")
    done = me.ingest(TALK, wait=False)
    assert (done.is_new, done.is_processed) == (True, False)
    assert me.show(done.id).passages == ()
    assert [source.id for source in me.sources(status="raw").sources] == [done.id]
    assert [(job.kind, job.state) for job in me.jobs()] == [("process", "queued")]
    assert me.recall("heron").is_empty
    assert quiet.work(once=True) == Worked(done=1)
    assert me.recall("heron").hits
    assert me.jobs() == []
    assert me.show(done.id).source.status is ProcessingStatus.PROCESSED


def test_ingest_again_before_processing_processes_once(quiet):
    me = quiet.user("ana")
    waiting = me.ingest(TALK, wait=False)
    again = me.ingest(TALK)
    assert (again.id, again.action, again.is_processed) == (waiting.id, "unchanged", True)
    assert quiet.work(once=True) == Worked()
    assert len(me.show(waiting.id).passages) == 2


def test_ingest_append_before_processing_processes_all_parts_in_one_job(quiet):
    me = quiet.user("ana")
    for number in range(3):
        said = chat(turn("Dana", f"Heron number {number}", number))
        done = me.ingest(said, external_id="c1", append=True, wait=False)
    assert len(me.jobs()) == 1
    assert quiet.work(once=True) == Worked(done=1)
    assert len(me.show(done.id).passages) == 3


def test_process_failure_is_reported_and_retried(quiet, clock, monkeypatch):
    me = quiet.user("ana")
    with monkeypatch.context() as broken:
        broken.setattr("commonplace.engine.sources.process.describe", None)
        done = me.ingest(TALK)
        assert (done.is_new, done.is_processed) == (True, False)
        assert done.failure.code == "unexpected"
        (job,) = me.jobs()
        assert (job.state, job.tries) == (JobState.QUEUED, 1)
        assert quiet.work(once=True) == Worked()  # it waits
    clock.tick(hours=1)
    assert quiet.work(once=True) == Worked(done=1)
    assert me.show(done.id).source.status is ProcessingStatus.PROCESSED
    assert me.recall("heron").hits


def test_ingest_again_retries_failed_processing_at_once(quiet, monkeypatch):
    me = quiet.user("ana")
    with monkeypatch.context() as broken:
        broken.setattr("commonplace.engine.sources.process.describe", None)
        assert not me.ingest(TALK).is_processed
    assert me.ingest(TALK).is_processed


def test_process_job_is_dead_after_repeated_failures_until_jobs_retry(quiet, clock, monkeypatch):
    me = quiet.user("ana")
    with monkeypatch.context() as broken:
        broken.setattr("commonplace.engine.sources.process.describe", None)
        me.ingest(TALK, wait=False)
        while (job := me.jobs()[0]).state is not JobState.DEAD:
            quiet.work(once=True)
            clock.tick(hours=2)
    me.jobs_retry(job.id)
    assert quiet.work(once=True) == Worked(done=1)
    assert me.recall("heron").hits


def test_ingest_during_embedder_outage_indexes_terms_and_adds_vectors_later(open_book, clock):
    embedder = Switchable()
    book = open_book(embedder=embedder, worker="off")
    me = book.user("ana")
    embedder.down = True
    done = me.ingest(TALK)
    assert done.is_processed
    found = me.recall("heron")
    assert found.degraded
    assert found.hits[0].similarity is None
    assert [job.kind for job in me.jobs()] == ["embed"]
    assert not next(f for f in me.doctor() if f.what == "vectors").ok
    embedder.down = False
    clock.tick(minutes=1)
    assert book.work(once=True) == Worked(done=1)
    found = me.recall("heron")
    assert not found.degraded
    assert found.hits[0].similarity > 0
    assert all(finding.ok for finding in me.doctor())


# ——— what changes while a worker is at it ———


@pytest.fixture
def at_work(open_book):
    """Something happens while the worker waits for its vectors."""
    embedder = Interrupted()
    book = open_book(embedder=embedder, worker="off")
    me = book.user("ana")

    def process(meanwhile):
        done = me.ingest(TALK, external_id="c1", wait=False)
        embedder.meanwhile = lambda: meanwhile(me, done.id)
        return done.id, book.work(once=True)

    return book, me, process


def test_process_includes_parts_appended_concurrently(at_work):
    book, me, process = at_work
    more = chat(turn("Dana", "The old wall", 5))
    id, _ = process(lambda me, _: me.ingest(more, external_id="c1", append=True, wait=False))
    book.work(once=True)
    assert [p.text for p in me.show(id).passages][-1] == "The old wall"
    assert len(me.show(id).passages) == 3
    assert me.jobs() == []


def test_process_stores_nothing_for_a_source_erased_concurrently(at_work):
    _, me, process = at_work
    id, worked = process(lambda me, id: me.erase(id))
    assert worked == Worked()
    assert me.jobs() == []
    assert me.verify_forget("heron").clean
    with pytest.raises(NotFound):
        me.show(id)


def test_process_skips_a_source_forgotten_concurrently_until_restore(at_work):
    book, me, process = at_work
    id, worked = process(lambda me, id: me.forget(id))
    assert worked == Worked()
    assert me.jobs() == []
    assert me.recall("heron").is_empty
    me.restore(id)
    assert book.work(once=True) == Worked(done=1)
    assert me.recall("heron").hits


def test_process_result_is_refused_after_lease_expiry(at_work, clock):
    book, me, process = at_work

    def taken_over(me, id):
        clock.tick(seconds=LEASE.total_seconds() + 1)
        assert book.work(once=True) == Worked(done=1)

    id, worked = process(taken_over)
    assert worked == Worked()
    assert len(me.show(id).passages) == 2
    assert len(me.history(id)) == 2  # received, processed: once

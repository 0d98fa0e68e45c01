"""What is owed to a memory: vectors that are late, and the owner's list of jobs."""

from __future__ import annotations

import threading

import pytest

from commonplace.engine.maintenance.worker import Worked
from commonplace.errors import BadSettings, InvalidInput, NotAllowed, NotFound
from commonplace.model.jobs import FIRST_WAIT, Failure
from support.embedders import Interrupted, Switchable

PATIENCE = 30.0
BROKEN = Failure("unexpected", "ZeroDivisionError was raised.")


@pytest.fixture
def embedder():
    return Switchable()


@pytest.fixture
def book(open_book, embedder):
    return open_book(embedder=embedder, worker="off")


def finding(me, what):
    return next(each for each in me.doctor() if each.what == what)


def test_remember_queues_an_embed_job_while_the_embedder_is_down(book, me, embedder, clock):
    me.remember("The kettle is red")
    assert me.jobs() == []
    embedder.down = True
    me.remember("The garden gate needs a new lock")
    me.remember("The shed needs a new door")
    (job,) = me.jobs()
    assert (job.kind, job.about, job.state) == ("embed", None, "queued")
    assert job.next_run == clock() + FIRST_WAIT


def test_worker_fills_missing_vectors_when_the_embedder_is_back(book, me, embedder, clock):
    first = me.remember("Dana lives in Haifa near the port", kind="note").id
    embedder.down = True
    late = me.remember("Dana lives in Haifa near the old port", kind="note").id
    clock.tick(minutes=1)
    assert book.work(once=True) == Worked(failed=1)
    assert me.jobs()[0].error.startswith("embedder_unavailable: ")
    embedder.down = False
    assert book.work(once=True) == Worked()
    clock.tick(minutes=1)
    assert book.work(once=True) == Worked(done=1)
    assert me.jobs() == []
    assert finding(me, "vectors").ok
    assert [{link.a, link.b} for link in me.show(late).links] == [{first, late}]


def test_open_runs_due_embed_jobs_in_the_background(open_book, book, me, embedder, clock):
    """Opening finds what is due; closing waits for the end of what is under way."""
    embedder.down = True
    me.remember("The garden gate needs a new lock")
    clock.tick(minutes=1)
    back = Interrupted()
    embedding = threading.Event()
    back.meanwhile = embedding.set
    second = open_book(embedder=back, tidy_on_open=False)
    assert embedding.wait(PATIENCE)
    second.close()
    embedder.down = False
    assert me.jobs() == []
    assert finding(me, "vectors").ok


def test_update_and_profile_set_queue_embed_jobs_while_embedder_is_down(book, me, embedder):
    old = me.remember("Dana lives in Haifa", kind="fact").id
    embedder.down = True
    me.update(old, content="Dana lives in Porto")
    (job,) = me.jobs()
    me.jobs_cancel(job.id)
    me.profile_set("city", "Porto")
    assert [job.kind for job in me.jobs()] == ["embed"]


def test_dead_job_is_reported_by_doctor_and_can_be_retried_and_cancelled(book, me, embedder, clock):
    embedder.down = True
    me.remember("The garden gate needs a new lock")
    (job,) = me.jobs()
    engine = book._engine
    clock.tick(minutes=1)
    claimed = engine.store.claim_job("w", clock())
    assert finding(me, "jobs").ok
    clock.tick(minutes=5)
    assert "abandoned by their worker" in finding(me, "jobs").detail
    claimed = engine.store.claim_job("w", clock())
    engine.store.fail_job(claimed, clock(), BROKEN, None)
    unwell = finding(me, "jobs")
    assert (unwell.ok, unwell.detail) == (False, "1 dead")
    assert "jobs retry" in unwell.remedy
    assert [each.id for each in me.jobs(states="dead")] == [job.id]
    assert me.jobs(states=["queued", "running"]) == []
    retried = me.jobs_retry(job.id)
    assert (retried.state, retried.tries, retried.next_run) == ("queued", 0, clock())
    assert me.jobs_cancel(job.id) == retried
    assert me.jobs() == []
    assert finding(me, "jobs").ok


def test_jobs_refuse_agents_and_other_users(book, me, embedder):
    embedder.down = True
    me.remember("The garden gate needs a new lock")
    (job,) = me.jobs()
    agent, other = me.agent("helper"), book.user("bob")
    for attempt in (agent.jobs, lambda: agent.jobs_retry(job.id), lambda: agent.jobs_cancel("x")):
        with pytest.raises(NotAllowed):
            attempt()
    for attempt in (other.jobs_retry, other.jobs_cancel):
        with pytest.raises(NotFound):
            attempt(job.id)
    assert other.jobs() == []
    with pytest.raises(InvalidInput):
        me.jobs(states=["done"])


def test_erase_user_deletes_queued_jobs(book, me, embedder):
    embedder.down = True
    me.remember("The garden gate needs a new lock")
    me.erase_user()
    assert me.jobs() == []
    assert book.work(once=True) == Worked()


def test_stop_work_stops_a_dedicated_worker(book):
    at_work = threading.Thread(target=book.work, daemon=True)
    at_work.start()
    while not book._running_workers:
        at_work.join(0.01)
        assert at_work.is_alive()
    book.stop_work()
    at_work.join(PATIENCE)
    assert not at_work.is_alive()


def test_worker_setting_accepts_only_inline_or_off(open_book):
    with pytest.raises(BadSettings, match="inline or off"):
        open_book(worker="sometimes")

"""What child processes do in the tests of jobs."""

from __future__ import annotations

import os
import time

import commonplace
from commonplace.api import Commonplace
from commonplace.engine.context import EngineContext
from commonplace.engine.indexing import build_indexing
from commonplace.engine.maintenance.worker import JobDecision, Worker
from commonplace.model.changeset import Changeset, EnqueueJob, build_add
from commonplace.model.jobs import Job
from commonplace.store.queries import JobQuery
from support.clock import START
from support.making import a_job, a_memory
from support.models import ToldModel, saying
from support.opening import killed_at
from support.processes import PATIENCE, Line
from support.stores import open_store
from support.whole import open_plainly


def claim_all(line: Line, url: str, name: str) -> None:
    """Claim until nothing is left, and say which jobs it got."""
    store = open_store(url)
    line.say("ready")
    line.hear()
    line.say([job.id for job in iter(lambda: store.claim_job(name, START), None)])
    store.close()


def work(line: Line, url: str, failpoint: str | None = None) -> None:
    """A worker process of its own: each job's result is one memory. Killed where it is told to."""
    if failpoint:
        killed_at(failpoint)
    with open_plainly(url) as book:
        engine = book._engine

        def note(job: Job) -> JobDecision:
            line.say(job.tries)
            return lambda: note_of(engine, job)

        line.say(Worker(engine, {"note": note}).run_until_idle())


def note_of(engine: EngineContext, job: Job) -> Changeset:
    memory = a_memory(f"Job {job.key} is done", user_id=job.user_id)
    step = build_add(
        memory, build_indexing(memory, engine.embedder.embed([memory.searchable_text])[0])
    )
    return Changeset(job.scope, engine.clock(), "worker:test", (step,))


def fork_while_working(line: Line, url: str) -> None:
    """A process whose background has worked forks; both sides go on to have their work done."""
    model = ToldModel(saying({}))  # its jobs have a thread of their own
    book = commonplace.open(url, embedder="hashing", tidy_on_open=False, model=model)
    line.say(_done_in_background(book, "before"))
    pid = os.fork()
    if pid == 0:
        line.say(_done_in_background(book, "in the child"))
        book.close()
        os._exit(0)
    _, status = os.waitpid(pid, 0)
    assert os.waitstatus_to_exitcode(status) == 0
    line.say(_done_in_background(book, "in the parent"))
    book.close()


def _done_in_background(book: Commonplace, key: str) -> str:
    store = book._engine.store
    for kind in ("embed", "same-fact"):
        job = a_job(kind=kind, key=key)  # long ago, so that it is due
        store.apply(Changeset(job.scope, job.created_at, "test", (EnqueueJob(job),)))
    deadline = time.monotonic() + PATIENCE
    while store.jobs(job.scope, JobQuery(keys=[key])):
        assert time.monotonic() < deadline, "nobody does it"
        time.sleep(0.02)
    return key

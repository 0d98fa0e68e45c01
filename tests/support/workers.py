"""What child processes do in the tests of jobs."""

from __future__ import annotations

from commonplace.desk import Desk, indexing
from commonplace.model.changes import Changeset, added
from commonplace.model.job import Job
from commonplace.sleep.worker import Decision, Worker
from support.clock import START
from support.making import a_memory
from support.opening import killed_at
from support.processes import Line
from support.stores import open_store
from support.whole import open_plainly


def claim_all(line: Line, url: str, name: str) -> None:
    """Claim until nothing is left, and say which jobs it got."""
    store = open_store(url)
    line.say("ready")
    line.hear()
    line.say([job.id for job in iter(lambda: store.claim(name, START), None)])
    store.close()


def work(line: Line, url: str, failpoint: str | None = None) -> None:
    """A worker process of its own: each job's result is one memory. Killed where it is told to."""
    if failpoint:
        killed_at(failpoint)
    with open_plainly(url) as book:
        desk = book._desk

        def note(job: Job) -> Decision:
            line.say(job.tries)
            return lambda: note_of(desk, job)

        line.say(Worker(desk, {"note": note}).run_until_idle())


def note_of(desk: Desk, job: Job) -> Changeset:
    memory = a_memory(f"Job {job.key} is done", user_id=job.user_id)
    step = added(memory, indexing(memory, desk.embedder.embed([memory.searchable_text])[0]))
    return Changeset(job.scope, desk.clock(), "worker:test", (step,))

"""Waits for what other threads do, such as the workers of this process."""

from __future__ import annotations

import time
from collections.abc import Callable

from commonplace.api import Commonplace
from commonplace.store.queries import JobQuery

PATIENCE = 60.0


def until(happened: Callable[[], object]) -> None:
    deadline = time.monotonic() + PATIENCE
    while not happened():
        assert time.monotonic() < deadline, "it never happened"
        time.sleep(0.005)


def settled(book: Commonplace) -> None:
    """Until everything that is due is done, also by a thread of the book's own."""
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        book.work(once=True)
        due = book._engine.store.next_due()
        if (due is None or due > book._engine.clock()) and not _running(book):
            return
        time.sleep(0.005)
    raise AssertionError("work that is due was not done")


def _running(book: Commonplace) -> bool:
    store = book._engine.store
    return any(
        job.state == "running" for scope in store.scopes() for job in store.jobs(scope, JobQuery())
    )

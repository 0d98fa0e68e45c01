"""What child processes do in the tests of runs of sleep."""

from __future__ import annotations

import os
import signal
from datetime import datetime, timedelta

import commonplace
from commonplace.api import Commonplace
from commonplace.engine.maintenance.sleep import schedule
from commonplace.engine.maintenance.sleep.schedule import ensure_sleep_jobs
from commonplace.store import failpoints
from support.clock import START, Clock
from support.processes import Line
from support.sleep_tasks import usual_catalog

OWNER = "ana"
TEXTS = (
    "A draft about tea.",
    "A draft about coffee.",
    "A draft about water.",
    "One twin says chess.",
    "Another twin says chess.",
    *(f"Fact number {number} stands." for number in range(25)),
)
NIGHT = START + timedelta(days=1)  # the nightly run of today is due by then


def open_at(url: str, now: datetime) -> Commonplace:
    schedule.TASKS = usual_catalog()
    return commonplace.open(
        url, embedder="hashing", tidy_on_open=False, worker="off", clock=Clock(now)
    )


def prepare_night(url: str) -> None:
    with open_at(url, START) as book:
        me = book.user(OWNER)
        for text in TEXTS:
            me.remember(text, kind="note", on_conflict="insert")
        ensure_sleep_jobs(me._engine, me.principal.own_scope)


def sleep_until_killed(line: Line, url: str, failpoint: str, times: int) -> None:
    """Killed when it gets to the failpoint for the given time."""
    with open_at(url, NIGHT) as book:
        reached = 0

        def hook(name: str) -> None:
            nonlocal reached
            reached += name == failpoint
            if name == failpoint and reached == times:
                os.kill(os.getpid(), signal.SIGKILL)

        failpoints.install_hook(hook)
        book.work(once=True)


def sleep_when_told(line: Line, url: str) -> None:
    """The same night as another worker, at the same moment; says how many slices it did."""
    with open_at(url, NIGHT) as book:
        line.say("ready")
        line.hear()
        line.say(book.work(once=True).done)

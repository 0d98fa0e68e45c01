"""Work on a terminal: `commonplace worker` stops calmly when it is told to; jobs as lines."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

from rich.text import Text

import commonplace
from commonplace.book import Commonplace
from commonplace.model.job import JobState
from commonplace.sleep.jobs import Owed
from commonplace.sleep.worker import Worked
from commonplace.surfaces.cli.render import drawn

_TOLD_BY = (signal.SIGINT, signal.SIGTERM)


def work_until_told_to_stop(store: str | None, embedder: str | None, once: bool) -> Worked:
    """No thread beside it: this process is the worker."""
    with (
        commonplace.open(store, embedder=embedder, worker="off") as book,
        _stopped_by_signals(book),
    ):
        return book.work(once=once)


@contextmanager
def _stopped_by_signals(book: Commonplace) -> Iterator[None]:
    """The first one lets the job under way come to its end, the second ends it all."""

    def stop(number: int, frame: FrameType | None) -> None:
        signal.signal(number, before[signal.Signals(number)])
        book.stop_work()

    before = {number: signal.signal(number, stop) for number in _TOLD_BY}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


_COLOURS = {JobState.QUEUED: "cyan", JobState.RUNNING: "green", JobState.DEAD: "bold red"}


@drawn.register
def _owed(answer: Owed) -> Any:
    told = Text.assemble(
        (f"{answer.state} ", _COLOURS[answer.state]),
        " ".join(filter(None, (answer.kind, answer.about))),
        (f"  tries {answer.tries} of {answer.max_tries}", "dim"),
    )
    if answer.next_run:
        told.append(f"  next {answer.next_run:%Y-%m-%d %H:%M:%S}", "dim")
    if answer.error:
        told.append(f"\n  {answer.error}", "yellow")
    return told.append(f"\n  id {answer.id}", "dim")


@drawn.register
def _worked(answer: Worked) -> Any:
    return Text(f"done {answer.done}, failed {answer.failed}")

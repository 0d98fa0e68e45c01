"""Commands that take a while: `ingest`, `reembed` and `sleep` with a progress bar, `worker` with
signals."""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any

import commonplace
from commonplace.api import Commonplace, User, open_without_embedder
from commonplace.errors import InvalidInput
from commonplace.lazy import lazy_imports
from commonplace.model.sleep import SleepRun

with lazy_imports(__name__):
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        ProgressColumn,
        TextColumn,
        TimeRemainingColumn,
    )

    from commonplace.engine.maintenance import reembed as reembedding
    from commonplace.engine.maintenance.sleep.log import SleepReport
    from commonplace.engine.maintenance.worker import Worked
    from commonplace.engine.sources.receive import Ingested

PIPED = "-"
_STOPPED = "Stopped. The old vectors stay in use; run the command again to continue."
_STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM)


# ——— ingest ———


@dataclass(frozen=True, slots=True)
class RefusedFile:
    file: str
    code: str
    message: str
    remedy: str


@dataclass(frozen=True, slots=True)
class IngestedFiles:
    """Several files; one that is refused does not stop the others."""

    ingested: tuple[Ingested, ...]
    refused: tuple[RefusedFile, ...]


def ingest_files(me: User, original: Sequence[str], **arguments: Any) -> Ingested | IngestedFiles:
    files = original
    if len(files) == 1:
        return _ingest(me, files[0], arguments)
    if "external_id" in arguments and not arguments.get("append"):
        raise InvalidInput(
            "Several files cannot share one external_id.",
            remedy="Ingest them one by one, or add --append to make them parts of one source.",
            field="external_id",
        )
    ingested, refused = [], []
    with _bar(Console(stderr=True)) as bar:
        for file in bar.track(files, description="ingesting"):
            try:
                ingested.append(_ingest(me, file, arguments))
            except InvalidInput as error:
                refused.append(RefusedFile(file, error.code, error.message, error.remedy))
    return IngestedFiles(tuple(ingested), tuple(refused))


def _ingest(me: User, file: str, arguments: Mapping[str, Any]) -> Ingested:
    """Always a path: one that does not exist is an error, never a text to store."""
    original = sys.stdin.buffer.read() if file == PIPED else Path(file)
    return me.ingest(original, **arguments)


def still_waits(answer: Any, arguments: Mapping[str, Any]) -> bool:
    """The caller waited, and it could not be processed yet."""
    if isinstance(answer, IngestedFiles):
        return any(still_waits(each, arguments) for each in answer.ingested)
    return isinstance(answer, Ingested) and not answer.is_processed and arguments.get("wait", True)


# ——— reembed ———


def reembed_with_a_bar(store: str | None, embedder: str) -> reembedding.Reembedded:
    """The store is opened without its old embedder, which may not be available any more."""
    console = Console(stderr=True)
    with open_without_embedder(store) as book:
        try:
            with _bar(console, TimeRemainingColumn()) as bar:
                task = bar.add_task("embedding", total=None)

                def show(progress: reembedding.ReembedProgress) -> None:
                    bar.update(
                        task,
                        description=progress.phase,
                        completed=progress.done,
                        total=progress.total,
                    )

                return book.reembed(embedder, progress=show)
        except KeyboardInterrupt:
            console.print(_STOPPED, highlight=False)
            raise


def _bar(console: Console, *more: ProgressColumn) -> Progress:
    """Removed when it is done, and not shown without a terminal."""
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        *more,
        console=console,
        transient=True,
        disable=not console.is_terminal,
    )


# ——— sleep ———


def sleep_with_a_bar(me: User, **arguments: Any) -> SleepReport:
    with _bar(Console(stderr=True)) as bar:
        shown = bar.add_task("sleep", total=None)

        def show(run: SleepRun) -> None:
            described = f"sleep: {run.next_task or 'done'}"
            bar.update(shown, description=described, completed=run.position, total=len(run.tasks))

        return me.sleep(progress=show, **arguments)


# ——— worker ———


def work_until_stopped(store: str | None, embedder: str | None, once: bool) -> Worked:
    """This process is the worker; no thread runs in addition."""
    with (
        commonplace.open(store, embedder=embedder, worker="off") as book,
        _stopped_by_signals(book),
    ):
        return book.work(once=once)


@contextmanager
def _stopped_by_signals(book: Commonplace) -> Iterator[None]:
    """The first signal lets the current job finish, the second ends the process."""

    def stop(number: int, frame: FrameType | None) -> None:
        signal.signal(number, before[signal.Signals(number)])
        book.stop_work()

    before = {number: signal.signal(number, stop) for number in _STOP_SIGNALS}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)

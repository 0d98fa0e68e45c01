"""Real processes for tests: started, listened to, killed, and always reaped."""

from __future__ import annotations

import logging
import multiprocessing
import os
import signal
import traceback
from collections.abc import Callable, Iterable, Iterator
from multiprocessing.connection import Connection, wait
from multiprocessing.context import ForkServerProcess
from multiprocessing.forkserver import ensure_running
from pathlib import Path
from typing import Any, Self

import pytest

TESTS = Path(__file__).parents[1]
PATIENCE = 60.0  # seconds that any wait may take before the test fails

# Each child is forked from a server that has imported the package and read what is read once
# (`warmed`): as separate as a process started from the shell, without paying for that each time.
CONTEXT = multiprocessing.get_context("forkserver")
CONTEXT.set_forkserver_preload(
    [
        "commonplace",
        "commonplace.language.embedders.hashing",
        "commonplace.store.postgres.store",
        "commonplace.store.sqlite.store",
        "commonplace.surfaces.cli.main",
        "commonplace.surfaces.rest.server",
        "support.warmed",
    ]
)


def started(work: Callable[..., None], args: tuple[Any, ...]) -> ForkServerProcess:
    """A process that ends with the one that started it, at the latest."""
    with pytest.MonkeyPatch.context() as changed:
        # Where the server finds `support`: what it imports beforehand it looks for by itself.
        changed.setenv("PYTHONPATH", str(TESTS), prepend=os.pathsep)
        ensure_running()
    process = CONTEXT.Process(target=work, args=args, daemon=True)
    process.start()
    return process


class ChildFailed(AssertionError):
    """Something went wrong in the child; the message is its own traceback."""


class ChildEnded(AssertionError):
    """The child is gone and has nothing more to say."""


class Line:
    """The child's end: what it says here is an acknowledgement that the parent relies on."""

    def __init__(self, pipe: Connection):
        self._pipe = pipe

    def say(self, message: Any) -> None:
        self._pipe.send(("said", message))

    def hear(self) -> Any:
        return _received(self._pipe)

    def fail(self, why: str) -> None:
        self._pipe.send(("failed", why))


class Child:
    """A process that runs ``work(line, *args)``. Use it in a `with`: leaving it ends the child."""

    def __init__(self, work: Callable[..., None], *args: Any):
        self._pipe, theirs = CONTEXT.Pipe()
        self._process = started(_run, (work, theirs, args))
        theirs.close()  # so that the pipe ends when the child does

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()
        self._pipe.close()
        self._process.close()

    def tell(self, message: Any) -> None:
        try:
            self._pipe.send(message)
        except BrokenPipeError:
            self.rest()  # raises what the child died of
            raise

    def hear(self) -> Any:
        kind, message = _received(self._pipe)
        if kind == "failed":
            raise ChildFailed(message)
        return message

    def rest(self) -> list[Any]:
        """Everything it says from here to its end."""
        heard = []
        while True:
            try:
                heard.append(self.hear())
            except ChildEnded:
                return heard

    def kill(self) -> None:
        """SIGKILL: no goodbye, nothing flushed."""
        if self._process.is_alive():
            self._process.kill()
        self.exit_code()

    def exit_code(self) -> int:
        self._process.join(PATIENCE)
        assert self._process.exitcode is not None, "the child did not end in time"
        return self._process.exitcode

    def was_killed(self) -> bool:
        return self.exit_code() == -signal.SIGKILL


def in_order_of_speech(children: Iterable[Child]) -> Iterator[tuple[Child, Any]]:
    """What all of them say, as it comes, until all have ended."""
    speakers = {child._pipe: child for child in children}
    while speakers:
        ready = wait(list(speakers), PATIENCE)
        assert ready, "every child has fallen silent"
        for pipe in ready:
            child = speakers[pipe]  # type: ignore[index]
            try:
                yield child, child.hear()
            except ChildEnded:
                del speakers[pipe]  # type: ignore[arg-type]


def _received(pipe: Connection) -> Any:
    assert pipe.poll(PATIENCE), f"nothing was said for {PATIENCE:g} seconds"
    try:
        return pipe.recv()
    except (EOFError, OSError) as error:  # OSError: killed in the middle of a word
        raise ChildEnded("the child has ended") from error


class _Complaints(logging.Handler):
    """What the engine only warned about: a child that caused a warning has failed its test."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.heard: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.heard.append(record.getMessage())


def _run(work: Callable[..., None], pipe: Connection, args: tuple[Any, ...]) -> None:
    line = Line(pipe)
    complaints = _Complaints()
    logging.getLogger("commonplace").addHandler(complaints)
    try:
        work(line, *args)
        if complaints.heard:
            line.fail("\n".join(complaints.heard))
    except BaseException:
        line.fail(traceback.format_exc())

"""A few child processes in which queries run. One that breaks down or takes too long is replaced.

A child is asked by one thread at a time. It is killed at the deadline: the engine need not agree.
"""

from __future__ import annotations

import os
import selectors
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

from commonplace.errors import QueryEngineFailed, QueryTooCostly, StoreClosed
from commonplace.recall.cypher.messages import MOST_GRAPHS, PREFIX, Message, sizes, unpacked
from commonplace.recall.cypher.project import Filling

# The package's front imports all of it, which takes a second; a child needs six small modules.
_START = """
import sys, types
front = types.ModuleType("commonplace")
front.__path__ = [sys.argv[1]]
sys.modules["commonplace"] = front
from commonplace.recall.cypher.child import main
main()
"""
_PACKAGE = Path(__file__).parents[2]
_CHUNK = 1 << 16
LOADING = 120.0  # seconds that a graph may take to be taken in
_ENDING = 5.0


class Child:
    """One process, and which graphs it was given last."""

    def __init__(self) -> None:
        path = os.pathsep.join(str(Path(each).absolute()) for each in sys.path)
        self._parent = os.getpid()
        self._process = subprocess.Popen(
            [sys.executable, "-c", _START, str(_PACKAGE)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "PYTHONPATH": path},
            cwd="/",
        )
        for pipe in (self._to, self._from):
            os.set_blocking(pipe.fileno(), False)
        self.keys: list[str] = []

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def _to(self) -> IO[bytes]:
        assert self._process.stdin is not None
        return self._process.stdin

    @property
    def _from(self) -> IO[bytes]:
        assert self._process.stdout is not None
        return self._process.stdout

    def ask(self, message: Message, seconds: float) -> dict[str, Any]:
        """Raises TimeoutError, or EOFError if it is no more: then it is of no use any more."""
        deadline = time.monotonic() + seconds
        self._send(message.packed(), deadline)
        head, body = sizes(self._receive(PREFIX, deadline))
        return unpacked(self._receive(head, deadline), self._receive(body, deadline)).head

    def _send(self, data: bytes, deadline: float) -> None:
        rest = memoryview(data)
        with selectors.DefaultSelector() as selector:
            selector.register(self._to, selectors.EVENT_WRITE)
            while rest:
                _wait(selector, deadline)
                try:
                    rest = rest[os.write(self._to.fileno(), rest[:_CHUNK]) :]
                except BlockingIOError:
                    continue
                except BrokenPipeError:
                    raise EOFError from None

    def _receive(self, size: int, deadline: float) -> bytes:
        pieces = bytearray()
        with selectors.DefaultSelector() as selector:
            selector.register(self._from, selectors.EVENT_READ)
            while len(pieces) < size:
                _wait(selector, deadline)
                piece = os.read(self._from.fileno(), min(_CHUNK, size - len(pieces)))
                if not piece:
                    raise EOFError
                pieces += piece
        return bytes(pieces)

    def __del__(self) -> None:
        """Of a book that nobody closed. A fork's copy leaves the process to its parent."""
        process = getattr(self, "_process", None)
        if process is not None and process.returncode is None and os.getpid() == self._parent:
            with suppress(OSError, subprocess.TimeoutExpired):
                self.end()

    def end(self) -> None:
        with suppress(ProcessLookupError):
            self._process.kill()
        for pipe in (self._to, self._from):
            with suppress(BrokenPipeError):
                pipe.close()
        self._process.wait(_ENDING)


def _wait(selector: selectors.BaseSelector, deadline: float) -> None:
    left = deadline - time.monotonic()
    if left <= 0 or not selector.select(left):
        raise TimeoutError


class Pool:
    def __init__(self, size: int = 2) -> None:
        self._size = size
        self._changed = threading.Condition()
        self._free: list[Child] = []
        self._count = 0
        self._process = os.getpid()
        self._closed = False

    def ask(
        self,
        key: str,
        fillings: Callable[[], Iterable[Filling]],
        question: Message,
        seconds: float,
    ) -> dict[str, Any]:
        """The answer to a question about the graph ``key``, which ``fillings`` makes if the child
        that is asked does not have it. One with "failed" in it says why there is no answer."""
        with self._child(key, seconds) as child:
            if key not in child.keys:
                reply = self._load(child, key, list(fillings()))
                if "failed" in reply:
                    return reply
            child.keys = [*(each for each in child.keys if each != key), key]
            return self._asked(child, question, seconds, _TOO_LONG.format(seconds=seconds))

    def _load(self, child: Child, key: str, fillings: list[Filling]) -> dict[str, Any]:
        child.keys = child.keys[-(MOST_GRAPHS - 1) :]  # the child makes room first, too
        statements = [[one.statement, len(one.csv)] for one in fillings]
        body = b"".join(one.csv for one in fillings)
        head = {"do": "load", "key": key, "statements": statements}
        return self._asked(child, Message(head, body), LOADING, "The graph took too long to load.")

    def _asked(self, child: Child, message: Message, seconds: float, late: str) -> dict[str, Any]:
        try:
            reply = child.ask(message, seconds)
        except TimeoutError:
            raise QueryTooCostly(late) from None
        except EOFError:
            raise QueryEngineFailed("The process in which queries run ended.") from None
        return reply

    @contextmanager
    def _child(self, key: str, seconds: float) -> Iterator[Child]:
        """One for this thread alone. One that fails is not used again."""
        child = self._taken(key, seconds)
        kept = False
        try:
            yield child
            kept = True
        finally:
            self._give_back(child if kept else None)
            if not kept:
                child.end()

    def _taken(self, key: str, seconds: float) -> Child:
        with self._changed:
            self._check()
            free = self._changed.wait_for(
                lambda: self._closed or self._free or self._count < self._size, seconds
            )
            self._check()
            if not free:
                raise QueryEngineFailed("All processes in which queries run are busy.")
            known = next((child for child in self._free if key in child.keys), None)
            if known is None and self._count < self._size:
                self._count += 1
                return self._started()
            child = known or self._free[0]
            self._free.remove(child)
            return child

    def _started(self) -> Child:
        try:
            return Child()
        except BaseException:
            self._count -= 1
            raise

    def _give_back(self, child: Child | None) -> None:
        with self._changed:
            if child is not None and not self._closed:
                self._free.append(child)
                child = None
            else:
                self._count -= 1
            self._changed.notify()
        if child is not None:
            child.end()

    def _check(self) -> None:
        if self._closed:
            raise StoreClosed("The store is closed.")
        if self._process != os.getpid():  # a fork: the children are the parent's
            self._free, self._count, self._process = [], 0, os.getpid()

    def pids(self) -> list[int]:
        """Of the children that wait for a question."""
        with self._changed:
            return [child.pid for child in self._free]

    def close(self) -> None:
        with self._changed:
            self._closed = True
            ending, self._free = self._free, []
            self._count -= len(ending)
            self._changed.notify_all()
        if self._process == os.getpid():
            for child in ending:
                child.end()


_TOO_LONG = "The query took longer than {seconds:g} seconds."

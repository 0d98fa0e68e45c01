"""The process in which queries run. It holds a few graphs, and can open nothing.

The pool starts it. Asked over its standard input, it answers on its standard output, and ends when
its input does. It has a limit of memory; and while a query runs it can open no file and no socket,
and change nothing, whatever the engine is asked to do.
"""

from __future__ import annotations

import importlib
import os
import resource
import sys
import tempfile
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, BinaryIO

from commonplace.recall.cypher.answers import Answer, answer_of
from commonplace.recall.cypher.messages import MOST_GRAPHS, PREFIX, Message, sizes, unpacked
from commonplace.recall.cypher.tables import FILE, TEXT_OF, tables

MOST_MEMORY = 4 << 30  # address space, all in all
BUFFER = 512 << 20  # of one graph: what is in memory lies in it
LARGEST_GRAPH = 1 << 30  # by default the engine maps 8 TiB
_FILES = 64  # that may be open while a graph is taken in


class Graphs:
    """Loaded graphs, by their keys; the one that was asked longest ago makes room."""

    def __init__(self, engine: Any):
        self._engine = engine
        self._loaded: OrderedDict[str, Any] = OrderedDict()

    def load(self, key: str, statements: list[tuple[str, int]], body: bytes) -> None:
        while len(self._loaded) >= MOST_GRAPHS:
            self._close(self._loaded.popitem(last=False)[1])
        graph = self._open()
        begin = 0
        try:
            for statement, size in statements:
                _fill(graph, statement, body[begin : begin + size])
                begin += size
        except BaseException:
            self._close(graph)
            raise
        self._loaded[key] = graph

    def query(self, key: str, query: str, asked: dict[str, Any]) -> Answer:
        graph = self._loaded[key]
        self._loaded.move_to_end(key)
        graph.execute(f"CALL enable_plan_optimizer={not asked['in_order']}").close()
        with _only_reading(graph), _nothing_opens():
            result = graph.execute(query)
            try:
                return answer_of(result, rows=asked["rows"], size=asked["size"])
            finally:
                result.close()

    def _open(self) -> Any:
        database = self._engine.Database(
            ":memory:",
            buffer_pool_size=BUFFER,
            max_db_size=LARGEST_GRAPH,
            max_num_threads=1,  # so that the same question has the same answer in the same order
        )
        graph = self._engine.Connection(database)
        graph.create_function(TEXT_OF, repr, ["DOUBLE"], "STRING")  # its own has six digits
        for statement in tables():
            graph.execute(statement).close()
        return graph

    def _close(self, graph: Any) -> None:
        database = graph.database
        graph.close()
        database.close()


def _fill(graph: Any, statement: str, csv: bytes) -> None:
    with _file_of(csv) as path:
        graph.execute(statement.replace(FILE, path)).close()


@contextmanager
def _file_of(content: bytes) -> Iterator[str]:
    """In memory where the system has such files; else in a folder of ours that is then removed."""
    if hasattr(os, "memfd_create"):
        file = os.memfd_create("graph")
        try:
            _write_all(file, content)
            yield f"/proc/self/fd/{file}"
        finally:
            os.close(file)
        return
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "graph.csv")
        with open(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "wb") as opened:
            opened.write(content)
        yield path


def _write_all(file: int, content: bytes) -> None:
    rest = memoryview(content)
    while rest:
        rest = rest[os.write(file, rest) :]


@contextmanager
def _only_reading(graph: Any) -> Iterator[None]:
    graph.execute("BEGIN TRANSACTION READ ONLY").close()
    try:
        yield
    finally:
        with suppress(RuntimeError):  # some failures have ended it already
            graph.execute("ROLLBACK").close()


@contextmanager
def _nothing_opens() -> Iterator[None]:
    """No file and no socket: there is no number left for it."""
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (0, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


# ——— answering ———


def serve(graphs: Graphs, asked: BinaryIO, told: BinaryIO) -> None:
    while (message := _read(asked)) is not None:
        try:
            reply = _answer(graphs, message)
        except MemoryError:
            reply = {"failed": "memory", "why": "no memory is left"}
        except RuntimeError as error:  # all that the engine raises
            reply = {"failed": "engine", "why": str(error)}
        told.write(Message(reply).packed())
        told.flush()


def _answer(graphs: Graphs, message: Message) -> dict[str, Any]:
    asked = message.head
    if asked["do"] == "load":
        statements = [(statement, size) for statement, size in asked["statements"]]
        graphs.load(asked["key"], statements, message.body)
        return {"loaded": asked["key"]}
    answer = graphs.query(asked["key"], asked["query"], asked)
    return {"rows": answer.rows, "truncated": answer.truncated}


def _read(asked: BinaryIO) -> Message | None:
    prefix = asked.read(PREFIX)
    if len(prefix) < PREFIX:
        return None
    head, body = sizes(prefix)
    return unpacked(asked.read(head), asked.read(body))


def main() -> None:
    asked = sys.stdin.buffer
    told = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # what the engine may print
    engine = importlib.import_module("ladybug")
    for name in ("datetime", "decimal", "uuid", "encodings.idna"):
        importlib.import_module(name)  # the engine would import them while nothing opens
    resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))
    resource.setrlimit(resource.RLIMIT_NOFILE, (_FILES, _FILES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    serve(Graphs(engine), asked, told)
    os._exit(0)  # nothing is worth tidying up

"""The limits of a query: time, steps, memory and rows, checked while it runs."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from heapq import merge
from typing import Any, TypeVar

from commonplace.errors import QueryTooCostly

CHECK_INTERVAL = 512  # steps between two checks of the clock
YIELD_SECONDS = 0.004  # after this time other threads may run


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryLimits:
    seconds: float = 5.0
    rows: int = 1_000  # of a result; more are cut off
    size: int = 4_000_000  # approximate characters of a result; more are cut off
    steps: int = 50_000_000  # nodes, relationships, rows and items visited
    memory: int = 256_000_000  # approximate bytes


DEFAULT_LIMITS = QueryLimits()
Sorted = TypeVar("Sorted")
MIN_COUNTED_LENGTH = 256  # of a string or list; what is shorter is one step, and not counted
CHARACTERS_PER_STEP = 256  # of operations that look at a whole string
VALUE_DIVISOR = 4  # one string, list or map may take this part of the memory
LASTING_DIVISOR = 64  # a value that takes more than this part counts until the query ends
SORT_CHUNK = 10_000  # values sorted at once; between chunks other threads may run
CELL_BYTES = 64  # approximate size of a stored value


# Set by a server when the client closes the connection. A thread has its request's context.
CALLER_GONE: ContextVar[threading.Event | None] = ContextVar("caller_gone", default=None)


class QueryBudget:
    """Counts the resources of one query. Raises QueryTooCostly if a limit is exceeded."""

    __slots__ = (
        "_bytes",
        "_deadline",
        "_gone",
        "_left",
        "_limits",
        "_steps",
        "_yielded",
        "value_limit",
    )

    def __init__(self, limits: QueryLimits = DEFAULT_LIMITS) -> None:
        self._limits = limits
        self.value_limit = limits.memory // VALUE_DIVISOR  # bytes of one value
        self._yielded = time.monotonic()
        self._deadline = self._yielded + limits.seconds
        self._left = CHECK_INTERVAL
        self._gone = CALLER_GONE.get()
        self._steps = 0
        self._bytes = 0

    def step(self) -> None:
        """Count one visited item."""
        self._left -= 1
        if self._left <= 0:
            self._check()

    def steps(self, count: int) -> None:
        self._left -= count
        if self._left <= 0:
            self._check()

    def counted(self, items: Sequence[Sorted]) -> Iterator[Sorted]:
        """The items; each is a step."""
        if len(items) <= CHECK_INTERVAL:
            self.steps(len(items))
            return iter(items)
        return self._counted_in_chunks(items)

    def _counted_in_chunks(self, items: Sequence[Sorted]) -> Iterator[Sorted]:
        for first in range(0, len(items), CHECK_INTERVAL):
            chunk = items[first : first + CHECK_INTERVAL]
            self.steps(len(chunk))
            yield from chunk

    def scan(self, length: int) -> None:
        """Count the steps of an operation that looks at a string of this length."""
        if length > MIN_COUNTED_LENGTH:
            self.steps(length // CHARACTERS_PER_STEP)

    def keep(self, size: int) -> None:
        """Count bytes that stay in memory."""
        self._bytes += size
        if self._bytes > self._limits.memory:
            raise QueryTooCostly(
                f"The query needs more memory than the {_megabytes(self._limits.memory)} that it "
                "may have.",
                remedy="Keep fewer values at a time: more conditions, fewer columns, and a LIMIT "
                "in the same WITH or RETURN as the ORDER BY.",
            )

    def release(self, size: int) -> None:
        """Take back bytes that were kept."""
        self._bytes -= size

    def check_value(self, size: int) -> None:
        """Refuse a value of this many bytes if one value may not be that large: it is built, and
        copied, in one go."""
        if size > self.value_limit:
            raise QueryTooCostly(
                f"A list, map or string of the query takes {_megabytes(size)} or more, more memory "
                f"than the {_megabytes(self.value_limit)} that one value may have.",
                remedy="Build shorter lists and strings. `UNWIND range(…) AS x` needs no list.",
            )

    def build(self, size: int) -> None:
        """Call before building a string or list of this many bytes. Large ones count until the
        query ends, because it is not known how many of them an expression holds at a time."""
        if size > MIN_COUNTED_LENGTH:
            self.check_value(size)
            self.scan(size)
            if size * LASTING_DIVISOR > self._limits.memory:
                self.keep(size)

    def _check(self) -> None:
        """Check the limits, and let other threads run."""
        self._steps += CHECK_INTERVAL - self._left
        self._left = CHECK_INTERVAL
        if self._steps > self._limits.steps:
            raise QueryTooCostly(f"The query took more than {self._limits.steps:,} steps.")
        if self._gone is not None and self._gone.is_set():
            raise QueryTooCostly("The caller closed the connection.")
        now = time.monotonic()
        if now > self._deadline:
            seconds = self._limits.seconds
            plural = "" if seconds == 1 else "s"
            raise QueryTooCostly(f"The query took longer than {seconds:g} second{plural}.")
        if now - self._yielded > YIELD_SECONDS:
            time.sleep(0)
            self._yielded = now


def _megabytes(size: int) -> str:
    return f"{size / 1e6:,.3g} MB" if size < 1e9 else f"{size / 1e6:,.0f} MB"


def sorted_in_turns(
    items: list[Sorted], key: Callable[[Sorted], Any], budget: QueryBudget, reverse: bool = False
) -> list[Sorted]:
    """Like sorted(), in chunks that are merged, so that other threads may run in between."""
    chunks = []
    for first in range(0, len(items), SORT_CHUNK):
        chunk = items[first : first + SORT_CHUNK]
        budget.steps(len(chunk))
        chunks.append(sorted(chunk, key=key, reverse=reverse))
    if len(chunks) < 2:
        return chunks[0] if chunks else []
    merged = []
    for item in merge(*chunks, key=key, reverse=reverse):
        budget.step()
        merged.append(item)
    return merged

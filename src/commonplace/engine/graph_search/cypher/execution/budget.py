"""The limits of a query: time, steps, memory and rows, checked while it runs."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
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
MIN_COUNTED_BYTES = 1_024  # smaller values are not counted
VALUE_DIVISOR = 4  # one string or list may take this part of the memory
SORT_CHUNK = 10_000  # values sorted at once; between chunks other threads may run
CELL_BYTES = 64  # approximate size of a stored value


class QueryBudget:
    """Counts the resources of one query. Raises QueryTooCostly if a limit is exceeded."""

    __slots__ = ("_bytes", "_deadline", "_left", "_limits", "_steps", "_yielded")

    def __init__(self, limits: QueryLimits = DEFAULT_LIMITS) -> None:
        self._limits = limits
        self._yielded = time.monotonic()
        self._deadline = self._yielded + limits.seconds
        self._left = CHECK_INTERVAL
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

    def keep(self, size: int) -> None:
        """Count bytes that stay in memory until the query ends."""
        self._bytes += size
        if self._bytes > self._limits.memory:
            raise QueryTooCostly("The query needed more memory than it may have.")

    def check_length(self, length: int) -> None:
        """Call before building a string or list of this length. One value may take only a part of
        the memory, because no other thread runs while it is built."""
        if length > MIN_COUNTED_BYTES:
            if length > self._limits.memory // VALUE_DIVISOR:
                raise QueryTooCostly("A value of the query needed more memory than it may have.")
            self.steps(length >> 8)

    def hold(self, values: Iterable[Any]) -> None:
        """Count long strings and lists that are stored in a list, a map, a group or a row."""
        for value in values:
            kind = type(value)
            if kind is str:
                if len(value) > MIN_COUNTED_BYTES:
                    self.keep(len(value))
            elif kind is list and len(value) > MIN_COUNTED_BYTES // 8:
                self.keep(8 * len(value))

    def _check(self) -> None:
        """Check the limits, and let other threads run."""
        self._steps += CHECK_INTERVAL - self._left
        self._left = CHECK_INTERVAL
        if self._steps > self._limits.steps:
            raise QueryTooCostly(f"The query took more than {self._limits.steps:,} steps.")
        now = time.monotonic()
        if now > self._deadline:
            seconds = self._limits.seconds
            plural = "" if seconds == 1 else "s"
            raise QueryTooCostly(f"The query took longer than {seconds:g} second{plural}.")
        if now - self._yielded > YIELD_SECONDS:
            time.sleep(0)
            self._yielded = now


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

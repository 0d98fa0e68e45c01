"""The limits of a query: time, steps, memory and rows, checked while it runs."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from heapq import merge
from typing import Any, TypeVar

from commonplace.errors import QueryTooCostly

CHECKED_EVERY = 512  # steps between two looks at the clock
YIELDS_AFTER = 0.004  # seconds after which other threads get a turn


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryLimits:
    seconds: float = 5.0
    rows: int = 1_000  # rows of an answer; more are cut off
    size: int = 4_000_000  # characters of an answer, about; more are cut off
    steps: int = 50_000_000  # nodes, relationships, rows and items looked at
    memory: int = 256_000_000  # bytes that a query keeps, about


DEFAULT_LIMITS = QueryLimits()
Sorted = TypeVar("Sorted")
SMALL = 1_024  # bytes; values that are smaller are not counted
ONE_VALUE = 4  # the part of the memory that one string or list may take
SORTED_AT_ONCE = 10_000  # values; sorting more takes turns with other threads
CELL = 64  # bytes that a kept value takes, about


class QueryBudget:
    """Counts what one query uses. Raises QueryTooCostly where a limit is passed."""

    __slots__ = ("_deadline", "_kept", "_left", "_limits", "_steps", "_yielded")

    def __init__(self, limits: QueryLimits = DEFAULT_LIMITS) -> None:
        self._limits = limits
        self._yielded = time.monotonic()
        self._deadline = self._yielded + limits.seconds
        self._left = CHECKED_EVERY
        self._steps = 0
        self._kept = 0

    def step(self) -> None:
        """One more thing was looked at."""
        self._left -= 1
        if self._left <= 0:
            self._check()

    def steps(self, count: int) -> None:
        self._left -= count
        if self._left <= 0:
            self._check()

    def keep(self, size: int) -> None:
        """So many bytes more stay in memory until the query ends."""
        self._kept += size
        if self._kept > self._limits.memory:
            raise QueryTooCostly("The query needed more memory than it may have.")

    def check_length(self, length: int) -> None:
        """Before a string or a list of this length is made. One value gets only a share of the
        memory: making it is one step, during which no other thread runs."""
        if length > SMALL:
            if length > self._limits.memory // ONE_VALUE:
                raise QueryTooCostly("A value of the query needed more memory than it may have.")
            self.steps(length >> 8)

    def hold(self, values: Iterable[Any]) -> None:
        """Before values become part of a list, a map, a group or a row that is kept: long strings
        and lists among them stay in memory with it."""
        for value in values:
            kind = type(value)
            if kind is str:
                if len(value) > SMALL:
                    self.keep(len(value))
            elif kind is list and len(value) > SMALL // 8:
                self.keep(8 * len(value))

    def _check(self) -> None:
        """Looks at the clock, and lets other threads run."""
        self._steps += CHECKED_EVERY - self._left
        self._left = CHECKED_EVERY
        if self._steps > self._limits.steps:
            raise QueryTooCostly(f"The query took more than {self._limits.steps:,} steps.")
        now = time.monotonic()
        if now > self._deadline:
            seconds = self._limits.seconds
            plural = "" if seconds == 1 else "s"
            raise QueryTooCostly(f"The query took longer than {seconds:g} second{plural}.")
        if now - self._yielded > YIELDS_AFTER:
            time.sleep(0)
            self._yielded = now


def sorted_in_turns(
    items: list[Sorted], key: Callable[[Sorted], Any], budget: QueryBudget, reverse: bool = False
) -> list[Sorted]:
    """As sorted(), in pieces that are merged, between which other threads may run."""
    pieces = []
    for first in range(0, len(items), SORTED_AT_ONCE):
        piece = items[first : first + SORTED_AT_ONCE]
        budget.steps(len(piece))
        pieces.append(sorted(piece, key=key, reverse=reverse))
    if len(pieces) < 2:
        return pieces[0] if pieces else []
    found = []
    for item in merge(*pieces, key=key, reverse=reverse):
        budget.step()
        found.append(item)
    return found

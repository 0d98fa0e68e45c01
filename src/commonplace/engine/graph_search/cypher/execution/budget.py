"""The limits of a query: time, steps, memory and rows, checked while it runs."""

from __future__ import annotations

import time
from dataclasses import dataclass

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
SMALL = 1_024  # bytes; smaller values are not counted one by one
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

    def keep_cells(self, count: int) -> None:
        self.keep(count * CELL)

    def check_length(self, length: int) -> None:
        """Before a string or a list of this length is made."""
        if length > SMALL:
            self.keep(length)
            self.steps(length >> 8)

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

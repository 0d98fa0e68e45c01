"""Timing in turn, so that whatever else the machine does hits all methods alike."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

Method = Callable[[int], object]


@dataclass(frozen=True, slots=True)
class Timing:
    seconds: tuple[float, ...]
    working: tuple[float, ...] = ()  # of them, those in which the caller's thread had a processor

    def ms(self, percentile: float) -> float:
        return float(np.percentile(self.seconds, percentile)) * 1000

    @property
    def p50(self) -> float:
        return self.ms(50)

    @property
    def p95(self) -> float:
        return self.ms(95)

    @property
    def cpu_p50(self) -> float:
        """Unlike the others it hardly depends on what else the machine does."""
        return float(np.percentile(self.working, 50)) * 1000

    @property
    def per_second(self) -> float:
        return len(self.seconds) / sum(self.seconds)


def timed(method: Callable[[], object]) -> float:
    start = time.perf_counter()
    method()
    return time.perf_counter() - start


def interleaved(
    methods: Mapping[str, Method],
    rounds: int,
    after: Callable[[], object] = lambda: None,
    warm_up: int = 0,
) -> dict[str, Timing]:
    """Every method once in each round, each round beginning with another one.

    ``after`` runs untimed after each call: what the engine does off the answer's path must not
    slow down whoever comes next.
    """
    names = list(methods)
    seconds: dict[str, list[float]] = {name: [] for name in names}
    working: dict[str, list[float]] = {name: [] for name in names}
    for number in range(-warm_up, rounds):
        first = number % len(names)
        for name in names[first:] + names[:first]:
            start = time.thread_time()
            taken = timed(partial(methods[name], number + warm_up))
            worked = time.thread_time() - start
            after()
            if number >= 0:
                seconds[name].append(taken)
                working[name].append(worked)
    return {name: Timing(tuple(seconds[name]), tuple(working[name])) for name in names}


class SyncedFile:
    """Four kilobytes and an fdatasync: the least that any durable write can cost on this disk."""

    def __init__(self, folder: Path):
        self._file = os.open(folder / "synced", os.O_CREAT | os.O_WRONLY, 0o600)
        self._block = os.urandom(4096)
        self._blocks = 0

    def write(self) -> None:
        os.pwrite(self._file, self._block, 4096 * self._blocks)
        self._blocks += 1
        os.fdatasync(self._file)

    def close(self) -> None:
        os.close(self._file)


def resident_bytes() -> int | None:
    """This process's memory; None where the system does not tell it in /proc."""
    status = Path("/proc/self/statm")
    if not status.exists():
        return None
    return int(status.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")

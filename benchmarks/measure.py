"""Timing by turns, and how much a speed run measures."""

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


SIZES = (1_000, 10_000, 100_000)
USERS = 1_000
PASSAGES = (600, 10_000, 100_000)


@dataclass(frozen=True, slots=True)
class SpeedPlan:
    sizes: tuple[int, ...] = SIZES
    users: int = USERS  # in the crowded store
    memories_each: int = 1_000
    recalls: int = 100  # timed at each size, for each method
    remembers: int = 60
    synced_remembers: int = 200  # counted under strace
    imports: int = 5
    peers: bool = True
    passages: tuple[int, ...] = PASSAGES  # of conversations, that are ingested and asked
    appends: int = 30


def quick_plan(plan: SpeedPlan) -> SpeedPlan:
    return SpeedPlan(
        sizes=tuple(size for size in plan.sizes if size <= 10_000) or plan.sizes[:1],
        users=min(plan.users, 30),
        recalls=40,
        remembers=30,
        synced_remembers=50,
        peers=plan.peers,
        passages=plan.passages[:1],
        appends=10,
    )

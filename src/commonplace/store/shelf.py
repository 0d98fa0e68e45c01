"""What a process keeps within a memory budget: the least recently used goes first."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class Shelf(Generic[K, V]):
    """One value for each key, made when it is first asked for. It weighs nothing until its owner
    has weighed it; one that is heavier than the whole budget is not kept at all."""

    def __init__(self, budget: int, make: Callable[[], V]):
        self._budget = budget
        self._make = make
        self._kept: OrderedDict[K, V] = OrderedDict()
        self._weights: dict[K, int] = {}
        self._total = 0
        self._lock = threading.Lock()

    def take(self, key: K) -> V:
        with self._lock:
            if key not in self._kept:
                self._kept[key] = self._make()
            self._kept.move_to_end(key)
            return self._kept[key]

    def weigh(self, key: K, value: V, nbytes: int) -> None:
        with self._lock:
            if self._kept.get(key) is not value:
                return  # dropped meanwhile: it lives only as long as who reads it
            self._total += nbytes - self._weights.get(key, 0)
            self._weights[key] = nbytes
            if nbytes > self._budget:
                self._let_go(key)  # first, or all the others would go for nothing
            while self._total > self._budget:
                self._let_go(next(iter(self._kept)))

    def drop(self, where: Callable[[K], bool]) -> None:
        with self._lock:
            for key in [key for key in self._kept if where(key)]:
                self._let_go(key)

    def _let_go(self, key: K) -> None:
        del self._kept[key]
        self._total -= self._weights.pop(key, 0)

    @property
    def nbytes(self) -> int:
        with self._lock:
            return self._total

    def kept(self) -> list[K]:
        with self._lock:
            return [*self._kept]

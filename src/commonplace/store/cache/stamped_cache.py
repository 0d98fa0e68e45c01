"""Bounded cache: one value per key, valid while its stamp is unchanged."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from threading import Lock
from typing import Generic, TypeVar

CAPACITY = 8  # a few users, each with an agent or two

Cached = TypeVar("Cached")


class StampedCache(Generic[Cached]):
    """Of each key one thing, as of its stamp, which names everything else that it depends on:
    what is kept is never stale, and nothing of an earlier stamp stays behind it."""

    def __init__(self, most: int = CAPACITY):
        self._most = most
        self._kept: OrderedDict[Hashable, tuple[Hashable, Cached]] = OrderedDict()
        self._lock = Lock()

    def get(self, key: Hashable, make: Callable[[], Cached], stamp: Hashable = None) -> Cached:
        """Made outside the lock: two callers may make the same one, and none waits for it."""
        with self._lock:
            if key in self._kept and self._kept[key][0] == stamp:
                self._kept.move_to_end(key)
                return self._kept[key][1]
        made = make()
        with self._lock:
            self._kept[key] = (stamp, made)
            self._kept.move_to_end(key)
            while len(self._kept) > self._most:
                self._kept.popitem(last=False)
        return made

    def __len__(self) -> int:
        return len(self._kept)

"""Bounded cache: values by key, the least recently used go first; thread-safe."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


@dataclass(frozen=True, slots=True)
class _CacheEntry(Generic[V]):
    value: V
    stamp: Hashable
    nbytes: int


class BoundedCache(Generic[K, V]):
    """At most ``max_entries`` values of at most ``max_bytes`` together; None: no such limit.

    A value is found only under the stamp that it was put with, which names what it depends on
    besides its key; a key has one value at a time. A value that is larger than all may be is not
    kept, unless ``keeps_newest``: then it is the only one.
    """

    def __init__(
        self,
        *,
        max_entries: int | None = None,
        max_bytes: int | None = None,
        keeps_newest: bool = False,
    ):
        self._max_entries = max_entries
        self._max_bytes = max_bytes
        self._keeps_newest = keeps_newest
        self._entries: OrderedDict[K, _CacheEntry[V]] = OrderedDict()
        self._nbytes = 0
        self._closed = False
        self._lock = threading.Lock()

    def get(self, key: K, stamp: Hashable = None) -> V | None:
        with self._lock:
            found = self._find(key, stamp)
            return None if found is None else found.value

    def put(self, key: K, value: V, *, stamp: Hashable = None, nbytes: int = 0) -> None:
        with self._lock:
            self._put(key, _CacheEntry(value, stamp, nbytes))

    def get_or_make(self, key: K, make: Callable[[], V], stamp: Hashable = None) -> V:
        """Made outside the lock: nobody waits for it. Where two make one at the same time, both
        get the one that was there first."""
        with self._lock:
            found = self._find(key, stamp)
        if found is not None:
            return found.value
        made = _CacheEntry(make(), stamp, 0)
        with self._lock:
            found = self._find(key, stamp)
            if found is None:
                self._put(key, made)
            return (found or made).value

    def resize(self, key: K, value: V, nbytes: int) -> None:
        """A value has grown or shrunk. Nothing happens where it was dropped meanwhile: then it
        lives only as long as who reads it."""
        with self._lock:
            found = self._entries.get(key)
            if found is not None and found.value is value:
                self._put(key, replace(found, nbytes=nbytes))

    def drop(self, where: Callable[[K], bool]) -> None:
        with self._lock:
            for key in [key for key in self._entries if where(key)]:
                self._remove(key)

    def close(self) -> None:
        """Drop everything, and keep nothing from now on."""
        self._closed = True
        self.drop(lambda _: True)

    def keys(self) -> list[K]:
        """The least recently used first."""
        with self._lock:
            return [*self._entries]

    @property
    def nbytes(self) -> int:
        with self._lock:
            return self._nbytes

    def __len__(self) -> int:
        with self._lock:
            return len(self._entries)

    # ——— with the lock held ———

    def _find(self, key: K, stamp: Hashable) -> _CacheEntry[V] | None:
        found = self._entries.get(key)
        if found is None or found.stamp != stamp:
            return None
        self._entries.move_to_end(key)
        return found

    def _put(self, key: K, entry: _CacheEntry[V]) -> None:
        self._remove(key)
        if self._closed or self._never_fits(entry):  # else all others would go for nothing
            return
        self._entries[key] = entry
        self._nbytes += entry.nbytes
        while self._is_full() and not (self._keeps_newest and len(self._entries) == 1):
            self._remove(next(iter(self._entries)))

    def _never_fits(self, entry: _CacheEntry[V]) -> bool:
        if self._max_entries == 0:
            return True
        too_large = self._max_bytes is not None and entry.nbytes > self._max_bytes
        return too_large and not self._keeps_newest

    def _is_full(self) -> bool:
        too_many = self._max_entries is not None and len(self._entries) > self._max_entries
        return too_many or (self._max_bytes is not None and self._nbytes > self._max_bytes)

    def _remove(self, key: K) -> None:
        found = self._entries.pop(key, None)
        self._nbytes -= found.nbytes if found else 0

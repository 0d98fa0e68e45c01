"""Bounded cache: a thread-safe LRU cache, limited by entries and bytes."""

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
    """At most ``max_entries`` values of at most ``max_bytes`` in total; None: no limit.

    A value is returned only for the stamp that it was put with, which identifies what it depends on
    besides its key; a key has one value at a time. A value larger than ``max_bytes`` is not cached,
    unless ``keeps_newest``: then it is the only one.
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
            entry = self._find(key, stamp)
            return None if entry is None else entry.value

    def put(self, key: K, value: V, *, stamp: Hashable = None, nbytes: int = 0) -> None:
        with self._lock:
            self._put(key, _CacheEntry(value, stamp, nbytes))

    def get_or_make(self, key: K, make: Callable[[], V], stamp: Hashable = None) -> V:
        """``make`` runs outside the lock, so that no other caller waits for it. When two callers
        make a value at the same time, both get the one that was put first."""
        with self._lock:
            entry = self._find(key, stamp)
        if entry is not None:
            return entry.value
        made = _CacheEntry(make(), stamp, 0)
        with self._lock:
            entry = self._find(key, stamp)
            if entry is None:
                self._put(key, made)
            return (entry or made).value

    def resize(self, key: K, value: V, nbytes: int) -> None:
        """Updates the size of a value. Does nothing if it was dropped meanwhile: then only its
        readers still hold it."""
        with self._lock:
            entry = self._entries.get(key)
            if entry is not None and entry.value is value:
                self._put(key, replace(entry, nbytes=nbytes))

    def drop(self, where: Callable[[K], bool]) -> None:
        with self._lock:
            for key in [key for key in self._entries if where(key)]:
                self._remove(key)

    def close(self) -> None:
        """Drop everything, and cache nothing from now on."""
        self._closed = True
        self.drop(lambda _: True)

    def keys(self) -> list[K]:
        """Least recently used first."""
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
        entry = self._entries.get(key)
        if entry is None or entry.stamp != stamp:
            return None
        self._entries.move_to_end(key)
        return entry

    def _put(self, key: K, entry: _CacheEntry[V]) -> None:
        self._remove(key)
        if self._closed or self._never_fits(entry):  # else it would evict all others in vain
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
        entry = self._entries.pop(key, None)
        self._nbytes -= entry.nbytes if entry else 0

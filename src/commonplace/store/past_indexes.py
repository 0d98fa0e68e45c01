"""Indexes of past moments, a few of them kept: made on the fly, asked again at once or never."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Hashable
from dataclasses import dataclass
from datetime import datetime

from commonplace.store.index import ScopeIndex

KEPT = 16  # of several scopes, for one who reads them together
MAX_BYTES = 1 << 28  # of all that are kept


@dataclass(frozen=True, slots=True)
class PastIndex:
    index: ScopeIndex
    made_at: datetime
    good_until: datetime | None  # when the first memory or source in it ends; None: never
    lock: threading.Lock  # held while the index is read

    def is_good(self, now: datetime) -> bool:
        return self.made_at <= now and (self.good_until is None or now < self.good_until)


class PastIndexes:
    """By a key that names all that a past index depends on: the scope's numbers, who asks, and
    the moments. A change of memory moves the numbers, so that nothing stale is ever found."""

    def __init__(self, kept: int = KEPT, max_bytes: int = MAX_BYTES):
        self._most = kept
        self._max_bytes = max_bytes
        self._kept: OrderedDict[Hashable, PastIndex] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: Hashable, now: datetime) -> PastIndex | None:
        with self._lock:
            found = self._kept.get(key)
            if found is None or not found.is_good(now):
                return None
            self._kept.move_to_end(key)
            return found

    def keep(self, key: Hashable, past: PastIndex) -> None:
        with self._lock:
            self._kept[key] = past
            self._kept.move_to_end(key)
            while len(self._kept) > self._most or self._nbytes() > self._max_bytes:
                self._kept.popitem(last=False)

    def _nbytes(self) -> int:
        return sum(past.index.nbytes for past in self._kept.values())

    def __len__(self) -> int:
        return len(self._kept)

"""Query cache: answers per caller, bounded, valid for one store stamp."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Hashable
from typing import Any


class QueryCache:
    """Bounded twice: so many callers, so many answers of each; the least recently used goes.

    Every caller has a place of their own, so that nothing of one is served to another. Under a
    new stamp the place is empty: what was forgotten or erased is not kept here either.
    """

    def __init__(self, callers: int = 256, answers: int = 128):
        self._callers = callers
        self._answers = answers
        self._places: OrderedDict[Hashable, tuple[Hashable, OrderedDict[Hashable, Any]]] = (
            OrderedDict()
        )
        self._lock = threading.Lock()

    def get(self, caller: Hashable, stamp: Hashable, key: Hashable) -> Any | None:
        with self._lock:
            place = self._places.get(caller)
            if place is None or place[0] != stamp or key not in place[1]:
                return None
            self._places.move_to_end(caller)
            place[1].move_to_end(key)
            return place[1][key]

    def put(self, caller: Hashable, stamp: Hashable, key: Hashable, answer: Any) -> None:
        with self._lock:
            place = self._places.get(caller)
            if place is None or place[0] != stamp:
                place = self._places[caller] = (stamp, OrderedDict())
            place[1][key] = answer
            self._places.move_to_end(caller)
            if len(place[1]) > self._answers:
                place[1].popitem(last=False)
            if len(self._places) > self._callers:
                self._places.popitem(last=False)

    def __len__(self) -> int:
        """Answers, of all callers."""
        with self._lock:
            return sum(len(answers) for _, answers in self._places.values())

"""The night comes once a day also where a process never ends: servers and workers look whether it
is due."""

from __future__ import annotations

import threading
from collections.abc import Callable
from datetime import datetime, timedelta

EVERY = timedelta(hours=1)  # whoever is due is tidied within this


class Night:
    def __init__(self, clock: Callable[[], datetime], tidy: Callable[[], None]):
        self._clock = clock
        self._tidy = tidy
        self._looked = clock()
        self._busy = threading.Lock()

    def look(self) -> bool:
        """Tidies what is due, if it has not looked for long. False: it has, or another is at it."""
        if not self._busy.acquire(blocking=False):
            return False
        try:
            if self._clock() - self._looked < EVERY:
                return False
            self._looked = self._clock()
            self._tidy()
            return True
        finally:
            self._busy.release()

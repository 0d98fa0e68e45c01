"""Few heavy operations at once, so that one caller's long text does not hold up the others."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from commonplace.errors import StoreBusy
from commonplace.operations.table import Operation

_HEAVY_NAMES = """
ingest extract extract-all traverse import remember-many observe-many reembed calibrate
"""
_HEAVY = frozenset(_HEAVY_NAMES.split())
HEAVY_BODY = 100_000  # bytes; a larger request is heavy whatever it asks for

AT_ONCE = 2  # running; more threads would only take turns on Python's lock
AT_ONCE_PER_USER = 1
WAITING = 128
WAITING_PER_USER = 32
SECONDS = 30.0  # of waiting


class HeavyOperations:
    """Waiting takes no thread, and nobody's requests take all places."""

    def __init__(
        self,
        at_once: int = AT_ONCE,
        waiting: int = WAITING,
        waiting_per_user: int = WAITING_PER_USER,
        seconds: float = SECONDS,
    ):
        self._free = asyncio.Semaphore(at_once)
        self._waiting = waiting
        self._waiting_per_user = waiting_per_user
        self._seconds = seconds
        self._present: Counter[str] = Counter()  # running or waiting, by user
        self._of_user: dict[str, asyncio.Semaphore] = {}

    @asynccontextmanager
    async def turn(self, operation: Operation, user_id: str, size: int = 0) -> AsyncIterator[None]:
        """Waits until the operation may run; at once if it is not heavy."""
        if operation.name not in _HEAVY and size <= HEAVY_BODY:
            yield
            return
        if (
            self._present.total() >= self._waiting
            or self._present[user_id] >= self._waiting_per_user
        ):
            raise _busy()
        self._present[user_id] += 1
        own = self._of_user.setdefault(user_id, asyncio.Semaphore(AT_ONCE_PER_USER))
        try:
            await self._acquire(own)
            try:
                yield
            finally:
                self._free.release()
                own.release()
        finally:
            self._present[user_id] -= 1
            if not self._present[user_id]:
                del self._present[user_id], self._of_user[user_id]

    async def _acquire(self, own: asyncio.Semaphore) -> None:
        try:
            async with asyncio.timeout(self._seconds):
                await own.acquire()
                try:
                    await self._free.acquire()
                except BaseException:
                    own.release()
                    raise
        except TimeoutError:
            raise _busy() from None


def _busy() -> StoreBusy:
    return StoreBusy("The server is busy with other requests that take long.")

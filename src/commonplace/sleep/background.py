"""A worker in a thread of this process, begun when there is first something to do."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable

from commonplace.sleep.worker import Worker


class Background:
    def __init__(self, make: Callable[[], Worker]):
        self._make = make
        self._closed = False
        self._start()

    def _start(self) -> None:
        self._process = os.getpid()
        self._lock = threading.Lock()
        self._worker: Worker | None = None
        self._thread: threading.Thread | None = None

    def wake(self) -> None:
        if self._process != os.getpid():  # a fork has no thread of its parent's
            self._start()
        with self._lock:
            if self._closed:
                return  # the next to open the store finds what is due
            if self._worker is None:
                self._worker = self._make()
                self._thread = threading.Thread(
                    target=self._worker.run, name="commonplace-worker", daemon=True
                )
                self._thread.start()
            else:
                self._worker.wake()

    def close(self) -> None:
        """What is under way is brought to its end."""
        if self._process != os.getpid():
            self._start()
        with self._lock:
            self._closed = True
            worker, thread = self._worker, self._thread
        if worker is not None and thread is not None:
            worker.stop()
            thread.join()

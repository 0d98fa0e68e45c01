"""Access log: a background thread records reads in batches, off the answer path."""

from __future__ import annotations

import logging
import os
import threading
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace

from commonplace.errors import CommonplaceError
from commonplace.model.changeset import Bookkeeping
from commonplace.store.port import Store

log = logging.getLogger("commonplace")

BATCH_SECONDS = 0.05  # reads within this time share a write


class AccessLog:
    """A crash may lose the pending entries, and nothing else."""

    def __init__(self, store: Store):
        self._store = store
        self._start()

    def _start(self) -> None:
        self._process = os.getpid()
        self._pending: list[Bookkeeping] = []
        self._busy = False
        self._flushing = False  # a caller waits for the pending entries
        self._closed = False
        self._changed = threading.Condition()
        self._thread: threading.Thread | None = None

    def record_later(self, bookkeeping: Bookkeeping) -> None:
        if self._process != os.getpid():  # a forked process does not have its parent's thread
            self._start()
        with self._changed:
            if self._closed:
                return  # the thread has ended
            self._pending.append(bookkeeping)
            if self._thread is None:
                self._thread = threading.Thread(
                    target=self._work, name="commonplace-bookkeeper", daemon=True
                )
                self._thread.start()
            if len(self._pending) == 1:  # else the thread is awake already
                self._changed.notify_all()

    def flush(self) -> None:
        """Wait until all entries recorded so far are written."""
        with self._changed:
            self._flushing = True
            self._changed.notify_all()
            self._changed.wait_for(lambda: not self._pending and not self._busy)
            self._flushing = False

    def close(self) -> None:
        if self._process != os.getpid() or self._closed:
            return
        self.flush()
        with self._changed:
            self._closed = True
            self._changed.notify_all()
        if self._thread is not None:
            self._thread.join()

    def _work(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._pending or self._closed)
                if not self._pending:
                    return
                self._changed.wait_for(lambda: self._flushing or self._closed, BATCH_SECONDS)
                batch, self._pending = self._pending, []
                self._busy = True
            try:
                self._write(batch)
            finally:
                with self._changed:
                    self._busy = False
                    self._changed.notify_all()

    def _write(self, batch: list[Bookkeeping]) -> None:
        for bookkeeping in merge_bookkeeping(batch):
            try:
                self._store.record(bookkeeping)
            except CommonplaceError as error:
                log.warning("access log entries were lost: %s", error.code)
            except Exception:  # the thread must go on: callers of flush wait for it
                log.exception("bookkeeping was lost")


def merge_bookkeeping(batch: Iterable[Bookkeeping]) -> list[Bookkeeping]:
    """One write for all reads of the same scope, thread and actor. Two reads of the same graph item
    stay separate."""
    separate: list[Bookkeeping] = []
    merged: dict[tuple[str, str | None, str | None], Bookkeeping] = {}
    for each in batch:
        key = (each.scope.key, each.thread_id, each.actor)
        earlier = merged.get(key)
        if earlier is None:
            merged[key] = each
            continue
        if earlier.read.keys() & each.read.keys():
            separate.append(earlier)
            merged[key] = each
            continue
        merged[key] = replace(
            each,
            touched=dict(Counter(earlier.touched) + Counter(each.touched)),
            entries=earlier.entries + each.entries,
            turns=earlier.turns + each.turns,
            used_keys=earlier.used_keys + each.used_keys,
            read={**earlier.read, **each.read},
        )
    return [*separate, *merged.values()]

"""Access log: one thread records in batches what was read, off the answer path."""

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

BATCH_SECONDS = 0.05  # reads that come one upon the other share a write


class AccessLog:
    """A crash may lose what waits here, and nothing else."""

    def __init__(self, store: Store):
        self._store = store
        self._start()

    def _start(self) -> None:
        self._process = os.getpid()
        self._waiting: list[Bookkeeping] = []
        self._busy = False
        self._hurry = False  # somebody waits for what is waiting
        self._closed = False
        self._changed = threading.Condition()
        self._thread: threading.Thread | None = None

    def record_later(self, bookkeeping: Bookkeeping) -> None:
        if self._process != os.getpid():  # a fork has no thread of its parent's
            self._start()
        with self._changed:
            if self._closed:
                return  # nobody will write it down any more
            self._waiting.append(bookkeeping)
            if self._thread is None:
                self._thread = threading.Thread(
                    target=self._work, name="commonplace-bookkeeper", daemon=True
                )
                self._thread.start()
            if len(self._waiting) == 1:  # the thread knows of the others' coming
                self._changed.notify_all()

    def flush(self) -> None:
        """Wait until all that was handed in so far is written."""
        with self._changed:
            self._hurry = True
            self._changed.notify_all()
            self._changed.wait_for(lambda: not self._waiting and not self._busy)
            self._hurry = False

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
                self._changed.wait_for(lambda: self._waiting or self._closed)
                if not self._waiting:
                    return
                self._changed.wait_for(lambda: self._hurry or self._closed, BATCH_SECONDS)
                batch, self._waiting = self._waiting, []
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
            except Exception:  # the thread must live on: others wait for it
                log.exception("bookkeeping was lost")


def merge_bookkeeping(batch: Iterable[Bookkeeping]) -> list[Bookkeeping]:
    """One write for all reads of one scope in one thread by one actor; but two readings of one
    thing of the graph are two."""
    before_them: list[Bookkeeping] = []
    merged: dict[tuple[str, str | None, str | None], Bookkeeping] = {}
    for each in batch:
        key = (each.scope.key, each.thread_id, each.actor)
        before = merged.get(key)
        if before is None:
            merged[key] = each
            continue
        if before.read.keys() & each.read.keys():
            before_them.append(before)
            merged[key] = each
            continue
        merged[key] = replace(
            each,
            touched=dict(Counter(before.touched) + Counter(each.touched)),
            entries=before.entries + each.entries,
            turns=before.turns + each.turns,
            used_keys=before.used_keys + each.used_keys,
            read={**before.read, **each.read},
        )
    return [*before_them, *merged.values()]

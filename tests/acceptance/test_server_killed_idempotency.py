"""A server is killed in the middle of a request, and its caller asks again with the same key: the
request is done, and it is done once."""

from __future__ import annotations

import itertools
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from http.client import HTTPException

import pytest

from commonplace.api import IdempotentRequest
from commonplace.errors import IdempotencyConflict
from commonplace.model.jobs import CLAIM_TIMEOUT
from support.children import die_while_asked_once
from support.clock import Clock
from support.kills import IN_A_WRITE, killed_at
from support.processes import Child
from support.rest_server import PATIENCE
from support.scenarios import wait_until_alone
from support.served import Served
from support.whole import open_plainly

ASKED = IdempotentRequest("key-1", "what was asked")


@killed_at(IN_A_WRITE)
def test_idempotency_key_retry_after_a_crash_writes_once(open_book, store_url, failpoint):
    open_plainly(store_url).close()
    with Child(die_while_asked_once, store_url, failpoint, ASKED) as child:
        assert child.rest() == []
        assert child.was_killed()
    wait_until_alone(store_url)
    a_little_later = Clock(datetime.now(UTC) + CLAIM_TIMEOUT)
    book = open_book(tidy_on_open=False, worker="off", clock=a_little_later)
    me = book.user("ana")
    calls = itertools.count()

    def again(handle):
        next(calls)
        return handle.remember("The gate is green").id

    if failpoint == "apply.after_commit":
        with pytest.raises(IdempotencyConflict, match="was completed"):
            book.once(me, ASKED, again)
        assert next(calls) == 0
    else:
        assert book.once(me, ASKED, again) == me.list().memories[0].id
    assert [memory.content for memory in me.list().memories] == ["The gate is green"]


WRITERS, EACH, KILLED_AFTER = 8, 12, 30


class Writers:
    """Callers who do not give up: each asks again, with the same key, until it is told."""

    def __init__(self, server):
        self.server = server
        self.answered = itertools.count(1)
        self.enough = threading.Event()

    def write(self, number):
        """The last answer; bounded, and never with another key."""
        sent = {"content": f"Note {number}", "kind": "note"}
        key = {"idempotency-key": f"write {number}"}
        end = time.monotonic() + 2 * PATIENCE
        while time.monotonic() < end:
            try:
                answer = self.server.ask("POST", "/v1/memories", sent, key)
            except (OSError, HTTPException):
                threading.Event().wait(0.05)
                continue
            if answer.status != 503:
                if next(self.answered) == KILLED_AFTER:
                    self.enough.set()
                return answer
            threading.Event().wait(0.2)
        raise AssertionError("nobody answered")


def test_idempotency_key_retries_after_a_server_kill_write_each_request_once(store_url):
    with Served(store_url) as first, ThreadPoolExecutor(WRITERS) as pool:
        writers = Writers(first)
        writing = [pool.submit(writers.write, number) for number in range(WRITERS * EACH)]
        assert writers.enough.wait(2 * PATIENCE)
        first.kill()
        with Served(store_url, port=first.port):
            answers = [each.result(3 * PATIENCE) for each in writing]
    told = {(each.status, each.data.get("detail", "")) for each in answers}
    assert told <= {(200, ""), (409, "The request was completed, but its answer was lost.")}
    with open_plainly(store_url) as book:
        kept = [memory.content for memory in book.user("ana").list(limit=1000).memories]
    assert sorted(kept) == sorted(f"Note {number}" for number in range(WRITERS * EACH))

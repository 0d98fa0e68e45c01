"""Clients that ask without a pause: each a thread with a connection of its own."""

from __future__ import annotations

import json
import random
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from http.client import HTTPConnection, HTTPException
from uuid import uuid4

from commonplace.bench.load.plan import Plan
from commonplace.bench.load.servers import HOST

_GIVES_UP_AFTER = 60.0  # seconds of asking again
_BUSY = 503


@dataclass(frozen=True, slots=True)
class Asker:
    """Whose memory is asked: a user's name, key and words that are in the memory."""

    user_id: str
    key: str
    queries: Sequence[str]


@dataclass
class Seen:
    """What one client saw."""

    recalls: list[float] = field(default_factory=list)  # seconds
    writes: list[float] = field(default_factory=list)
    acknowledged: list[tuple[str, str]] = field(default_factory=list)  # user, content
    errors: list[str] = field(default_factory=list)
    asked_again: int = 0


class Clients:
    """All of them; `run` asks for as long as the plan says. With ``again``, a request that found
    nobody is sent again, a write under the same idempotency key."""

    def __init__(self, plan: Plan, askers: Sequence[Asker], ports: Sequence[int], again: bool):
        self._plan = plan
        self._askers = askers
        self._ports = ports
        self._again = again
        self._end = 0.0

    def run(self) -> list[Seen]:
        self._end = time.monotonic() + self._plan.seconds
        seen = [Seen() for _ in range(self._plan.clients)]
        threads = [
            threading.Thread(target=self._ask_until_the_end, args=(number, each))
            for number, each in enumerate(seen)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return seen

    def _ask_until_the_end(self, number: int, seen: Seen) -> None:
        chance = random.Random(number)
        line = _Line(self._ports[number % len(self._ports)])
        while time.monotonic() < self._end:
            asker = chance.choice(self._askers)
            if chance.random() < self._plan.share_of_writes:
                self._write(line, asker, f"Note {uuid4()} of {number}", seen)
            else:
                body = {"query": chance.choice(asker.queries)}
                started = time.perf_counter()
                if self._send(line, asker, "/v1/recall", body, {}, seen):
                    seen.recalls.append(time.perf_counter() - started)
        line.close()

    def _write(self, line: _Line, asker: Asker, content: str, seen: Seen) -> None:
        body = {"content": content, "kind": "note"}
        headers = {"idempotency-key": content} if self._again else {}
        started = time.perf_counter()
        if self._send(line, asker, "/v1/memories", body, headers, seen):
            seen.writes.append(time.perf_counter() - started)
            seen.acknowledged.append((asker.user_id, content))

    def _send(
        self,
        line: _Line,
        asker: Asker,
        path: str,
        body: dict[str, str],
        headers: dict[str, str],
        seen: Seen,
    ) -> bool:
        end = time.monotonic() + _GIVES_UP_AFTER
        while True:
            try:
                status = line.post(path, body, {"authorization": f"Bearer {asker.key}", **headers})
            except (OSError, HTTPException) as error:
                line.close()
                status, told = _BUSY, type(error).__name__
            else:
                told = str(status)
            if status == 200 or (self._again and status == 409):  # it was done before the kill
                return True
            if not (self._again and status == _BUSY and time.monotonic() < end):
                seen.errors.append(told)
                return False
            seen.asked_again += 1
            time.sleep(0.05)


class _Line:
    def __init__(self, port: int):
        self._port = port
        self._connection: HTTPConnection | None = None

    def post(self, path: str, body: dict[str, str], headers: dict[str, str]) -> int:
        if self._connection is None:
            self._connection = HTTPConnection(HOST, self._port, timeout=_GIVES_UP_AFTER)
        sent = {"content-type": "application/json", **headers}
        self._connection.request("POST", path, json.dumps(body), sent)
        answer = self._connection.getresponse()
        answer.read()
        return answer.status

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

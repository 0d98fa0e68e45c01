"""Load set-ups: server and worker processes, and the clients that call them."""

from __future__ import annotations

import json
import os
import random
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from http.client import HTTPConnection, HTTPException
from types import TracebackType
from typing import Self
from uuid import uuid4

from benchmarks.fixtures import POSTGRES


@dataclass(frozen=True, slots=True)
class LoadPlan:
    users: int = 1000
    memories_each: int = 20
    clients: int = 50
    seconds: float = 60
    share_of_writes: float = 0.2
    embedder: str = "wordllama"


@dataclass(frozen=True, slots=True)
class LoadSetup:
    """Processes on one store. One that is killed is started again at once."""

    name: str
    servers: int = 1
    workers: int = 0
    is_killed: bool = False


_ONE = LoadSetup("one server")
_WITH_WORKER = LoadSetup("one server, one worker", workers=1)
_TWO = LoadSetup("two servers", servers=2)
_KILLED = LoadSetup("one server, killed and restarted", is_killed=True)


def setups_of(database: str) -> Iterator[LoadSetup]:
    """Two servers belong on PostgreSQL; on SQLite they would have to share one machine."""
    yield _ONE
    yield _WITH_WORKER
    if database == POSTGRES:
        yield _TWO
    yield _KILLED


HOST = "127.0.0.1"
_START_SECONDS = 60  # seconds


class ServerProcesses:
    """One set-up on one store; use it in a `with`, which ends all of its processes."""

    def __init__(self, setup: LoadSetup, url: str, embedder: str):
        self._embedder = embedder
        self._url = url
        self._own_work = setup.workers == 0
        self.ports = [_free_port() for _ in range(setup.servers)]
        self._servers = [self._serve(port) for port in self.ports]
        self._workers = [self._start("worker") for _ in range(setup.workers)]
        for port in self.ports:
            _wait_until_ready(port)

    def kill_and_restart(self) -> None:
        """SIGKILL for the first server, then another one on the same port."""
        self._servers[0].kill()
        self._servers[0].wait(_START_SECONDS)
        self._servers[0] = self._serve(self.ports[0])
        _wait_until_ready(self.ports[0])

    def _serve(self, port: int) -> subprocess.Popen[bytes]:
        worker = "--worker" if self._own_work else "--no-worker"
        return self._start("serve", "--port", str(port), worker)

    def _start(self, *command: str) -> subprocess.Popen[bytes]:
        where = ["--store", self._url, "--embedder", self._embedder]
        settings = {"COMMONPLACE_SERVE_KEYLESS": "false", "COMMONPLACE_TIDY_ON_OPEN": "false"}
        return subprocess.Popen(
            [sys.executable, "-m", "commonplace", *command, *where],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env={**os.environ, **settings},
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        everybody = [*self._servers, *self._workers]
        for process in everybody:
            process.terminate()
        for process in everybody:
            try:
                process.wait(_START_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait(_START_SECONDS)


def _free_port() -> int:
    with socket.socket() as found:
        found.bind((HOST, 0))
        return int(found.getsockname()[1])


def _wait_until_ready(port: int) -> None:
    end = time.monotonic() + _START_SECONDS
    while time.monotonic() < end:
        try:
            connection = HTTPConnection(HOST, port, timeout=_START_SECONDS)
            connection.request("GET", "/readyz")
            ready = connection.getresponse().status == 200
            connection.close()
        except (OSError, HTTPException):
            ready = False
        if ready:
            return
        time.sleep(0.05)
    raise TimeoutError(f"the server on port {port} does not come up")


_RETRY_SECONDS = 60.0  # seconds of asking again
_BUSY = 503


@dataclass(frozen=True, slots=True)
class LoadUser:
    """Whose memory is asked: a user's name, key and words that are in the memory."""

    user_id: str
    key: str
    queries: Sequence[str]


@dataclass
class ClientLog:
    """What one client saw."""

    recalls: list[float] = field(default_factory=list)  # seconds
    writes: list[float] = field(default_factory=list)
    acknowledged: list[tuple[str, str]] = field(default_factory=list)  # user, content
    errors: list[str] = field(default_factory=list)
    asked_again: int = 0


class LoadClients:
    """All of them; `run` asks for as long as the plan says. With ``again``, a request that found
    nobody is sent again, a write under the same idempotency key."""

    def __init__(
        self, plan: LoadPlan, askers: Sequence[LoadUser], ports: Sequence[int], again: bool
    ):
        self._plan = plan
        self._askers = askers
        self._ports = ports
        self._again = again
        self._end = 0.0

    def run(self) -> list[ClientLog]:
        self._end = time.monotonic() + self._plan.seconds
        seen = [ClientLog() for _ in range(self._plan.clients)]
        threads = [
            threading.Thread(target=self._ask_until_the_end, args=(number, each))
            for number, each in enumerate(seen)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return seen

    def _ask_until_the_end(self, number: int, seen: ClientLog) -> None:
        chance = random.Random(number)
        line = _ClientConnection(self._ports[number % len(self._ports)])
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

    def _write(
        self, line: _ClientConnection, asker: LoadUser, content: str, seen: ClientLog
    ) -> None:
        body = {"content": content, "kind": "note"}
        headers = {"idempotency-key": content} if self._again else {}
        started = time.perf_counter()
        if self._send(line, asker, "/v1/memories", body, headers, seen):
            seen.writes.append(time.perf_counter() - started)
            seen.acknowledged.append((asker.user_id, content))

    def _send(
        self,
        line: _ClientConnection,
        asker: LoadUser,
        path: str,
        body: dict[str, str],
        headers: dict[str, str],
        seen: ClientLog,
    ) -> bool:
        end = time.monotonic() + _RETRY_SECONDS
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


class _ClientConnection:
    def __init__(self, port: int):
        self._port = port
        self._connection: HTTPConnection | None = None

    def post(self, path: str, body: dict[str, str], headers: dict[str, str]) -> int:
        if self._connection is None:
            self._connection = HTTPConnection(HOST, self._port, timeout=_RETRY_SECONDS)
        sent = {"content-type": "application/json", **headers}
        self._connection.request("POST", path, json.dumps(body), sent)
        answer = self._connection.getresponse()
        answer.read()
        return answer.status

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

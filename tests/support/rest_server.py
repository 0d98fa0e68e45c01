"""A real server on loopback, in a thread of the test's own process."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from http.client import HTTPConnection
from typing import Any
from uuid import uuid4

from commonplace import settings as settings_table
from commonplace.api import Commonplace
from commonplace.surfaces.rest.server import RestServer, listening_socket, make_server

PATIENCE = 30


@dataclass(frozen=True)
class Answer:
    status: int
    headers: Mapping[str, str]  # names in small letters
    body: bytes

    @property
    def data(self) -> Any:
        return json.loads(self.body)


class Reachable:
    """A server that listens on a port of this machine; `ask` is what curl would do."""

    port: int

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def ask(
        self,
        method: str,
        path: str,
        body: Any = None,
        headers: Mapping[str, str] | None = None,
        *,
        key: str | None = None,
        raw: Any = None,  # bytes, or pieces of them
    ) -> Answer:
        sent = {"authorization": f"Bearer {key}"} if key else {}
        if body is not None:
            raw = json.dumps(body).encode("utf-8")
            sent["content-type"] = "application/json"
        connection = HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        try:
            connection.request(method, path, raw, {**sent, **(headers or {})})
            answer = connection.getresponse()
            named = {name.lower(): value for name, value in answer.getheaders()}
            return Answer(answer.status, named, answer.read())
        finally:
            connection.close()


class Running(Reachable):
    """In a thread of the test's own process."""

    def __init__(self, book: Commonplace, **flags: Any):
        chosen = settings_table.load({"serve_port": 0, "user": "ana", **flags}, environment={})
        self.server: RestServer = make_server(book, chosen)
        self.socket = listening_socket("127.0.0.1", 0)
        self.port: int = self.socket.getsockname()[1]
        self._thread = threading.Thread(target=self.server.run, args=([self.socket],), daemon=True)
        self._thread.start()

    def stop(self) -> None:
        self.server.should_exit = True
        self._thread.join(PATIENCE)
        assert not self._thread.is_alive()


class Visitor:
    """Somebody whom nobody knew before, with a key, at a server that many tests share."""

    def __init__(self, server: Running, book: Commonplace):
        self.server = server
        self.user_id = f"visitor {uuid4()}"
        self.key = book.user(self.user_id).keys_create("visiting").token

    def ask(self, *given: Any, **named: Any) -> Answer:
        return self.server.ask(*given, key=self.key, **named)


@contextmanager
def running(book: Commonplace, **flags: Any) -> Iterator[Running]:
    server = Running(book, **flags)
    try:
        yield server
    finally:
        server.stop()

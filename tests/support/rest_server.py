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
    token: str | None  # that is sent where a test gives no key; None: the server takes keys only

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def authorization(self) -> dict[str, str]:
        """For a test that opens the connection itself."""
        return {"authorization": f"Bearer {self.token}"}

    def ask(
        self,
        method: str,
        path: str,
        body: Any = None,
        headers: Mapping[str, str] | None = None,
        *,
        key: str | None = None,
        raw: Any = None,  # bytes, or pieces of them
        token: bool = True,  # False: as a stranger
    ) -> Answer:
        known = key or (self.token if token else None)
        sent = {"authorization": f"Bearer {known}"} if known else {}
        if body is not None:
            raw = json.dumps(body).encode("utf-8")
            sent["content-type"] = "application/json"
        connection = HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        try:
            given = {name.lower(): value for name, value in (headers or {}).items()}
            connection.request(method, path, raw, {**sent, **given})
            answer = connection.getresponse()
            named = {name.lower(): value for name, value in answer.getheaders()}
            return Answer(answer.status, named, answer.read())
        finally:
            connection.close()


class Running(Reachable):
    """In a thread of the test's own process."""

    def __init__(self, book: Commonplace, **flags: Any):
        chosen = settings_table.load({"serve_port": 0, "user": "ana", **flags}, environment={})
        self.socket = listening_socket("127.0.0.1", 0)
        self.port: int = self.socket.getsockname()[1]
        self.server: RestServer = make_server(book, chosen, self.port)
        known = self.server.server_context
        self.token = known.token.value if known.is_keyless else None
        self._thread = threading.Thread(target=self.server.run, args=([self.socket],), daemon=True)
        self._thread.start()

    def stop(self) -> None:
        self.server.should_exit = True
        self._thread.join(PATIENCE)
        assert not self._thread.is_alive()
        self.server.server_context.token.remove()


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

"""A server on loopback that speaks OpenAI's embeddings protocol, and misbehaves when told to."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from commonplace.language.embedders.hashing import HashingEmbedder

Misbehaviour = Callable[["_Handler", dict[str, Any]], None]


class EmbeddingServer:
    """``then`` holds what the next requests meet, one each; afterwards all is well again."""

    def __init__(self, dimension: int = 32):
        self.model = HashingEmbedder(dimension)
        self.requests: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.then: list[Misbehaviour] = []
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
        self._http.daemon_threads = True
        self._http.owner = self  # type: ignore[attr-defined]
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.01,), daemon=True)
        self._thread.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._http.server_port}/v1"

    def stop(self) -> None:
        self._http.shutdown()
        self._http.server_close()
        self._thread.join(10)


@contextmanager
def embedding_server(dimension: int = 32) -> Iterator[EmbeddingServer]:
    server = EmbeddingServer(dimension)
    try:
        yield server
    finally:
        server.stop()


class _Handler(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        owner: EmbeddingServer = self.server.owner  # type: ignore[attr-defined]
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        owner.requests.append(asked)
        owner.headers.append(dict(self.headers))
        if owner.then:
            owner.then.pop(0)(self, asked)
        elif self.path != "/v1/embeddings":
            self.reply(404, {"error": {"message": "no such path"}})
        else:
            self.reply(200, vectors_for(owner, asked))

    def reply(self, status: int, answer: Any, **headers: str) -> None:
        body = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        """Tests speak for themselves."""


def vectors_for(owner: EmbeddingServer, asked: dict[str, Any]) -> dict[str, Any]:
    """Backwards, because the protocol promises no order but that of `index`."""
    rows = owner.model.embed(asked["input"]) * 3  # not of unit length
    data = [{"index": n, "embedding": row.tolist()} for n, row in enumerate(rows)]
    return {"object": "list", "data": data[::-1], "model": asked["model"]}


def refuse(status: int, message: str = "no", **headers: str) -> Misbehaviour:
    return lambda handler, _: handler.reply(status, {"error": {"message": message}}, **headers)


def say(answer: Any) -> Misbehaviour:
    return lambda handler, _: handler.reply(200, answer)


def hang_up(handler: _Handler, _: dict[str, Any]) -> None:
    handler.close_connection = True
    handler.connection.close()


def dawdle(seconds: float) -> Misbehaviour:
    """Silent for longer than the client waits."""

    def wait(handler: _Handler, _: dict[str, Any]) -> None:
        time.sleep(seconds)
        handler.close_connection = True

    return wait

"""A loopback proxy before PostgreSQL that can swallow the answer to a COMMIT."""

from __future__ import annotations

import contextlib
import socket
import threading
from types import TracebackType
from typing import Self


class LossyProxy:
    """Forwards everything. Once `lose_next_commit` is set, the next COMMIT reaches the server, but
    its answer does not reach the client: the connection is closed instead."""

    def __init__(self, socket_path: str):
        self._upstream = socket_path
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        self.lose_next_commit = threading.Event()
        self._open: list[socket.socket] = [self._listener]
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                server = socket.socket(socket.AF_UNIX)
                server.connect(self._upstream)
                self._open += [client, server]
                losing = threading.Event()
                for source, target in ((client, server), (server, client)):
                    arguments = (source, target, losing, source is client)
                    threading.Thread(target=self._pump, args=arguments, daemon=True).start()

    def _pump(
        self,
        source: socket.socket,
        target: socket.socket,
        losing: threading.Event,
        from_client: bool,
    ) -> None:
        with contextlib.suppress(OSError):
            while data := source.recv(65536):
                if from_client and self.lose_next_commit.is_set() and b"COMMIT" in data:
                    self.lose_next_commit.clear()
                    losing.set()
                if not from_client and losing.is_set():
                    break
                target.sendall(data)
        for each in (source, target):
            with contextlib.suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for each in self._open:
            each.close()

"""Servers and workers in processes of their own, as an operator starts them."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from http.client import HTTPConnection, HTTPException
from types import TracebackType
from typing import Self

from commonplace.bench.load.plan import Setup

HOST = "127.0.0.1"
_PATIENCE = 60  # seconds


class Service:
    """One set-up on one store; use it in a `with`, which ends all of its processes."""

    def __init__(self, setup: Setup, url: str, embedder: str):
        self._embedder = embedder
        self._url = url
        self._own_work = setup.workers == 0
        self.ports = [_free_port() for _ in range(setup.servers)]
        self._servers = [self._serve(port) for port in self.ports]
        self._workers = [self._start("worker") for _ in range(setup.workers)]
        for port in self.ports:
            _wait_for(port)

    def kill_and_restart(self) -> None:
        """SIGKILL for the first server, then another one on the same port."""
        self._servers[0].kill()
        self._servers[0].wait(_PATIENCE)
        self._servers[0] = self._serve(self.ports[0])
        _wait_for(self.ports[0])

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
                process.wait(_PATIENCE)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait(_PATIENCE)


def _free_port() -> int:
    with socket.socket() as found:
        found.bind((HOST, 0))
        return int(found.getsockname()[1])


def _wait_for(port: int) -> None:
    end = time.monotonic() + _PATIENCE
    while time.monotonic() < end:
        try:
            connection = HTTPConnection(HOST, port, timeout=_PATIENCE)
            connection.request("GET", "/readyz")
            ready = connection.getresponse().status == 200
            connection.close()
        except (OSError, HTTPException):
            ready = False
        if ready:
            return
        time.sleep(0.05)
    raise TimeoutError(f"the server on port {port} does not come up")

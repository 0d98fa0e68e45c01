"""`commonplace serve` as somebody starts it: a process of its own, to be asked, ended, killed."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
import tempfile
import threading
from typing import Any, Self

from support.rest_server import PATIENCE, Reachable

_WHERE = re.compile(r"Commonplace listens on http://(?P<host>\S+):(?P<port>\d+)\n")


class Served(Reachable):
    """Use it in a `with`: leaving it ends the process, whatever happened."""

    def __init__(self, store: str, *options: str, user: str = "ana", port: int = 0):
        self._complaints = tempfile.TemporaryFile()  # noqa: SIM115 (closed on leaving)
        command = [sys.executable, "-m", "commonplace", "serve", "--store", store]
        self.process = subprocess.Popen(
            [*command, "--port", str(port), "--embedder", "hashing", "--user", user, *options],
            stdout=subprocess.PIPE,
            stderr=self._complaints,
            text=True,
        )
        self.said = self._line()
        found = _WHERE.fullmatch(self.said)
        if found is None:
            self.process.kill()
            self.process.wait(PATIENCE)
            raise AssertionError(f"it does not serve: {self.said}{self.complaints}")
        self.port = int(found["port"])
        self.who = self._line()

    def _line(self) -> str:
        """A silent process is ended, so that reading comes to its end."""
        impatience = threading.Timer(PATIENCE, self.process.kill)
        impatience.start()
        try:
            return str(self.process.stdout.readline())  # type: ignore[union-attr]
        finally:
            impatience.cancel()

    @property
    def complaints(self) -> str:
        """What it has written to stderr."""
        self._complaints.seek(0)
        return self._complaints.read().decode()

    def tell_to_stop(self, number: signal.Signals = signal.SIGTERM) -> None:
        self.process.send_signal(number)

    def exit_code(self) -> int:
        return self.process.wait(PATIENCE * 2)

    def kill(self) -> None:
        """SIGKILL: no goodbye."""
        self.process.kill()
        self.process.wait(PATIENCE)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *ended: Any) -> None:
        self.kill()
        self.process.stdout.close()  # type: ignore[union-attr]
        self._complaints.close()

"""`commonplace serve` as somebody starts it: a process of its own, to be asked, ended, killed.

Forked from the server that `processes.py` keeps, as in `program.py`: a start takes no seconds."""

from __future__ import annotations

import os
import re
import signal
import tempfile
import threading
from multiprocessing.reduction import send_handle
from pathlib import Path
from typing import Any, Self

from commonplace.settings import BY_NAME
from support.processes import CONTEXT, started
from support.program import be_the_program
from support.rest_server import PATIENCE, Reachable

_WHERE = re.compile(r"Commonplace listens on http://(?P<host>\S+):(?P<port>\d+)\n")


class Served(Reachable):
    """Use it in a `with`: leaving it ends the process, whatever happened."""

    def __init__(
        self, store: str, *options: str, user: str = "ana", port: int | None = 0, **settings: object
    ):
        """Settings that are no options of the command come from its environment."""
        named = {BY_NAME[name].variable: str(value) for name, value in settings.items()}
        self._environment = {**os.environ, **named}
        self._complaints = tempfile.TemporaryFile()  # noqa: SIM115 (closed on leaving)
        where = ["--store", store, "--embedder", "hashing", "--user", user]
        where += [] if port is None else ["--port", str(port)]
        self._start(["serve", *where, *options])
        self.said = self.next_line()
        found = _WHERE.fullmatch(self.said)
        if found is None:
            self.kill()
            raise AssertionError(f"it does not serve: {self.said}{self.complaints}")
        self.port = int(found["port"])
        self.who = self.next_line()
        token = re.search(r"/\?token=(\S+)\n", self.who)
        self.token = token[1] if token else None
        if token:
            assert "Authorization: Bearer" in self.next_line()

    def _start(self, arguments: list[str]) -> None:
        ours, theirs = CONTEXT.Pipe()
        given = (theirs, arguments, self._environment, str(Path.cwd()))
        self.process = started(be_the_program, given)
        theirs.close()
        read, write = os.pipe()
        with open(os.devnull) as nothing:
            for handle in (nothing.fileno(), write, self._complaints.fileno()):
                send_handle(ours, handle, self.process.pid)
            assert ours.recv() == "begun"  # until then the handles are on their way
        os.close(write)
        ours.close()
        self._said = os.fdopen(read, encoding="utf-8")

    def next_line(self) -> str:
        """A silent process is ended, so that reading comes to its end."""
        impatience = threading.Timer(PATIENCE, self.process.kill)
        impatience.start()
        try:
            return self._said.readline()
        finally:
            impatience.cancel()

    @property
    def complaints(self) -> str:
        """What it has written to stderr."""
        where = os.fstat(self._complaints.fileno()).st_size
        return os.pread(self._complaints.fileno(), where, 0).decode()

    @property
    def admin_key(self) -> str:
        """What the first start on a store shows once. Asked for it, the server has started, and it
        shows the key before."""
        assert self.ask("GET", "/readyz").status == 200
        found = re.search(r"^  (cpk_\S+)$", self.complaints, re.MULTILINE)
        assert found is not None, self.complaints
        return found[1]

    def tell_to_stop(self, number: signal.Signals = signal.SIGTERM) -> None:
        assert self.process.pid is not None
        os.kill(self.process.pid, number)

    def exit_code(self) -> int | None:
        self.process.join(PATIENCE * 2)
        return self.process.exitcode

    def kill(self) -> None:
        """SIGKILL: no goodbye."""
        self.process.kill()
        self.process.join(PATIENCE)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *ended: Any) -> None:
        self.kill()
        self._said.close()
        self._complaints.close()

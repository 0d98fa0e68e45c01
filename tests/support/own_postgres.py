"""A PostgreSQL of one's own: to kill, to starve, and to start again."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Self

import psutil
import psycopg

from support.pgserver import get_server
from support.processes import PATIENCE


class OwnServer:
    """Use it in a `with`; leaving it stops the server and removes what it kept."""

    def __init__(self, folder: Path | None = None):
        # A short path without spaces: the socket lives in it, and sockets have short names.
        self.folder = folder or Path(tempfile.mkdtemp(prefix="cp-own-"))
        self._elsewhere = Path(tempfile.mkdtemp(prefix="cp-wal-"))
        self._server = get_server(self.folder, cleanup_mode=None)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()
        self._server.global_process_id_list.get_and_remove(os.getpid())
        for folder in (self.folder, self._elsewhere):
            shutil.rmtree(folder, ignore_errors=True)

    def database(self, name: str) -> str:
        with psycopg.connect(self._server.get_uri(), autocommit=True) as admin:
            admin.execute(f"CREATE DATABASE {name}")  # type: ignore[arg-type]
        return self._server.get_uri(database=name)

    def kill(self) -> None:
        """As when the power of the database's machine fails, as far as a test can go."""
        postmaster = psutil.Process(self._server.get_pid())
        family = [postmaster, *postmaster.children(recursive=True)]
        os.kill(postmaster.pid, signal.SIGKILL)
        _, alive = psutil.wait_procs(family, timeout=PATIENCE)
        assert not alive, "the server's processes did not end"

    def start(self) -> None:
        """Recovery after a crash takes a moment, and the first attempts may come too early."""
        deadline = time.monotonic() + PATIENCE
        while True:
            try:
                self._server.ensure_postgres_running()
                return
            except subprocess.SubprocessError:
                assert time.monotonic() < deadline, "the server did not come back"
                time.sleep(0.2)

    def stop(self) -> None:
        self._server.stop()

    def put_log_elsewhere(self) -> None:
        """The write-ahead log on another disk: where it shares a full one, the server itself stops
        (and says so as store_unavailable) before any client hears of the disk."""
        self._elsewhere.chmod(0o755)
        log = self.folder / "pg_wal"
        self.stop()
        subprocess.run(["cp", "-a", str(log), str(self._elsewhere)], check=True)  # keeps the owner
        shutil.rmtree(log)
        log.symlink_to(self._elsewhere / "pg_wal")
        self.start()

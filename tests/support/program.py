"""The command as a program: a process of its own, with arguments, pipes, environment, exit code.

The processes are forked from the server that `processes.py` keeps, which has the imports done:
half a second less for each command, and otherwise what a shell would start."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from multiprocessing.connection import Connection
from multiprocessing.reduction import recv_handle, send_handle
from pathlib import Path
from typing import IO

from commonplace.surfaces.cli.main import main
from support.processes import CONTEXT, PATIENCE, started


def run(
    arguments: Sequence[str],
    *,
    environment: Mapping[str, str],
    stdin: str = "",
    folder: Path | None = None,
) -> subprocess.CompletedProcess[str]:
    """As `subprocess.run` of `python -m commonplace` with these arguments, its output captured."""
    where = str(folder or Path.cwd())
    with tempfile.TemporaryFile() as given, _file() as said, _file() as complained:
        given.write(stdin.encode())
        given.seek(0)
        ours, theirs = CONTEXT.Pipe()
        process = started(be_the_program, (theirs, list(arguments), dict(environment), where))
        theirs.close()
        for file in (given, said, complained):
            send_handle(ours, file.fileno(), process.pid)
        process.join(PATIENCE)
        if process.exitcode is None:
            process.kill()
            process.join()
        code = process.exitcode
        assert code is not None
        ours.close()
        process.close()
        return subprocess.CompletedProcess(list(arguments), code, _text(said), _text(complained))


def _file() -> IO[bytes]:
    return tempfile.TemporaryFile()


def _text(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read().decode()


def be_the_program(
    pipe: Connection, arguments: list[str], environment: dict[str, str], folder: str
) -> None:
    for number in (0, 1, 2):
        handle = recv_handle(pipe)
        os.dup2(handle, number)
        os.close(handle)
    pipe.send("begun")
    pipe.close()
    sys.stdin = os.fdopen(0, encoding="utf-8", closefd=False)
    sys.stdout = os.fdopen(1, "w", encoding="utf-8", closefd=False)
    sys.stderr = os.fdopen(2, "w", encoding="utf-8", closefd=False, buffering=1)
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(folder)
    sys.argv = ["commonplace", *arguments]
    main()

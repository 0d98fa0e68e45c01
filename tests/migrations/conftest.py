"""Databases in which nothing is yet, and processes that open them."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from support import opening
from support.postgres import Server

WAIT = 60  # seconds at most, for what happens at once


@pytest.fixture(params=("sqlite", "postgres"))
def new_url(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[], str]:
    """Makes addresses of empty databases, all of one kind."""
    if request.param == "postgres":
        server: Server = request.getfixturevalue("postgres")
        return server.empty_database
    names = iter(range(100))
    return lambda: str(tmp_path / f"{next(names)}.db")


@pytest.fixture
def url(new_url: Callable[[], str]) -> str:
    return new_url()


@pytest.fixture
def opener() -> Iterator[Callable[..., subprocess.Popen[str]]]:
    """Starts processes that stand ready to open a store as soon as they get a line."""
    started: list[subprocess.Popen[str]] = []

    def start(*arguments: str) -> subprocess.Popen[str]:
        tests = Path(opening.__file__).parent.parent
        paths = os.pathsep.join([str(tests), *filter(None, [os.environ.get("PYTHONPATH")])])
        process = subprocess.Popen(
            [sys.executable, opening.__file__, *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": paths},
        )
        started.append(process)
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        return process

    yield start
    for process in started:
        process.kill()
        process.communicate(timeout=WAIT)

"""`python -m benchmarks startup`: how long processes take to start.

Each command runs in a fresh process, in turns with an empty Python and with numpy alone, so that a
busy machine slows all of them. ``--beside DIR`` measures another checkout of the package in the
same turns. CPU seconds depend less on other work than seconds do.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from rich.console import Console
from rich.table import Table

_OWN = Path(__file__).resolve().parents[2] / "src"
_CLI = ("-m", "commonplace")
_QUESTION = "What is the wifi password of the office?"
_INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "benchmark", "version": "1"},
    },
}


@dataclass(frozen=True, slots=True)
class Start:
    seconds: float
    cpu: float


@dataclass(frozen=True, slots=True)
class Checkout:
    name: str
    source: Path

    def environment(self, store: Path) -> dict[str, str]:
        own = {"PYTHONPATH": str(self.source), "COMMONPLACE_STORE": str(store)}
        kept = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
        return {**kept, **own, "COMMONPLACE_USER": "ana"}


def main(arguments: list[str]) -> None:
    asked = _parser().parse_args(arguments)
    checkouts = [Checkout("this", _OWN)]
    if asked.beside:
        checkouts.append(Checkout("beside", asked.beside.resolve() / "src"))
    with tempfile.TemporaryDirectory() as folder:
        starts = _measure(checkouts, Path(folder), asked.rounds)
    Console(width=None if sys.stdout.isatty() else 100).print(_table(starts))


def _measure(
    checkouts: Sequence[Checkout], folder: Path, rounds: int
) -> Mapping[str, Sequence[Start]]:
    methods: dict[str, Callable[[], Start]] = {
        "python": lambda: _run({**os.environ}, "-c", "pass"),
        "import numpy": lambda: _run({**os.environ}, "-c", "import numpy"),
    }
    for checkout in checkouts:
        environment = checkout.environment(folder / f"{checkout.name}.db")
        _run(environment, *_CLI, "remember", "The wifi password of the office is tulip42")
        for name, method in _starts_of(environment).items():
            methods[f"{name} ({checkout.name})"] = method
    for method in methods.values():  # compiles the sources, fills the file cache
        method()
    found: dict[str, list[Start]] = {name: [] for name in methods}
    for _ in range(rounds):
        for name, method in methods.items():
            found[name].append(method())
    return found


def _starts_of(environment: Mapping[str, str]) -> dict[str, Callable[[], Start]]:
    return {
        "import commonplace": lambda: _run(environment, "-c", "import commonplace"),
        "commonplace.open": lambda: _run(
            environment, "-c", "import commonplace; commonplace.open().close()"
        ),
        "commonplace --help": lambda: _run(environment, *_CLI, "--help"),
        "commonplace recall": lambda: _run(environment, *_CLI, "recall", _QUESTION),
        "commonplace mcp, ready": lambda: _answered(environment, _INITIALIZE),
    }


def _run(environment: Mapping[str, str], *arguments: str) -> Start:
    return _timed(
        lambda: subprocess.run(
            [sys.executable, *arguments],
            env=environment,
            stdout=subprocess.DEVNULL,
            check=True,
        )
    )


def _answered(environment: Mapping[str, str], request: Mapping[str, object]) -> Start:
    """Until the first answer; the CPU seconds are those of the whole process."""
    answered = 0.0

    def serve() -> None:
        nonlocal answered
        start = time.perf_counter()
        with subprocess.Popen(
            [sys.executable, *_CLI, "mcp"],
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        ) as server:
            assert server.stdin is not None
            assert server.stdout is not None
            print(json.dumps(request), file=server.stdin, flush=True)
            server.stdout.readline()
            answered = time.perf_counter() - start
            server.stdin.close()

    cpu = _timed(serve).cpu
    return Start(answered, cpu)


def _timed(method: Callable[[], object]) -> Start:
    before, start = _children_cpu(), time.perf_counter()
    method()
    return Start(time.perf_counter() - start, _children_cpu() - before)


def _children_cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _table(starts: Mapping[str, Sequence[Start]]) -> Table:
    table = Table("start", "median s", "median CPU s", "× import numpy (CPU)")
    numpy_cpu = median(each.cpu for each in starts["import numpy"])
    for name, found in starts.items():
        cpu = median(each.cpu for each in found)
        seconds = median(each.seconds for each in found)
        table.add_row(name, f"{seconds:.2f}", f"{cpu:.2f}", f"{cpu / numpy_cpu:.1f}")
    return table


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks startup", description="How long processes take to start."
    )
    parser.add_argument("--rounds", type=int, default=9, help="measurements of each (default: 9)")
    parser.add_argument("--beside", type=Path, help="another checkout, measured in the same turns")
    return parser

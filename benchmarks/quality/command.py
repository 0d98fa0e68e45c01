"""`python -m benchmarks quality`: run, show progress, print tables or JSON."""

from __future__ import annotations

import argparse
import os
import platform
import sqlite3
import sys
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

import commonplace
from benchmarks.quality import report
from benchmarks.quality.run import CHOICES, QualityResults, available_sets, data_folder, run_quality
from commonplace.api import make_embedder
from commonplace.errors import CommonplaceError, InvalidInput

PAGE = Path("docs") / "benchmarks.md"
EMBEDDER = "wordllama"


def run_command(
    data: Path | None = None,
    sets: Sequence[str] = (),
    embedders: Sequence[str] = (),
    as_json: bool = False,
    store: str | None = None,
    floors: Sequence[float] = (),
    page: Path | None = None,
) -> None:
    """Raises CommonplaceError, with a message for the user, when it cannot be done."""
    unknown = [name for name in sets if name not in CHOICES]
    if unknown:
        raise InvalidInput(
            f"There is no set {unknown[0]!r}.", remedy=f"Use: {', '.join(CHOICES)}.", field="set"
        )
    folder = data_folder(data)
    chosen = available_sets(folder, sets)
    models = [make_embedder(name) for name in embedders or [EMBEDDER]]
    if as_json and len(models) > 1:
        raise InvalidInput("JSON has room for one embedder.", field="embedder")
    runs: list[tuple[QualityResults, str]] = []
    for model in models:
        with _RichProgressBar() as bar:
            runs.append((run_quality(folder, chosen, model, bar, store, floors), model.name))
        if not as_json:
            report.show(*runs[-1], Console(width=None if sys.stdout.isatty() else 120))
    if as_json:
        sys.stdout.write(report.as_json(runs[0][0]))
    if page:
        report.write(page, runs, _machine())


class _RichProgressBar:
    """On the error channel, so that what is printed can be piped."""

    def __init__(self) -> None:
        self._progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            console=Console(stderr=True),
        )
        self._task = self._progress.add_task("reading")

    def start(self, what: str, steps: int) -> None:
        self._progress.remove_task(self._task)
        self._task = self._progress.add_task(what, total=steps)

    def step(self) -> None:
        self._progress.advance(self._task)

    def __enter__(self) -> _RichProgressBar:
        self._progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._progress.stop()


def _machine() -> dict[str, str]:
    return {
        "commonplace": commonplace.__version__,
        "Python": platform.python_version(),
        "SQLite": sqlite3.sqlite_version,
        "system": f"{platform.system()} {platform.release()}, {os.cpu_count()} cores",
    }


def main(arguments: Sequence[str]) -> None:
    """`python -m benchmarks quality`."""
    asked = _parser().parse_args(arguments)
    try:
        run_command(
            asked.data,
            asked.set or (),
            asked.embedder or (),
            asked.json,
            asked.store,
            asked.floor or (),
            asked.write,
        )
    except CommonplaceError as error:
        sys.exit(f"{error.message} {error.remedy}")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks quality", description=__doc__)
    parser.add_argument(
        "--data", type=Path, metavar="DIR", help="folder of the data sets (COMMONPLACE_BENCH_DATA)"
    )
    parser.add_argument("--set", action="append", metavar="NAME", help=", ".join(CHOICES))
    parser.add_argument("--embedder", action="append", metavar="NAME", help="may be repeated")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument(
        "--store", metavar="URL", help="store to measure with; default: a temporary SQLite file"
    )
    parser.add_argument(
        "--floor",
        action="append",
        type=float,
        metavar="X",
        help="recall_floor to measure abstention with; may be repeated",
    )
    parser.add_argument(
        "--write",
        type=Path,
        nargs="?",
        const=PAGE,
        metavar="PAGE",
        help=f"write the report ({PAGE})",
    )
    return parser

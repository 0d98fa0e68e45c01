"""`python -m commonplace.bench extract`: what extraction finds in labelled conversations and in
text that others have marked (`ner/` in `../shared/data` or the folder in COMMONPLACE_BENCH_DATA),
and how fast."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.markup import escape

from commonplace.bench.extracting import read
from commonplace.bench.extracting_labels import SETS, read_conversations
from commonplace.bench.extracting_speed import speed_table
from commonplace.bench.extracting_tables import (
    by_language,
    by_relationship,
    by_sort,
    mistakes,
    targets,
)
from commonplace.bench.labels import OPEN, SEALED
from commonplace.bench.report import Report
from commonplace.bench.spotting import compare, read_english, read_hebrew
from commonplace.bench.truth_command import write_between_markers
from commonplace.language.extracting.extract import extract
from commonplace.language.extracting.spot import spot

PAGE = Path("docs/extraction.md")
CONVERSATIONS, SPEED, NAMES = PARTS = ("conversations", "speed", "names")
RULES = "rules"
NO_CAPITALS = "Hebrew has no capitals, so the baseline finds nothing."


def main(arguments: Sequence[str]) -> None:
    asked = _parser().parse_args(arguments)
    if asked.show and asked.half == SEALED:
        sys.exit("The sealed half shows no items: rules are tuned on the others.")
    console = Console(width=None if sys.stdout.isatty() else 120)
    report = Report(machine={})
    parts = (asked.only,) if asked.only else PARTS
    if CONVERSATIONS in parts:
        for half in (asked.half,) if asked.half else SETS:
            _add_conversations(report, asked.data, half, console if asked.show else None)
    if SPEED in parts:
        report.tables.append(speed_table(read_conversations(asked.data, OPEN)))
    if NAMES in parts:
        _add_names(report, asked.marked, console)
    report.print(console)
    if asked.write:
        write_between_markers(asked.write, report.tables)


def _add_conversations(report: Report, folder: Path, half: str, shown: Console | None) -> None:
    readings = read(read_conversations(folder, half), extract)
    report.tables.append(by_language(readings, half))
    report.targets += targets(readings, half)
    if half == SEALED:  # which types go wrong there would be a hint to tune by
        return
    report.tables += [by_sort(readings, half), by_relationship(readings, half)]
    if shown:
        for line in mistakes(readings):
            shown.print(escape(line), highlight=False, soft_wrap=True)


def _add_names(report: Report, folder: Path, console: Console) -> None:
    if not folder.is_dir():
        console.print(f"Names: not measured, there is no folder {folder}.", highlight=False)
        return
    for compared in (
        compare("English posts", read_english(folder), {RULES: spot}),
        compare("Hebrew news", read_hebrew(folder), {RULES: spot}, (NO_CAPITALS,)),
    ):
        report.tables.append(compared.table())
        report.targets += compared.targets()


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m commonplace.bench extract", description=__doc__
    )
    parser.add_argument("--half", choices=SETS, help="all, when not given")
    parser.add_argument("--only", choices=PARTS, help="all, when not given")
    parser.add_argument(
        "--show", action="store_true", help="what is wrong, except in the sealed half"
    )
    parser.add_argument("--data", type=Path, default=Path("labelled"), metavar="FOLDER")
    parser.add_argument("--marked", type=Path, default=_marked(), metavar="FOLDER")
    parser.add_argument(
        "--write", type=Path, nargs="?", const=PAGE, metavar="PAGE", help=f"into {PAGE}"
    )
    return parser


def _marked() -> Path:
    shared = os.environ.get("COMMONPLACE_BENCH_DATA") or Path("..") / "shared" / "data"
    return Path(shared) / "ner"

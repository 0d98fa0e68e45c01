"""Simulated year: what a memory holds after months of chats, with nights and without.

One person's conversations, five a day, made up from a seed: facts that change, events, projects,
weekly appointments, small talk, some of it in Hebrew. After each day a night, on Sundays with the
weekly tasks. At the end of each month all planted questions whose answer was told are asked in a
copy of the store.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from rich.console import Console

from benchmarks.report import Report
from benchmarks.year.generate import FIRST_DAY, GeneratedYear
from benchmarks.year.measure import play_months, table_of
from benchmarks.year.play import Night, awake, sleeping

MONTHS = 12
NIGHTS: dict[str, Night] = {"with nights": sleeping, "without nights": awake}


def days_of(months: int) -> int:
    """Until the end of the last of so many months."""
    end = FIRST_DAY.replace(month=months + 1) if months < MONTHS else FIRST_DAY.replace(year=2026)
    return (end - FIRST_DAY).days


def main(arguments: list[str]) -> None:
    asked = _parser().parse_args(arguments)
    notices = Console(stderr=True)
    report = Report(machine={})
    for embedder in asked.embedder or ["wordllama"]:
        for name, night in NIGHTS.items():
            if asked.only in (None, name.split()[0]):
                title = f"A simulated year {name}, {embedder}, seed {asked.seed}"
                notices.print(title)
                year = GeneratedYear(asked.seed)
                months = play_months(year, days_of(asked.months), embedder, night, notices.print)
                report.tables.append(table_of(months, title))
    report.print(Console(width=None if sys.stdout.isatty() else 200))
    if asked.json:
        asked.json.write_text(report.as_json(), encoding="utf-8")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks year",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    months = range(1, MONTHS + 1)
    parser.add_argument("--months", type=int, choices=months, default=MONTHS, metavar="N")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", choices=("with", "without"), help="with or without nights")
    parser.add_argument("--embedder", action="append", help="may be repeated (wordllama)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the results as JSON")
    return parser

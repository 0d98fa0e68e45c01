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

from benchmarks.report import Report, as_markdown
from benchmarks.year.generate import FIRST_DAY, GeneratedYear
from benchmarks.year.measure import YearMonth, comparison_of, play_months, table_of
from benchmarks.year.play import Night, awake, sleeping

MONTHS = 12
PAGE = Path("docs/sleep.md")
BEGIN, END = "<!-- year: begin -->", "<!-- year: end -->"
NIGHTS: dict[str, Night] = {"with nights": sleeping, "without nights": awake}


def days_of(months: int) -> int:
    """Until the end of the last of so many months."""
    end = FIRST_DAY.replace(month=months + 1) if months < MONTHS else FIRST_DAY.replace(year=2026)
    return (end - FIRST_DAY).days


def main(arguments: list[str]) -> None:
    parser = _parser()
    asked = parser.parse_args(arguments)
    if asked.write and asked.only:
        parser.error("--write compares both: leave out --only")
    report = Report(machine={})
    for embedder in asked.embedder or ["wordllama"]:
        measured = _measure(asked, embedder)
        for name, months in measured.items():
            title = f"A simulated year {name}, {embedder}, seed {asked.seed}"
            report.tables.append(table_of(months, title))
        if asked.write:
            title = f"With nights and without, {embedder}"
            with_nights, without = measured.values()
            write_between_markers(
                asked.write, as_markdown(comparison_of(with_nights, without, title))
            )
    report.print(Console(width=None if sys.stdout.isatty() else 200))
    if asked.json:
        asked.json.write_text(report.as_json(), encoding="utf-8")


def _measure(asked: argparse.Namespace, embedder: str) -> dict[str, list[YearMonth]]:
    notices, measured = Console(stderr=True), {}
    for name, night in NIGHTS.items():
        if asked.only in (None, name.split()[0]):
            notices.print(f"{name}, {embedder}")
            days = days_of(asked.months)
            measured[name] = play_months(
                GeneratedYear(asked.seed), days, embedder, night, notices.print
            )
    return measured


def write_between_markers(page: Path, text: str) -> None:
    before, begin, rest = page.read_text(encoding="utf-8").partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        sys.exit(f"{page} has no place for the table, between {BEGIN} and {END}.")
    page.write_text(f"{before}{BEGIN}\n\n{text}\n\n{END}{after}", encoding="utf-8")


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
    parser.add_argument(
        "--write",
        type=Path,
        nargs="?",
        const=PAGE,
        metavar="PAGE",
        help=f"write the comparison into a page ({PAGE})",
    )
    return parser

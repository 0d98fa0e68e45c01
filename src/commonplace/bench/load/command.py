"""`python -m commonplace.bench load`: many clients against real servers, and a table of it."""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path

from rich.console import Console

from commonplace.bench.databases import databases
from commonplace.bench.load.plan import Plan
from commonplace.bench.load.run import COLUMNS, measure
from commonplace.bench.report import Report, Table
from commonplace.bench.run import machine
from commonplace.bench.truth_command import write_between_markers

PAGE = Path("docs/service-load.md")
_TOLD = ("processor", "system", "Python", "SQLite", "PostgreSQL")  # of the machine
_SMOKE = {"users": 50, "clients": 10, "seconds": 5.0}


def main(arguments: Sequence[str]) -> None:
    asked = _parser().parse_args(arguments)
    given = {each.name: getattr(asked, each.name) for each in fields(Plan)}
    plan = Plan(**{**given, **(_SMOKE if asked.smoke else {})})
    console = Console(width=None if sys.stdout.isatty() else 160)
    notices = Console(stderr=True)
    table = Table("load", _title(plan), COLUMNS)
    with (
        tempfile.TemporaryDirectory(prefix="cp-load-", dir=asked.folder) as folder,
        databases(Path(folder)) as found,
    ):
        for number, database in enumerate(found):
            if asked.only in (None, database.name.lower()):
                measure(database, number, plan, table, notices.print)
        about = machine(found)
        table.notes += [f"{name}: {about[name]}" for name in _TOLD if name in about]
    Report(machine={}, tables=[table]).print(console)
    if asked.write:
        write_between_markers(asked.write, [table])


def _title(plan: Plan) -> str:
    return (
        f"{plan.clients} clients, {plan.users:,} users with {plan.memories_each} memories each, "
        f"{1 - plan.share_of_writes:.0%} recall and {plan.share_of_writes:.0%} remember, "
        f"{plan.seconds:g} s, embedder {plan.embedder}"
    )


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m commonplace.bench load", description=__doc__)
    for each in fields(Plan):
        kind = type(each.default)
        option = f"--{each.name.replace('_', '-')}"
        parser.add_argument(option, type=kind, default=each.default, help="(%(default)s)")
    parser.add_argument("--only", choices=("sqlite", "postgresql"), help="one database")
    parser.add_argument("--smoke", action="store_true", help="a few users, clients and seconds")
    parser.add_argument("--folder", metavar="DIR", help="where SQLite's file lies")
    parser.add_argument(
        "--write", type=Path, nargs="?", const=PAGE, metavar="PAGE", help=f"into {PAGE}"
    )
    return parser

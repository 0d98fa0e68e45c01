"""`python -m commonplace.bench understanding`: judge the labelled messages, print, and on request
write."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from rich.console import Console
from rich.markup import escape

from commonplace.bench.asking import Judged, follow_ups, judge, read_messages, searches, target
from commonplace.bench.labels import HALVES, OPEN, SEALED
from commonplace.bench.report import Report
from commonplace.bench.truth_command import write_between_markers

PAGE = Path("docs/understanding.md")


def main(arguments: Sequence[str]) -> None:
    asked = _parser().parse_args(arguments)
    if asked.show and asked.half == SEALED:
        sys.exit("The sealed half shows no items: rules are tuned on the open one.")
    console = Console(width=None if sys.stdout.isatty() else 120)
    report = Report(machine={})
    for half in (asked.half,) if asked.half else HALVES:
        said = judge(read_messages(asked.data, "searches", half))
        meant = judge(read_messages(asked.data, "followups", half))
        report.tables += [searches(said, half), follow_ups(meant, half)]
        report.targets.append(target(said, half))
        if asked.show and half == OPEN:
            for line in _wrong(said, meant):
                console.print(escape(line), highlight=False, soft_wrap=True)
    report.print(console)
    if asked.write:
        write_between_markers(asked.write, report.tables)


def _wrong(said: Sequence[Judged], meant: Sequence[Judged]) -> Iterator[str]:
    for each in said:
        if not each.says_rightly:
            wanted = "needed" if each.message.needed else "not needed"
            yield f"{each.message.id}: {each.message.message}"
            yield f"    wanted: {wanted}; {'; '.join(each.made.reasons)}"
    for each in meant:
        if not each.expands_rightly:
            yield f"{each.message.id}: {each.message.message} → {each.made.query}"


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m commonplace.bench understanding", description=__doc__
    )
    parser.add_argument("--half", choices=HALVES, help="both, when not given")
    parser.add_argument("--show", action="store_true", help="what is wrong in the open half")
    parser.add_argument("--data", type=Path, default=Path("labelled"), metavar="FOLDER")
    parser.add_argument(
        "--write", type=Path, nargs="?", const=PAGE, metavar="PAGE", help=f"into {PAGE}"
    )
    return parser

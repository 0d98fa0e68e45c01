"""`python -m commonplace.bench observe`: what observing keeps of labelled turns."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from rich.console import Console
from rich.markup import escape

from commonplace.bench.labels import HALVES, OPEN, SEALED
from commonplace.bench.report import Report
from commonplace.bench.truth_command import write_between_markers
from commonplace.bench.turns import Seen, by_case, by_language, observe, read_turns, targets

PAGE = Path("docs/observe.md")


def main(arguments: Sequence[str]) -> None:
    asked = _parser().parse_args(arguments)
    if asked.show and asked.half == SEALED:
        sys.exit("The sealed half shows no items: rules are tuned on the open one.")
    console = Console(width=None if sys.stdout.isatty() else 120)
    report = Report(machine={})
    for half in (asked.half,) if asked.half else HALVES:
        seen = observe(read_turns(asked.data, half))
        # Which cases of the sealed half go wrong would be a hint to tune by.
        report.tables += [by_language(seen, half), *([by_case(seen, half)] if half == OPEN else [])]
        report.targets += targets(seen, half)
        if asked.show and half == OPEN:
            for line in _mistakes(seen):
                console.print(escape(line), highlight=False, soft_wrap=True)
    report.print(console)
    if asked.write:
        write_between_markers(asked.write, report.tables)


def _mistakes(seen: Sequence[Seen]) -> Iterator[str]:
    for each in seen:
        if each.wrong or each.found < each.turn.wanted:
            yield f"{each.turn.id}: {each.turn.text!r}"
            yield from (f"    wrong: {one}" for one in each.wrong)
            if each.found < each.turn.wanted:
                yield f"    found {each.found} of {each.turn.wanted}; kept {each.kept}"


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m commonplace.bench observe", description=__doc__
    )
    parser.add_argument("--half", choices=HALVES, help="both, when not given")
    parser.add_argument("--show", action="store_true", help="what is wrong in the open half")
    parser.add_argument("--data", type=Path, default=Path("labelled"), metavar="FOLDER")
    parser.add_argument(
        "--write", type=Path, nargs="?", const=PAGE, metavar="PAGE", help=f"into {PAGE}"
    )
    return parser

"""`python -m commonplace.bench walks`: how fast a large graph is walked and explored, and what that
adds to recall: the arms over published triples, and a graph of our own extraction (`multihop/` and
`locomo/` in `../shared/data` or the folder in COMMONPLACE_BENCH_DATA)."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

from commonplace.bench.cypher_speed import cypher_table
from commonplace.bench.quality.graph_arms import measure
from commonplace.bench.quality.own_graph import measure_own
from commonplace.bench.quality.run import data_folder
from commonplace.bench.report import Report
from commonplace.bench.walk_speed import speed_table
from commonplace.book import make_embedder

SPEED, CYPHER, ARMS, OWN = PARTS = ("speed", "cypher", "arms", "own")


def main(arguments: Sequence[str]) -> None:
    asked = _parser().parse_args(arguments)
    report = Report(machine={})
    parts = (asked.only,) if asked.only else PARTS
    if SPEED in parts:
        report.tables.append(speed_table())
    if CYPHER in parts:
        report.tables.append(cypher_table())
    for part, measuring in ((ARMS, measure), (OWN, measure_own)):
        if part in parts:
            model = make_embedder(asked.embedder)
            report.tables += measuring(data_folder(asked.data), model, lambda: None)
    report.print(Console(width=None if sys.stdout.isatty() else 120))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m commonplace.bench walks", description=__doc__)
    parser.add_argument("--only", choices=PARTS)
    parser.add_argument("--embedder", default="wordllama")
    parser.add_argument("--data", type=Path, metavar="FOLDER")
    return parser

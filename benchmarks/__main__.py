"""`python -m benchmarks [NAME]`: run one benchmark; without a name, measure speed.

Benchmarks: `truth` (are duplicates, updates and conflicts recognised?), `understanding` (are
messages interpreted correctly?), `observe` (which memories are made from a conversation?),
`findings` (which findings of a model pass its check?),
`everyday` (what is known and answered after months of chats?), `year` (what a memory holds after a
simulated year with a night after each day), `night` (how long a night takes), `extract` (which
nodes and relationships are extracted?), `walks` (speed of graph queries, and their effect on
recall), `quality` (does recall find the right items?), `embedders` (quality of each embedder, and
speed of changing to it), `load` (throughput of real servers with many clients) and `startup` (how
long processes take to start).
`python -m benchmarks NAME --help` lists the options of one.
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from rich.console import Console

from benchmarks.embedders import main as embedders
from benchmarks.judgement.everyday import main as everyday
from benchmarks.judgement.extraction import main as extracting
from benchmarks.judgement.findings import main as findings
from benchmarks.judgement.observe import main as observe
from benchmarks.judgement.truth import main as truth
from benchmarks.judgement.understanding import main as understanding
from benchmarks.load import main as load
from benchmarks.measure import PASSAGES, SIZES, USERS, SpeedPlan, quick_plan
from benchmarks.quality.command import main as quality
from benchmarks.quality.report import kept_section
from benchmarks.speed.night import main as night
from benchmarks.speed.run import run_speed
from benchmarks.speed.startup import main as startup
from benchmarks.walks import main as walks
from benchmarks.year.command import main as year

_ONE_THREAD = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1")


def main(arguments: list[str]) -> None:
    _restart_with_one_thread(arguments)
    others = {
        "truth": truth,
        "understanding": understanding,
        "observe": observe,
        "findings": findings,
        "everyday": everyday,
        "year": year,
        "night": night,
        "extract": extracting,
        "walks": walks,
        "embedders": embedders,
        "quality": quality,
        "load": load,
        "startup": startup,
    }
    if arguments and arguments[0] in others:
        others[arguments[0]](arguments[1:])
        return
    asked = _parser().parse_args(arguments)
    plan = SpeedPlan(
        sizes=asked.sizes, users=asked.users, peers=not asked.no_peers, passages=asked.passages
    )
    console = Console(width=None if sys.stdout.isatty() else 120)
    notices = Console(stderr=True)
    report = run_speed(quick_plan(plan) if asked.quick else plan, notices.print)
    report.print(console)
    if asked.json:
        asked.json.write_text(report.as_json(), encoding="utf-8")
    if asked.markdown:
        kept = kept_section(asked.markdown)
        asked.markdown.write_text(report.as_markdown() + kept, encoding="utf-8")


def _restart_with_one_thread(arguments: list[str]) -> None:
    """numpy reads these when it is first imported, which has happened: begin again with them."""
    if any(os.environ.get(name) != value for name, value in _ONE_THREAD.items()):
        os.execve(
            sys.executable,
            [sys.executable, "-m", "benchmarks", *arguments],
            {**os.environ, **_ONE_THREAD},
        )


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    for option, default, what in (
        ("--sizes", SIZES, "numbers of memories of one user"),
        ("--passages", PASSAGES, "numbers of passages of one user"),
    ):
        parser.add_argument(
            option,
            type=lambda text: tuple(int(size) for size in text.split(",")),
            default=default,
            help=f"{what}, separated by commas (%(default)s)",
        )
    parser.add_argument(
        "--users",
        type=int,
        default=USERS,
        help="number of users in the store with many users (%(default)s)",
    )
    parser.add_argument("--quick", action="store_true", help="at most 10,000 memories, 30 users")
    parser.add_argument("--no-peers", action="store_true", help="do not measure other libraries")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the results as JSON")
    parser.add_argument("--markdown", type=Path, metavar="FILE", help="write a Markdown report")
    return parser


if __name__ == "__main__":
    main(sys.argv[1:])

"""`python -m benchmarks [NAME]`: run one benchmark; without a name, measure speed.

`python -m benchmarks truth` measures judgement instead of speed, `… understanding` how
messages are understood, `… observe` what is kept of a conversation, `… extract` what knowledge is
found in one, `… walks` how fast a graph is walked and what that adds to recall, `… quality` whether
the right things come back, `… embedders` how well each embedder sees and how fast a store changes
over to it, and `… load` what real servers do for many clients at once.
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from rich.console import Console

from benchmarks.embedders import main as embedders
from benchmarks.judgement.extraction import main as extracting
from benchmarks.judgement.observe import main as observe
from benchmarks.judgement.truth import main as truth
from benchmarks.judgement.understanding import main as understanding
from benchmarks.load import main as load
from benchmarks.measure import PASSAGES, SIZES, USERS, SpeedPlan, quick_plan
from benchmarks.quality.command import main as quality
from benchmarks.quality.report import kept_section
from benchmarks.speed.run import run_speed
from benchmarks.walks import main as walks

_ONE_THREAD = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1")


def main(arguments: list[str]) -> None:
    _restart_with_one_thread(arguments)
    others = {
        "truth": truth,
        "understanding": understanding,
        "observe": observe,
        "extract": extracting,
        "walks": walks,
        "embedders": embedders,
        "quality": quality,
        "load": load,
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
        ("--sizes", SIZES, "memories of one user"),
        ("--passages", PASSAGES, "passages of one user's conversations"),
    ):
        parser.add_argument(
            option,
            type=lambda text: tuple(int(size) for size in text.split(",")),
            default=default,
            help=f"{what}, separated by commas (%(default)s)",
        )
    parser.add_argument(
        "--users", type=int, default=USERS, help="in the crowded store (%(default)s)"
    )
    parser.add_argument("--quick", action="store_true", help="at most 10,000 memories, 30 users")
    parser.add_argument("--no-peers", action="store_true", help="leave other libraries out")
    parser.add_argument("--json", type=Path, metavar="FILE")
    parser.add_argument("--markdown", type=Path, metavar="FILE")
    return parser


if __name__ == "__main__":
    main(sys.argv[1:])

"""`python -m commonplace.bench truth`: judge the labelled sets, print, and on request write."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from rich.console import Console
from rich.markup import escape

from commonplace.bench.labels import HALVES, OPEN, SEALED, read_pairs, read_statements
from commonplace.bench.report import Report, Table, as_markdown
from commonplace.bench.truth import (
    Classified,
    Judged,
    by_language,
    classification,
    classify,
    confusion,
    judge,
    targets,
)
from commonplace.book import make_embedder
from commonplace.errors import BadSettings
from commonplace.language.models.embedder import Embedder

EMBEDDERS = ("wordllama", "hashing", "minilm")  # those that are installed are measured
BEGIN, END = "<!-- truth: begin -->", "<!-- truth: end -->"
PAGE = Path("docs/truth.md")


def main(arguments: Sequence[str]) -> None:
    asked = _parser().parse_args(arguments)
    if asked.show and asked.half == SEALED:
        sys.exit("The sealed half shows no items: rules are tuned on the open one.")
    console = Console(width=None if sys.stdout.isatty() else 120)
    halves = (asked.half,) if asked.half else HALVES
    models = _available(asked.embedder or EMBEDDERS, Console(stderr=True))
    report = Report(machine={})
    for half in halves:
        _measure(half, models, asked.data, report, console if asked.show else None)
    report.print(console)
    if asked.write:
        write_between_markers(asked.write, report.tables)


def _measure(
    half: str, models: Sequence[Embedder], data: Path, report: Report, show: Console | None
) -> None:
    pairs, statements = read_pairs(data, half), read_statements(data, half)
    showing = show if half == OPEN else None
    for model in models:
        judged = judge(pairs, model)
        report.tables += [
            by_language(judged, model.name, half),
            confusion(judged, model.name, half),
        ]
        report.targets += targets(judged, f"{model.name}, {half} half")
        if showing:
            _print(showing, [f"With {model.name}:", *_wrong_pairs(judged)])
    classified = classify(statements, models[0])
    report.tables.append(classification(classified, half))
    if showing:
        _print(showing, ["Statements:", *_wrong_statements(classified)])


def _available(names: Sequence[str], notices: Console) -> list[Embedder]:
    models = []
    for name in names:
        try:
            models.append(make_embedder(name))
        except BadSettings as error:
            notices.print(f"{name} is left out: {error}")
    if not models:
        sys.exit("None of these embedders can be used here.")
    return models


def _wrong_pairs(judged: Sequence[Judged]) -> Iterator[str]:
    for each in judged:
        if not each.accepted or each.falsely_replaces:
            pair, wanted = each.pair, " or ".join(sorted(each.pair.expect))
            yield f"{pair.id} ({pair.kind}): {each.relation}, {each.action}; wanted {wanted}"
            yield f"    {dict(pair.old)}"
            yield f"    {dict(pair.new)}"


def _wrong_statements(classified: Sequence[Classified]) -> Iterator[str]:
    for each in classified:
        if not each.right:
            wanted = each.statement
            yield f"{wanted.id}: {each.kind}; wanted {wanted.kind} {dict(wanted.fields)}"
            yield f"    {wanted.text}"


def _print(console: Console, lines: Sequence[str]) -> None:
    for line in lines:
        console.print(escape(line), highlight=False, soft_wrap=True)


def write_between_markers(page: Path, tables: Sequence[Table]) -> None:
    """The rest of the page is written by hand."""
    text = page.read_text(encoding="utf-8")
    before, _, rest = text.partition(BEGIN)
    _, found, after = rest.partition(END)
    if not found:
        sys.exit(f"{page} has no place for the tables, between {BEGIN} and {END}.")
    written = "\n\n".join(as_markdown(table) for table in tables)
    page.write_text(f"{before}{BEGIN}\n\n{written}\n\n{END}{after}", encoding="utf-8")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m commonplace.bench truth", description=__doc__)
    parser.add_argument("--embedder", action="append", metavar="NAME", help="again for more")
    parser.add_argument("--half", choices=HALVES, help="both, when not given")
    parser.add_argument("--show", action="store_true", help="what is wrong in the open half")
    parser.add_argument("--data", type=Path, default=Path("labelled"), metavar="FOLDER")
    parser.add_argument(
        "--write", type=Path, nargs="?", const=PAGE, metavar="PAGE", help=f"into {PAGE}"
    )
    return parser

"""Extraction benchmark: tables, targets and speed on labelled conversations."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from rich.console import Console
from rich.markup import escape

from benchmarks.judgement.extraction_score import (
    SETS,
    Conversation,
    ExtractionResult,
    PrecisionCount,
    count_edges,
    count_nodes,
    extract_all,
    percent,
    read_conversations,
)
from benchmarks.judgement.labels import HALVES, OPEN, SEALED
from benchmarks.judgement.names import compare_finders, read_english, read_hebrew
from benchmarks.judgement.truth import write_between_markers
from benchmarks.measure import timed
from benchmarks.quality.methods import quality_store
from benchmarks.report import Report, Table, Target
from commonplace.api import User, make_embedder
from commonplace.language.extract.entity_recognition import recognise_entities
from commonplace.language.extract.extract import extract
from commonplace.language.extract.values import ENTITY_TYPES
from commonplace.model.graph.types import NodeType

ROUNDS = 5  # over the conversations, for the time of the rules
COPIES = 8  # of each, in a store: the graph grows and is told the same by more and more of them


def extraction_speed_table(conversations: Sequence[Conversation]) -> Table:
    table = Table(
        "extract speed",
        "Extraction, on one core",
        ("", "documents", "turns", "documents/s", "turns/s"),
    )
    turns = sum(len(each.account.passages) for each in conversations)
    extract_all(conversations, extract)  # word lists are read when they are first needed
    seconds = min(timed(lambda: extract_all(conversations, extract)) for _ in range(ROUNDS))
    table.add("the rules", len(conversations), turns, len(conversations) / seconds, turns / seconds)
    documents, seconds = _job_speed(conversations)
    table.add(
        "the job, into a graph on SQLite",
        documents,
        turns * COPIES,
        documents / seconds,
        turns * COPIES / seconds,
    )
    return table


def _job_speed(conversations: Sequence[Conversation]) -> tuple[int, float]:
    """One person's, each several times with another day in it. Without a real embedder: what a
    model takes is the model's."""
    with quality_store(make_embedder("hashing"), None) as book:
        me = book.user("ana")
        texts = [_conversation_text(each) for each in conversations]
        for copy in range(COPIES):
            for number, text in enumerate(texts):
                me.ingest(f"{text}\n\nDay {copy}.", external_id=f"{number}-{copy}", format="text")
        return len(texts) * COPIES, timed(lambda: _extract_everything(me))


def _extract_everything(me: User) -> None:
    while me.extract().left:
        continue


def _conversation_text(conversation: Conversation) -> str:
    said = conversation.account.passages
    return "\n\n".join(
        f"{turn.speaker}: {turn.text}" if turn.speaker else turn.text for turn in said
    )


LEAST_NODE_PRECISION = 90.0
LEAST_EDGE_PRECISION = 80.0
SORTS = (str(NodeType.PERSON), str(NodeType.CONCEPT), *ENTITY_TYPES)


def by_language(readings: Sequence[ExtractionResult], half: str) -> Table:
    table = Table(
        f"extract {half}",
        f"What is found in conversations, {_set_title(half)}, %",
        (
            "language",
            "talks",
            "nodes",
            "node precision",
            "node recall",
            "edges",
            "edge precision",
            "edge recall",
            "dates",
            "attitudes",
        ),
        notes=[
            f"Wanted: node precision ≥ {LEAST_NODE_PRECISION:.0f}, "
            f"edge precision ≥ {LEAST_EDGE_PRECISION:.0f}.",
            "Dates and attitudes: of the edges that were found and have one, how many have it.",
        ],
    )
    languages = dict.fromkeys(each.conversation.language for each in readings)
    for language in languages:
        members = [each for each in readings if each.conversation.language == language]
        table.add(language, *_totals(members))
    table.add("all", *_totals(readings))
    return table


def _set_title(part: str) -> str:
    return f"{part} half" if part in HALVES else f"{part} of them, written later"


def _totals(readings: Sequence[ExtractionResult]) -> Iterator[int | float | None]:
    yield len(readings)
    for count in (count_nodes(readings), count_edges(readings)):
        yield from (count.found, count.precision, count.recall)
    for rights in (
        [right for each in readings for right in each.dates_right],
        [right for each in readings for right in each.attitudes_right],
    ):
        yield percent(sum(rights), len(rights))


def by_sort(readings: Sequence[ExtractionResult], half: str) -> Table:
    counts = [(sort, count_nodes(readings, sort)) for sort in SORTS]
    return _counted(f"extract nodes {half}", f"Nodes by type, {_set_title(half)}", counts)


def by_relationship(readings: Sequence[ExtractionResult], half: str) -> Table:
    wanted = {edge.types[0] for each in readings for edge in each.due_edges}
    found = {each.called(told) for each in readings for told in each.edges}
    counts = [(type, count_edges(readings, type)) for type in sorted(wanted | found)]
    return _counted(f"extract edges {half}", f"Edges by relationship, {_set_title(half)}", counts)


def _counted(name: str, title: str, counts: Sequence[tuple[str, PrecisionCount]]) -> Table:
    table = Table(name, title, ("type", "found", "wrong", "due", "missing"))
    for type, count in counts:
        table.add(type, count.found, count.wrong, count.due, count.missing)
    return table


def targets(readings: Sequence[ExtractionResult], half: str) -> list[Target]:
    """As shares that should stay small, since a target is an upper bound."""
    return [
        Target(
            f"{what} found and wrong, {_set_title(half)}, %",
            100 - least,
            None if count.precision is None else 100 - count.precision,
        )
        for what, least, count in (
            ("nodes", LEAST_NODE_PRECISION, count_nodes(readings)),
            ("edges", LEAST_EDGE_PRECISION, count_edges(readings)),
        )
    ]


def mistakes(readings: Sequence[ExtractionResult]) -> Iterator[str]:
    for each in readings:
        yield each.conversation.id
        for node in each.wrong_nodes:
            also = f" = {', '.join(node.aliases)}" if node.aliases else ""
            yield f"    wrong node: {node.type} {node.subtype} {node.name!r}{also}"
        for gold in each.missing_nodes:
            yield f"    missing node: {gold.type} {'/'.join(sorted(gold.subtypes))} {gold.name!r}"
        names = [node.name for node in each.extracted.nodes]
        for told in each.wrong_edges:
            edge = each.edges[told][0]
            over = ", over" if told[3] else ""
            yield (
                f"    wrong edge: {names[edge.a]} > {names[edge.b]}: {edge.type}{over}"
                f" (passage {edge.passage})"
            )
        for missed in each.missing_edges:
            over = ", over" if missed.ends else ""
            yield f"    missing edge: {missed.a} > {missed.b}: {missed.types[0]}{over}"


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
        report.tables.append(extraction_speed_table(read_conversations(asked.data, OPEN)))
    if NAMES in parts:
        _add_name_tables(report, asked.marked, console)
    report.print(console)
    if asked.write:
        write_between_markers(asked.write, report.tables)


def _add_conversations(report: Report, folder: Path, half: str, shown: Console | None) -> None:
    readings = extract_all(read_conversations(folder, half), extract)
    report.tables.append(by_language(readings, half))
    report.targets += targets(readings, half)
    if half == SEALED:  # which types go wrong there would be a hint to tune by
        return
    report.tables += [by_sort(readings, half), by_relationship(readings, half)]
    if shown:
        for line in mistakes(readings):
            shown.print(escape(line), highlight=False, soft_wrap=True)


def _add_name_tables(report: Report, folder: Path, console: Console) -> None:
    if not folder.is_dir():
        console.print(f"Names: not measured, there is no folder {folder}.", highlight=False)
        return
    for compared in (
        compare_finders("English posts", read_english(folder), {RULES: recognise_entities}),
        compare_finders(
            "Hebrew news", read_hebrew(folder), {RULES: recognise_entities}, (NO_CAPITALS,)
        ),
    ):
        report.tables.append(compared.table())
        report.targets += compared.targets()


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks extract", description=__doc__)
    parser.add_argument("--half", choices=SETS, help="default: all")
    parser.add_argument("--only", choices=PARTS, help="default: all")
    parser.add_argument(
        "--show", action="store_true", help="list the wrong answers, except in the sealed half"
    )
    parser.add_argument(
        "--data",
        type=Path,
        default=Path("labelled"),
        metavar="FOLDER",
        help="labelled examples (%(default)s)",
    )
    parser.add_argument(
        "--marked",
        type=Path,
        default=_marked(),
        metavar="FOLDER",
        help="texts with annotated names (%(default)s)",
    )
    parser.add_argument(
        "--write",
        type=Path,
        nargs="?",
        const=PAGE,
        metavar="PAGE",
        help=f"write the report ({PAGE})",
    )
    return parser


def _marked() -> Path:
    shared = os.environ.get("COMMONPLACE_BENCH_DATA") or Path("..") / "shared" / "data"
    return Path(shared) / "ner"

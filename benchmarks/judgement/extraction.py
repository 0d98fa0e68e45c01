"""Extraction benchmark: tables, targets and speed on labelled conversations."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.markup import escape

from benchmarks.judgement.extraction_score import (
    SETS,
    Conversation,
    ExtractionResult,
    extract_all,
    read_conversations,
)
from benchmarks.judgement.extraction_stored import extract_stored
from benchmarks.judgement.extraction_tables import (
    by_cost,
    by_language,
    by_reader,
    by_relationship,
    by_sort,
    mistakes,
    stored_targets,
    targets,
)
from benchmarks.judgement.labels import OPEN, SEALED
from benchmarks.judgement.names import compare_finders, read_english, read_hebrew
from benchmarks.judgement.truth import write_between_markers
from benchmarks.measure import timed
from benchmarks.quality.methods import quality_store
from benchmarks.report import Report, Table
from commonplace.api import User, make_embedder
from commonplace.language.extract.entity_recognition import recognise_entities
from commonplace.language.extract.extract import extract
from commonplace.settings import load as load_settings

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


PAGE = Path("docs/extraction.md")
CONVERSATIONS, SPEED, NAMES = PARTS = ("conversations", "speed", "names")
STORED = "stored"
RULES = "rules"
NO_CAPITALS = "Hebrew has no capitals, so the baseline finds nothing."


def main(arguments: Sequence[str]) -> None:
    asked = _parser().parse_args(arguments)
    if asked.show and asked.half == SEALED:
        sys.exit("The sealed half shows no items: rules are tuned on the others.")
    if asked.model and (asked.write or asked.only):
        sys.exit("With --model, conversations are read through a store; nothing is written.")
    console = Console(width=None if sys.stdout.isatty() else 120)
    report = Report(machine={})
    shown = console if asked.show else None
    parts = (STORED,) if asked.model else (asked.only,) if asked.only else PARTS
    for half in (asked.half,) if asked.half else SETS:
        conversations = read_conversations(asked.data, half)[: asked.most]
        if STORED in parts:
            _add_stored(report, conversations, half, asked, shown)
        if CONVERSATIONS in parts:
            _add_conversations(report, conversations, half, shown)
    if SPEED in parts:
        report.tables.append(extraction_speed_table(read_conversations(asked.data, OPEN)))
    if NAMES in parts:
        _add_name_tables(report, asked.marked, console)
    report.print(console)
    if asked.write:
        write_between_markers(asked.write, report.tables)


def _add_conversations(
    report: Report, conversations: Sequence[Conversation], half: str, shown: Console | None
) -> None:
    readings = extract_all(conversations, extract)
    report.tables.append(by_language(readings, half))
    report.targets += targets(readings, half)
    if half == SEALED:  # which types go wrong there would be a hint to tune by
        return
    report.tables += [by_sort(readings, half), by_relationship(readings, half)]
    _show_mistakes(readings, shown)


def _add_stored(
    report: Report,
    conversations: Sequence[Conversation],
    half: str,
    asked: argparse.Namespace,
    shown: Console | None,
) -> None:
    settings = load_settings({"model_url": asked.model_url})
    embedder = make_embedder(asked.embedder, settings)
    readers = {
        RULES: extract_stored(conversations, embedder),
        f"rules and {asked.model}": extract_stored(
            conversations,
            embedder,
            asked.model,
            model_url=asked.model_url,
            at_once=settings.model_concurrency,
        ),
    }
    *_, read = readers.values()
    readings = [each.result for each in read]
    report.tables += [by_reader(readers, half), by_cost(readers, half)]
    report.targets += stored_targets(readings, half)
    if half != SEALED:
        _show_mistakes(readings, shown)


def _show_mistakes(readings: Sequence[ExtractionResult], shown: Console | None) -> None:
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
    parser.add_argument("--most", type=int, metavar="N", help="conversations of a set (all)")
    parser.add_argument(
        "--model", metavar="NAME", help="read through a store, by the rules and this language model"
    )
    parser.add_argument(
        "--model-url", metavar="URL", help="its server; more in COMMONPLACE_MODEL_*"
    )
    parser.add_argument("--embedder", default="wordllama", help="of these stores (%(default)s)")
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

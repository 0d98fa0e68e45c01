"""Understanding benchmark: needs_search and follow-ups on labelled messages."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from rich.console import Console
from rich.markup import escape

import commonplace
from benchmarks.judgement.labels import HALVES, OPEN, SEALED, labelled_parser
from benchmarks.judgement.truth import write_between_markers
from benchmarks.report import Cell, Report, Table, Target
from commonplace.engine.understanding import Understanding, build_understanding
from commonplace.language.query.abbreviations import build_terminology, load_shipped_abbreviations
from commonplace.language.query.message import RecentTurn

ALL = "all"
MOST_WRONG = 10.0  # per cent of messages

_T = TypeVar("_T")
_TERMINOLOGY = build_terminology(load_shipped_abbreviations())


@dataclass(frozen=True, slots=True)
class LabelledMessage:
    """What is said, what was said before, and what a reader makes of it."""

    id: str
    language: str
    case: str
    message: str
    recent: tuple[RecentTurn, ...] = ()
    needed: bool | None = None
    holds: tuple[str, ...] = ()  # what the expanded query must have in it
    lacks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class JudgedMessage:
    message: LabelledMessage
    made: Understanding

    @property
    def says_rightly(self) -> bool:
        return self.made.needs_search == self.message.needed

    @property
    def expands_rightly(self) -> bool:
        query = self.made.query.casefold()
        return all(each.casefold() in query for each in self.message.holds) and not any(
            each.casefold() in query for each in self.message.lacks
        )


def read_messages(folder: Path, name: str, half: str) -> list[LabelledMessage]:
    lines = (folder / f"{name}-{half}.jsonl").read_text(encoding="utf-8").splitlines()
    return [_message(json.loads(line)) for line in lines if line]


def _message(row: Mapping[str, Any]) -> LabelledMessage:
    turns = tuple(RecentTurn(each["text"], each.get("role")) for each in row.get("recent", ()))
    return LabelledMessage(
        row["id"],
        row["language"],
        row["case"],
        row["message"],
        turns,
        row.get("needed"),
        tuple(row.get("holds", ())),
        tuple(row.get("lacks", ())),
    )


def judge_messages(messages: Sequence[LabelledMessage]) -> list[JudgedMessage]:
    return [
        JudgedMessage(m, build_understanding(m.message, m.recent, (), _TERMINOLOGY))
        for m in messages
    ]


def judge_in_store(
    messages: Sequence[LabelledMessage], statements: Sequence[str]
) -> list[JudgedMessage]:
    """As the owner of a store that knows these statements."""
    with commonplace.open(":memory:", embedder="hashing") as book:
        me = book.user("owner")
        for statement in statements:
            me.remember(statement)
        return [JudgedMessage(m, me.understand(m.message)) for m in messages]


# ——— tables ———


def search_table(judged: Sequence[JudgedMessage], half: str, where: str = "") -> Table:
    table = Table(
        f"searches {half}{where}",
        f"Does it need a search{where}? {half} half",
        ("language", "messages", "right %", "needed and said so %", "not needed and said so %"),
    )
    for language, members in _grouped(judged, lambda each: each.message.language):
        needed = [each.says_rightly for each in members if each.message.needed]
        other = [each.says_rightly for each in members if not each.message.needed]
        table.add(
            language, len(members), _percent([*needed, *other]), _percent(needed), _percent(other)
        )
    return table


def follow_up_table(judged: Sequence[JudgedMessage], half: str) -> Table:
    table = Table(
        f"followups {half}",
        f"What does a follow-up mean? {half} half",
        ("language", "messages", "right %"),
    )
    for language, members in _grouped(judged, lambda each: each.message.language):
        table.add(language, len(members), _percent([each.expands_rightly for each in members]))
    return table


def target(judged: Sequence[JudgedMessage], half: str) -> Target:
    right = _percent([each.says_rightly for each in judged])
    wrong = None if right is None else 100 - float(right)
    return Target(f"{half} half: messages judged wrongly, %", MOST_WRONG, wrong)


def _percent(hits: Sequence[bool]) -> float | None:
    return round(100 * sum(hits) / len(hits), 1) if hits else None


def _grouped(items: Sequence[_T], key: Callable[[_T], str]) -> list[tuple[Cell, list[_T]]]:
    names = dict.fromkeys(map(key, items))
    groups = [(name, [item for item in items if key(item) == name]) for name in names]
    return [*groups, (ALL, list(items))]


PAGE = Path("docs/understanding.md")


def main(arguments: Sequence[str]) -> None:
    asked = _parser().parse_args(arguments)
    if asked.show and asked.half == SEALED:
        sys.exit("The sealed half shows no items: rules are tuned on the open one.")
    console = Console(width=None if sys.stdout.isatty() else 120)
    report = Report(machine={})
    for half in (asked.half,) if asked.half else HALVES:
        said = judge_messages(read_messages(asked.data, "searches", half))
        meant = judge_messages(read_messages(asked.data, "followups", half))
        store = (asked.data / "known-store.txt").read_text(encoding="utf-8").splitlines()
        known = judge_in_store(read_messages(asked.data, "known", half), store)
        general = judge_in_store(read_messages(asked.data, "general", half), store)
        report.tables += [
            search_table(said, half),
            search_table(known, half, " in a store that knows"),
            search_table(general, half, " if it is general"),
            follow_up_table(meant, half),
        ]
        report.targets.append(target(said, half))
        if asked.show and half == OPEN:
            for line in _mistakes([*said, *known, *general], meant):
                console.print(escape(line), highlight=False, soft_wrap=True)
    report.print(console)
    if asked.write:
        write_between_markers(asked.write, report.tables)


def _mistakes(said: Sequence[JudgedMessage], meant: Sequence[JudgedMessage]) -> Iterator[str]:
    for each in said:
        if not each.says_rightly:
            wanted = "needed" if each.message.needed else "not needed"
            yield f"{each.message.id}: {each.message.message}"
            yield f"    wanted: {wanted}; {'; '.join(each.made.reasons)}"
    for each in meant:
        if not each.expands_rightly:
            yield f"{each.message.id}: {each.message.message} → {each.made.query}"


def _parser() -> argparse.ArgumentParser:
    return labelled_parser("understanding", __doc__, PAGE)

"""How often messages are understood rightly: does this one need a search, what does this follow-up
mean? The labelled sets are `searches` and `followups` (labelled/README.md)."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from commonplace.bench.report import Cell, Table, Target
from commonplace.language.asking.abbreviations import shipped, terminology
from commonplace.language.asking.turns import Turn
from commonplace.recall.understanding import Understanding, understood

ALL = "all"
MOST_WRONG = 10.0  # per cent of messages

_T = TypeVar("_T")
_WORDS = terminology(shipped())


@dataclass(frozen=True, slots=True)
class Message:
    """What is said, what was said before, and what a reader makes of it."""

    id: str
    language: str
    case: str
    message: str
    recent: tuple[Turn, ...] = ()
    needed: bool | None = None
    holds: tuple[str, ...] = ()  # what the expanded query must have in it
    lacks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Judged:
    message: Message
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


def read_messages(folder: Path, name: str, half: str) -> list[Message]:
    lines = (folder / f"{name}-{half}.jsonl").read_text(encoding="utf-8").splitlines()
    return [_message(json.loads(line)) for line in lines if line]


def _message(row: Mapping[str, Any]) -> Message:
    turns = tuple(Turn(each["text"], each.get("role")) for each in row.get("recent", ()))
    return Message(
        row["id"],
        row["language"],
        row["case"],
        row["message"],
        turns,
        row.get("needed"),
        tuple(row.get("holds", ())),
        tuple(row.get("lacks", ())),
    )


def judge(messages: Sequence[Message]) -> list[Judged]:
    return [Judged(m, understood(m.message, m.recent, (), _WORDS)) for m in messages]


# ——— tables ———


def searches(judged: Sequence[Judged], half: str) -> Table:
    table = Table(
        f"searches {half}",
        f"Does it need a search? {half} half",
        ("language", "messages", "right %", "needed and said so %", "not needed and said so %"),
    )
    for language, members in _grouped(judged, lambda each: each.message.language):
        needed = [each.says_rightly for each in members if each.message.needed]
        other = [each.says_rightly for each in members if not each.message.needed]
        table.add(
            language, len(members), _percent([*needed, *other]), _percent(needed), _percent(other)
        )
    return table


def follow_ups(judged: Sequence[Judged], half: str) -> Table:
    table = Table(
        f"followups {half}",
        f"What does a follow-up mean? {half} half",
        ("language", "messages", "right %"),
    )
    for language, members in _grouped(judged, lambda each: each.message.language):
        table.add(language, len(members), _percent([each.expands_rightly for each in members]))
    return table


def target(judged: Sequence[Judged], half: str) -> Target:
    right = _percent([each.says_rightly for each in judged])
    wrong = None if right is None else 100 - float(right)
    return Target(f"{half} half: messages judged wrongly, %", MOST_WRONG, wrong)


def _percent(hits: Sequence[bool]) -> float | None:
    return round(100 * sum(hits) / len(hits), 1) if hits else None


def _grouped(items: Sequence[_T], key: Callable[[_T], str]) -> list[tuple[Cell, list[_T]]]:
    names = dict.fromkeys(map(key, items))
    groups = [(name, [item for item in items if key(item) == name]) for name in names]
    return [*groups, (ALL, list(items))]

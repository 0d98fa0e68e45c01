"""Observe benchmark: precision and recall on labelled turns."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.markup import escape

from benchmarks.judgement.labels import HALVES, OPEN, SEALED, labelled_parser
from benchmarks.judgement.truth import write_between_markers
from benchmarks.report import Report, Table, Target
from commonplace.language.fields.writing_policy import check_writing
from commonplace.language.observe.turn import find_candidates
from commonplace.model.memory.candidate import (
    MAX_STORED,
    ForgetRequest,
    MemoryCandidate,
    TurnFinding,
)

SAID_AT = datetime(2026, 3, 11, 10, tzinfo=UTC)  # when all labelled turns are said: a Wednesday
LEAST_PRECISION = 85.0
LEAST_WELL_WRITTEN = 95.0


@dataclass(frozen=True, slots=True)
class ExpectedItem:
    """Something that a reader would keep."""

    kinds: tuple[str, ...]
    words: tuple[str, ...]  # all must be there; a/b: one of them
    category: str | None = None
    optional: bool = False  # right when kept, and right when not

    def is_met(self, found: TurnFinding) -> bool:
        if not isinstance(found, MemoryCandidate) or found.kind not in self.kinds:
            return False
        return _has_words(self.words, " ".join((found.content, *found.metadata.values())))


@dataclass(frozen=True, slots=True)
class LabelledTurn:
    id: str
    language: str
    case: str
    role: str
    text: str
    keep: tuple[ExpectedItem, ...] = ()
    profile: Mapping[str, str] = field(default_factory=dict)
    forget: tuple[str, ...] = ()

    @property
    def wanted(self) -> int:
        """How many things must be found."""
        due = sum(not one.optional for one in self.keep)
        return due + len(self.profile) + len(self.forget)

    def is_right(self, found: TurnFinding) -> bool:
        return any(
            (
                any(one.is_met(found) for one in self.keep),
                self._has_profile(found),
                self._has_forget(found),
            )
        )

    def found_of(self, all_found: Sequence[TurnFinding]) -> int:
        """How many of the things that must be found are."""
        due = [one for one in self.keep if not one.optional]
        kept = sum(any(one.is_met(found) for found in all_found) for one in due)
        profile = any(map(self._has_profile, all_found)) if self.profile else False
        forget = any(map(self._has_forget, all_found)) if self.forget else False
        return kept + profile + forget

    def _has_profile(self, found: TurnFinding) -> bool:
        if not isinstance(found, MemoryCandidate):
            return False
        value = self.profile.get(found.profile_field or "")
        return value is not None and value.casefold() in (found.profile_value or "").casefold()

    def _has_forget(self, found: TurnFinding) -> bool:
        return (
            isinstance(found, ForgetRequest)
            and bool(self.forget)
            and _has_words(self.forget, found.query)
        )


def _has_words(words: Sequence[str], text: str) -> bool:
    folded = text.casefold()
    return all(any(one.casefold() in folded for one in word.split("/")) for word in words)


def read_turns(folder: Path, half: str) -> list[LabelledTurn]:
    lines = (folder / f"turns-{half}.jsonl").read_text(encoding="utf-8").splitlines()
    return [_turn(json.loads(line)) for line in lines if line]


def _turn(row: dict[str, Any]) -> LabelledTurn:
    keep = tuple(
        ExpectedItem(
            tuple(one["kinds"]),
            tuple(one["words"]),
            one.get("category"),
            one.get("optional", False),
        )
        for one in row["keep"]
    )
    return LabelledTurn(**{**row, "keep": keep, "forget": tuple(row.get("forget", ()))})


@dataclass(frozen=True, slots=True)
class ObservedTurn:
    """A turn, and what would be stored, proposed or looked up of it."""

    turn: LabelledTurn
    kept: tuple[TurnFinding, ...]

    @property
    def wrong(self) -> list[TurnFinding]:
        return [one for one in self.kept if not self.turn.is_right(one)]

    @property
    def found(self) -> int:
        return self.turn.found_of(self.kept)

    @property
    def categories(self) -> list[bool]:
        """For each thing found whose category is in no doubt: whether it is that one."""
        return [
            one.category == found.category
            for one in self.turn.keep
            for found in self.kept
            if one.category and isinstance(found, MemoryCandidate) and one.is_met(found)
        ]

    @property
    def well_written(self) -> list[bool]:
        """For each content that the writing policy holds for: whether it passes."""
        return [
            not check_writing(one.kind, one.content)
            for one in self.kept
            if isinstance(one, MemoryCandidate) and one.kind in ("fact", "event")
        ]


def observe_turns(turns: Sequence[LabelledTurn]) -> list[ObservedTurn]:
    return [ObservedTurn(turn, _kept(turn)) for turn in turns]


def _kept(turn: LabelledTurn) -> tuple[TurnFinding, ...]:
    found = find_candidates(turn.text, role=turn.role, said_at=SAID_AT)
    forgets = [one for one in found if isinstance(one, ForgetRequest)]
    stored = [one for one in found if isinstance(one, MemoryCandidate) and one.is_stored]
    return (*forgets, *stored[:MAX_STORED])


# ——— tables ———


def precision(seen: Sequence[ObservedTurn]) -> float | None:
    kept = sum(len(each.kept) for each in seen)
    return _percent(kept - sum(len(each.wrong) for each in seen), kept)


def recall(seen: Sequence[ObservedTurn]) -> float | None:
    return _percent(sum(each.found for each in seen), sum(each.turn.wanted for each in seen))


def well_written(seen: Sequence[ObservedTurn]) -> float | None:
    judged = [passes for each in seen for passes in each.well_written]
    return _percent(sum(judged), len(judged))


def by_language(seen: Sequence[ObservedTurn], half: str) -> Table:
    table = Table(
        f"observe {half}",
        f"What is kept of the turns, {half} half, %",
        ("language", "turns", "kept", "precision", "recall", "category", "well written"),
        notes=[
            f"Wanted: precision ≥ {LEAST_PRECISION:.0f}, well written ≥ {LEAST_WELL_WRITTEN:.0f}."
        ],
    )
    for language, members in _grouped(seen, lambda each: each.turn.language):
        named = [right for each in members for right in each.categories]
        table.add(
            language,
            len(members),
            sum(len(each.kept) for each in members),
            precision(members),
            recall(members),
            _percent(sum(named), len(named)),
            well_written(members),
        )
    return table


def by_case(seen: Sequence[ObservedTurn], half: str) -> Table:
    table = Table(
        f"observe cases {half}",
        f"By what the turn is, {half} half",
        ("case", "turns", "wanted", "found", "kept", "wrong"),
    )
    for case, members in _grouped(seen, lambda each: each.turn.case):
        table.add(
            case,
            len(members),
            sum(each.turn.wanted for each in members),
            sum(each.found for each in members),
            sum(len(each.kept) for each in members),
            sum(len(each.wrong) for each in members),
        )
    return table


def targets(seen: Sequence[ObservedTurn], half: str) -> list[Target]:
    """As shares that should stay small, since a target is an upper bound."""
    right, written = precision(seen), well_written(seen)
    return [
        Target(
            f"kept and wrong, {half} half, %",
            100 - LEAST_PRECISION,
            None if right is None else 100 - right,
        ),
        Target(
            f"against the writing policy, {half} half, %",
            100 - LEAST_WELL_WRITTEN,
            None if written is None else 100 - written,
        ),
    ]


def _grouped(
    items: Sequence[ObservedTurn], key: Callable[[ObservedTurn], str]
) -> list[tuple[str, list[ObservedTurn]]]:
    names = dict.fromkeys(map(key, items))
    groups = [(name, [item for item in items if key(item) == name]) for name in names]
    return [*groups, ("all", list(items))]


def _percent(part: int, whole: int) -> float | None:
    return 100 * part / whole if whole else None


PAGE = Path("docs/observe.md")


def main(arguments: Sequence[str]) -> None:
    asked = _parser().parse_args(arguments)
    if asked.show and asked.half == SEALED:
        sys.exit("The sealed half shows no items: rules are tuned on the open one.")
    console = Console(width=None if sys.stdout.isatty() else 120)
    report = Report(machine={})
    for half in (asked.half,) if asked.half else HALVES:
        seen = observe_turns(read_turns(asked.data, half))
        # Which cases of the sealed half go wrong would be a hint to tune by.
        report.tables += [by_language(seen, half), *([by_case(seen, half)] if half == OPEN else [])]
        report.targets += targets(seen, half)
        if asked.show and half == OPEN:
            for line in _mistakes(seen):
                console.print(escape(line), highlight=False, soft_wrap=True)
    report.print(console)
    if asked.write:
        write_between_markers(asked.write, report.tables)


def _mistakes(seen: Sequence[ObservedTurn]) -> Iterator[str]:
    for each in seen:
        if each.wrong or each.found < each.turn.wanted:
            yield f"{each.turn.id}: {each.turn.text!r}"
            yield from (f"    wrong: {one}" for one in each.wrong)
            if each.found < each.turn.wanted:
                yield f"    found {each.found} of {each.turn.wanted}; kept {each.kept}"


def _parser() -> argparse.ArgumentParser:
    return labelled_parser("observe", __doc__, PAGE)

"""Findings benchmark: are a model's findings kept if their passages carry them, else dropped?"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.markup import escape

from benchmarks.judgement.labels import HALVES, OPEN, SEALED, labelled_parser
from benchmarks.judgement.truth import write_between_markers
from benchmarks.report import Report, Table, Target
from commonplace.language.extract.values import OwnerIdentity
from commonplace.language.grounding.ground import ground
from commonplace.language.grounding.values import GivenPassage, GroundedFindings, SpokenBy
from commonplace.model.sources.source import SourceType

SAID_AT = datetime(2026, 3, 11, 18, 30, tzinfo=UTC)  # all passages: a Wednesday
OWNER = OwnerIdentity(name="Maya Stern", names=frozenset({"Maya Stern", "Maya", "מאיה"}))
LEAST_RIGHT = 90.0
_SPEAKERS = {"owner": SpokenBy.OWNER, "assistant": SpokenBy.MACHINE}


@dataclass(frozen=True, slots=True)
class LabelledFinding:
    """One item, as a model could have written it, and whether it must be kept."""

    id: str
    language: str
    case: str
    passages: tuple[GivenPassage, ...]
    value: Mapping[str, Any]
    keep: bool
    why: str = ""  # the reason for which it must be dropped; empty: any
    holds: tuple[str, ...] = ()  # what a kept text must have, such as a date
    lacks: tuple[str, ...] = ()
    known: Mapping[str, str] = field(default_factory=dict)  # earlier statements, by key
    corrects: bool | None = None  # whether it must correct one of them; None: either

    @property
    def group(self) -> str:
        return f"{self.language}, {'kept' if self.keep else 'dropped'}"


@dataclass(frozen=True, slots=True)
class JudgedFinding:
    label: LabelledFinding
    found: GroundedFindings

    @property
    def is_kept(self) -> bool:
        return bool(
            self.found.memories
            or self.found.graph.edges
            or self.found.graph.notes
            or self.found.forget
        )

    @property
    def is_right(self) -> bool:
        if self.is_kept is not self.label.keep:
            return False
        return not self.is_kept or (self._is_well_worded() and self._corrects_rightly())

    def _corrects_rightly(self) -> bool:
        corrects = any(each.known or each.corrects for each in self.found.memories)
        return self.label.corrects in (None, corrects)

    def _is_well_worded(self) -> bool:
        text = " ".join(each.candidate.content for each in self.found.memories)
        has_all = all(each in text for each in self.label.holds)
        return has_all and not any(each in text for each in self.label.lacks)


def read_findings(folder: Path, half: str, name: str = "findings") -> list[LabelledFinding]:
    """``name``: "lies" are the findings of a model that lies, and right ones that look alike."""
    lines = (folder / f"{name}-{half}.jsonl").read_text(encoding="utf-8").splitlines()
    return [_finding(json.loads(line)) for line in lines if line]


def _finding(row: Mapping[str, Any]) -> LabelledFinding:
    return LabelledFinding(
        id=row["id"],
        language=row["language"],
        case=row["case"],
        passages=tuple(map(_passage, row["passages"])),
        value={row["list"]: [row["item"]]},
        keep=row["keep"],
        why=row.get("why", ""),
        holds=tuple(row.get("holds", ())),
        lacks=tuple(row.get("lacks", ())),
        known=row.get("known", {}),
        corrects=row.get("corrects"),
    )


def _passage(row: Mapping[str, Any]) -> GivenPassage:
    by = _SPEAKERS.get(row["by"], SpokenBy.OTHER)
    return GivenPassage(
        number=row["passage"],
        text=row["text"],
        at=SAID_AT,
        by=by,
        speaker=row["by"] if by is SpokenBy.OTHER else None,
        is_context=row.get("context", False),
    )


def judge_findings(labels: Sequence[LabelledFinding]) -> list[JudgedFinding]:
    return [
        JudgedFinding(
            label, ground(label.value, label.passages, OWNER, SourceType.CHAT, label.known)
        )
        for label in labels
    ]


def share_right(judged: Sequence[JudgedFinding]) -> float:
    return 100 * sum(each.is_right for each in judged) / len(judged)


def by_group(judged: Sequence[JudgedFinding], half: str) -> Table:
    table = Table(
        f"findings {half}",
        f"Findings that were rightly kept or dropped, {half} half, %",
        ("language, label", "findings", "right"),
        notes=[f"Wanted: ≥ {LEAST_RIGHT:.0f} of all."],
    )
    for group in sorted({each.label.group for each in judged}):
        members = [each for each in judged if each.label.group == group]
        table.add(group, len(members), share_right(members))
    table.add("all", len(judged), share_right(judged))
    return table


PAGE = Path("docs/models.md")


def main(arguments: Sequence[str]) -> None:
    asked = _parser().parse_args(arguments)
    if asked.show and asked.half == SEALED:
        sys.exit("The sealed half shows no items: rules are tuned on the open one.")
    console = Console(width=None if sys.stdout.isatty() else 120)
    report = Report(machine={})
    for half in (asked.half,) if asked.half else HALVES:
        judged = judge_findings(read_findings(asked.data, half))
        report.tables.append(by_group(judged, half))
        wrong = 100 - share_right(judged)
        report.targets.append(
            Target(f"findings judged wrongly, {half} half, %", 100 - LEAST_RIGHT, wrong)
        )
        if asked.show and half == OPEN:
            for line in _mistakes(judged):
                console.print(escape(line), highlight=False, soft_wrap=True)
    report.print(console)
    if asked.write:
        write_between_markers(asked.write, report.tables)


def _mistakes(judged: Sequence[JudgedFinding]) -> Iterator[str]:
    for each in judged:
        if not each.is_right:
            reasons = ", ".join(each.found.dropped)
            kept = [memory.candidate.content for memory in each.found.memories]
            yield f"{each.label.id} ({each.label.case}, keep={each.label.keep}): {reasons} {kept}"
            yield f"    {each.label.value}"


def _parser() -> argparse.ArgumentParser:
    return labelled_parser("findings", __doc__, PAGE)

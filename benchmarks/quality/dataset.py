"""Datasets (users, sources, questions) and the metrics on ranked hits.

A hit counts for the single unit that it cites. Several hits of one unit count once, and each
takes up a rank; a hit that cites none takes up a rank too. So merging units gains nothing.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from commonplace.errors import InvalidInput

ADVERSARIAL = "adversarial"  # asked about what never was: left out of `all`


@dataclass(frozen=True, slots=True)
class EvidenceUnit:
    """The smallest thing that can be evidence: a turn of a conversation, a paragraph."""

    id: str  # within its owner
    text: str
    speaker: str | None = None
    role: str | None = None
    time: str | None = None  # ISO 8601

    @property
    def spoken(self) -> str:
        who = self.speaker or self.role
        return f"{who}: {self.text}" if who else self.text


@dataclass(frozen=True, slots=True)
class DatasetSource:
    """What is ingested as one source: a session of a conversation, or one entry of a corpus."""

    external_id: str
    title: str
    units: tuple[EvidenceUnit, ...]
    date: str | None = None  # ISO 8601
    is_conversation: bool = True

    @property
    def text(self) -> str:
        """JSON Lines with a turn in each, or the plain text of an entry that is cited whole."""
        if not self.is_conversation:
            return self.units[0].text
        return "".join(
            f"{json.dumps(_turn_record(unit), ensure_ascii=False)}\n" for unit in self.units
        )

    def cited(self, label: str | None) -> str | None:
        """The unit that a hit stands for; of an entry it does not matter which piece was found."""
        if not self.is_conversation:
            return self.units[0].id
        return label if any(unit.id == label for unit in self.units) else None


def _turn_record(unit: EvidenceUnit) -> dict[str, str]:
    fields = {
        "speaker": unit.speaker,
        "role": unit.role,
        "text": unit.text,
        "time": unit.time,
        "id": unit.id,
    }
    return {name: value for name, value in fields.items() if value is not None}


@dataclass(frozen=True, slots=True)
class DatasetQuestion:
    text: str
    gold: frozenset[str]  # ids of the units that hold the evidence
    category: str


@dataclass(frozen=True, slots=True)
class DatasetUser:
    """One user of the store, with nothing but this."""

    name: str
    sources: tuple[DatasetSource, ...]
    questions: tuple[DatasetQuestion, ...]

    @property
    def units(self) -> list[EvidenceUnit]:
        return [unit for source in self.sources for unit in source.units]


@dataclass(frozen=True, slots=True)
class Dataset:
    """A set, and what was wrong in its files."""

    name: str
    owners: tuple[DatasetUser, ...]
    remarks: tuple[str, ...] = field(default=())


def read_json(file: Path) -> Any:
    return parse_json(file.read_text(encoding="utf-8"), file)


def parse_json(text: str, file: Path) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise unreadable(file, f"line {error.lineno}: {error.msg}") from error


def unreadable(file: Path, why: str) -> InvalidInput:
    return InvalidInput(
        f"{file} is not laid out as expected ({why}).",
        remedy="Put the set's own file there, under its own name.",
        field="data",
    )


def remarks_of(counts: Iterable[tuple[int, str]]) -> tuple[str, ...]:
    """Only what occurred."""
    return tuple(f"{count} {what}" for count, what in counts if count)


Ranking = Sequence[str | None]  # the unit that each hit cites, best first
Numbers = dict[str, float]

ALL = "all"


def recall_at(k: int, ranked: Ranking, gold: frozenset[str]) -> float:
    return len(gold & set(ranked[:k])) / len(gold)


def ndcg_at(k: int, ranked: Ranking, gold: frozenset[str]) -> float:
    gained, seen = 0.0, set()
    for rank, unit in enumerate(ranked[:k], 1):
        if unit in gold and unit not in seen:
            gained += 1 / math.log2(rank + 1)
            seen.add(unit)
    return gained / sum(1 / math.log2(rank + 1) for rank in range(1, min(k, len(gold)) + 1))


METRICS: dict[str, Callable[[Ranking, frozenset[str]], float]] = {
    "R@5": lambda ranked, gold: recall_at(5, ranked, gold),
    "R@10": lambda ranked, gold: recall_at(10, ranked, gold),
    "R@20": lambda ranked, gold: recall_at(20, ranked, gold),
    "nDCG@10": lambda ranked, gold: ndcg_at(10, ranked, gold),
}


@dataclass(frozen=True, slots=True)
class QuestionOutcome:
    """One question: what came back for it, and what that cost (tokens, milliseconds)."""

    category: str
    gold: frozenset[str]
    ranked: Ranking
    costs: Mapping[str, float] = field(default_factory=dict)


def summarise(outcomes: Iterable[QuestionOutcome]) -> dict[str, Numbers]:
    """The means of each category; `all` first, without the adversarial questions."""
    groups: dict[str, list[QuestionOutcome]] = {ALL: []}
    for outcome in outcomes:
        groups.setdefault(outcome.category, []).append(outcome)
        if outcome.category != ADVERSARIAL:
            groups[ALL].append(outcome)
    return {
        category: _means(groups[category])
        for category in (ALL, *sorted(groups.keys() - {ALL}))
        if groups[category]
    }


def _means(outcomes: Sequence[QuestionOutcome]) -> Numbers:
    told = {
        name: percent(sum(metric(o.ranked, o.gold) for o in outcomes) / len(outcomes))
        for name, metric in METRICS.items()
    }
    for name in outcomes[0].costs:
        told[name] = round(sum(o.costs[name] for o in outcomes) / len(outcomes), 2)
    return told


def percent(share: float) -> float:
    return round(100 * share, 2)

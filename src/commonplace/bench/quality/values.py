"""What a set is made of: owners with originals to ingest, and questions with known evidence."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from commonplace.errors import InvalidInput

ADVERSARIAL = "adversarial"  # asked about what never was: left out of `all`


@dataclass(frozen=True, slots=True)
class Unit:
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
class Original:
    """What is ingested as one source: a session of a conversation, or one entry of a corpus."""

    external_id: str
    title: str
    units: tuple[Unit, ...]
    date: str | None = None  # ISO 8601
    is_conversation: bool = True

    @property
    def text(self) -> str:
        """JSON Lines with a turn in each, or the plain text of an entry that is cited whole."""
        if not self.is_conversation:
            return self.units[0].text
        return "".join(f"{json.dumps(_line(unit), ensure_ascii=False)}\n" for unit in self.units)

    def cited(self, label: str | None) -> str | None:
        """The unit that a hit stands for; of an entry it does not matter which piece was found."""
        if not self.is_conversation:
            return self.units[0].id
        return label if any(unit.id == label for unit in self.units) else None


def _line(unit: Unit) -> dict[str, str]:
    fields = {
        "speaker": unit.speaker,
        "role": unit.role,
        "text": unit.text,
        "time": unit.time,
        "id": unit.id,
    }
    return {name: value for name, value in fields.items() if value is not None}


@dataclass(frozen=True, slots=True)
class Question:
    text: str
    gold: frozenset[str]  # ids of the units that hold the evidence
    category: str


@dataclass(frozen=True, slots=True)
class Owner:
    """One user of the store, with nothing but this."""

    name: str
    sources: tuple[Original, ...]
    questions: tuple[Question, ...]

    @property
    def units(self) -> list[Unit]:
        return [unit for source in self.sources for unit in source.units]


@dataclass(frozen=True, slots=True)
class Loaded:
    """A set, and what was wrong in its files."""

    name: str
    owners: tuple[Owner, ...]
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

"""The numbers under which a changeset is written."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any


@dataclass
class Numbers:
    """Where this changeset stands, and which index units its new memories get."""

    revision: int
    seq: int
    journal: int  # before this changeset
    next_unit: int
    at: datetime
    generation: int  # of its vectors
    journal_rows: list[dict[str, Any]] = field(default_factory=list)

    def take_unit(self) -> int:
        self.next_unit += 1
        return self.next_unit - 1

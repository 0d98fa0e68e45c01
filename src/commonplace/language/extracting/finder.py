"""What can find names in a text besides the rules: a model, behind this small face."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class FoundName:
    """text[start:end] is a name of this kind: "person", or one of ENTITY_TYPES."""

    start: int
    end: int
    kind: str


class NameFinder(Protocol):
    name: str

    def find(self, text: str) -> tuple[FoundName, ...]:
        """In the order of the text, none within another."""
        ...

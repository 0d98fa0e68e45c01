"""Values that wait: for a person who decides, or as an alternative beside what stands; and what
sources told of a memory that they share."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from commonplace.model.memory import Memory


class Choice(StrEnum):
    """What a person can say to a conflict."""

    OVERRIDE = "override"  # the held value takes one target's place
    INSERT = "insert"  # both stand
    DISMISS = "dismiss"  # what was there stands, the held value goes


@dataclass(frozen=True, slots=True)
class Held:
    """A memory as it would be stored, held back."""

    memory: Memory
    conflict: str | None  # the question it waits in; None: an alternative
    beside: str | None  # the memory that it is an alternative to
    mentioned: frozenset[str]  # the fields that its teller gave: an override keeps the others
    reason: str  # which value differs, in words
    actor: str | None
    held_at: datetime
    merged_into: str | None = None  # the memory that it has become a part of: it waits for nothing


@dataclass(frozen=True, slots=True)
class Conflict:
    """One question: which of these is true? Its targets stay live, and disputed, meanwhile."""

    id: str
    targets: tuple[Memory, ...]  # as they stand now; some may have gone
    held: tuple[Held, ...]  # oldest first

    @property
    def opened_at(self) -> datetime:
        return self.held[0].held_at


def group(held: Iterable[Held], targets: Iterable[Memory]) -> list[Conflict]:
    """Whole conflicts from their parts, the oldest first."""
    values: dict[str, list[Held]] = {}
    for value in sorted(held, key=lambda value: (value.held_at, value.memory.id)):
        if value.conflict:
            values.setdefault(value.conflict, []).append(value)
    disputed: dict[str, list[Memory]] = {}
    for memory in targets:
        if memory.conflict:
            disputed.setdefault(memory.conflict, []).append(memory)
    return [
        Conflict(id, tuple(disputed.get(id, ())), tuple(waiting)) for id, waiting in values.items()
    ]

"""A conversation as it is given: turns, the oldest first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

USER = "user"
LOOKED_AT = 8  # turns: what a follow-up means was said a moment ago
LONGEST = 2000  # characters of a turn that are looked at, from its end


@dataclass(frozen=True, slots=True)
class Turn:
    text: str
    role: str = USER

    @property
    def is_users(self) -> bool:
        return self.role == USER


def latest(turns: Sequence[Turn]) -> list[Turn]:
    """What is close enough to be meant."""
    return [Turn(turn.text[-LONGEST:].strip(), turn.role) for turn in turns[-LOOKED_AT:]]

"""A conversation as it is given: turns, the oldest first."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

USER = "user"
LOOKED_AT = 8  # turns: what a follow-up means was said a moment ago
LONGEST = 2000  # characters of a turn that are looked at, from its end


@dataclass(frozen=True, slots=True)
class Turn:
    text: str
    role: str | None = None  # None: it was not said who speaks

    @property
    def is_users(self) -> bool:
        return self.role in (None, USER)

    @property
    def asks(self) -> bool:
        return "?" in self.text[-LONGEST:]


def latest(turns: Sequence[Turn]) -> list[Turn]:
    """What is close enough to be meant."""
    return [Turn(turn.text[-LONGEST:].strip(), turn.role) for turn in turns[-LOOKED_AT:]]


def taken_up(turns: Iterable[Turn]) -> Turn | None:
    """The user's last turn. Where nobody says who speaks, the last that asks: what follows it may
    be its answer."""
    said = [turn for turn in turns if turn.is_users]
    if not said:
        return None
    if said[-1].role is None:
        return next((turn for turn in reversed(said) if turn.asks), said[-1])
    return said[-1]

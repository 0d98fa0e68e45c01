"""The door: one turn of a conversation in, what is worth keeping out, best first.

The rules are loaded when the first turn is met, so that importing the package stays quick.
"""

from __future__ import annotations

from datetime import datetime
from importlib import import_module

from commonplace.language.observing.candidate import Observed


def candidates_in(
    text: str,
    *,
    role: str = "user",
    speaker: str | None = None,
    said_at: datetime | None = None,
) -> tuple[Observed, ...]:
    """What a turn leaves behind: at most five, the surest and most important first.

    Only the user's turns tell of the user; of an assistant or a tool a finished job is kept.
    `speaker` names whose words these are when they are not the user's own.
    """
    rules = import_module("commonplace.language.observing.reading")
    found: tuple[Observed, ...] = rules.read_turn(text, role, speaker, said_at)
    return found

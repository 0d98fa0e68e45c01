"""The door: one turn of a conversation in, what is worth keeping out, best first.

The rules are loaded when the first turn is met, so that importing the package stays quick.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from importlib import import_module
from typing import Any

from commonplace.language.observing.candidate import Kept, Observed


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
    found: tuple[Observed, ...] = _rules("reading").read_turn(
        text, role.casefold(), speaker, said_at
    )
    return found


def may_be_kept(text: str) -> Kept:
    """The turn without what its speaker asks not to keep."""
    kept: Kept = _rules("unkept").may_be_kept(text)
    return kept


def without_credentials(text: str, found: Sequence[Observed]) -> str:
    """The turn with a mark in place of what others could pay, sign or enter with."""
    kept: str = _rules("sensitive").without_credentials(text, found)
    return kept


def _rules(name: str) -> Any:
    return import_module(f"commonplace.language.observing.{name}")

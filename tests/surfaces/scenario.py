"""What a scenario is: steps that every surface is asked to take."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Step:
    operation: str
    arguments: Mapping[str, Any] = field(default_factory=dict)
    save: str | None = None  # the answer's id goes under this name; "$name" uses it later
    ask: str | None = None  # and the id of the question that it opens under this one
    error: str | None = None  # the code that is expected
    agent: str | None = None
    user: str = "ana"
    yes: bool = False  # on a command line, a word more is asked for


@dataclass(frozen=True)
class Scenario:
    name: str
    steps: tuple[Step, ...]


def scenario(name: str, *steps: Step) -> Scenario:
    return Scenario(name, steps)

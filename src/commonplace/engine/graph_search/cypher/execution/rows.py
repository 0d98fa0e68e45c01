"""Rows, and which slot of a row holds which variable."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

Row = list[Any]
Evaluate = Callable[[Row], Any]
Search = Callable[[Row], Iterator[Any]]  # binds slots of the row, once for each match


@dataclass(slots=True)
class RowLayout:
    """How many slots a row has. It grows while a part of a query is compiled."""

    size: int = 0

    def add(self) -> int:
        self.size += 1
        return self.size - 1


@dataclass(slots=True)
class VariableScope:
    """Which slot holds which variable."""

    layout: RowLayout = field(default_factory=RowLayout)
    slots: dict[str, int] = field(default_factory=dict)

    def inner(self) -> VariableScope:
        return VariableScope(self.layout, dict(self.slots))

    def add(self, name: str | None) -> int:
        slot = self.layout.add()
        if name is not None:
            self.slots[name] = slot
        return slot

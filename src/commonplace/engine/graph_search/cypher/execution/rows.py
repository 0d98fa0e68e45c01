"""Rows of a result, and conditions on them in three-valued logic."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from commonplace.engine.graph_search.cypher.execution.operators import truth

Row = list[Any]
Evaluate = Callable[[Row], Any]
Search = Callable[[Row], Iterator[Any]]  # binds slots of the row, once for each match


@dataclass(slots=True)
class RowLayout:
    """The number of slots of a row. It grows while a part of a query is compiled."""

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


def junction(left: Evaluate, right: Evaluate, *, decisive: bool) -> Evaluate:
    """AND is decided by one False, OR by one True."""

    def joined(row: Row) -> bool | None:
        one = truth(left(row))
        if one is decisive:
            return decisive
        other = truth(right(row))
        if other is decisive:
            return decisive
        return None if one is None or other is None else not decisive

    return joined


def first_known(arguments: list[Evaluate]) -> Evaluate:
    def first(row: Row) -> Any:
        for argument in arguments:
            value = argument(row)
            if value is not None:
                return value
        return None

    return first


def null_or_call(call: Callable[..., Any], argument: Evaluate) -> Evaluate:
    def called(row: Row) -> Any:
        value = argument(row)
        return None if value is None else call(value)

    return called


def _all(answers: Iterator[bool | None]) -> bool | None:
    found: bool | None = True
    for answer in answers:
        if answer is False:
            return False
        found = None if answer is None else found
    return found


def _any(answers: Iterator[bool | None]) -> bool | None:
    found: bool | None = False
    for answer in answers:
        if answer is True:
            return True
        found = None if answer is None else found
    return found


def _none(answers: Iterator[bool | None]) -> bool | None:
    found = _any(answers)
    return None if found is None else not found


def _single(answers: Iterator[bool | None]) -> bool | None:
    hits, unknown = 0, False
    for answer in answers:
        hits += answer is True
        unknown = unknown or answer is None
        if hits > 1:
            return False
    return None if unknown else hits == 1


QUANTIFIERS = {"ALL": _all, "ANY": _any, "NONE": _none, "SINGLE": _single}

"""ORDER BY sum(x). The engine finds an aggregate again by how it is written, unless a function
stands around it: so what has a sum() in it gets a name, and is ordered by that."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import fields, is_dataclass, replace
from typing import Any

from commonplace.errors import BadCypher
from commonplace.recall.cypher.conditions import parts_of
from commonplace.recall.cypher.tree import Call, Expression, Item, Projection, Variable

_DEEPEST = 200


def with_names_for_sums(clause: Projection, unnamed: Iterator[str]) -> Projection:
    if not any(_has_sum(key) for key, _ in clause.order):
        return clause
    items = tuple(_named(item, unnamed) for item in clause.items)
    order = tuple((_told(key, items), down) for key, down in clause.order)
    return replace(clause, items=items, order=order)


def _has_sum(expression: Expression) -> bool:
    return any(isinstance(part, Call) and part.name == "sum" for part in parts_of(expression))


def _named(item: Item, unnamed: Iterator[str]) -> Item:
    if item.name or not _has_sum(item.expression):
        return item
    return replace(item, name=next(unnamed))


def _told(key: Any, items: Sequence[Item], depth: int = 0) -> Any:
    """The same, with the names of items in place of what they are."""
    if depth > _DEEPEST:
        raise BadCypher("ORDER BY joins too many things in one expression.")
    for item in items:
        if item.name and item.expression == key:
            return Variable(item.name)
    if isinstance(key, tuple):
        return tuple(_told(each, items, depth + 1) for each in key)
    if not is_dataclass(key) or isinstance(key, type):
        return key
    parts = {each.name: _told(getattr(key, each.name), items, depth + 1) for each in fields(key)}
    return replace(key, **parts)

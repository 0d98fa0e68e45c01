"""Answers as plain data: what JSON surfaces show, made the same way for all of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from datetime import date
from enum import Enum
from functools import cache
from typing import Any


def as_data(value: Any) -> Any:
    """Dataclasses become maps, with their public properties; days and moments become ISO 8601."""
    if is_dataclass(value) and not isinstance(value, type):
        return {name: as_data(getattr(value, name)) for name in _told_of(type(value))}
    if isinstance(value, date):  # and every moment is one
        return value.isoformat()
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, Mapping):
        return {str(name): as_data(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [as_data(item) for item in value]
    return value


@cache
def _told_of(kind: Any) -> tuple[str, ...]:
    return (*(field.name for field in fields(kind)), *properties_of(kind))


_NOT_FOR_ANSWERS = frozenset(
    {
        "bullet",
        "ends",
        "ends_at",
        "names",
        "ref",
        "said",
        "scope",
        "searchable_text",
        "told",
        "weight",
    }
)


def properties_of(kind: type) -> list[str]:
    """What an answer of this class tells beside its fields."""
    return [
        name
        for name, member in vars(kind).items()
        if isinstance(member, property) and name not in _NOT_FOR_ANSWERS
    ]

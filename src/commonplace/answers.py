"""Answers as plain data: what JSON surfaces show, made the same way for all of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from datetime import datetime
from enum import Enum
from typing import Any


def as_data(value: Any) -> Any:
    """Dataclasses become maps, with their public properties; moments become ISO 8601."""
    if is_dataclass(value) and not isinstance(value, type):
        names = [f.name for f in fields(value)] + properties_of(type(value))
        return {name: as_data(getattr(value, name)) for name in names}
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, Mapping):
        return {str(name): as_data(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [as_data(item) for item in value]
    return value


_NOT_FOR_ANSWERS = frozenset(
    {"ref", "ends_at", "searchable_text", "bullet", "told", "said", "scope"}
)


def properties_of(kind: type) -> list[str]:
    """What an answer of this class tells beside its fields."""
    return [
        name
        for name, member in vars(kind).items()
        if isinstance(member, property) and name not in _NOT_FOR_ANSWERS
    ]

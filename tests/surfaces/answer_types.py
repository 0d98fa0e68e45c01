"""The types that an answer is made of, down to its last field."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from typing import Any


def types_in(value: Any) -> Any:
    """The types of a value and of all that it holds."""
    if is_dataclass(value):
        held = {field.name: types_in(getattr(value, field.name)) for field in fields(value)}
        return type(value).__name__, held
    if isinstance(value, Mapping):
        return "mapping", {name: types_in(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return type(value).__name__, [types_in(each) for each in value]
    return "iterator" if isinstance(value, Iterator) else type(value).__name__

"""What the engine answers, as plain values: nodes and relationships as dicts, moments as text."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Any


@dataclass(frozen=True, slots=True)
class Answer:
    rows: list[list[Any]]
    truncated: bool


SHORT = 500  # characters of a text that is shortened


def answer_of(result: Any, *, rows: int, size: int) -> Answer:
    """At most so many rows, and about so many characters."""
    found: list[list[Any]] = []
    room = size
    while result.has_next():
        if len(found) >= rows:
            return Answer(found, truncated=True)
        row = [plain(value) for value in result.get_next()]
        room -= sum(weight(value) for value in row)
        if room < 0:
            return Answer(found, truncated=True)
        found.append(row)
    return Answer(found, truncated=False)


def plain(value: Any) -> Any:
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, datetime):
        return f"{value.isoformat()}Z" if value.tzinfo is None else value.isoformat()
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, timedelta):
        return _duration(value)
    if isinstance(value, Decimal):
        return int(value) if value == value.to_integral_value() else float(value)
    if isinstance(value, list | tuple):
        return [plain(each) for each in value]
    if isinstance(value, Mapping):
        return _thing(value)
    return str(value)


def _thing(value: Mapping[str, Any]) -> Any:
    """A node or a relationship without the engine's own numbers; a path as both; else a map."""
    if "_NODES" in value:
        return {"nodes": plain(value["_NODES"]), "relationships": plain(value["_RELS"])}
    if "_LABEL" not in value:
        return {str(key): plain(each) for key, each in value.items()}
    kept = {key: plain(each) for key, each in value.items() if not key.startswith("_")}
    told = {key: each for key, each in kept.items() if each is not None}
    return {"_label": value["_LABEL"], **told}


def _duration(value: timedelta) -> str:
    """P1DT12H; where it goes back, each part is negative: P-1DT-12H."""
    sign, size = (-1, -value) if value < timedelta() else (1, value)
    minutes, seconds = divmod(size.seconds, 60)
    parts = {"H": minutes // 60, "M": minutes % 60, "S": seconds + size.microseconds / 1e6}
    time = "".join(f"{sign * number:.10g}{unit}" for unit, number in parts.items() if number)
    days = f"{sign * size.days}D" if size.days or not time else ""
    return f"P{days}{'T' if time else ''}{time}"


def weight(value: Any) -> int:
    if isinstance(value, str):
        return len(value) + 2
    if isinstance(value, list):
        return 2 + sum(weight(each) for each in value)
    if isinstance(value, dict):
        return 2 + sum(len(key) + 2 + weight(each) for key, each in value.items())
    return 8


def shortened(value: Any) -> Any:
    """With long texts cut, wherever they stand."""
    if isinstance(value, str):
        return value if len(value) <= SHORT else value[: SHORT - 1] + "…"
    if isinstance(value, list):
        return [shortened(each) for each in value]
    if isinstance(value, dict):
        return {key: shortened(each) for key, each in value.items()}
    return value

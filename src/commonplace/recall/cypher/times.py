"""Moments and durations as Neo4j spells them, in the engine's words. `now` is the clock's."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, date, datetime
from typing import Any

from commonplace.errors import BadCypher

PARTS = frozenset(
    ("year", "quarter", "month", "week", "day", "hour", "minute", "second", "dayofweek")
)
UNITS = ("century", "decade", "year", "quarter", "month", "week", "day", "hour", "minute", "second")
_DURATION = re.compile(
    r"P(?:(?P<years>\d+(?:\.\d+)?)Y)?(?:(?P<months>\d+(?:\.\d+)?)M)?(?:(?P<weeks>\d+(?:\.\d+)?)W)?"
    r"(?:(?P<days>\d+(?:\.\d+)?)D)?(?:T(?:(?P<hours>\d+(?:\.\d+)?)H)?"
    r"(?:(?P<minutes>\d+(?:\.\d+)?)M)?(?:(?P<seconds>\d+(?:\.\d+)?)S)?)?"
)
# How many seconds, or else how many months: a month is no fixed time.
_SECONDS = {"weeks": 604_800, "days": 86_400, "hours": 3600, "minutes": 60, "seconds": 1}
_MONTHS = {"years": 12, "months": 1}


def moment(text: str) -> datetime:
    try:
        found = datetime.fromisoformat(text.strip())
    except ValueError:
        raise BadCypher(
            f"'{text[:40]}' is no moment.", remedy="Write it as 2026-01-31T10:00:00Z."
        ) from None
    return found if found.tzinfo else found.replace(tzinfo=UTC)


def moment_of(parts: Mapping[str, Any]) -> datetime:
    """datetime({year: 2026, month: 1})"""
    allowed = ("year", "month", "day", "hour", "minute", "second")
    if not set(parts) <= set(allowed) or "year" not in parts:
        raise BadCypher(f"A moment is made of {', '.join(allowed)}, and of a year at least.")
    try:
        return datetime(**{"month": 1, "day": 1, **parts}, tzinfo=UTC)
    except (ValueError, TypeError, OverflowError):
        raise BadCypher("These parts make no moment.") from None


def day(text: str) -> date:
    try:
        return date.fromisoformat(text.strip()[:10])
    except ValueError:
        raise BadCypher(f"'{text[:40]}' is no day.", remedy="Write it as 2026-01-31.") from None


def duration(text: str) -> str:
    """P7D, P1Y2M, PT12H as an interval of the engine."""
    found = _DURATION.fullmatch(text.strip().upper())
    parts = (
        {key: float(value) for key, value in found.groupdict().items() if value} if found else {}
    )
    if not parts:
        raise BadCypher(f"'{text[:40]}' is no duration.", remedy="Write it as P7D or PT12H.")
    return duration_of(parts)


def duration_of(parts: Mapping[str, Any]) -> str:
    """duration({days: 7})"""
    unknown = [key for key in parts if key not in _SECONDS and key not in _MONTHS]
    numbers = all(isinstance(v, int | float) and abs(v) < 1e9 for v in parts.values())
    if not parts or unknown or not numbers:
        raise BadCypher(f"A duration is made of numbers of {', '.join((*_MONTHS, *_SECONDS))}.")
    months = round(sum(parts[key] * size for key, size in _MONTHS.items() if key in parts))
    micros = round(sum(parts[key] * size for key, size in _SECONDS.items() if key in parts) * 1e6)
    days, rest = divmod(micros, 86_400_000_000)
    return f"(to_months({months}) + to_days({days}) + to_microseconds({rest}))"


def unit(text: Any) -> str:
    word = str(text).lower()
    if word not in UNITS:
        raise BadCypher(
            f"'{str(text)[:40]}' is no unit of time.", remedy=f"Units: {', '.join(UNITS)}."
        )
    return word

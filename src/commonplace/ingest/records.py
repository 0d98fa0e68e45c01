"""What chat logs share: JSON read with care, moments in any spelling, names in their order."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Any

from commonplace.errors import InvalidInput
from commonplace.ingest.decode import MAX_CHARACTERS
from commonplace.model import check
from commonplace.model.source import Turn

# Programs count from 1970 in seconds, milliseconds or microseconds: what would lie thousands of
# years ahead as one is meant as the next.
_UNITS = ((1e11, 1), (1e14, 1_000), (math.inf, 1_000_000))
# Before computers wrote logs a number is something else: a year, a second of a recording.
_FIRST, _LAST = datetime(1990, 1, 1, tzinfo=UTC), datetime(2200, 1, 1, tzinfo=UTC)

# Dates that are spelled with digits alone, by how many these are.
_COMPACT = {8: "%Y%m%d", 12: "%Y%m%d%H%M", 14: "%Y%m%d%H%M%S"}


def parse_json(text: str, where: str) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError as broken:
        reason = f"{broken.msg} at character {broken.colno}"
    except RecursionError:
        reason = "it is nested too deeply"
    except ValueError:  # a number with thousands of digits
        reason = "it holds a number that is too large"
    raise InvalidInput(
        f"{where} is not valid JSON: {reason}.",
        remedy="Correct it; nothing was stored.",
    )


def moment(value: object, where: str) -> datetime:
    """A time as ISO 8601 text, or counted from 1970."""
    if compact := _compact_date(value):
        return compact
    if isinstance(value, str):
        try:
            value = float(value)
        except ValueError:
            return check.when(value, where)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise InvalidInput(f"{where} must be a time, not {type(value).__name__}.", field="time")
    try:
        size = abs(float(value))
        unit = next(unit for limit, unit in _UNITS if size < limit)
        counted = datetime.fromtimestamp(value / unit, UTC)
    except (StopIteration, OverflowError, OSError, ValueError):
        raise InvalidInput(f"{where} is out of range.", field="time") from None
    if not _FIRST <= counted < _LAST:
        raise InvalidInput(
            f"{where} is not a date: {value:g}.",
            remedy="Write it as 2026-03-01T09:30:00+02:00, or count its seconds from 1970.",
            field="time",
        )
    return counted


def _compact_date(value: object) -> datetime | None:
    """20260301 is a day, though it could be counted as well."""
    written = str(value).strip() if isinstance(value, str) or _whole(value) else ""
    form = _COMPACT.get(len(written))
    if form is None or not (written.isascii() and written.isdigit()):
        return None
    try:
        found = datetime.strptime(written, form).replace(tzinfo=UTC)
    except ValueError:
        return None
    return found if _FIRST <= found < _LAST else None


def optional_word(value: object, where: str) -> str | None:
    """A name or an id; numbers are taken as their digits."""
    if value is None or (isinstance(value, str) and not value.strip()):
        return None
    spelled = (
        str(check.integer(value, where, 0, check.MAX_WHOLE_NUMBER)) if _whole(value) else value
    )
    return check.word(spelled, where)


def _whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def optional_text(value: object, where: str) -> str | None:
    if value is None or (isinstance(value, str) and not value.strip()):
        return None
    return check.text(value, where, MAX_CHARACTERS)


def speakers(turns: Iterable[Turn]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(turn.speaker for turn in turns if turn.speaker))


def span(turns: Sequence[Turn]) -> tuple[datetime | None, datetime | None]:
    """When the first and the last of them were said."""
    known = [turn.at for turn in turns if turn.at is not None]
    return (min(known), max(known)) if known else (None, None)

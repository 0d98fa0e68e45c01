"""Functions on temporal values: truncation, differences and arithmetic."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

from commonplace.engine.graph_search.cypher.temporal.construction import (
    TemporalParts,
    days_from,
    nanos_from,
    normal_duration,
)
from commonplace.engine.graph_search.cypher.temporal.types import (
    DAY,
    SECOND,
    UTC_ZONE,
    CypherDate,
    CypherDateTime,
    CypherDuration,
    CypherTime,
    CypherZone,
    Instant,
    at_instant,
    civil,
    days_of,
    first_of_week,
    length_of_month,
    week_of,
    weekday,
)
from commonplace.errors import BadCypher

# ——— truncation ———


def _first_day(unit: str, days: int) -> int:
    year, month, _ = civil(days)
    if unit in _YEARS:
        return days_of(year // _YEARS[unit] * _YEARS[unit], 1, 1)
    if unit == "weekyear":
        return first_of_week(week_of(days)[0], 1)
    if unit == "quarter":
        return days_of(year, (month - 1) // 3 * 3 + 1, 1)
    if unit == "month":
        return days_of(year, month, 1)
    return days - weekday(days) + 1  # week


_YEARS = {"millennium": 1000, "century": 100, "decade": 10, "year": 1}
_LONG_UNITS = (*_YEARS, "weekyear", "quarter", "month", "week")
_SHORT_UNITS = {
    "day": DAY,
    "hour": 3600 * SECOND,
    "minute": 60 * SECOND,
    "second": SECOND,
    "millisecond": 1_000_000,
    "microsecond": 1_000,
}
UNITS = (*_LONG_UNITS, *_SHORT_UNITS)


def truncate(kind: str, unit: Any, value: Any, parts_given: Any = None) -> Instant:
    """date.truncate('month', …) and the like: the beginning of the unit, with parts replaced."""
    word = unit.lower() if isinstance(unit, str) else ""
    if word not in UNITS:
        names = ", ".join(UNITS)
        raise BadCypher(f"'{str(unit)[:40]}' is no unit of time.", remedy=f"Units: {names}.")
    if not isinstance(value, Instant):
        raise BadCypher(f"{kind}.truncate() takes a unit and a temporal value.")
    days = None if isinstance(value, CypherTime) else value.days
    nanos = 0 if isinstance(value, CypherDate) else value.nanos
    if word in _LONG_UNITS:
        if days is None:
            raise BadCypher(f"A time is not truncated to a {word}.")
        days, nanos = _first_day(word, days), 0
    else:
        nanos -= nanos % _SHORT_UNITS[word]
    parts = TemporalParts(parts_given or {})
    return _truncated(kind, value, days, nanos, parts)


def _truncated(
    kind: str, value: Instant, days: int | None, nanos: int, parts: TemporalParts
) -> Instant:
    finer = parts.numbers.pop("nanosecond", 0)
    nanos = nanos_from(parts.numbers, nanos) + finer
    if kind in ("time", "localtime"):
        own = 0 if isinstance(value, CypherDate) else value.offset or 0
        offset = parts.zone.offset_of_local(days or 0, nanos) if parts.zone else own
        return CypherTime(nanos, None if kind == "localtime" else offset)
    if days is None:
        raise BadCypher(f"{kind}.truncate() takes a value that has a date.")
    days = days_from(parts.numbers, days)
    if kind == "date":
        return CypherDate(days)
    zone = value.zone if isinstance(value, CypherDateTime) else None
    wanted = parts.zone or zone or UTC_ZONE
    return CypherDateTime(days, nanos, None if kind == "localdatetime" else wanted)


# ——— differences ———


def between(how: str, start: Any, end: Any) -> CypherDuration:
    """``how``: between, inmonths, indays or inseconds."""
    for value in (start, end):
        if not isinstance(value, Instant):
            raise BadCypher("The difference is taken between two dates or times.")
    dated = not isinstance(start, CypherTime) and not isinstance(end, CypherTime)
    one, other = _completed(start, end), _completed(end, start)
    if one.zone and other.zone:
        other = at_instant(other.epoch_nanos, one.zone)
    if how == "inseconds" or (how == "between" and not dated):
        return CypherDuration(0, 0, other.epoch_nanos - one.epoch_nanos)
    if not dated:
        return CypherDuration(0, 0, 0)
    if how == "indays":
        return CypherDuration(0, _whole_days(one, other), 0)
    months = _whole_months(one, other)
    if how == "inmonths":
        return CypherDuration(months, 0, 0)
    moved = replace(one, days=_plus_months(one.days, months))
    days = _whole_days(moved, other)
    moved = replace(moved, days=moved.days + days)
    return CypherDuration(months, days, other.epoch_nanos - moved.epoch_nanos)


def _completed(value: Instant, other: Instant) -> CypherDateTime:
    """The value with a missing date or zone taken from the other."""
    days = value.days if not isinstance(value, CypherTime) else None
    if days is None:
        days = 0 if isinstance(other, CypherTime) else other.days
    nanos = 0 if isinstance(value, CypherDate) else value.nanos
    return CypherDateTime(days, nanos, _zone_of(value) or _zone_of(other))


def _zone_of(value: Instant) -> CypherZone | None:
    if isinstance(value, CypherDateTime):
        return value.zone
    if isinstance(value, CypherTime) and value.offset is not None:
        return CypherZone(value.offset)
    return None


def _whole_days(start: CypherDateTime, end: CypherDateTime) -> int:
    days = end.days - start.days
    if days > 0 and end.nanos < start.nanos:
        return days - 1
    return days + 1 if days < 0 and end.nanos > start.nanos else days


def _whole_months(start: CypherDateTime, end: CypherDateTime) -> int:
    (year, month, day), (last_year, last_month, last_day) = civil(start.days), civil(end.days)
    months = (last_year - year) * 12 + last_month - month
    before, after = (last_day, end.nanos), (day, start.nanos)
    if months > 0 and before < after:
        return months - 1
    return months + 1 if months < 0 and before > after else months


def _plus_months(days: int, months: int) -> int:
    year, month, day = civil(days)
    year, month = divmod(year * 12 + month - 1 + months, 12)
    return days_of(year, month + 1, min(day, length_of_month(year, month + 1)))


# ——— arithmetic ———


def plus(value: Instant, duration: CypherDuration, sign: int) -> Instant:
    nanos = duration.nanos * sign
    if isinstance(value, CypherTime):
        return replace(value, nanos=(value.nanos + nanos) % DAY)
    days = _plus_months(value.days, duration.months * sign) + duration.days * sign
    if isinstance(value, CypherDate):
        return _checked_date(CypherDate(days + int(Fraction(nanos, DAY))))
    moved = replace(value, days=days)
    if value.zone is None:
        return CypherDateTime(*divmod(days * DAY + value.nanos + nanos, DAY))
    return at_instant(moved.epoch_nanos + nanos, value.zone)


def _checked_date(value: CypherDate) -> CypherDate:
    civil(value.days)
    return value


def add_durations(left: CypherDuration, right: CypherDuration, sign: int) -> CypherDuration:
    return CypherDuration(
        left.months + sign * right.months,
        left.days + sign * right.days,
        left.nanos + sign * right.nanos,
    )


def scale(value: CypherDuration, factor: Fraction) -> CypherDuration:
    return normal_duration(value.months * factor, value.days * factor, value.nanos * factor)

"""Construction of temporal values from strings and maps."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from typing import Any

from commonplace.engine.graph_search.cypher.temporal.types import (
    DAY,
    SECOND,
    UTC_ZONE,
    CypherDate,
    CypherDateTime,
    CypherDuration,
    CypherTime,
    CypherZone,
    at_instant,
    civil,
    day_of_quarter,
    days_of,
    first_of_week,
    named_zone,
    week_of,
    weekday,
)
from commonplace.errors import BadCypher

_MONTH_DAYS = Fraction(2_629_746, 86_400)
_LARGEST = 2**62

# ——— text ———

_DATES = tuple(
    re.compile(pattern)
    for pattern in (
        r"(?P<year>[+-]\d{4,9}|\d{4})-(?P<month>\d\d)-(?P<day>\d\d)",
        r"(?P<year>[+-]?\d{4})(?P<month>\d\d)(?P<day>\d\d)",
        r"(?P<year>[+-]\d{4,9}|\d{4})-?W(?P<week>\d\d)(?:-?(?P<dayofweek>\d))?",
        r"(?P<year>[+-]\d{4,9}|\d{4})-?Q(?P<quarter>\d)(?:-?(?P<dayofquarter>\d\d?))?",
        r"(?P<year>[+-]\d{4,9}|\d{4})-(?P<ordinalday>\d{3})",
        r"(?P<year>[+-]?\d{4})(?P<ordinalday>\d{3})",
        r"(?P<year>[+-]\d{4,9}|\d{4})-(?P<month>\d\d)",
        r"(?P<year>[+-]?\d{4})(?P<month>\d\d)",
        r"(?P<year>[+-]\d{4,9}|\d{4})",
    )
)
_TIME = re.compile(
    r"(?P<hour>\d\d)(?::?(?P<minute>\d\d)(?::?(?P<second>\d\d)(?:[.,](?P<fraction>\d{1,9}))?)?)?"
)
_OFFSET = re.compile(
    r"Z|(?P<sign>[+-])(?P<hours>\d\d)(?::?(?P<minutes>\d\d)(?::?(?P<seconds>\d\d))?)?"
)
_ZONED = re.compile(r"(?P<time>[\d:.,]+)?(?P<offset>Z|[+-][\d:]+)?(?:\[(?P<name>[^\]]+)\])?")


def parse_date(text: str) -> CypherDate:
    for pattern in _DATES:
        if found := pattern.fullmatch(text):
            parts = {key: int(value) for key, value in found.groupdict().items() if value}
            return CypherDate(days_from(parts, None))
    raise BadCypher(f"'{text[:40]}' is no date.", remedy="Write it as 2026-01-31.")


def _parse_nanos(text: str) -> int:
    found = _TIME.fullmatch(text)
    if not found:
        raise BadCypher(f"'{text[:40]}' is no time.", remedy="Write it as 10:30 or 10:30:15.5.")
    parts = {key: int(found[key] or 0) for key in ("hour", "minute", "second")}
    return nanos_from({**parts, "nanosecond": int((found["fraction"] or "").ljust(9, "0"))}, 0)


def parse_offset(text: str) -> int:
    found = _OFFSET.fullmatch(text)
    if not found:
        raise BadCypher(f"'{text[:40]}' is no offset of a time zone.", remedy="As in +01:00 or Z.")
    hours, minutes, seconds = (int(found[key] or 0) for key in ("hours", "minutes", "seconds"))
    if hours > 18 or minutes > 59 or seconds > 59:
        raise BadCypher(f"'{text[:40]}' is no offset of a time zone.")
    size = hours * 3600 + minutes * 60 + seconds
    return -size if found["sign"] == "-" else size


def parse_zone(text: str) -> CypherZone:
    return CypherZone(parse_offset(text)) if _OFFSET.fullmatch(text) else named_zone(text)


def parse_time(text: str) -> CypherTime:
    found = _ZONED.fullmatch(text.removeprefix("T"))
    if not found or not found["time"]:
        raise BadCypher(f"'{text[:40]}' is no time.", remedy="Write it as 10:30 or 10:30+01:00.")
    offset = parse_offset(found["offset"]) if found["offset"] else None
    return CypherTime(_parse_nanos(found["time"]), offset)


def parse_datetime(text: str) -> CypherDateTime:
    date, separator, rest = text.strip().replace(" ", "T", 1).partition("T")
    found = _ZONED.fullmatch(rest)
    if not found or (separator and not found["time"]):
        raise BadCypher(f"'{text[:40]}' is no datetime.", remedy="As in 2026-01-31T10:00:00Z.")
    days = parse_date(date).days
    nanos = _parse_nanos(found["time"]) if found["time"] else 0
    if found["name"] is None:
        zone = CypherZone(parse_offset(found["offset"])) if found["offset"] else None
        return CypherDateTime(days, nanos, zone)
    zone = named_zone(found["name"])
    if found["offset"] is None:
        return CypherDateTime(days, nanos, zone)
    offset = CypherZone(parse_offset(found["offset"]))
    return at_instant(CypherDateTime(days, nanos, offset).epoch_nanos, zone)


_DURATION = re.compile(
    r"P(?:(?P<years>-?[\d.]+)Y)?(?:(?P<months>-?[\d.]+)M)?(?:(?P<weeks>-?[\d.]+)W)?"
    r"(?:(?P<days>-?[\d.]+)D)?(?:T(?:(?P<hours>-?[\d.]+)H)?"
    r"(?:(?P<minutes>-?[\d.]+)M)?(?:(?P<seconds>-?[\d.]+)S)?)?"
)
_DURATION_AS_DATE = re.compile(
    r"P(?P<years>\d{4})-(?P<months>\d\d)-(?P<days>\d\d)"
    r"(?:T(?P<hours>\d\d):(?P<minutes>\d\d):(?P<seconds>[\d.]+))?"
)


def parse_duration(text: str) -> CypherDuration:
    body = text.strip().replace(",", ".")
    sign = -1 if body.startswith("-P") else 1
    body = body.lstrip("+-") if body[1:2] == "P" else body
    found = _DURATION.fullmatch(body) or _DURATION_AS_DATE.fullmatch(body)
    try:
        parts = {k: Fraction(v) for k, v in found.groupdict().items() if v} if found else {}
    except ValueError:
        parts = {}
    if not parts or body.endswith("T"):
        raise BadCypher(f"'{text[:40]}' is no duration.", remedy="Write it as P7D or PT12H.")
    return duration_from({key: value * sign for key, value in parts.items()})


# ——— construction ———

_GROUPS = (
    ("week", "dayofweek"),
    ("quarter", "dayofquarter"),
    ("ordinalday",),
    ("month", "day"),
)


def days_from(parts: Mapping[str, int], base: int | None) -> int:
    """The day of these parts; missing parts come from ``base``."""
    group = next((each for each in _GROUPS if any(key in parts for key in each)), ("month", "day"))
    year = parts.get("year")
    if base is None:
        if year is None:
            raise BadCypher("A date needs a year at least.")
        for one, following in pairwise(group):
            if following in parts and one not in parts:
                raise BadCypher(f"A date with {following} needs {one}, too.")
    civil_base = civil(base) if base is not None else (0, 1, 1)
    if group[0] == "week":
        return _days_of_week(parts, base)
    if year is None:
        year = civil_base[0]
    if group[0] == "quarter":
        quarter = parts.get("quarter", (civil_base[1] + 2) // 3)
        _check_range("quarter", quarter, 1, 4)
        day = parts.get("dayofquarter", day_of_quarter(base) if base is not None else 1)
        _check_range("dayOfQuarter", day, 1, 92)
        return days_of(year, 3 * quarter - 2, 1) + day - 1
    if group[0] == "ordinalday":
        length = days_of(year + 1, 1, 1) - days_of(year, 1, 1)
        _check_range("ordinalDay", parts["ordinalday"], 1, length)
        return days_of(year, 1, 1) + parts["ordinalday"] - 1
    month, day = parts.get("month", civil_base[1]), parts.get("day", civil_base[2])
    return days_of(year, month, day)


def _days_of_week(parts: Mapping[str, int], base: int | None) -> int:
    base_year, base_week = week_of(base) if base is not None else (0, 1)
    year, week = parts.get("year", base_year), parts.get("week", base_week)
    day = parts.get("dayofweek", weekday(base) if base is not None else 1)
    _check_range("dayOfWeek", day, 1, 7)
    return first_of_week(year, week) + day - 1


def _check_range(what: str, value: int, least: int, most: int) -> None:
    if not least <= value <= most:
        raise BadCypher(f"{what} is between {least} and {most}; {value} is not.")


def nanos_from(parts: Mapping[str, int], base: int) -> int:
    """The nanoseconds since midnight; missing parts come from ``base``."""
    seconds, rest = divmod(base, SECOND)
    hour = parts.get("hour", seconds // 3600)
    minute = parts.get("minute", seconds // 60 % 60)
    second = parts.get("second", seconds % 60)
    _check_range("hour", hour, 0, 23)
    _check_range("minute", minute, 0, 59)
    _check_range("second", second, 0, 59)
    finer = {
        key: parts[key] for key in ("millisecond", "microsecond", "nanosecond") if key in parts
    }
    if finer:
        rest = _subseconds(finer)
    return (hour * 3600 + minute * 60 + second) * SECOND + rest


def _subseconds(finer: Mapping[str, int]) -> int:
    _check_range("millisecond", finer.get("millisecond", 0), 0, 999)
    most = 999 if "millisecond" in finer else 999_999
    _check_range("microsecond", finer.get("microsecond", 0), 0, most)
    most = 999 if "microsecond" in finer else 999_999 if "millisecond" in finer else SECOND - 1
    _check_range("nanosecond", finer.get("nanosecond", 0), 0, most)
    sizes = {"millisecond": 1_000_000, "microsecond": 1_000, "nanosecond": 1}
    return sum(value * sizes[key] for key, value in finer.items())


_DATE_PARTS = frozenset(
    ["year", "month", "day", "week", "dayofweek", "quarter", "dayofquarter", "ordinalday"]
)
_TIME_PARTS = frozenset(["hour", "minute", "second", "millisecond", "microsecond", "nanosecond"])
_BASES = frozenset(["date", "time", "datetime", "timezone", "epochseconds", "epochmillis"])


class TemporalParts:
    """The parts of a temporal value in a map: numbers, base values and zone."""

    def __init__(self, given: Mapping[str, Any]) -> None:
        parts = {key.lower(): value for key, value in given.items() if value is not None}
        unknown = sorted(parts.keys() - _DATE_PARTS - _TIME_PARTS - _BASES)
        if unknown:
            raise BadCypher(f"'{unknown[0][:40]}' is no part of a date or a time.")
        self.numbers: dict[str, int] = {}
        for key, value in parts.items():
            if key in _DATE_PARTS or key in _TIME_PARTS or key.startswith("epoch"):
                if type(value) is not int:
                    raise BadCypher(f"The part '{key}' of a date or a time is an integer.")
                self.numbers[key] = value
        both = parts.get("datetime")
        self.date: CypherDate | CypherDateTime | None = parts.get("date", both)
        self.time: CypherTime | CypherDateTime | None = parts.get("time", both)
        if self.date is not None and not isinstance(self.date, CypherDate | CypherDateTime):
            raise BadCypher("The part 'date' is a date or a datetime.")
        if self.time is not None and not isinstance(self.time, CypherTime | CypherDateTime):
            raise BadCypher("The part 'time' is a time or a datetime.")
        zone = parts.get("timezone")
        if zone is not None and not isinstance(zone, str):
            raise BadCypher("The part 'timezone' is a string.")
        self.zone = parse_zone(zone) if zone is not None else None

    def days(self) -> int:
        return days_from(self.numbers, self.date.days if self.date is not None else None)

    def nanos(self) -> int:
        return nanos_from(self.numbers, self.time.nanos if self.time is not None else 0)


def make_date(value: Any) -> CypherDate:
    if isinstance(value, str):
        return parse_date(value)
    if isinstance(value, CypherDate | CypherDateTime):
        return CypherDate(value.days)
    return CypherDate(TemporalParts(_map(value, "date")).days())


def make_localtime(value: Any) -> CypherTime:
    if isinstance(value, str):
        return CypherTime(parse_time(value).nanos)
    if isinstance(value, CypherTime | CypherDateTime):
        return CypherTime(value.nanos)
    return CypherTime(TemporalParts(_map(value, "localtime")).nanos())


def make_time(value: Any) -> CypherTime:
    if isinstance(value, str):
        found = parse_time(value)
        return CypherTime(found.nanos, found.offset or 0)
    if isinstance(value, CypherTime | CypherDateTime):
        return CypherTime(value.nanos, value.offset or 0)
    parts = TemporalParts(_map(value, "time"))
    base = parts.time
    days = parts.date.days if parts.date is not None else 0
    if base is not None and not base.is_local:
        if parts.zone is not None:
            wanted = parts.zone.offset_of_local(days, base.nanos)
            shifted = (base.nanos + (wanted - (base.offset or 0)) * SECOND) % DAY
            return CypherTime(nanos_from(parts.numbers, shifted), wanted)
        return CypherTime(parts.nanos(), base.offset)
    offset = parts.zone.offset_of_local(days, 0) if parts.zone else 0
    return CypherTime(parts.nanos(), offset)


def make_localdatetime(value: Any) -> CypherDateTime:
    if isinstance(value, str):
        return replace(parse_datetime(value), zone=None)
    if isinstance(value, CypherDateTime):
        return replace(value, zone=None)
    if isinstance(value, CypherDate):
        return CypherDateTime(value.days, 0)
    parts = TemporalParts(_map(value, "localdatetime"))
    return CypherDateTime(parts.days(), parts.nanos())


def make_datetime(value: Any) -> CypherDateTime:
    if isinstance(value, str):
        found = parse_datetime(value)
        return found if found.zone else replace(found, zone=UTC_ZONE)
    if isinstance(value, CypherDateTime):
        return value if value.zone else replace(value, zone=UTC_ZONE)
    if isinstance(value, CypherDate):
        return CypherDateTime(value.days, 0, UTC_ZONE)
    parts = TemporalParts(_map(value, "datetime"))
    for key, size in (("epochseconds", SECOND), ("epochmillis", 1_000_000)):
        if key in parts.numbers:
            rest = parts.numbers.get("nanosecond", 0)
            return at_instant(parts.numbers[key] * size + rest, parts.zone or UTC_ZONE)
    return _datetime_from(parts)


def _datetime_from(parts: TemporalParts) -> CypherDateTime:
    base, zone = parts.time, parts.zone
    days, nanos = parts.days(), parts.nanos()
    if base is None or base.is_local:
        return CypherDateTime(days, nanos, zone or UTC_ZONE)
    own = base.zone if isinstance(base, CypherDateTime) else CypherZone(base.offset or 0)
    if zone is None:
        return CypherDateTime(days, nanos, own)
    shifted = at_instant(CypherDateTime(days, base.nanos, own).epoch_nanos, zone)
    if parts.date is base and not parts.numbers.keys() & _DATE_PARTS:
        days = shifted.days
    return CypherDateTime(days, nanos_from(parts.numbers, shifted.nanos), zone)


def _map(value: Any, name: str) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise BadCypher(f"{name}() takes a string, a map or a temporal value.")
    return value


_UNITS: dict[str, tuple[str, int]] = {
    "years": ("months", 12),
    "quarters": ("months", 3),
    "months": ("months", 1),
    "weeks": ("days", 7),
    "days": ("days", 1),
    "hours": ("nanos", 3600 * SECOND),
    "minutes": ("nanos", 60 * SECOND),
    "seconds": ("nanos", SECOND),
    "milliseconds": ("nanos", 1_000_000),
    "microseconds": ("nanos", 1_000),
    "nanoseconds": ("nanos", 1),
}


def make_duration(value: Any) -> CypherDuration:
    if isinstance(value, CypherDuration):
        return value
    if isinstance(value, str):
        return parse_duration(value)
    if not isinstance(value, dict):
        raise BadCypher("duration() takes a string or a map.")
    parts = {}
    for key, number in value.items():
        if number is None:
            continue
        if type(number) not in (int, float) or number != number or abs(number) > _LARGEST:
            raise BadCypher(f"The part '{key[:40]}' of a duration is a number.")
        parts[key.lower()] = Fraction(str(number))
    return duration_from(parts)


def duration_from(parts: Mapping[str, Fraction]) -> CypherDuration:
    sums = {"months": Fraction(), "days": Fraction(), "nanos": Fraction()}
    for key, number in parts.items():
        if key not in _UNITS:
            names = ", ".join(_UNITS)
            raise BadCypher(f"'{key[:40]}' is no part of a duration.", remedy=f"Parts: {names}.")
        unit, size = _UNITS[key]
        sums[unit] += number * size
    return normal_duration(sums["months"], sums["days"], sums["nanos"])


def normal_duration(months: Fraction, days: Fraction, nanos: Fraction) -> CypherDuration:
    """Fractions of months become days, and fractions of days become time."""
    whole_months = int(months)
    days += (months - whole_months) * _MONTH_DAYS
    whole_days = int(days)
    nanos += (days - whole_days) * DAY
    if max(abs(whole_months), abs(whole_days), abs(nanos) // SECOND) > _LARGEST:
        raise BadCypher("The duration is too long.")
    return CypherDuration(whole_months, whole_days, int(nanos))


MAKERS: dict[str, Callable[[Any], Any]] = {
    "date": make_date,
    "time": make_time,
    "localtime": make_localtime,
    "datetime": make_datetime,
    "localdatetime": make_localdatetime,
}

"""Temporal values: dates, times, datetimes and durations, with nanoseconds and any year.

Days are counted from 1970-01-01 in the proleptic Gregorian calendar, times from midnight.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from functools import cache
from typing import Any
from zoneinfo import ZoneInfo, available_timezones

from commonplace.errors import BadCypher

SECOND = 1_000_000_000  # nanoseconds
DAY = 86_400 * SECOND
_EPOCH = date(1970, 1, 1).toordinal()
_CYCLE = 146_097  # days of 400 years
_MONTH_SECONDS = 2_629_746  # of an average month
MAX_YEARS = 1_000_000_000

# ——— the calendar ———


def days_of(year: int, month: int, day: int) -> int:
    """Raises BadCypher if the day does not exist."""
    cycles, within = divmod(year - 2000, 400)
    try:
        ordinal = date(2000 + within, month, day).toordinal()
    except (ValueError, OverflowError):
        raise BadCypher(f"There is no day {year}-{month}-{day}.") from None
    if abs(year) > MAX_YEARS:
        raise BadCypher(f"The year {year} is out of range.")
    return cycles * _CYCLE + ordinal - _EPOCH


def civil(days: int) -> tuple[int, int, int]:
    """Year, month and day."""
    cycles, within = divmod(days + _EPOCH - _FIRST, _CYCLE)
    found = date.fromordinal(_FIRST + within)
    return found.year + 400 * cycles, found.month, found.day


_FIRST = date(2000, 1, 1).toordinal()


def length_of_month(year: int, month: int) -> int:
    following = (year + 1, 1) if month == 12 else (year, month + 1)
    return days_of(*following, 1) - days_of(year, month, 1)


def weekday(days: int) -> int:
    """1 is Monday."""
    return (days + 3) % 7 + 1


def week_of(days: int) -> tuple[int, int]:
    """The year and the number of the ISO week."""
    thursday = days - weekday(days) + 4
    year = civil(thursday)[0]
    return year, (thursday - days_of(year, 1, 1)) // 7 + 1


def first_of_week(year: int, week: int) -> int:
    """The Monday of an ISO week."""
    fourth = days_of(year, 1, 4)
    monday = fourth - weekday(fourth) + 1 + 7 * (week - 1)
    if not 1 <= week <= 53 or week_of(monday) != (year, week):
        raise BadCypher(f"The year {year} has no week {week}.")
    return monday


# ——— zones ———


@dataclass(frozen=True, slots=True)
class CypherZone:
    """A fixed offset in seconds, or a named zone, whose offset depends on the moment."""

    fixed: int = 0
    name: str | None = None

    def offset_of_local(self, days: int, nanos: int) -> int:
        if self.name is None:
            return self.fixed
        return _seconds(_in_zone(self.name, days, nanos, local=True).utcoffset())

    def offset_of_instant(self, nanos: int) -> int:
        """``nanos`` since the epoch, in UTC."""
        if self.name is None:
            return self.fixed
        return _seconds(_in_zone(self.name, *divmod(nanos, DAY), local=False).utcoffset())


UTC_ZONE = CypherZone()


@cache
def _zone(name: str) -> ZoneInfo:
    return ZoneInfo(name)


@cache
def _zone_names() -> dict[str, str]:
    return {name.lower(): name for name in available_timezones()}


def named_zone(name: str) -> CypherZone:
    known = _zone_names().get(name.lower())
    if known is None:
        raise BadCypher(f"There is no time zone '{name[:40]}'.")
    return CypherZone(name=known)


def _in_zone(name: str, days: int, nanos: int, *, local: bool) -> datetime:
    year, month, day = civil(days)
    if not 1 < year < 9999:  # the calendar repeats after 400 years
        year = 2000 + year % 400
    zone = _zone(name)
    plain = datetime(year, month, day) + timedelta(microseconds=nanos // 1000)
    return plain.replace(tzinfo=zone) if local else plain.replace(tzinfo=UTC).astimezone(zone)


def _seconds(offset: timedelta | None) -> int:
    return int(offset.total_seconds()) if offset else 0


# ——— values ———


@dataclass(frozen=True, slots=True)
class CypherDate:
    days: int

    @property
    def instant(self) -> int:
        return self.days

    def __str__(self) -> str:
        year, month, day = civil(self.days)
        return f"{_year(year)}-{month:02}-{day:02}"

    def get(self, key: str) -> Any:
        getter = _OF_DATES.get(key.lower())
        return getter(self.days) if getter else None


@dataclass(frozen=True, slots=True)
class CypherTime:
    """A time of day. Without an offset it is a localtime."""

    nanos: int
    offset: int | None = None

    @property
    def is_local(self) -> bool:
        return self.offset is None

    @property
    def instant(self) -> tuple[int, int]:
        offset = self.offset or 0
        return self.nanos - offset * SECOND, offset

    def __str__(self) -> str:
        offset = "" if self.offset is None else offset_text(self.offset)
        return f"{time_text(self.nanos)}{offset}"

    def get(self, key: str) -> Any:
        word = key.lower()
        if word in _OF_TIMES:
            return _OF_TIMES[word](self.nanos)
        if self.offset is None:
            return None
        return _of_offset(word, self.offset, offset_text(self.offset))


@dataclass(frozen=True, slots=True)
class CypherDateTime:
    """A date and a time. Without a zone it is a localdatetime."""

    days: int
    nanos: int
    zone: CypherZone | None = None

    @property
    def is_local(self) -> bool:
        return self.zone is None

    @property
    def offset(self) -> int:
        return self.zone.offset_of_local(self.days, self.nanos) if self.zone else 0

    @property
    def epoch_nanos(self) -> int:
        return self.days * DAY + self.nanos - self.offset * SECOND

    @property
    def instant(self) -> tuple[int, int]:
        return self.epoch_nanos, self.offset

    def __str__(self) -> str:
        name = f"[{self.zone.name}]" if self.zone and self.zone.name else ""
        return f"{CypherDate(self.days)}T{time_text(self.nanos)}{self._offset_text()}{name}"

    @property
    def iso_text(self) -> str:
        """Always with seconds, and without the name of the zone."""
        seconds = ":00" if not self.nanos % (60 * SECOND) else ""
        return f"{CypherDate(self.days)}T{time_text(self.nanos)}{seconds}{self._offset_text()}"

    def _offset_text(self) -> str:
        return offset_text(self.offset) if self.zone else ""

    def get(self, key: str) -> Any:
        word = key.lower()
        if word in _OF_DATES:
            return _OF_DATES[word](self.days)
        if word in _OF_TIMES:
            return _OF_TIMES[word](self.nanos)
        if self.zone is None:
            return None
        if word == "epochseconds":
            return self.epoch_nanos // SECOND
        if word == "epochmillis":
            return self.epoch_nanos // 1_000_000
        return _of_offset(word, self.offset, self.zone.name or offset_text(self.offset))


@dataclass(frozen=True, slots=True)
class CypherDuration:
    """Months, days and time are separate, because their lengths vary."""

    months: int
    days: int
    nanos: int

    @property
    def instant(self) -> int:
        return self.average_length

    @property
    def average_length(self) -> int:
        return self.months * _MONTH_SECONDS * SECOND + self.days * DAY + self.nanos

    def __str__(self) -> str:
        date = _units((("Y", _quotient(self.months, 12)), ("M", _rest(self.months, 12))))
        date += _units((("D", self.days),))
        seconds = _quotient(self.nanos, SECOND)
        time = _units((("H", _quotient(seconds, 3600)), ("M", _rest(_quotient(seconds, 60), 60))))
        time += self._seconds_text()
        return f"P{date}{'T' if time else ''}{time}" if date or time else "PT0S"

    def _seconds_text(self) -> str:
        rest = abs(self.nanos) % (60 * SECOND)
        if not rest:
            return ""
        return f"{'-' if self.nanos < 0 else ''}{rest // SECOND}{_fraction(rest % SECOND)}S"

    def get(self, key: str) -> Any:
        getter = _OF_DURATIONS.get(key.lower())
        return getter(self) if getter else None


Temporal = CypherDate | CypherTime | CypherDateTime | CypherDuration
Instant = CypherDate | CypherTime | CypherDateTime


def from_python(value: datetime | date) -> CypherDate | CypherDateTime:
    """A moment without a zone counts as UTC."""
    if not isinstance(value, datetime):
        return CypherDate(value.toordinal() - _EPOCH)
    aware = value if value.tzinfo else value.replace(tzinfo=UTC)
    offset = aware.utcoffset()
    since_midnight = (value.hour * 3600 + value.minute * 60 + value.second) * SECOND
    nanos = since_midnight + value.microsecond * 1000
    zone = CypherZone(_seconds(offset)) if offset else UTC_ZONE
    return CypherDateTime(value.toordinal() - _EPOCH, nanos, zone)


def at_instant(epoch_nanos: int, zone: CypherZone) -> CypherDateTime:
    local = epoch_nanos + zone.offset_of_instant(epoch_nanos) * SECOND
    return CypherDateTime(*divmod(local, DAY), zone)


# ——— text ———


def _year(year: int) -> str:
    if 0 <= year <= 9999:
        return f"{year:04}"
    return f"{'-' if year < 0 else '+'}{abs(year):04}"


def time_text(nanos: int) -> str:
    seconds, rest = divmod(nanos, SECOND)
    minutes, second = divmod(seconds, 60)
    text = f"{minutes // 60:02}:{minutes % 60:02}"
    return f"{text}:{second:02}{_fraction(rest)}" if second or rest else text


def _fraction(nanos: int) -> str:
    return f".{nanos:09}".rstrip("0") if nanos else ""


def offset_text(offset: int) -> str:
    if not offset:
        return "Z"
    size = abs(offset)
    text = f"{'-' if offset < 0 else '+'}{size // 3600:02}:{size // 60 % 60:02}"
    return f"{text}:{size % 60:02}" if size % 60 else text


def _units(parts: tuple[tuple[str, int], ...]) -> str:
    return "".join(f"{number}{unit}" for unit, number in parts if number)


def _quotient(value: int, by: int) -> int:
    """Rounded towards 0."""
    return value // by if value >= 0 else -(-value // by)


def _rest(value: int, by: int) -> int:
    return value - by * _quotient(value, by)


# ——— properties ———


def _quarter(days: int) -> int:
    return (civil(days)[1] + 2) // 3


def day_of_quarter(days: int) -> int:
    year, month, _ = civil(days)
    return days - days_of(year, 3 * ((month - 1) // 3) + 1, 1) + 1


_OF_DATES: dict[str, Any] = {
    "year": lambda days: civil(days)[0],
    "quarter": _quarter,
    "month": lambda days: civil(days)[1],
    "week": lambda days: week_of(days)[1],
    "weekyear": lambda days: week_of(days)[0],
    "day": lambda days: civil(days)[2],
    "ordinalday": lambda days: days - days_of(civil(days)[0], 1, 1) + 1,
    "weekday": weekday,
    "dayofweek": weekday,
    "dayofquarter": day_of_quarter,
    "quarterday": day_of_quarter,
}
_OF_TIMES: dict[str, Any] = {
    "hour": lambda nanos: nanos // (3600 * SECOND),
    "minute": lambda nanos: nanos // (60 * SECOND) % 60,
    "second": lambda nanos: nanos // SECOND % 60,
    "millisecond": lambda nanos: nanos % SECOND // 1_000_000,
    "microsecond": lambda nanos: nanos % SECOND // 1_000,
    "nanosecond": lambda nanos: nanos % SECOND,
}
_OF_DURATIONS: dict[str, Any] = {
    "years": lambda one: _quotient(one.months, 12),
    "quarters": lambda one: _quotient(one.months, 3),
    "months": lambda one: one.months,
    "weeks": lambda one: _quotient(one.days, 7),
    "days": lambda one: one.days,
    "hours": lambda one: _quotient(one.nanos, 3600 * SECOND),
    "minutes": lambda one: _quotient(one.nanos, 60 * SECOND),
    "seconds": lambda one: one.nanos // SECOND,
    "milliseconds": lambda one: one.nanos // 1_000_000,
    "microseconds": lambda one: one.nanos // 1_000,
    "nanoseconds": lambda one: one.nanos,
    "quartersofyear": lambda one: _rest(_quotient(one.months, 3), 4),
    "monthsofquarter": lambda one: _rest(one.months, 3),
    "monthsofyear": lambda one: _rest(one.months, 12),
    "daysofweek": lambda one: _rest(one.days, 7),
    "minutesofhour": lambda one: _rest(_quotient(one.nanos, 60 * SECOND), 60),
    "secondsofminute": lambda one: _rest(one.nanos // SECOND, 60),
    "millisecondsofsecond": lambda one: one.nanos % SECOND // 1_000_000,
    "microsecondsofsecond": lambda one: one.nanos % SECOND // 1_000,
    "nanosecondsofsecond": lambda one: one.nanos % SECOND,
}


def _of_offset(word: str, offset: int, timezone: str) -> Any:
    return {
        "timezone": timezone,
        "offset": offset_text(offset),
        "offsetminutes": offset // 60,
        "offsetseconds": offset,
    }.get(word)

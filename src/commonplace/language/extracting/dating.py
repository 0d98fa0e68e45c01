"""When a relation began, begins or ends, as its sentence tells: "since 2019", "from Monday"."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta

from commonplace.language.extracting.patterns import When
from commonplace.language.observing.days_told import (
    ON,
    POINT,
    Which,
    ahead,
    coming,
    day_of,
    last,
    nearest,
)
from commonplace.language.observing.hebrew import is_hebrew
from commonplace.language.observing.when import with_dates

_FROM_TO = re.compile(
    rf"\b(?:from|between) {POINT.format(n=1)} (?:to|until|till|and|through|-|–) "
    rf"{POINT.format(n=2)}",
    re.IGNORECASE,
)
_SINCE = re.compile(
    rf"(?:\bsince|\bever since|(?<!\w)מאז|(?<!\w)(?<!החל )מ-?) ?{POINT.format(n=1)}", re.I
)
_UNTIL = re.compile(rf"(?:\buntil|\btill|(?<!\w)עד) {POINT.format(n=1)}", re.IGNORECASE)
_AHEAD = re.compile(
    rf"(?:\buntil|\btill|(?<!\w)עד) (?P<end>(?:the )?end of |סוף )?{POINT.format(n=1)}",
    re.IGNORECASE,
)
_FROM = re.compile(
    rf"(?:\b(?:from|as of|starting|beginning|effective)(?: (?:on|in|from))?|(?<!\w)החל [במ]-?) ?"
    rf"{POINT.format(n=1)}",
    re.IGNORECASE,
)
_COUNTS = {
    "a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7,
    "eight": 8, "nine": 9, "ten": 10,
}  # fmt: skip
_FOR = re.compile(
    rf"\bfor (?:about |almost |nearly |over |more than |the (?:last|past) )?"
    rf"(?P<count>\d{{1,2}}|{'|'.join(_COUNTS)}) (?P<unit>day|week|month|year)s?\b",
    re.IGNORECASE,
)
_DAYS = {"day": 1.0, "week": 7.0, "month": 30.44, "year": 365.25}


@dataclass(frozen=True, slots=True)
class Stretch:
    start: datetime | None = None
    end: datetime | None = None


def stretch_in(text: str, at: datetime, when: When) -> Stretch:
    """Of the clause that tells a relation. ``at``: when it was said."""
    hebrew = is_hebrew(text)
    was = with_dates(text, at, hebrew, backwards=True).text
    if found := _SINCE.search(was):
        return Stretch(_point(found, 1, at, last))
    if when in (When.STATE, When.AHEAD):
        return _from_now_on(text, at, with_dates(text, at, hebrew).text, when)
    if found := _FROM_TO.search(was):
        return Stretch(_point(found, 1, at, last), _point(found, 2, at, last))
    if found := _UNTIL.search(was):
        return Stretch(None, _point(found, 1, at, last))
    if when is When.EVENT and (found := _FROM.search(was)):
        return Stretch(_point(found, 1, at, nearest))
    found = ON.search(was)
    start = _point(found, 1, at, last) if found else None
    return Stretch(start if start is None or start <= at else None)


def _from_now_on(text: str, at: datetime, told: str, when: When) -> Stretch:
    """Of what holds, or is to begin: its days are mostly to come."""
    if found := _FROM_TO.search(told):
        start, end = _point(found, 1, at, coming), _point(found, 2, at, coming)
        return Stretch(start, end if start is None or end is None or end > start else None)
    if found := _FROM.search(told) or (ON.search(told) if when is When.AHEAD else None):
        return Stretch(_point(found, 1, at, coming), _until(text, at))
    return Stretch(_ago(told, at), _until(text, at))


def _until(text: str, at: datetime) -> datetime | None:
    """ "He works here until the end of May": the next one. What is over is told otherwise."""
    found = _AHEAD.search(with_dates(text, at, is_hebrew(text)).text)
    if found is None:
        return None
    end = _point(found, 1, at, coming if found["end"] else ahead)
    if end is None:
        return None
    if found["end"] and found["month1"]:
        end = end.replace(day=1, year=end.year + end.month // 12, month=end.month % 12 + 1)
    return end if end > at else None


def _ago(text: str, at: datetime) -> datetime | None:
    """ "I have lived here for three years"."""
    found = _FOR.search(text)
    if found is None:
        return None
    count = found["count"].lower()
    many = int(count) if count.isdigit() else _COUNTS[count]
    return _midnight((at - timedelta(days=many * _DAYS[found["unit"].lower()])).date())


def _point(found: re.Match[str], n: int, at: datetime, which: Which) -> datetime | None:
    day = day_of(found, n, at.date(), which)
    return None if day is None else _midnight(day)


def _midnight(day: date) -> datetime:
    return datetime.combine(day, time.min, UTC)

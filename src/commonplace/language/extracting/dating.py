"""When a relation began or ended, as its sentence tells: "since 2019", "last March"."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta

from commonplace.language.extracting.patterns import When
from commonplace.language.observing.hebrew import is_hebrew
from commonplace.language.observing.when import with_dates

_MONTHS = (
    *("january", "february", "march", "april", "may", "june", "july", "august", "september"),
    *("october", "november", "december"),
)
_HEBREW_MONTHS = (
    *("ינואר", "פברואר", "מרץ", "אפריל", "מאי", "יוני", "יולי", "אוגוסט", "ספטמבר", "אוקטובר"),
    *("נובמבר", "דצמבר"),
)
_MONTH = "|".join((*_MONTHS, *_HEBREW_MONTHS))
_YEAR = r"(?:19|20)\d\d"
_DAY = rf"{_YEAR}-\d\d-\d\d"
# One place in time, after with_dates has put days in place of words.
_POINT = (
    rf"(?:(?:the week of |the weekend of |\w+day |the (?:morning|evening|night|afternoon) of )?"
    rf"(?P<day{{n}}>{_DAY})"
    rf"|(?P<month{{n}}>{_MONTH})(?: (?P<dom{{n}}>\d{{{{1,2}}}})(?!\d)(?:st|nd|rd|th)?)?"
    rf"(?:,? (?P<my{{n}}>{_YEAR}))?"
    rf"|(?:the )?(?:spring|summer|autumn|fall|winter|early|late|mid|beginning|end)?(?: of | |-)?"
    rf"(?P<year{{n}}>{_YEAR}))"
)
_FROM_TO = re.compile(
    rf"\b(?:from|between) {_POINT.format(n=1)} (?:to|until|till|and|through|-|–) "
    rf"{_POINT.format(n=2)}",
    re.IGNORECASE,
)
_SINCE = re.compile(rf"(?:\bsince|\bever since|(?<!\w)מאז|(?<!\w)מ-?) ?{_POINT.format(n=1)}", re.I)
_UNTIL = re.compile(rf"(?:\buntil|\btill|(?<!\w)עד) {_POINT.format(n=1)}", re.IGNORECASE)
_AHEAD = re.compile(
    rf"(?:\buntil|\btill|(?<!\w)עד) (?P<end>(?:the )?end of |סוף )?{_POINT.format(n=1)}",
    re.IGNORECASE,
)
_ON = re.compile(rf"(?:\b(?:in|on|around|during)|(?<!\w)ב-?) ?{_POINT.format(n=1)}", re.IGNORECASE)
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
    told = with_dates(text, at, is_hebrew(text), backwards=True).text
    if found := _FROM_TO.search(told):
        return Stretch(_point(found, 1, at), _point(found, 2, at))
    if found := _SINCE.search(told):
        return Stretch(_point(found, 1, at))
    if when is When.STATE:
        return Stretch(_ago(told, at), _until(text, at))
    if found := _UNTIL.search(told):
        return Stretch(None, _point(found, 1, at))
    found = _ON.search(told)
    start = _point(found, 1, at) if found else None
    return Stretch(start if start is None or start <= at else None)


def _until(text: str, at: datetime) -> datetime | None:
    """ "He works here until the end of May": the next one. What is over is told otherwise."""
    found = _AHEAD.search(with_dates(text, at, is_hebrew(text)).text)
    if found is None:
        return None
    end = _point(found, 1, at)
    if end is None or not found["month1"]:
        return end if end is not None and end > at else None
    if not found["my1"] and end <= at:
        end = end.replace(day=min(end.day, 28), year=end.year + 1)
    if found["end"]:
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


def _point(found: re.Match[str], n: int, at: datetime) -> datetime | None:
    try:
        return _midnight(_date(found, n, at))
    except ValueError:  # the 31st of June
        return None


def _date(found: re.Match[str], n: int, at: datetime) -> date:
    if day := found[f"day{n}"]:
        return date.fromisoformat(day)
    if year := found[f"year{n}"]:
        return date(int(year), 1, 1)
    name = found[f"month{n}"].lower()
    month = (_MONTHS.index(name) if name in _MONTHS else _HEBREW_MONTHS.index(name)) + 1
    day_of_month = int(found[f"dom{n}"] or 1)
    if year := found[f"my{n}"]:
        return date(int(year), month, day_of_month)
    this_year = date(at.year, month, day_of_month)
    return this_year if this_year <= at.date() else date(at.year - 1, month, day_of_month)


def _midnight(day: date) -> datetime:
    return datetime.combine(day, time.min, UTC)

"""Days that a text tells as dates: "March 3, 2024", "the 3rd of May", "in the week of 2026-03-09".

Of a month or a year it is the first day: that is as far as the date says. It is read after
with_dates (when.py) has put dates in place of "tomorrow" and "last month".
"""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Callable, Sequence
from datetime import date, timedelta

from commonplace.language.observing.months import SHORT, WHOLE, month_number
from commonplace.language.statements.dates import numeric_date

_YEAR = r"(?:19|20)\d\d"
_DAY = rf"{_YEAR}-\d\d-\d\d"
# What may stand before a day: it says no other one.
_LEAD = (
    r"(?:the week of |the weekend of |\w+day,? |the (?:morning|evening|night|afternoon) of "
    r"|יום [א-ת]+,? |שבת,? |שבוע של )"
)
_ROUGHLY = r"(?:early |late |mid[- ]|the (?:beginning|start|middle) of )"
# A month, and its day on either side: "30 April 2026", "the 3rd of May", "May 3rd", «3 במאי».
_IN_MONTH = (
    rf"{_ROUGHLY}?(?:(?:the |ה-?)?(?P<first{{n}}>\d{{{{1,2}}}})(?:st|nd|rd|th)? (?:of )?[בל]?)?"
    rf"(?P<month{{n}}>(?:{WHOLE})(?!\w)|{SHORT})"
    rf"(?: (?P<then{{n}}>\d{{{{1,2}}}})(?!\d)(?:st|nd|rd|th)?)?(?:,? (?P<my{{n}}>{_YEAR}))?"
)
# In numbers, where nobody could take the day for the month: 3.5.2026, 30/4/2026, 4/30/2026.
_NO_MONTH = r"(?:1[3-9]|2\d|3[01])"
_NUMERIC = (
    rf"(?P<num{{n}}>\d{{{{1,2}}}}\.\d{{{{1,2}}}}\.{_YEAR}"
    rf"|(?:{_NO_MONTH}/\d{{{{1,2}}}}|\d{{{{1,2}}}}/{_NO_MONTH})/{_YEAR})(?!\d)"
)
# One place in time. Its groups have a number, so that two of them fit into one pattern.
POINT = (
    rf"(?:{_LEAD}?(?:(?P<day{{n}}>{_DAY})|{_NUMERIC}|{_IN_MONTH})"
    rf"|(?:the )?(?:spring|summer|autumn|fall|winter|early|late|mid|beginning|end|שנת)?"
    rf"(?: of | |-)?(?P<year{{n}}>{_YEAR}))"
)
ON = re.compile(rf"(?:\b(?:in|on|around|during)|(?<!\w)ב-?) ?{POINT.format(n=1)}", re.IGNORECASE)

# ——— which of the days that are called so ———

Which = Callable[[Sequence[date], date], date]
_LATELY = timedelta(days=31)  # "as of March 1", said on the 18th


def last(days: Sequence[date], today: date) -> date:
    return max(day for day in days if day <= today)


def coming(days: Sequence[date], today: date) -> date:
    return min(day for day in days if day > today - _LATELY)


def ahead(days: Sequence[date], today: date) -> date:
    return min(day for day in days if day > today)


def nearest(days: Sequence[date], today: date) -> date:
    return min(days, key=lambda day: abs(day - today))


def day_of(found: re.Match[str], n: int, today: date, which: Which) -> date | None:
    """Of the place in time with this number; None for the 31st of June."""
    try:
        return _day_of(found, n, today, which)
    except ValueError:
        return None


def _day_of(found: re.Match[str], n: int, today: date, which: Which) -> date | None:
    if day := found[f"day{n}"]:
        return date.fromisoformat(day)
    if numeric := found[f"num{n}"]:
        told = numeric_date(numeric)
        return date(told.year, told.month, told.day) if told else None
    if year := found[f"year{n}"]:
        return date(int(year), 1, 1)
    month = month_number(found[f"month{n}"])
    day_of_month = int(found[f"first{n}"] or found[f"then{n}"] or 1)
    if year := found[f"my{n}"]:
        return date(int(year), month, day_of_month)
    years = (today.year - 1, today.year, today.year + 1)
    there = [year for year in years if day_of_month <= monthrange(year, month)[1]]
    return which([date(year, month, day_of_month) for year in there], today)


_ALONE = re.compile(POINT.format(n=1), re.IGNORECASE)


def whole_day(text: str) -> date | None:
    """Of a text that is a date with its year, and nothing else."""
    found = _ALONE.fullmatch(text)
    if found is None:
        return None
    in_month = found["my1"] and (found["first1"] or found["then1"])
    if not (found["day1"] or found["num1"] or in_month):
        return None
    return day_of(found, 1, date.max, last)


# ——— when something happened ———

# "I booked a flight in March": mostly the March to come, unless a year is told.
_ARRANGED = re.compile(
    r"\b(?:booked|scheduled|planned|reserved|registered|enrolled|signed up|ordered|invited"
    r"|accepted|proposed|renewed|(?:bought|got) (?:\w+ )?tickets?)\b|הזמנ|קבע|נרשמ|נרשם",
    re.IGNORECASE,
)


def happened_on(text: str, said: date) -> date | None:
    """The day of an event, as far as its sentence tells it; never one to come."""
    found = ON.search(text)
    if found is None:
        return None
    guessed = found["month1"] and not found["my1"]
    if guessed and _ARRANGED.search(text):
        return None
    day = day_of(found, 1, said, last)
    return day if day is not None and day <= said else None

"""Calendar dates in a text: numeric dates, months, weekdays, event days.

A month or a year without a day means its first day. Relative dates ("tomorrow", "last month") are
resolved before, in relative_dates.py.
"""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from functools import cache

from commonplace.language.text.lexicon import fold_word, load_table

_ISO_DATE = re.compile(r"(?<!\d)\d{4}-\d\d-\d\d(?!\d)")
_NUMERIC_DATE = re.compile(r"(\d{1,4})[-./](\d{1,2})[-./](\d{1,4})")


@dataclass(frozen=True, slots=True)
class PartialDate:
    """The parts of a date that a text gives; missing parts are 0."""

    year: int = 0
    month: int = 0
    day: int = 0
    weekday: int = 0  # Monday is 1
    word: str = ""  # "tomorrow"

    @property
    def term(self) -> str:
        return f"d:{self.year}-{self.month}-{self.day}-{self.weekday}-{self.word}"


def parse_numeric_date(text: str) -> PartialDate | None:
    """2024-03-03, 3/3/2024, 3.3.24; the day comes first, unless only the month can."""
    match = _NUMERIC_DATE.fullmatch(text)
    if match is None:
        return None
    first, second, third = (int(part) for part in match.groups())
    if first > 31:
        year, month, day = first, second, third
    else:
        year, month, day = third, second, first
        if month > 12:
            month, day = day, month
    year += 2000 if year < 70 else 1900 if year < 100 else 0
    return PartialDate(year, month, day) if 1 <= month <= 12 and 1 <= day <= 31 else None


def dates_agree(one: str, other: str) -> bool:
    """Whether two date terms can mean the same day: missing parts do not differ."""
    if one == other:
        return True
    left, right = one[2:].split("-", 4), other[2:].split("-", 4)
    shared = False
    for a, b in zip(left, right, strict=True):
        known = a not in ("0", "") and b not in ("0", "")
        if known and a != b:
            return False
        shared = shared or known
    return shared


@cache
def calendar_words(language: str) -> dict[str, PartialDate]:
    """Months, weekdays and "tomorrow" of a language."""
    table = load_table("calendar").get(language, {})
    found: dict[str, PartialDate] = {}
    for number, forms in enumerate(table.get("months", "").split(), start=1):
        found.update(dict.fromkeys(map(fold_word, forms.split("|")), PartialDate(month=number)))
    for number, forms in enumerate(table.get("days", "").split(), start=1):
        found.update(dict.fromkeys(map(fold_word, forms.split("|")), PartialDate(weekday=number)))
    for word in map(fold_word, table.get("relative", "").split()):
        found[word] = PartialDate(word=word)
    return found


MONTHS = (
    *("January", "February", "March", "April", "May", "June", "July", "August", "September"),
    *("October", "November", "December"),
)
HEBREW_MONTHS = (
    *("ינואר", "פברואר", "מרץ", "אפריל", "מאי", "יוני", "יולי", "אוגוסט", "ספטמבר", "אוקטובר"),
    *("נובמבר", "דצמבר"),
)
_SHORT_MONTHS = {month[:3].lower(): month for month in MONTHS if month != "May"} | {
    "sept": "September"
}
_MONTH_VARIANTS = {"מרס": "מרץ"}

MONTH_NAME_PATTERN = "|".join((*MONTHS, *HEBREW_MONTHS, *_MONTH_VARIANTS))
# "Jan" is also a name: it is a month only next to a number.
SHORT_MONTH_PATTERN = (
    rf"(?:(?<=\d )|(?<=\d(?:st|nd|rd|th) )|(?<= of ))(?:{'|'.join(_SHORT_MONTHS)})\b\.?"
    rf"|\b(?:{'|'.join(_SHORT_MONTHS)})\b\.?(?=,? \d)"
)
# A day of a month in either order, as after a weekday: "Monday, 3 March".
DAY_OF_MONTH_PATTERN = (
    r"(?:the |ה-?)?\d{1,2}(?:st|nd|rd|th)? (?:of )?[בל]?"
    rf"(?:{MONTH_NAME_PATTERN}|{'|'.join(_SHORT_MONTHS)})\b"
    rf"|(?:{MONTH_NAME_PATTERN}|{'|'.join(_SHORT_MONTHS)})\.? \d"
)


def month_number(name: str) -> int:
    name = name.rstrip(".")
    if name in HEBREW_MONTHS or name in _MONTH_VARIANTS:
        return HEBREW_MONTHS.index(_MONTH_VARIANTS.get(name, name)) + 1
    return MONTHS.index(_SHORT_MONTHS.get(name.lower(), name.capitalize())) + 1


_YEAR = r"(?:19|20)\d\d"
_DAY = rf"{_YEAR}-\d\d-\d\d"
# Words before a day that do not change it.
_DATE_LEAD = (
    r"(?:the week of |the weekend of |\w+day,? |the (?:morning|evening|night|afternoon) of "
    r"|יום [א-ת]+,? |שבת,? |שבוע של )"
)
_APPROXIMATELY = r"(?:early |late |mid[- ]|the (?:beginning|start|middle) of )"
# A month with its day on either side: "30 April 2026", "the 3rd of May", "May 3rd", «3 במאי».
_IN_MONTH = (
    rf"{_APPROXIMATELY}?(?:(?:the |ה-?)?(?P<first{{n}}>\d{{{{1,2}}}})(?:st|nd|rd|th)? "
    r"(?:of )?[בל]?)?"
    rf"(?P<month{{n}}>(?:{MONTH_NAME_PATTERN})(?!\w)|{SHORT_MONTH_PATTERN})"
    rf"(?: (?P<then{{n}}>\d{{{{1,2}}}})(?!\d)(?:st|nd|rd|th)?)?(?:,? (?P<my{{n}}>{_YEAR}))?"
)
# Numeric dates in which day and month are unambiguous: 3.5.2026, 30/4/2026, 4/30/2026.
_NO_MONTH = r"(?:1[3-9]|2\d|3[01])"
_NUMERIC_PATTERN = (
    rf"(?P<num{{n}}>\d{{{{1,2}}}}\.\d{{{{1,2}}}}\.{_YEAR}"
    rf"|(?:{_NO_MONTH}/\d{{{{1,2}}}}|\d{{{{1,2}}}}/{_NO_MONTH})/{_YEAR})(?!\d)"
)
# One date. Its groups are numbered, so that a pattern can contain two dates.
DATE_PATTERN = (
    rf"(?:{_DATE_LEAD}?(?:(?P<day{{n}}>{_DAY})|{_NUMERIC_PATTERN}|{_IN_MONTH})"
    rf"|(?:the )?(?:spring|summer|autumn|fall|winter|early|late|mid|beginning|end|שנת)?"
    rf"(?: of | |-)?(?P<year{{n}}>{_YEAR}))"
)
ON_DATE = re.compile(
    rf"(?:\b(?:in|on|around|during)|(?<!\w)ב-?) ?{DATE_PATTERN.format(n=1)}", re.IGNORECASE
)

# ——— choice among possible dates ———

DateChoice = Callable[[Sequence[date], date], date]
_RECENT = timedelta(days=31)  # "as of March 1", written on the 18th


def latest_past(days: Sequence[date], today: date) -> date:
    return max(day for day in days if day <= today)


def upcoming_or_recent(days: Sequence[date], today: date) -> date:
    return min(day for day in days if day > today - _RECENT)


def earliest_future(days: Sequence[date], today: date) -> date:
    return min(day for day in days if day > today)


def nearest_date(days: Sequence[date], today: date) -> date:
    return min(days, key=lambda day: abs(day - today))


def iso_dates(text: str) -> Iterator[date]:
    """The days that a text writes as 2026-11-19."""
    for written in _ISO_DATE.findall(text):
        try:
            yield date.fromisoformat(written)
        except ValueError:
            continue


def date_from_match(found: re.Match[str], n: int, today: date, choose: DateChoice) -> date | None:
    """The date of the group with this number; None for the 31st of June."""
    try:
        return _date_from_match(found, n, today, choose)
    except ValueError:
        return None


def _date_from_match(found: re.Match[str], n: int, today: date, choose: DateChoice) -> date | None:
    if day := found[f"day{n}"]:
        return date.fromisoformat(day)
    if numeric := found[f"num{n}"]:
        parsed = parse_numeric_date(numeric)
        return date(parsed.year, parsed.month, parsed.day) if parsed else None
    if year := found[f"year{n}"]:
        return date(int(year), 1, 1)
    month = month_number(found[f"month{n}"])
    day_of_month = int(found[f"first{n}"] or found[f"then{n}"] or 1)
    if year := found[f"my{n}"]:
        return date(int(year), month, day_of_month)
    years = (today.year - 1, today.year, today.year + 1)
    valid_years = [year for year in years if day_of_month <= monthrange(year, month)[1]]
    return choose([date(year, month, day_of_month) for year in valid_years], today)


_DATE_ALONE = re.compile(DATE_PATTERN.format(n=1), re.IGNORECASE)


def parse_whole_date(text: str) -> date | None:
    """The date of a text that is a date with its year and nothing else."""
    found = _DATE_ALONE.fullmatch(text)
    if found is None:
        return None
    in_month = found["my1"] and (found["first1"] or found["then1"])
    if not (found["day1"] or found["num1"] or in_month):
        return None
    return date_from_match(found, 1, date.max, latest_past)


# ——— event dates ———

# "I booked a flight in March": mostly the next March, unless a year is given.
_ARRANGED = re.compile(
    r"\b(?:booked|scheduled|planned|reserved|registered|enrolled|signed up|ordered|invited"
    r"|accepted|proposed|renewed|(?:bought|got) (?:\w+ )?tickets?)\b|הזמנ|קבע|נרשמ|נרשם",
    re.IGNORECASE,
)


_ANY_DATE = re.compile(rf"(?<![\w.-])(?:[בל]-?)?{DATE_PATTERN.format(n=1)}", re.IGNORECASE)


def stated_day(text: str, said: date) -> date | None:
    """The first day in a text; months and years are none. A day without a year is the next one
    after ``said``."""
    for found in _ANY_DATE.finditer(text):
        is_day = found["day1"] or found["num1"] or found["first1"] or found["then1"]
        if is_day and (day := date_from_match(found, 1, said, earliest_future)):
            return day
    return None


def event_date(text: str, said: date) -> date | None:
    """The day of an event in its sentence, never in the future. ``said``: the sentence's date."""
    found = ON_DATE.search(text)
    if found is None:
        return None
    guessed = found["month1"] and not found["my1"]
    if guessed and _ARRANGED.search(text):
        return None
    day = date_from_match(found, 1, said, latest_past)
    return day if day is not None and day <= said else None

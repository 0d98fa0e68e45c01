"""Dates by their meaning: 3 March 2024, March 3rd 2024, 2024-03-03 and «3 במרץ 2024» are one."""

import re
from dataclasses import dataclass
from functools import cache

from commonplace.language.statements.lexicon import data, plain_word

_NUMERIC = re.compile(r"(\d{1,4})[-./](\d{1,2})[-./](\d{1,4})")


@dataclass(frozen=True, slots=True)
class Date:
    """What a text says of a date; what it leaves out is 0."""

    year: int = 0
    month: int = 0
    day: int = 0
    weekday: int = 0  # Monday is 1
    word: str = ""  # "tomorrow"

    @property
    def term(self) -> str:
        return f"d:{self.year}-{self.month}-{self.day}-{self.weekday}-{self.word}"


def numeric_date(text: str) -> Date | None:
    """2024-03-03, 3/3/2024, 3.3.24; the day first, unless only the month can be first."""
    match = _NUMERIC.fullmatch(text)
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
    return Date(year, month, day) if 1 <= month <= 12 and 1 <= day <= 31 else None


def agree(one: str, other: str) -> bool:
    """Whether two date terms can mean the same day: what one leaves out is no difference."""
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
def calendar_words(language: str) -> dict[str, Date]:
    """Months, weekdays and "tomorrow" of a language."""
    table = data("calendar").get(language, {})
    found: dict[str, Date] = {}
    for number, forms in enumerate(table.get("months", "").split(), start=1):
        found.update(dict.fromkeys(map(plain_word, forms.split("|")), Date(month=number)))
    for number, forms in enumerate(table.get("days", "").split(), start=1):
        found.update(dict.fromkeys(map(plain_word, forms.split("|")), Date(weekday=number)))
    for word in map(plain_word, table.get("relative", "").split()):
        found[word] = Date(word=word)
    return found

"""A mail that passes others on: each of them is its own writer's, and of its own day."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from datetime import datetime
from email.utils import parsedate_to_datetime
from itertools import pairwise

from commonplace.errors import InvalidInput
from commonplace.ingest.addresses import Person, people_in
from commonplace.ingest.quotes import FORWARDED, HEADER_LINE, ORIGINAL, is_header
from commonplace.model import check

_HEADER_REACH = 4  # lines between the sign of a forwarded mail and its header
_MARKS = re.compile(r"^[>*_\s]*[^:]*:\*?\s*")
# "Mon, Apr 13, 2026 at 9:00 AM": as Gmail and Outlook write it, the month first.
_MONTH_FIRST = re.compile(r"(?:\w+, )?([A-Z][a-z]{2})[a-z]*\.? (\d{1,2}),? (\d{4})(.*)")
_HALF = re.compile(r"(\d{1,2}):(\d\d)(?::\d\d)?\s?([ap])\.?m\.?", re.IGNORECASE)
_BETWEEN = re.compile(r",? (?:at|um|à|a las) ")
_NOON = 12


@dataclass(frozen=True, slots=True)
class Part:
    """What one writer wrote; of the sender's own part nothing more is known than of the mail."""

    text: str
    is_forwarded: bool = False
    writer: Person | None = None
    at: datetime | None = None


def parts_of(text: str) -> list[Part]:
    """The sender's own words, then each mail that is passed on."""
    lines = text.split("\n")
    starts = _starts(lines)
    own = "\n".join(lines[: starts[0] if starts else None]).strip()
    found = [Part(own)] if own else []
    found += (_forwarded(lines[start:end]) for start, end in pairwise([*starts, len(lines)]))
    return found


def _starts(lines: list[str]) -> list[int]:
    """Where mails that are passed on begin: at their sign, or at their header."""
    found: list[int] = []
    header_ends = 0
    for number, line in enumerate(lines):
        is_sign = FORWARDED.fullmatch(line) or ORIGINAL.fullmatch(line)
        if not is_sign and (number < header_ends or not is_header(lines, number)):
            continue
        if not found or is_sign or number - found[-1] > _HEADER_REACH:
            found.append(number)
        if not is_sign:
            header_ends = _end_of_header(lines, number)
    return found


def _end_of_header(lines: list[str], number: int) -> int:
    return next((n for n in range(number, len(lines)) if not lines[n].strip()), len(lines))


def _forwarded(lines: list[str]) -> Part:
    """Without its header, where that says who wrote it: it is the passage's speaker and time."""
    whole = Part("\n".join(lines).strip(), is_forwarded=True)
    header = next((n for n in range(len(lines)) if is_header(lines, n)), None)
    if header is None:
        return whole
    end = _end_of_header(lines, header)
    told = lines[header:end]
    people = people_in(_value(told, "from"))
    if not people:
        return whole
    text = "\n".join(lines[end:]).strip()
    return replace(whole, text=text, writer=people[0], at=_date(_value(told, "when")))


def _value(header: list[str], what: str) -> str:
    line = next((line for line in header if HEADER_LINE[what].fullmatch(line)), "")
    return _MARKS.sub("", line, count=1).strip().strip("*").strip()


def _date(written: str) -> datetime | None:
    """A day that cannot be read is not guessed at."""
    plain = _HALF.sub(_of_the_day, _BETWEEN.sub(" ", written.replace("\u202f", " "), count=1))
    month_first = _MONTH_FIRST.fullmatch(plain)
    if month_first is not None:
        month, day, year, rest = month_first.groups()
        plain = f"{day} {month} {year}{rest}"
    try:
        return check.when(parsedate_to_datetime(plain), "Date")
    except (ValueError, TypeError, IndexError, OverflowError, InvalidInput):
        return None


def _of_the_day(found: re.Match[str]) -> str:
    """9:00 PM is 21:00."""
    hour = int(found[1]) % _NOON + (_NOON if found[3].lower() == "p" else 0)
    return f"{hour:02}:{found[2]}"

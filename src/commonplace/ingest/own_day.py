"""The day that notes are of, as they say themselves: in their first line, or else in the name of
their file. A date further down may be any day. Pure."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, time

from commonplace.ingest.detect import Format
from commonplace.ingest.speaker_lines import speaker_line
from commonplace.language.observing.days_told import whole_day

# Others tell their times themselves, or are of no day.
_WRITTEN = (Format.TEXT, Format.MARKDOWN, Format.TRANSCRIPT)
_MOST_WORDS = 12  # of a title
_LOOKED_AT = 2_000  # characters: a head is short
_SIGNS = re.compile(r"[#>*_\s]+")  # of Markdown
_CALLED = re.compile(r"(?:date|תאריך)\s*:\s*", re.IGNORECASE)
# Between a title and its date: "Orion weekly, 18 February 2026", "Haifa – 2026-03-01".
_BETWEEN = re.compile(r",\s+|\s+[-–—|·]\s+|\s+(?=\()")
_ENDS_A_SENTENCE = re.compile(r"[.?!…:;]$")
_NAME_OF_FILE = re.compile(r"(?:.*[/\\])?(\d{4}-\d\d-\d\d)(?!\d)[^/\\]*")


def is_of_a_day(format: Format) -> bool:
    return format in _WRITTEN


def own_day(text: str, name: str | None, now: datetime) -> datetime | None:
    """Never one to come: nobody has written on it."""
    day = _at_the_head(text) or _in_the_name(name or "")
    if day is None or day > now.date():
        return None
    return datetime.combine(day, time.min, UTC)


def _at_the_head(text: str) -> date | None:
    first, _, rest = text.lstrip()[:_LOOKED_AT].partition("\n")
    if not rest.strip() or speaker_line(first):  # a line by itself is no head
        return None
    return _day_in(_CALLED.sub("", _SIGNS.sub(" ", first).strip(), count=1))


def _day_in(line: str) -> date | None:
    """Of a line that is a date, or a title with one at its beginning or end."""
    if day := whole_day(line):
        return day
    if len(line.split()) > _MOST_WORDS or _ENDS_A_SENTENCE.search(line):
        return None
    places = [(gap.start(), gap.end()) for gap in _BETWEEN.finditer(line)]
    parts = (part for start, end in places for part in (line[end:], line[:start]))
    return next((day for part in parts if (day := whole_day(part.strip("()[] ")))), None)


def _in_the_name(name: str) -> date | None:
    found = _NAME_OF_FILE.fullmatch(name)
    return whole_day(found[1]) if found else None

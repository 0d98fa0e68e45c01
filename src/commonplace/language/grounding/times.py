"""Days that the words of an item name, resolved by the day on which they were said.

A model only copies the words ("next friday"); what day that is, it would guess.
"""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta

from commonplace.language.extract.relations.validity import find_period_end
from commonplace.language.grounding.checks.time_names import named_times
from commonplace.language.text.date_mentions import find_date_mentions
from commonplace.language.text.dates import (
    DATE_PATTERN,
    DateChoice,
    calendar_words,
    date_from_match,
    latest_past,
    upcoming_or_recent,
)
from commonplace.language.text.detect import Script, detect_language, detect_script
from commonplace.language.text.lexicon import fold_word
from commonplace.language.text.relative_dates import resolve_relative_dates

_MAX_WORDS = 120  # characters of the words for a time
_MAX_SENTENCE = 600
_DATE = re.compile(rf"(?<![\w.-])(?:[בלמה]-?)?{DATE_PATTERN.format(n=1)}", re.IGNORECASE)
_PERIOD = re.compile(r"week of |שבוע של ", re.IGNORECASE)
_WEEKEND = re.compile(r"weekend of ", re.IGNORECASE)
_SHORT_DATE = re.compile(r"(?<![\d./-])(\d{1,2})([./])(\d{1,2})\.?(?![\d./-]|:\d)")
_LEAD = re.compile(
    r"^(?:(?:since|from|until|till|by|before|after|starting|as of|on|at|in|the"
    r"|seit|bis|ab|am|desde|hasta|el|depuis|jusqu'au|עד ל|עד|מאז|מ-?|החל מ-?)\s+)+",
    re.IGNORECASE,
)
_SINCE = re.compile(r"(?:since|seit|desde|depuis|dal|sinds|с|מאז|כבר מ)\b", re.IGNORECASE)
_AHEAD = re.compile(r"(?:from|starting|as of|until|till|by|ab|bis|hasta|החל|עד)\b", re.IGNORECASE)
_RANGE = re.compile(r"(?<![\d.:-])(\d{1,2})\.?\s?(?:-|–|to|bis|al?|עד)\s?\d{1,2}(?=\.?\s[^\W\d])")
_WORD = re.compile(r"[^\W\d_]+|\d+")
_YEAR = re.compile(r"(?:19|20)\d\d")
_SEASONS = re.compile(r"\bin the (?:spring|summer|autumn|fall|winter) of \d{4}", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class ResolvedTime:
    start: date
    after: date  # the first day after it
    words: str  # as written
    is_weekday: bool = False  # the words are the name of a day: they stay
    is_offset: bool = False  # the words mean nothing later: "tmrw"
    has_date: bool = False  # the words name day and month themselves

    @property
    def days(self) -> frozenset[date]:
        return frozenset((self.start, self.after - timedelta(days=1)))

    @property
    def iso(self) -> str:
        length = (self.after - self.start).days
        if length > 31:
            return str(self.start.year)
        return self.start.isoformat()[:7] if length > 7 else self.start.isoformat()

    @property
    def begins(self) -> datetime:
        return datetime.combine(self.start, time.min, UTC)

    @property
    def ends(self) -> datetime:
        return datetime.combine(self.after, time.min, UTC)


def looks_ahead(words: str) -> bool:
    """ "from May", "bis Freitag"."""
    return _AHEAD.match(words) is not None


_EACH = re.compile(
    r"\b(?:every|each|monthly|weekly|yearly|jeden|cada|chaque)\b|(?<![א-ת])ב?כל (?:חודש|שבוע|שנה)",
    re.IGNORECASE,
)
_BARE_DAY = re.compile(r"(?:on |by )?(?:the )?\d{1,2}(?:st|nd|rd|th)?|ב?-?\d{1,2}", re.IGNORECASE)


_ONE_DAY = re.compile(
    r"\b(?:next|this|last|coming|past|since|until|till|by|from|before|after|seit|bis|ab|desde|hasta"
    r"|\d{1,2}(?:st|nd|rd|th)|\d{1,2}[./]\d{1,2})\b"
    r"|הבא|הקרוב|שעבר|הזה|האחרו|(?<![א-ת])(?:עד|מאז|לפני|אחרי|החל)(?![א-ת])",
    re.IGNORECASE,
)
_HEBREW_WEEKDAY = re.compile(
    r"(?<![א-ת])(?:[בלומה]?יום|ימי|בימי) (?:ראשון|שני|שלישי|רביעי|חמישי|שישי)"
)


def names_weekdays_only(words: str) -> bool:
    """ "on sundays at 4", and not "next sunday": of how things are, it is said of every week."""
    if _ONE_DAY.search(words):
        return False
    times = named_times(words)
    if not times:
        return _HEBREW_WEEKDAY.search(words) is not None
    return all(unit == "weekday" for unit, _ in times)


def resolve_time(
    words: str, sentence: str, at: datetime, *, backwards: bool
) -> ResolvedTime | None:
    """``sentence``: what the words stand in, for the direction of a weekday. None if they name no
    day ("soon"), or that of every week or month ("on fridays", "the 20th of each month")."""
    words = _RANGE.sub(r"\1", words[:_MAX_WORDS].strip(" .,;!?()"))
    if not words:
        return None
    if _EACH.search(words) or (
        _BARE_DAY.fullmatch(words) and _EACH.search(sentence[:_MAX_SENTENCE])
    ):
        return None
    backwards = backwards or _SINCE.match(words) is not None
    try:
        return next(_readings(words, sentence[:_MAX_SENTENCE], at, backwards), None)
    except (OverflowError, ValueError):  # beyond the calendar
        return None


def _readings(words: str, sentence: str, at: datetime, backwards: bool) -> Iterator[ResolvedTime]:
    yield from _period_end(words, at)
    yield from _relative(words, at, backwards)
    yield from _mentioned(words, sentence, at)
    yield from _written(words, at, backwards)
    yield from _short_date(words, sentence, at, backwards)
    yield from _by_calendar(words, sentence, at, backwards)


def _period_end(words: str, at: datetime) -> Iterator[ResolvedTime]:
    """ "the end of the month": its last day."""
    end = find_period_end(words, at)
    if end is not None:
        yield _day(end.date() - timedelta(days=1), words)


def _relative(words: str, at: datetime, backwards: bool) -> Iterator[ResolvedTime]:
    hebrew = detect_script(words) is Script.HEBREW
    bare = _LEAD.sub("", words)
    for tried in dict.fromkeys((words, bare, f"on {bare}", f"יום {bare}" if hebrew else words)):
        dated = resolve_relative_dates(tried, at, hebrew, backwards)
        if dated.text == tried:
            continue
        if dated.day is not None:
            length = 2 if _WEEKEND.search(dated.text) else 1
            is_weekday = tried.split()[-1].casefold() in dated.text.casefold()
            yield ResolvedTime(
                dated.day,
                dated.day + timedelta(days=length),
                words,
                is_weekday=is_weekday,
                is_offset=not is_weekday,
            )
        elif _SEASONS.search(dated.text):
            return
        elif found := _DATE.search(dated.text):
            yield from _of_match(found, words, at, latest_past, _PERIOD.search(dated.text))


def _mentioned(words: str, sentence: str, at: datetime) -> Iterator[ResolvedTime]:
    """The sentence decides between the last and the next such day."""
    wanted = words.casefold()
    for text in dict.fromkeys((sentence, words)):
        for mention in find_date_mentions(text, at):
            named = mention.words.casefold()
            if named in wanted or wanted in named:
                is_number = any(map(str.isdigit, named))
                is_weekday = not is_number and abs((mention.day - at.date()).days) > 1
                yield ResolvedTime(
                    mention.day,
                    mention.day + timedelta(days=1),
                    mention.words,
                    is_weekday=is_weekday,
                    is_offset=not is_number and not is_weekday,
                )


def _written(words: str, at: datetime, backwards: bool) -> Iterator[ResolvedTime]:
    for found in _DATE.finditer(words):
        names_day = found["first1"] or found["then1"]
        ahead = _not_before if names_day else upcoming_or_recent
        yield from _of_match(found, words, at, latest_past if backwards else ahead, None)


def _not_before(days: Sequence[date], today: date) -> date:
    return min(day for day in days if day >= today)


def _of_match(
    found: re.Match[str],
    words: str,
    at: datetime,
    choice: DateChoice,
    is_week: re.Match[str] | None,
) -> Iterator[ResolvedTime]:
    day = date_from_match(found, 1, at.date(), choice)
    if day is None:
        return
    if found["year1"]:
        yield ResolvedTime(day, date(day.year + 1, 1, 1), words, has_date=True)
    elif found["month1"] and not (found["first1"] or found["then1"]):
        yield ResolvedTime(day, _after_month(day), words, has_date=found["my1"] is not None)
    else:
        length = 7 if is_week else 1
        yield ResolvedTime(day, day + timedelta(days=length), words, has_date=True)


def _short_date(words: str, sentence: str, at: datetime, backwards: bool) -> Iterator[ResolvedTime]:
    """14.10. and 14/10; in English the order is a guess, unless only one is possible."""
    for found in _SHORT_DATE.finditer(words):
        first, second = int(found[1]), int(found[3])
        is_free = found[2] == "." or detect_language(sentence) != "en"
        if not is_free and first <= 12 and second <= 12 and first != second:
            continue
        day, month = (second, first) if second > 12 else (first, second)
        if stated := _with_year(day, month, at.date(), latest_past if backwards else _not_before):
            yield _day(stated, words, has_date=True)


def _by_calendar(
    words: str, sentence: str, at: datetime, backwards: bool
) -> Iterator[ResolvedTime]:
    """Months of other languages: "3 de marzo", "am 3. März"."""
    known = calendar_words(detect_language(f"{sentence} {words}"))
    parts = [fold_word(part) for part in _WORD.findall(words)]
    months = [known[part].month for part in parts if part in known and known[part].month]
    if len(months) != 1:
        return
    years = [int(part) for part in parts if _YEAR.fullmatch(part)]
    days = [int(part) for part in parts if part.isdecimal() and len(part) < 3]
    if years:
        first = date(years[0], months[0], days[0] if days else 1)
    else:
        ahead = _not_before if days else upcoming_or_recent
        choice = latest_past if backwards else ahead
        stated = _with_year(days[0] if days else 1, months[0], at.date(), choice)
        if stated is None:
            return
        first = stated
    after = first + timedelta(days=1) if days else _after_month(first)
    yield ResolvedTime(first, after, words, has_date=bool(days or years))


def _with_year(day: int, month: int, today: date, choose: DateChoice) -> date | None:
    years = (today.year - 1, today.year, today.year + 1)
    is_month = 1 <= month <= 12
    days = [date(y, month, day) for y in years if is_month and 1 <= day <= monthrange(y, month)[1]]
    return choose(days, today) if days else None


def _day(day: date, words: str, *, has_date: bool = False) -> ResolvedTime:
    return ResolvedTime(day, day + timedelta(days=1), words, has_date=has_date)


def _after_month(day: date) -> date:
    return date(day.year + day.month // 12, day.month % 12 + 1, 1)


def write_time(
    text: str,
    resolved: ResolvedTime | None,
    at: datetime,
    *,
    backwards: bool,
    has_year: bool = False,
) -> str:
    """The text with dates in place of words that mean another day later. ``has_year``: also where
    the words name the day without its year."""
    hebrew = detect_script(text) is Script.HEBREW
    dated = resolve_relative_dates(text, at, hebrew, backwards).text
    if resolved is None or resolved.iso in dated:
        return dated
    is_whole = not has_year or str(resolved.start.year) in resolved.words
    if resolved.has_date and is_whole and _stands(resolved.words, dated):
        return dated
    if dated != text and _DATE_IN_TEXT.search(dated):
        return dated  # written in words: "in October 2026"
    is_english = detect_language(text) == "en"
    for words in (resolved.words, _LEAD.sub("", resolved.words)):
        stands = re.search(rf"(?<!\w){re.escape(words)}(?!\w)", dated, re.IGNORECASE)
        if stands:
            replaced = _replaced(stands[0], resolved, is_english)
            rest = dated[stands.end() :]
            if replaced.endswith(")") and rest.startswith(" ("):  # "the 14th (Oct)"
                replaced, rest = f"{replaced[:-1]},", f" {rest[2:]}"
            return f"{dated[: stands.start()]}{replaced}{rest}"
    return f"{dated.rstrip(' .')} ({resolved.iso}){'.' if dated.endswith('.') else ''}"


_DATE_IN_TEXT = re.compile(r"\d{4}-\d\d-\d\d|\b(?:19|20)\d\d\b")


def _stands(words: str, text: str) -> bool:
    return _LEAD.sub("", words).casefold() in text.casefold()


def _replaced(words: str, resolved: ResolvedTime, is_english: bool) -> str:
    if resolved.is_offset:
        return f"on {resolved.iso}" if is_english and not _LEAD.match(words) else resolved.iso
    return f"{words} {resolved.iso}" if resolved.is_weekday else f"{words} ({resolved.iso})"

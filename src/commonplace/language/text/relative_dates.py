"""Relative dates ("tomorrow", «ביום שישי») resolved to calendar dates.

A memory is read later than it was written, when "tomorrow" would mean another day. Weekdays are in
the past if the sentence is, else in the future.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date, datetime, timedelta

from commonplace.language.text.dates import DAY_OF_MONTH_PATTERN, HEBREW_MONTHS, MONTHS
from commonplace.language.text.sentences import is_past, split_sentences


@dataclass(frozen=True, slots=True)
class DatedText:
    """A text with absolute dates, and the first of them."""

    text: str
    day: date | None = None


_ENGLISH_DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_HEBREW_DAYS = ("שני", "שלישי", "רביעי", "חמישי", "שישי", "שבת", "ראשון")
_SEASONS_END = {"spring": 5, "summer": 8, "autumn": 11, "fall": 11, "winter": 2}
_COUNTS = {
    word: number
    for number, words in enumerate(
        ("a an one", "two couple", "three", "four", "five", "six", "seven", "eight", "nine", "ten"),
        1,
    )
    for word in words.split()
}
_COUNT = r"(?P<count>\d{1,3}|a|an|one|two|a couple of|three|four|five|six|seven|eight|nine|ten)"
_HEBREW_COUNTS = {
    word: number
    for number, words in enumerate(
        ("שלושה שלוש", "ארבעה ארבע", "חמישה חמש", "שישה שש", "שבעה שבע", "שמונה", "תשעה תשע",
         "עשרה עשר"), 3,
    )
    for word in words.split()
}  # fmt: skip
_HE = r"(?<![\w\"״׳'])"
_END = r"(?![\w\"״׳'])"
# "On Monday, 3 March" already has a date.
_UNDATED = rf"(?!,? (?:{DAY_OF_MONTH_PATTERN}|\d{{4}}-|(?:the )?\d{{1,2}}(?:st|nd|rd|th)\b))"

# Words before a day, in place of "on".
_LEADS = "by|before|until|till|from|since|as of|starting|beginning|effective"
_ENGLISH = re.compile(
    rf"\b(?:(?:(?P<led>{_LEADS}) )?(?P<day_word>(?:the )?day after tomorrow|"
    r"(?:the )?day before yesterday|today|tomorrow|yesterday|tonight|last night|"
    r"this (?P<part>morning|afternoon|evening))"
    r"(?: (?P<later>morning|afternoon|evening|night))?"
    rf"|(?:(?P<until>on|{_LEADS}) )?(?:"
    r"(?P<which>this|next|last|coming|this coming) (?P<unit>week|month|year|weekend|"
    rf"(?<=last )(?:spring|summer|autumn|fall|winter)|(?:{'|'.join(_ENGLISH_DAYS)}){_UNDATED})"
    r"|(?:the )?(?P<beyond>week|month|year) (?P<side>before last|after next))"
    rf"|(?P<before>on|{_LEADS}|to|for) "
    rf"(?P<weekday>{'|'.join(_ENGLISH_DAYS)}){_UNDATED}"
    rf"|(?:in|within) (?:about )?{_COUNT} (?P<ahead>day|week|fortnight|month|year)s?(?: time)?"
    rf"|(?P<about>(?:about|around|almost|nearly|over|more than|some) )?"
    rf"{_COUNT.replace('count', 'past_count')} (?P<ago>day|week|fortnight|month|year)s? ago)\b",
    re.IGNORECASE,
)
_HEBREW = re.compile(
    rf"{_HE}(?:ו)?(?:(?P<day_word>מחרתיים|מחר|אתמול|שלשום|היום|הערב|הלילה|הבוקר)"
    r"|(?P<before>ב|עד |עד ל|מ|לפני )?(?P<named>יום |ימי )?"
    rf"(?P<weekday>(?<=יום )(?:{'|'.join(_HEBREW_DAYS)})"
    rf"|(?:{'|'.join(_HEBREW_DAYS)})(?= (?:הבא|שעבר|הקרוב))|שבת)"
    rf"(?P<which> הבא| הבאה| שעבר| שעברה| הקרוב| הקרובה)?{_UNDATED}"
    r"|ב?(?P<unit>שבוע|חודש|שנה) (?P<side>הבא|הבאה|שעבר|שעברה|הקרוב|הקרובה)"
    r"|(?P<unit_this>השבוע|החודש|השנה)"
    r"|(?:לפני|(?P<ahead>בעוד|עוד)) (?:(?P<span>יומיים|שבועיים|שבוע|חודשיים|חודש|שנתיים|שנה)"
    rf"|(?P<count>\d{{1,3}}|{'|'.join(_HEBREW_COUNTS)}) (?P<counted>ימים|שבועות|חודשים|שנים))"
    rf"){_END}"
)
_SPANS = {
    "יומיים": (2, "day"), "שבוע": (1, "week"), "שבועיים": (2, "week"), "חודש": (1, "month"),
    "חודשיים": (2, "month"), "שנה": (1, "year"), "שנתיים": (2, "year"),
}  # fmt: skip
_COUNTED = {"ימים": "day", "שבועות": "week", "חודשים": "month", "שנים": "year"}
_OFFSETS = {
    "today": 0, "tonight": 0, "tomorrow": 1, "yesterday": -1, "last night": -1,
    "day after tomorrow": 2, "day before yesterday": -2,
    "היום": 0, "הערב": 0, "הלילה": 0, "הבוקר": 0, "מחר": 1, "מחרתיים": 2, "אתמול": -1, "שלשום": -2,
}  # fmt: skip


_AFTER_PREPOSITION = re.compile(r"\b(?:for|of|from|about|during) $", re.IGNORECASE)
_OWN_PREPOSITION = re.compile(r"^(?:in|on|at) ")  # "my goal for this year": for 2026
_LEAD_LENGTH = 80  # characters before the words that are looked at
# "the first snapper in 6 years", "twice in 3 months": for so long, not after so long.
_FOR_SO_LONG = re.compile(
    r"\b(?:(?P<sure>once|twice|times?)|first|only|(?:bigg|long|high|low|hott|cold|warm|wett|dri)est"
    r"|best|worst)(?: (?!(?:is|are|was|were|will|be|starts?|begins?|comes?)\b)[\w']+){0,3} $",
    re.IGNORECASE,
)


def resolve_relative_dates(
    text: str, said_at: datetime | None, hebrew: bool = False, backwards: bool = False
) -> DatedText:
    """The text with absolute dates; unchanged if its time is unknown.

    `backwards`: the text is in the past tense, so that Monday is the last one.
    """
    if said_at is None:
        return DatedText(text)
    today = said_at.date()
    found: list[date] = []

    def replace_match(match: re.Match[str]) -> str:
        if not hebrew and match["ahead"] and _is_for_so_long(text, match, backwards):
            return match[0]
        try:
            replaced = (_resolve_hebrew if hebrew else _resolve_english)(match, today, backwards)
        except (OverflowError, ValueError):  # "in 900 years" is beyond the calendar
            replaced = None
        if replaced is None:
            return match[0]
        words, day = replaced
        if day is not None:
            found.append(day)
        if not hebrew and _AFTER_PREPOSITION.search(text, 0, match.start()):
            words = _OWN_PREPOSITION.sub("", words)
        begins = match.start() == 0 and match[0][0].isupper()
        return words[0].upper() + words[1:] if begins else words

    dated = (_HEBREW if hebrew else _ENGLISH).sub(replace_match, text)
    return DatedText(dated, found[0] if found else None)


def _is_for_so_long(text: str, match: re.Match[str], backwards: bool) -> bool:
    found = _FOR_SO_LONG.search(text, max(0, match.start() - _LEAD_LENGTH), match.start())
    if found is None:
        return False
    return bool(found["sure"]) or backwards or match["ahead"].lower() == "year"


def hebrew_dates(text: str, said_at: datetime) -> list[tuple[str, date]]:
    """The words of a Hebrew text that name a single day, and the day."""
    found = []
    for sentence in split_sentences(text):
        backwards = is_past(sentence)
        for match in _HEBREW.finditer(sentence):
            resolved = _resolve_hebrew(match, said_at.date(), backwards)
            if resolved and resolved[1]:
                found.append((match[0], resolved[1]))
    return found


_Replacement = tuple[str, date | None]


def _resolve_english(match: re.Match[str], today: date, backwards: bool) -> _Replacement | None:
    if match["day_word"]:
        return _english_day(match, today)
    if match["unit"] or match["beyond"]:
        words, day = _english_unit(match, today)
        until = match["until"]  # "before next Friday" excludes it
        return (f"{until} {words.partition(' ')[2]}" if until else words), day
    if match["weekday"]:
        was = backwards or match["before"].lower() == "since"
        day = nearest_weekday(today, _ENGLISH_DAYS.index(match["weekday"].lower()), was)
        return f"{match['before']} {match['weekday']} {day}", day
    count, unit = match["count"] or match["past_count"], match["ahead"] or match["ago"]
    span = _english_span(_number(count) * (1 if match["ahead"] else -1), unit.lower(), today)
    return (f"around {span[0].partition(' ')[2]}", span[1]) if match["about"] else span


def _english_day(match: re.Match[str], today: date) -> _Replacement:
    word = match["day_word"].lower().removeprefix("the ")
    part = (match["part"] or match["later"] or "").lower()
    if word in ("tonight", "last night"):
        part = "night"
    day = today + timedelta(days=_OFFSETS.get(word, 0))
    lead = match["led"] or "on"
    return (f"{lead} the {part} of {day}" if part else f"{lead} {day}"), day


def _english_unit(match: re.Match[str], today: date) -> _Replacement:
    if match["beyond"]:
        step = -2 if match["side"].lower() == "before last" else 2
        return _english_span(step, match["beyond"].lower(), today)
    modifier, unit = match["which"].lower(), match["unit"].lower()
    step = {"next": 1, "last": -1}.get(modifier, 0)
    if unit in _ENGLISH_DAYS:
        return _named_week_day(match["unit"], _ENGLISH_DAYS.index(unit), step, today)
    if unit == "weekend":
        day = _monday(today) + timedelta(days=5 + 7 * step)
        return f"on the weekend of {day}", day
    if unit in _SEASONS_END:
        return f"in the {unit} of {today.year - (today.month <= _SEASONS_END[unit])}", None
    return _english_span(step, unit, today)


def _named_week_day(name: str, number: int, step: int, today: date) -> _Replacement:
    if step < 0:
        day = nearest_weekday(today, number, backwards=True)
    elif step > 0:
        day = _monday(today) + timedelta(days=7 + number)
    else:
        day = nearest_weekday(today, number, backwards=False)
    return f"on {name} {day}", day


def _english_span(count: int, unit: str, today: date) -> _Replacement:
    if unit == "fortnight":
        count, unit = 2 * count, "week"
    if unit == "day":
        day = today + timedelta(days=count)
        return f"on {day}", day
    if unit == "week":
        monday = _monday(today) + timedelta(weeks=count)
        return f"in the week of {monday}", None
    if unit == "month":
        year, month = _month(today, count)
        return f"in {MONTHS[month - 1]} {year}", None
    return f"in {today.year + count}", None


def _resolve_hebrew(match: re.Match[str], today: date, backwards: bool) -> _Replacement | None:
    if match["day_word"]:
        day = today + timedelta(days=_OFFSETS[match["day_word"]])
        return f"ב-{day}", day
    if match["weekday"]:
        return _hebrew_weekday(match, today, backwards)
    if match["span"] or match["counted"]:
        count, unit = _SPANS[match["span"]] if match["span"] else _hebrew_count(match)
        return _hebrew_span(count if match["ahead"] else -count, unit, today)
    unit = {"ש": "week", "ח": "month"}.get((match["unit"] or match["unit_this"][1:])[0], "week")
    if (match["unit"] or match["unit_this"][1:]) == "שנה":
        unit = "year"
    side = match["side"] or ""
    return _hebrew_span(-1 if side.startswith("שעבר") else 1 if side else 0, unit, today)


def _hebrew_weekday(match: re.Match[str], today: date, backwards: bool) -> _Replacement | None:
    name = match["weekday"]
    if match["named"] and match["named"].startswith("ימי"):
        return None  # «בימי שלישי»: every week
    before = match["before"]
    if before is None and not match["which"]:
        return None
    modifier = (match["which"] or "").strip()
    number = _HEBREW_DAYS.index(name)
    day = nearest_weekday(
        today, number, modifier.startswith("שעבר") or (backwards and not modifier)
    )
    phrase = f"{before or 'ב'}{match['named'] or ''}{name}"
    return f"{phrase} {day}", day


def _hebrew_span(count: int, unit: str, today: date) -> _Replacement:
    if unit == "day":
        day = today + timedelta(days=count)
        return f"ב-{day}", day
    if unit == "week":
        return f"בשבוע של {_monday(today) + timedelta(weeks=count)}", None
    if unit == "month":
        year, month = _month(today, count)
        return f"ב{HEBREW_MONTHS[month - 1]} {year}", None
    return f"בשנת {today.year + count}", None


def _hebrew_count(match: re.Match[str]) -> tuple[int, str]:
    count = match["count"]
    number = int(count) if count.isdigit() else _HEBREW_COUNTS[count]
    return number, _COUNTED[match["counted"]]


def nearest_weekday(today: date, number: int, backwards: bool) -> date:
    """The nearest such day, never today."""
    if backwards:
        return today - timedelta(days=(today.weekday() - number) % 7 or 7)
    return today + timedelta(days=(number - today.weekday()) % 7 or 7)


def _monday(day: date) -> date:
    return day - timedelta(days=day.weekday())


def _month(today: date, step: int) -> tuple[int, int]:
    months = today.year * 12 + today.month - 1 + step
    return months // 12, months % 12 + 1


def _number(count: str) -> int:
    word = count.lower().removeprefix("a ").removesuffix(" of")
    return int(word) if word.isdigit() else _COUNTS[word]

"""Days that a turn names by other words than a date: "on tuesday", "yesterday", "the 14th".

A turn is read weeks after it was said, when "tuesday" is another day. The words stay as they are;
the date is shown beside them. What may be a day of every week ("mondays", "mon and thurs") has
none. Weekdays are in the past if their sentence is, else in the future.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from functools import cache

from commonplace.language.text.detect import Script, detect_language, detect_script
from commonplace.language.text.lexicon import fold_word, load_table, parse_word_list
from commonplace.language.text.relative_dates import hebrew_dates, nearest_weekday
from commonplace.language.text.sentences import is_past, is_past_verb

MAX_MENTIONS = 3
MAX_TEXT = 2_000  # characters that are read
_WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")
_DAY_NUMBER = re.compile(r"(\d{1,2})(st|nd|rd|th)?", re.IGNORECASE)
_CLAUSE_END = re.compile(r"(?<!\d)[.]\s|[!?;,:\n]+\s|\s[–—-]+\s")
_LISTS = (
    "not_after",
    "ambiguous",
    "led",
    "next",
    "last",
    "past",
    "future",
    "the",
    "not_before",
    "of_each",
)
_MONTHS_AROUND = 2  # in which the number of a day is looked for


@dataclass(frozen=True, slots=True)
class DateMention:
    words: str  # as written
    day: date


@dataclass(frozen=True, slots=True)
class _Words:
    weekdays: dict[str, int]
    offsets: dict[str, int]
    months: frozenset[str]
    has_ordinals: bool
    lists: dict[str, frozenset[str]]
    names: frozenset[str]  # of days: the last words of all of them

    def may_be_in(self, folded: Iterable[str]) -> bool:
        """Whether any of these words can end the mention of a day."""
        return any(word in self.names or word[0].isdigit() for word in folded)

    def has(self, name: str, words: Iterable[str]) -> bool:
        return not self.lists[name].isdisjoint(words)


@dataclass(frozen=True, slots=True)
class _Clause:
    """The words of a part of a sentence, as they look from the day on which they were said."""

    text: str
    matches: Sequence[re.Match[str]]
    folded: Sequence[str]
    following: Sequence[str]  # the first words of the next clause
    today: date
    words: _Words

    def before(self, place: int) -> Sequence[str]:
        return self.folded[max(0, place - 1) : place]

    def after(self, place: int) -> Sequence[str]:
        return (*self.folded, *self.following)[place + 1 : place + 3]

    def phrase(self, place: int) -> str:
        """The word, with the one before it if both together name a day: "last night"."""
        pair = " ".join(self.folded[max(0, place - 1) : place + 1])
        return pair if pair in self.words.offsets else self.folded[place]

    def span(self, first: int, last: int) -> str:
        return self.text[self.matches[first].start() : self.matches[last].end()]

    @property
    def looks_back(self) -> bool:
        if self.words.has("future", self.folded):
            return False
        if self.words.has("past", self.folded) or is_past(self.text):
            return True
        return any(is_past_verb(word, "es") for word in self.folded if "ó" in word)


def find_date_mentions(text: str, said_at: datetime) -> tuple[DateMention, ...]:
    """In the order of the text, each day of the week once, at most three."""
    text, today = text[:MAX_TEXT], said_at.date()
    if detect_script(text) is Script.HEBREW:
        found = [DateMention(*each) for each in hebrew_dates(text, said_at)]
    else:
        words = _load_words(detect_language(text))
        found = list(_in_text(text, today, words)) if words else []
    first = {mention.day.weekday(): mention for mention in reversed(found)}
    return tuple(each for each in found if first[each.day.weekday()] is each)[:MAX_MENTIONS]


def _in_text(text: str, today: date, words: _Words) -> Iterator[DateMention]:
    if text.isascii() and not words.may_be_in(_WORD.findall(text.lower())):
        return  # most turns
    parts = _CLAUSE_END.split(text)
    matched = [list(_WORD.finditer(part)) for part in parts]
    folded = [[fold_word(match[0]) for match in matches] for matches in matched]
    for place, part in enumerate(parts):
        following = folded[place + 1][:1] if place + 1 < len(parts) else []
        clause = _Clause(part, matched[place], folded[place], following, today, words)
        yield from _in_clause(clause)


def _in_clause(clause: _Clause) -> Iterator[DateMention]:
    words = clause.words
    weekdays = [place for place, word in enumerate(clause.folded) if word in words.weekdays]
    for place, word in enumerate(clause.folded):
        mention = None
        if words.has("the", clause.before(place)) and _DAY_NUMBER.fullmatch(word):
            mention = _day_of_month(clause, place)
        elif words.has("not_after", clause.before(place)):
            continue
        elif (phrase := clause.phrase(place)) in words.offsets:
            day = clause.today + timedelta(days=words.offsets[phrase])
            mention = DateMention(clause.span(place - phrase.count(" "), place), day)
        elif weekdays == [place]:
            mention = _weekday(clause, place)
        if mention:
            yield mention


def _weekday(clause: _Clause, place: int) -> DateMention | None:
    """With the number of the day, if it follows; None if the whole date follows."""
    words, today = clause.words, clause.today
    number, before, after = (
        words.weekdays[clause.folded[place]],
        clause.before(place),
        clause.after(place),
    )
    numbered = _DAY_NUMBER.fullmatch(after[0]) if after else None
    if not words.months.isdisjoint(after) or words.has("of_each", after[:1]):
        return None
    if numbered and numbered[2]:
        day = _with_number(int(numbered[1]), today, clause.looks_back, number)
        return DateMention(clause.span(place, place + 1), day) if day else None
    if clause.folded[place] in words.lists["ambiguous"] and not words.has("led", before):
        return None
    if words.has("last", (*before, *after)):
        return DateMention(clause.span(place, place), nearest_weekday(today, number, True))
    if "next" in before:  # of next week
        monday = today - timedelta(days=today.weekday())
        return DateMention(clause.span(place - 1, place), monday + timedelta(days=7 + number))
    looks_back = clause.looks_back and not words.has("next", (*before, *after))
    return DateMention(clause.span(place, place), nearest_weekday(today, number, looks_back))


def _day_of_month(clause: _Clause, place: int) -> DateMention | None:
    """ "the 14th"; None for "the 14th of May" and "the 5th floor"."""
    words, after = clause.words, clause.after(place)
    number = _DAY_NUMBER.fullmatch(clause.folded[place])
    if number is None or not words.months.isdisjoint(after) or words.has("not_before", after[:1]):
        return None
    end = clause.matches[place].end()
    follows = clause.text[end : end + 1]
    if follows == ":" or (words.has_ordinals and not (number[2] or follows == ".")):
        return None
    weekday = words.weekdays.get(after[0], -1) if after else -1
    day = _with_number(int(number[1]), clause.today, clause.looks_back, weekday)
    return DateMention(clause.span(place - 1, place), day) if day else None


def _with_number(number: int, today: date, looks_back: bool, weekday: int = -1) -> date | None:
    """The nearest day with this number in its month and, if given, this weekday."""
    spans = range(-31 * _MONTHS_AROUND, 31 * _MONTHS_AROUND + 1)
    days = [today + timedelta(days=span) for span in spans]
    days = [day for day in days if day.day == number and weekday in (-1, day.weekday())]
    days = [day for day in days if weekday >= 0 or (day <= today if looks_back else day >= today)]
    return min(days, key=lambda day: abs(day - today), default=None)


@cache
def _load_words(language: str) -> _Words | None:
    table = load_table("day_words").get(language)
    if table is None:
        return None
    months = load_table("calendar")[language]["months"].replace("|", " ")
    entries = (entry.split("=") for entry in table["offsets"].split())  # "_": a space
    offsets = {fold_word(word.replace("_", " ")): int(days) for word, days in entries}
    weekdays = {
        fold_word(form): number
        for number, forms in enumerate(table["days"].split())
        for form in forms.split("|")
    }
    return _Words(
        weekdays=weekdays,
        offsets=offsets,
        months=frozenset(parse_word_list(months)),
        has_ordinals=table.get("ordinal", False),
        lists={name: frozenset(parse_word_list(table.get(name, ""))) for name in _LISTS},
        names=frozenset(phrase.split(" ")[-1] for phrase in (*weekdays, *offsets)),
    )

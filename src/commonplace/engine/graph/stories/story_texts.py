"""Texts of storylines and macros by rules: how it began, what changed, how it stands. Pure.

Each sentence is one that a summary tells about the anchor, with the day on which it was said. Where
too few tell something, a sentence says when the anchor was mentioned; nothing is made up.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from itertools import groupby

from commonplace.engine.graph.stories.told_sentences import ToldSentence, safe_line, told_sentences
from commonplace.engine.llm.texts import DatedSummary
from commonplace.language.safety.prompt_injection import is_suspicious
from commonplace.language.text.detect import Script, detect_script
from commonplace.language.text.sentences import split_sentences

MAX_STORYLINE, MAX_MACRO = 600, 900  # characters
MAX_NAME = 80
_SENTENCES = 3
_NO_MARKUP = str.maketrans("", "", "<>{}[]`|\\")
_ISO_DATE = re.compile(r"(?<!\d)\d{4}-(?:0[1-9]|1[0-2])-\d\d(?!\d)")
_DATED = re.compile(r"^\d{1,2} \S+ \d{4}(?: \S+ \d{1,2} \S+ \d{4})?: ")


@dataclass(frozen=True, slots=True)
class _Wording:
    """Sentences of one language. Dates and names are filled in."""

    months: tuple[str, ...]
    day_form: str
    span: str  # of two dates
    mentioned: str  # within a span
    latest: str
    on_one_day: str
    periods: str
    latest_period: str
    unnamed: str  # for a name that cannot be shown

    def day(self, day: date) -> str:
        return self.day_form.format(day=day.day, month=self.months[day.month - 1], year=day.year)

    def days(self, start: date, end: date) -> str:
        return self.day(start) if start == end else self.span.format(self.day(start), self.day(end))


_MONTHS = (
    "January", "February", "March", "April", "May", "June",
    "July", "August", "September", "October", "November", "December",
)  # fmt: skip
_HEBREW_MONTHS = (
    "ינואר", "פברואר", "מרץ", "אפריל", "מאי", "יוני",
    "יולי", "אוגוסט", "ספטמבר", "אוקטובר", "נובמבר", "דצמבר",
)  # fmt: skip
_ENGLISH = _Wording(
    months=_MONTHS,
    day_form="{day} {month} {year}",
    span="{} to {}",
    mentioned="Conversations that mention {name} are from {days}.",
    latest="The latest mention of {name} is of {day}.",
    on_one_day="Conversations that mention {name} are of {day}.",
    periods="Conversations mention {name} in {count} periods: the first is {first}.",
    latest_period="The latest period is {days}.",
    unnamed="the subject",
)
_HEBREW = _Wording(
    months=_HEBREW_MONTHS,
    day_form="{day} ב{month} {year}",
    span="{} עד {}",
    mentioned="השיחות שמזכירות את {name} הן מ-{days}.",
    latest="האזכור האחרון של {name} הוא מ-{day}.",
    on_one_day="השיחות שמזכירות את {name} הן מ-{day}.",
    periods="שיחות מזכירות את {name} ב-{count} תקופות: הראשונה היא {first}.",
    latest_period="התקופה האחרונה היא {days}.",
    unnamed="הנושא",
)


def storyline_text(name: str, aliases: Sequence[str], summaries: Sequence[DatedSummary]) -> str:
    """Two or three sentences; empty if there are no summaries."""
    if not summaries:
        return ""
    wording = _wording_of(summaries)
    told = [
        each
        for each in told_sentences((name, *aliases), summaries)
        if (detect_script(each.text) is Script.HEBREW) == (wording is _HEBREW)
    ]
    lines = [f"{wording.day(each.day)}: {_in_words(each.text, wording)}" for each in _chosen(told)]
    if len(lines) < 2:
        start, end = _period(summaries)
        frames = _mentions(wording, _shown_name(name, wording), start, end)
        lines += frames[: 2 - len(lines)]
    return " ".join(_within(lines, MAX_STORYLINE))


def _in_words(text: str, wording: _Wording) -> str:
    """Resolved dates, such as 2026-03-01, as they are written in sentences."""

    def in_words(found: re.Match[str]) -> str:
        try:
            return wording.day(date.fromisoformat(found[0]))
        except ValueError:  # 30 February
            return found[0]

    return _ISO_DATE.sub(in_words, text)


def _chosen(told: Sequence[ToldSentence]) -> list[ToldSentence]:
    """The beginning, the change in between that weighs most, and how it stands."""
    if len(told) <= _SENTENCES:
        return list(told)
    days = [list(group) for _, group in groupby(told, key=lambda each: each.day)]
    first, last = max(days[0], key=_weight), max(days[-1][::-1], key=_weight)
    between = [each for each in told if each not in (first, last)]
    middle = max(between[::-1], key=_weight)
    return [each for each in told if each in (first, middle, last)]


def _weight(told: ToldSentence) -> int:
    return told.weight


def _mentions(wording: _Wording, name: str, start: date, end: date) -> list[str]:
    days = wording.days(start, end)
    frame = wording.on_one_day if start == end else wording.mentioned
    return [
        frame.format(days=days, day=days, name=name),
        wording.latest.format(name=name, day=wording.day(end)),
    ]


def macro_text(name: str, storylines: Sequence[DatedSummary]) -> str:
    """Three or four sentences; empty if there are no storylines. ``storylines``: their texts, each
    with the days of its first and its last source."""
    if not storylines:
        return ""
    wording = _wording_of(storylines)
    listed = sorted(storylines, key=lambda each: each.start)
    opening = wording.periods.format(
        name=_shown_name(name, wording),
        count=len(listed),
        first=wording.days(listed[0].start, listed[0].end or listed[0].start),
    )
    lines = [opening, *_of_periods(listed, wording)]
    if len(lines) < 3:
        latest = listed[-1]
        days = wording.days(latest.start, latest.end or latest.start)
        lines.append(wording.latest_period.format(days=days))
    if len(lines) < 3:
        _, end = _period(listed)
        lines.append(wording.latest.format(name=_shown_name(name, wording), day=wording.day(end)))
    return " ".join(_within(lines, MAX_MACRO))


def _of_periods(listed: Sequence[DatedSummary], wording: _Wording) -> list[str]:
    """How the first began, the change that weighs most in between, how the last ends."""
    told = [line for each in listed for line in _dated_lines(each, wording)]
    distinct = list(dict.fromkeys(told))
    if len(distinct) <= _SENTENCES:
        return distinct
    middle = max(distinct[-2:0:-1], key=lambda line: ToldSentence(date.min, line).weight)
    return [distinct[0], middle, distinct[-1]]


def _dated_lines(storyline: DatedSummary, wording: _Wording) -> list[str]:
    """The sentences of its text that tell something, each with its date."""
    if is_suspicious(storyline.text):
        return []
    period = wording.days(storyline.start, storyline.end or storyline.start)
    lines = [
        line
        for sentence in split_sentences(storyline.text[: 2 * MAX_STORYLINE])
        if (line := safe_line(sentence, MAX_STORYLINE // 2)) is not None
    ]
    return [
        line if _DATED.match(line) else f"{period}: {line}"
        for line in lines
        if not _is_mention(line) and (detect_script(line) is Script.HEBREW) == (wording is _HEBREW)
    ]


_MENTION = re.compile(
    r"Conversations (?:that )?mention\b|The latest (?:mention|period)\b"
    r"|(?:השיחות ש|שיחות )מזכירות|האזכור האחרון|התקופה האחרונה"
)


def _is_mention(line: str) -> bool:
    return _MENTION.match(line) is not None


def _wording_of(texts: Sequence[DatedSummary]) -> _Wording:
    hebrew = sum(detect_script(each.text) is Script.HEBREW for each in texts)
    return _HEBREW if 2 * hebrew > len(texts) else _ENGLISH


def _shown_name(name: str, wording: _Wording) -> str:
    words = "".join(sign if sign.isprintable() else " " for sign in name.translate(_NO_MARKUP))
    shown = " ".join(words.split())[:MAX_NAME].rstrip(" .,;:!?")
    return wording.unnamed if not shown or is_suspicious(shown) else shown


def _period(texts: Sequence[DatedSummary]) -> tuple[date, date]:
    return min(each.start for each in texts), max(each.end or each.start for each in texts)


def _within(lines: list[str], room: int) -> list[str]:
    """Without those in the middle that are too much."""
    while len(lines) > 2 and sum(len(line) + 1 for line in lines) > room + 1:
        lines = [*lines[: len(lines) // 2], *lines[len(lines) // 2 + 1 :]]
    return lines

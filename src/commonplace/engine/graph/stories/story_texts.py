"""Texts of storylines and macros by rules: how it began, what changed, how it stands. Pure.

Each sentence is one that a summary tells about the anchor, with the day on which it was said. Where
too few tell something, a sentence says when the anchor was mentioned; nothing is made up.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from itertools import groupby
from types import MappingProxyType

from commonplace.engine.graph.stories.told_sentences import ToldSentence, safe_line, told_sentences
from commonplace.engine.llm.texts import DatedSummary
from commonplace.language.safety.prompt_injection import is_suspicious
from commonplace.language.text.detect import Script, detect_script
from commonplace.language.text.sentences import split_sentences

MAX_STORYLINE, MAX_MACRO = 600, 900  # characters
MAX_NAME = 80
_SENTENCES = 3
NOTHING_TIED: Mapping[str, Sequence[DatedSummary]] = MappingProxyType({})
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
    about: str  # of a tied anchor
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
    about="About {name}, {line}",
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
    about="על {name}, {line}",
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


def macro_text(
    name: str,
    own: Sequence[DatedSummary],
    tied: Mapping[str, Sequence[DatedSummary]] = NOTHING_TIED,
) -> str:
    """Three or four sentences; empty if there are no storylines. ``own``: the texts of the anchor's
    storylines, each with the days of its first and its last source. ``tied``: those of other
    anchors, by name; they are told as such, and not counted."""
    listed = sorted(own, key=lambda each: each.start)
    others = [each for texts in tied.values() for each in texts]
    if not (listed or others):
        return ""
    wording = _wording_of([*listed, *others])
    told = [line for each in listed for line in _dated_lines(each, wording)]
    lines = _chosen_lines(told, _SENTENCES - bool(others))
    about = [line for line in _lines_about(tied, wording) if line.told not in told]
    lines += _chosen_lines([line.text for line in about], _SENTENCES - len(lines))
    if listed:
        lines = _with_periods(_shown_name(name, wording), listed, lines, wording)
    return " ".join(_within(lines, MAX_MACRO))


@dataclass(frozen=True, slots=True)
class _LineAbout:
    """A sentence about a tied anchor."""

    told: str
    text: str  # with the anchor's name


def _lines_about(
    tied: Mapping[str, Sequence[DatedSummary]], wording: _Wording
) -> Iterator[_LineAbout]:
    """The newest last. An anchor about which nothing is told is at least mentioned."""
    by_start = sorted(tied.items(), key=lambda each: min(text.start for text in each[1]))
    for other, texts in by_start:
        name = _shown_name(other, wording)
        told = [line for each in texts for line in _dated_lines(each, wording)]
        for line in dict.fromkeys(told):
            yield _LineAbout(line, wording.about.format(name=name, line=line))
        if not told:
            mention = _mentions(wording, name, *_period(texts))[0]
            yield _LineAbout(mention, mention)


def _with_periods(
    name: str, listed: Sequence[DatedSummary], lines: Sequence[str], wording: _Wording
) -> list[str]:
    """Opened by when conversations mention the anchor; filled up to three sentences."""
    first, latest = (wording.days(*_period([each])) for each in (listed[0], listed[-1]))
    mentions = _mentions(wording, name, *_period(listed))
    opening = wording.periods.format(name=name, count=len(listed), first=first)
    ending = wording.latest_period.format(days=latest)
    several = len(listed) > 1
    frames = [*([opening] if several else mentions[:1]), *lines]
    fill = [*([ending] if several else []), mentions[-1]]
    return [*frames, *fill[: max(0, _SENTENCES - len(frames))]]


def _chosen_lines(told: Sequence[str], most: int) -> list[str]:
    """The first, the change that weighs most in between, the last."""
    distinct = list(dict.fromkeys(told))
    if len(distinct) <= most:
        return distinct
    middle = max(distinct[-2:0:-1] or distinct, key=_line_weight)
    return {
        1: [max(distinct[::-1], key=_line_weight)],
        2: [distinct[0], distinct[-1]],
    }.get(most, [distinct[0], middle, distinct[-1]])


def _line_weight(line: str) -> int:
    return ToldSentence(date.min, line).weight


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

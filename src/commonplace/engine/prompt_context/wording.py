"""Wording: one line for each memory, hit, the current time and the last conversation."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta, tzinfo
from zoneinfo import ZoneInfo

import numpy as np

from commonplace.engine.prompt_context.layers import ContextLine
from commonplace.engine.prompt_injection import is_quoted
from commonplace.engine.search.pack import Citation, Hit, one_line
from commonplace.language.text.dates import stated_day
from commonplace.model.delta import shorten
from commonplace.model.filters import Visibility
from commonplace.model.memory.memory import Memory
from commonplace.model.quotation import quote_if
from commonplace.model.sources.source import SourceType
from commonplace.store.cache.scope_index import ScopeIndex
from commonplace.store.sql.rows import exact_micros, instant

LONG_TEXT = 600  # characters; longer memories are shown by summary, longer passages truncated
_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


def weekday(number: int) -> str:
    """The English name; `strftime` would depend on the locale."""
    return _DAYS[number]


def in_full(memory: Memory, disputed: str | None) -> ContextLine:
    return _memory_line(memory, "", one_line(memory.content), disputed)


def plainly(memory: Memory, disputed: str | None) -> ContextLine:
    return _memory_line(memory, "", _memory_text(memory), disputed)


def by_category(memory: Memory, disputed: str | None) -> ContextLine:
    return _memory_line(memory, f"[{one_line(memory.category)}] ", _memory_text(memory), disputed)


def as_goal(memory: Memory, disputed: str | None) -> ContextLine:
    return _memory_line(
        memory, f"[goals] ({memory.created_at:%Y-%m-%d}) ", _memory_text(memory), disputed
    )


def by_date(memory: Memory, disputed: str | None) -> ContextLine:
    return _memory_line(memory, f"{_written_day(memory)}: ", _memory_text(memory), disputed)


def by_day_ahead(memory: Memory, disputed: str | None) -> ContextLine:
    day = day_ahead(memory)
    return _memory_line(memory, f"{day}: " if day else "", _memory_text(memory), disputed)


def day_of(memory: Memory) -> date:
    """The own date of an event: when it happened, or else when it was said."""
    return (memory.valid_from or memory.created_at).date()


def day_ahead(memory: Memory) -> date | None:
    """The day that a memory tells of, in its text or as its start; None: it tells of none."""
    said = memory.created_at.date()
    day = stated_day(memory.content, said)
    return day or (day_of(memory) if day_of(memory) > said else None)


def _written_day(memory: Memory) -> str:
    """A date of which the text gives only the year is written as the year."""
    day = day_of(memory)
    is_first_day = (day.month, day.day) == (1, 1)
    if is_first_day and str(day.year) in memory.content and not _JANUARY.search(memory.content):
        return str(day.year)
    return f"{day:%Y-%m-%d}"


_JANUARY = re.compile(r"\b(?:jan(?:uary)?\b|0?1[-./]0?1)|ינואר", re.IGNORECASE)


def of_hit(hit: Hit) -> ContextLine:
    shortened = replace(hit, text=hit.text if len(hit.text) <= LONG_TEXT else _in_short(hit))
    return ContextLine(one_line(shortened.bullet), hit.id, hit.citation)


def _in_short(hit: Hit) -> str:
    return hit.summary or shorten(hit.text, LONG_TEXT)


def _memory_text(memory: Memory) -> str:
    """Long memories are shown by their summaries."""
    is_long = len(memory.content) > LONG_TEXT and memory.summary
    return one_line(memory.summary if is_long else memory.content)


def _memory_line(memory: Memory, before: str, text: str, disputed: str | None) -> ContextLine:
    doubt = f" (disputed: {one_line(disputed)})" if disputed else ""
    source = Citation(memory.source_id) if memory.source_id else None
    shown = quote_if(is_quoted(memory), text)
    return ContextLine(f"- {before}{shown}{doubt}", memory.id, source)


CONVERSATION_TYPES = (
    SourceType.CHAT,
    SourceType.MEETING,
    SourceType.SLACK_THREAD,
    SourceType.VOICE_MEMO,
)
CONVERSATION_PAUSE = timedelta(hours=1)  # a longer pause in a thread starts a new conversation
ONGOING_PASSAGES = (
    20  # latest passages of the current conversation, which the agent's prompt already has
)
TIME_ZONE_FIELD = "profile:time_zone"


@dataclass(frozen=True, slots=True)
class LastConversation:
    at: datetime
    type: str


@dataclass(frozen=True, slots=True)
class Conversations:
    last: LastConversation | None  # before the current one
    current: frozenset[str]  # the latest passages of the current one, already in the prompt


def find_conversations(
    index: ScopeIndex, seen: Visibility, thread: str, moment: datetime, now: datetime
) -> Conversations:
    """Find the current and the last conversation among the visible passages, by the index columns
    for time, thread and source type."""
    words, types = index.words["source_type"], index.coded["source_type"]
    times = index.numeric["created_at"]
    spoken = np.isin(types[: index.size], [words.known(str(each)) for each in CONVERSATION_TYPES])
    mask = index.passages & spoken & index.visible(seen, now)
    slots = np.flatnonzero(mask & (times[: index.size] <= exact_micros(moment)))
    slots = slots[np.argsort(times[slots], kind="stable")]
    in_thread = index.coded["thread_id"][slots] == index.words["thread_id"].known(thread)
    thread_slots = slots[in_thread]
    ongoing = _count_ongoing(times[thread_slots].tolist(), moment)
    current = frozenset(
        index.ids[slot]
        for slot in thread_slots[len(thread_slots) - min(ongoing, ONGOING_PASSAGES) :]
    )
    before = slots[~in_thread | (np.cumsum(in_thread) <= len(thread_slots) - ongoing)]
    if not len(before):
        return Conversations(None, current)
    word_of = list(words.codes)
    last = int(before[-1])
    return Conversations(
        LastConversation(instant(int(times[last])), str(word_of[types[last]])), current
    )


def _count_ongoing(times: list[int], moment: datetime) -> int:
    """The number of latest passages without a long pause until now."""
    after = exact_micros(moment)
    for count, at in enumerate(reversed(times)):
        if after - at > CONVERSATION_PAUSE / timedelta(microseconds=1):
            return count
        after = at
    return len(times)


def zone_of(value: object) -> tzinfo:
    """The time zone in the user's profile; UTC if it is missing or unknown."""
    try:
        return ZoneInfo(str(value)) if value else UTC
    except (ValueError, OSError):  # unknown zone, or no time zone data
        return UTC


def time_lines(moment: datetime, zone: tzinfo, talk: LastConversation | None) -> Iterator[str]:
    local = moment.astimezone(zone)
    name = getattr(zone, "key", "UTC")
    yield f"- {weekday(local.weekday())}, {local:%Y-%m-%d}, {local:%H:%M} ({name})"
    if talk:
        when = talk.at.astimezone(zone)
        yield (
            f"- Last conversation: {_ago(moment - talk.at)} ago"
            f" ({one_line(talk.type)}, {when:%Y-%m-%d})"
        )


def _ago(span: timedelta) -> str:
    minutes = int(span.total_seconds() // 60)
    for size, word in ((60 * 24, "day"), (60, "hour"), (1, "minute")):
        if minutes >= size:
            count = minutes // size
            return f"{count} {word}" if count == 1 else f"{count} {word}s"
    return "less than a minute"

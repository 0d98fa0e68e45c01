"""What time it is where the user is, and how long ago there was a conversation."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo
from zoneinfo import ZoneInfo

import numpy as np

from commonplace.model.filters import Visibility
from commonplace.model.source import SourceType
from commonplace.recall.context.wording import weekday
from commonplace.recall.pack import one_line
from commonplace.store.index import ScopeIndex
from commonplace.store.sql.rows import exact_micros, instant

SPOKEN = (SourceType.CHAT, SourceType.MEETING, SourceType.SLACK_THREAD, SourceType.VOICE_MEMO)
PAUSE = timedelta(hours=1)  # a thread that was silent for so long begins a new conversation
HEARD = 20  # passages of a conversation that goes on which are in the prompt by themselves
ZONE = "profile:time_zone"


@dataclass(frozen=True, slots=True)
class LastTalk:
    at: datetime
    type: str


@dataclass(frozen=True, slots=True)
class Talks:
    last: LastTalk | None  # the present one aside
    heard: frozenset[str]  # passages of the present one's end: who talks has them before them


def talks(
    index: ScopeIndex, seen: Visibility, thread: str, moment: datetime, now: datetime
) -> Talks:
    """Of what the asker may know. The index knows when each passage was said, in which thread, and
    of what type its source is."""
    words, types = index.words["source_type"], index.coded["source_type"]
    said = index.numeric["created_at"]
    spoken = np.isin(types[: index.size], [words.known(str(each)) for each in SPOKEN])
    mask = index.passages & spoken & index.visible(seen, now)
    slots = np.flatnonzero(mask & (said[: index.size] <= exact_micros(moment)))
    slots = slots[np.argsort(said[slots], kind="stable")]
    here = index.coded["thread_id"][slots] == index.words["thread_id"].known(thread)
    mine = slots[here]
    going_on = _going_on(said[mine].tolist(), moment)
    heard = frozenset(index.ids[slot] for slot in mine[len(mine) - min(going_on, HEARD) :])
    before = slots[~here | (np.cumsum(here) <= len(mine) - going_on)]
    if not len(before):
        return Talks(None, heard)
    word_of = list(words.codes)
    last = int(before[-1])
    return Talks(LastTalk(instant(int(said[last])), str(word_of[types[last]])), heard)


def _going_on(times: list[int], moment: datetime) -> int:
    """How many of the last were said without a pause until now."""
    after = exact_micros(moment)
    for count, at in enumerate(reversed(times)):
        if after - at > PAUSE / timedelta(microseconds=1):
            return count
        after = at
    return len(times)


def zone_of(value: object) -> tzinfo:
    """The user's own, as the profile says it; UTC where it says none that is known here."""
    try:
        return ZoneInfo(str(value)) if value else UTC
    except (ValueError, OSError):  # no such zone, or no zones on this machine
        return UTC


def lines(moment: datetime, zone: tzinfo, talk: LastTalk | None) -> Iterator[str]:
    here = moment.astimezone(zone)
    name = getattr(zone, "key", "UTC")
    yield f"- {weekday(here.weekday())}, {here:%Y-%m-%d}, {here:%H:%M} ({name})"
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

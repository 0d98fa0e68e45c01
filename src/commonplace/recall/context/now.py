"""What time it is where the user is, and how long ago there was a conversation."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo
from zoneinfo import ZoneInfo

import numpy as np

from commonplace.model.filters import Visibility
from commonplace.model.source import SourceType
from commonplace.recall.context.wording import one_line, weekday
from commonplace.store.index import ScopeIndex
from commonplace.store.sql.rows import exact_micros, instant

SPOKEN = (SourceType.CHAT, SourceType.MEETING, SourceType.SLACK_THREAD, SourceType.VOICE_MEMO)
PAUSE = timedelta(hours=1)  # a thread that was silent for so long begins a new conversation
ZONE = "profile:time_zone"


@dataclass(frozen=True, slots=True)
class LastTalk:
    at: datetime
    type: str


def last_talk(
    index: ScopeIndex, seen: Visibility, thread: str, moment: datetime, now: datetime
) -> LastTalk | None:
    """The end of the last conversation that the asker may know of, the present one aside. The
    index knows when each passage was said and of what type its source is."""
    words, types = index.words["source_type"], index.coded["source_type"]
    said = index.numeric["created_at"]
    spoken = np.isin(types[: index.size], [words.known(str(each)) for each in SPOKEN])
    mask = index.passages & spoken & index.visible(seen, now)
    mask &= said[: index.size] <= exact_micros(moment)
    slots = np.flatnonzero(mask)
    here = index.coded["thread_id"][slots] == index.words["thread_id"].known(thread)
    present = _present(np.sort(said[slots[here]]).tolist(), moment)
    if present is not None:
        slots = slots[~here | (said[slots] < present)]
    if not len(slots):
        return None
    last = slots[np.argmax(said[slots])]
    word_of = {code: word for word, code in words.codes.items()}
    return LastTalk(instant(int(said[last])), str(word_of[int(types[last])]))


def sources_here(index: ScopeIndex, thread: str) -> frozenset[str]:
    """Those that were said or brought in this thread."""
    of_thread = index.coded["thread_id"][: index.size] == index.words["thread_id"].known(thread)
    codes = np.unique(index.coded["source_id"][: index.size][index.passages & of_thread])
    words = list(index.words["source_id"].codes)
    return frozenset(str(words[code]) for code in codes.tolist())


def _present(times: list[int], moment: datetime) -> int | None:
    """Since when the thread has been talked in without a pause; None: it is silent."""
    begun, before = None, exact_micros(moment)
    for at in reversed(times):
        if before - at > PAUSE / timedelta(microseconds=1):
            break
        begun = before = at
    return begun


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

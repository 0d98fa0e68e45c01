"""What the clocks of a transcript tell: "[14:05] Ana:" may be the time of day, or how far into the
recording it was said. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime, timedelta
from itertools import pairwise

_HOURS_AND_MINUTES = re.compile(r"([01]?\d|2[0-3]):([0-5]\d)")
_DAY = timedelta(days=1)
_EARLIEST = timedelta(hours=5)  # recordings begin near 0:00, meetings after people have got up
_NEAR = timedelta(hours=1)  # the first words come that close to when a meeting is said to begin


def times_of_day(clocks: Sequence[str], started_at: datetime) -> list[timedelta] | None:
    """How long after the start each is, if all of them are times of that day; else None."""
    found = [_HOURS_AND_MINUTES.fullmatch(clock) for clock in clocks]
    read = [timedelta(hours=int(m[1]), minutes=int(m[2])) for m in found if m]
    if not read or len(read) < len(clocks):
        return None
    midnight = started_at.replace(hour=0, minute=0, second=0, microsecond=0)
    start = started_at - midnight
    told_only_the_day = not start
    fits = read[0] >= _EARLIEST if told_only_the_day else abs(read[0] - start) <= _NEAR
    risen = _past_midnight(read)
    return [each - start for each in risen] if fits and risen == sorted(risen) else None


def _past_midnight(times: Sequence[timedelta]) -> list[timedelta]:
    """After 23:58 comes 00:03 of the next day."""
    risen = list(times[:1])
    for earlier, time in pairwise(times):
        days = risen[-1] - earlier
        risen.append(time + days + (_DAY if earlier - time > _DAY / 2 else timedelta()))
    return risen

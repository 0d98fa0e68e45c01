"""Texts made to be slow to read, every door that takes a text, and how its time grows.

A text is one unit repeated: a character, a piece of mark-up, the words of a pattern. If reading
takes time linear in the length, twice the text takes twice the time whatever the unit.
"""

from __future__ import annotations

import itertools
import json
import re
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

from commonplace.api import Commonplace, User
from commonplace.errors import CommonplaceError

MAX_GROWTH = 2.5  # of the time, when the text doubles
FLOOR = 0.05  # seconds for the longer text; less is noise and harms nobody
REPEATS = 4  # measurements of a suspicious text; the fastest counts
TIME_LIMIT = 10.0  # seconds; a text that takes longer has failed


def _units() -> Iterator[tuple[str, ...]]:
    written = Path(__file__).with_name("hostile_units.txt").read_text(encoding="utf-8")
    for part in re.split("^#.*\n", written, flags=re.MULTILINE)[1:]:
        yield tuple(map(json.loads, part.splitlines()))


FEW, _MORE = _units()
UNITS = FEW + _MORE
_IN_PAIRS = "? \n\t.,-:;aA1([<\"'א_@>=/*\u00a0"
PAIRS = tuple(map("".join, itertools.permutations(_IN_PAIRS, 2)))


def text_of(unit: str, length: int) -> str:
    """A text that begins and ends with a letter, so that nothing is trimmed."""
    return "x" + (unit * (length // len(unit) + 1))[: length - 2] + "y"


Feed = Callable[[User, str], object]


@dataclass(frozen=True)
class Door:
    """A way in for a text; ``size``: the length that takes some hundredths of a second."""

    feed: Feed
    size: int


_HEADERS = "From: a@b.c\nTo: d@e.f\nSubject: x\nDate: Mon, 2 Feb 2026 10:00:00 +0000\n"
_CLOCK = "2026-02-02T10:00:00Z"


def _mail(type: str) -> Feed:
    return lambda me, text: me.ingest(
        f"{_HEADERS}Content-Type: {type}\n\n{text}".encode(), format="email"
    )


def _header(me: User, text: str) -> object:
    line = " ".join(text.splitlines())
    names = ("From", "To", "Cc", "Subject", "Date", "Message-ID", "References", "Content-Type")
    headers = "".join(f"{name}: {'text/plain; ' * (name[-1] == 'e')}{line}\n" for name in names)
    return me.ingest(f"{headers}\nhello there".encode(), format="email")


def _multipart(me: User, text: str) -> object:
    line = " ".join(text.splitlines())
    part = f"--cut\nContent-Type: text/plain; {line}\nContent-Disposition: inline; {line}\n\n{text}"
    return me.ingest(
        f"{_HEADERS}Content-Type: multipart/mixed; boundary=cut\n\n{part}\n--cut--\n".encode(),
        format="email",
    )


def _in_format(format: str, template: str = "{}") -> Feed:
    before, after = template.split("{}")
    return lambda me, text: me.ingest(before + text + after, format=format)


def _conversation(me: User, text: str) -> object:
    turns = [{"speaker": "Ana", "text": text, "time": _CLOCK}, {"speaker": "Tal", "text": "Yes."}]
    return me.ingest("\n".join(map(json.dumps, turns)), format="conversation")


def _slack(me: User, text: str) -> object:
    message = {"user": "U1", "text": text, "ts": "1700000000.000100"}
    return me.ingest(json.dumps([message]), format="slack")


def _update(me: User, text: str) -> object:
    first = me.remember("The office is in Haifa.", kind="fact")
    return me.update(first.id, content=text)


def _extract(me: User, text: str) -> object:
    me.ingest(text, format="text")
    return me.extract()


def _extract_mail(me: User, text: str) -> object:
    me.ingest(f"{_HEADERS}Content-Type: text/plain\n\n{text}".encode(), format="email")
    return me.extract()


def _second(me: User, text: str) -> object:
    """A second memory is compared with the first."""
    me.remember(text, kind="fact")
    return me.remember(text[:-1] + "z", kind="fact")


DOORS: dict[str, Door] = {
    "remember": Door(lambda me, text: me.remember(text), 8_000),
    "remember fact": Door(lambda me, text: me.remember(text, kind="fact"), 8_000),
    "remember event": Door(lambda me, text: me.remember(text, kind="event"), 8_000),
    "remember twice": Door(_second, 8_000),
    "update": Door(_update, 8_000),
    "observe": Door(lambda me, text: me.observe(text, thread="t"), 8_000),
    "recall": Door(lambda me, text: me.recall(text), 8_000),
    "query": Door(lambda me, text: me.query(text), 8_000),
    "context": Door(lambda me, text: me.context(text), 8_000),
    "understand": Door(lambda me, text: me.understand(text), 8_000),
    "explore": Door(lambda me, text: me.explore(text_matches=[text], granularity=3), 8_000),
    "text": Door(_in_format("text"), 16_000),
    "detected": Door(lambda me, text: me.ingest(text), 10_000),
    "markdown": Door(_in_format("markdown", "# Title\n\n{}"), 16_000),
    "html": Door(_in_format("html", "<html><body>{}"), 16_000),
    "whatsapp": Door(
        _in_format("whatsapp", "[1/2/26, 10:00] Ana: {}\n[1/2/26, 10:01] T: b"), 16_000
    ),
    "whatsapp line": Door(
        _in_format("whatsapp", "[1/2/26, 10:00] Ana: b\n[1/2/26, 10:01]{}"), 16_000
    ),
    "transcript": Door(_in_format("transcript", "Ana: {}\nTal: yes"), 16_000),
    "vtt": Door(
        _in_format("transcript", "WEBVTT\n\n00:00:01.000 --> 00:00:02.000\n<v Ana>{}"), 16_000
    ),
    "conversation": Door(_conversation, 16_000),
    "slack": Door(_slack, 16_000),
    "mail": Door(_mail("text/plain"), 16_000),
    "flowed mail": Door(_mail("text/plain; format=flowed"), 16_000),
    "html mail": Door(_mail("text/html"), 16_000),
    "mail header": Door(_header, 8_000),
    "multipart mail": Door(_multipart, 8_000),
    "extract": Door(_extract, 8_000),
    "extract mail": Door(_extract_mail, 8_000),
}


class TookTooLong(BaseException):
    """Not an Exception: nothing in the product may catch it."""


@contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Of this process's own time: others may use the machine. The signal also ends a pattern that
    runs away."""

    def stop(number: int, frame: FrameType | None) -> None:
        raise TookTooLong

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


@dataclass(frozen=True)
class Slow:
    door: str
    unit: str
    seconds: tuple[float, float]  # for one length, and for twice the length

    def __str__(self) -> str:
        short, long = self.seconds
        return f"{self.door}: {self.unit!r} takes {short:.3f} s, then {long:.3f} s for twice"


class Stopwatch:
    """Measures doors of one store; each text goes to a user of its own."""

    def __init__(self, book: Commonplace):
        self._book = book
        self._users = itertools.count()
        for door in DOORS.values():  # load tables and caches
            self._seconds(door.feed, "I live in Haifa, my sister Noa works at Intel.")

    def slow_units(self, door: str, units: tuple[str, ...], share: float = 1.0) -> list[Slow]:
        return [slow for unit in units if (slow := self.growth(door, unit, share))]

    def growth(self, door: str, unit: str, share: float = 1.0) -> Slow | None:
        """None if the time is linear. A suspicion is measured again."""
        feed, size = DOORS[door].feed, int(DOORS[door].size * share)
        once, twice = text_of(unit, size), text_of(unit, 2 * size)
        short, long = TIME_LIMIT, TIME_LIMIT
        for _ in range(REPEATS):
            long = min(long, self._seconds(feed, twice))
            if long < FLOOR:
                return None
            short = min(short, self._seconds(feed, once))
            if long < MAX_GROWTH * short and long < TIME_LIMIT:
                return None
            if long >= TIME_LIMIT:
                break
        return Slow(door, unit, (short, long))

    def _seconds(self, feed: Feed, text: str) -> float:
        user = self._book.user(f"user {next(self._users)}")
        began = time.thread_time()
        try:
            with time_limit(TIME_LIMIT):
                feed(user, text)
        except CommonplaceError:  # refused: that must be fast, too
            pass
        except TookTooLong:
            return TIME_LIMIT
        return time.thread_time() - began

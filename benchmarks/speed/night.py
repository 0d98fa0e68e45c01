"""Night: how long the nightly and weekly tasks take, and how that grows with the memory.

A memory of one year, made up: memories of several kinds, a few of them twice or with an end, and
the conversations of the simulated year as sources, in which people and projects come up again and
again. Each memory is measured in two nights: the first has the whole year to do, the second what is
left of it. Beside it, one of half the size. Times depend on the machine: compare the growth.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import islice
from pathlib import Path
from time import perf_counter
from typing import Any

from rich.console import Console

import commonplace
from benchmarks.fixtures import (
    OWNER,
    Database,
    PreparedEmbedder,
    SentenceGenerator,
    available_databases,
)
from benchmarks.report import Report, Table
from benchmarks.year.generate import DAYS, GeneratedYear, YearConversation
from commonplace.api import Commonplace, User
from commonplace.model.sleep import SleepTask

MEMORIES, SOURCES = 10_000, 2_000
BEGINS = datetime(2026, 1, 1, tzinfo=UTC)
LOADS = 50  # parts of the year, in each of which a share comes in
TWICE = 20  # one in so many memories repeats most of the words of another one
_REPEATED = 0.75
_KINDS = ("fact", "fact", "fact", "event", "note")
_ENDING = {"kind": "log", "ttl_days": 30}  # every tenth memory


@dataclass(frozen=True, slots=True)
class MeasuredNight:
    """Each task is run and timed alone, in the order of a night: a run's own seconds leave out
    how long its changes take to be written."""

    seconds: Mapping[SleepTask, float]
    items: Mapping[SleepTask, int]  # changed, ended or made

    @property
    def total(self) -> float:
        return sum(self.seconds.values())


class RunningClock:
    """Goes as time does, from a moment on that is set."""

    def __init__(self, begins: datetime) -> None:
        self.set(begins)

    def set(self, now: datetime) -> None:
        self._now, self._since = now, perf_counter()

    def __call__(self) -> datetime:
        return self._now + timedelta(seconds=perf_counter() - self._since)


def load_memory(
    database: Database, memories: int, sources: int
) -> tuple[Commonplace, RunningClock]:
    """A year of memories and conversations, with everything extracted."""
    clock, embedder = RunningClock(BEGINS), PreparedEmbedder()
    url = database.create(f"night_{memories}_{sources}")
    book = commonplace.open(url, embedder=embedder, clock=clock, worker="off", tidy_on_open=False)
    me = book.user(OWNER)
    items, talks = _memories(memories), _conversations(sources)
    for part in range(LOADS):
        clock.set(BEGINS + timedelta(days=DAYS) * part / LOADS)
        me.remember_many(list(islice(items, memories // LOADS)))
        for talk in islice(talks, sources // LOADS):
            _ingest(me, talk, clock())
        book.work(once=True)
    database.settle(url)
    return book, clock


def _memories(count: int) -> Iterator[dict[str, Any]]:
    generator = SentenceGenerator()
    sentences = generator.sentences(count)
    for place, sentence in enumerate(sentences):
        is_again = place > 0 and place % TWICE == 0
        text = _most_of(sentences[place - 1]) + sentence[-12:] if is_again else sentence
        if place % 10 == 9:
            yield {"content": text, **_ENDING}
        else:
            yield {"content": text, "kind": _KINDS[place % len(_KINDS)]}


def _most_of(sentence: str) -> str:
    words = sentence.split()
    return " ".join(words[: int(len(words) * _REPEATED)])


def _conversations(count: int) -> Iterator[YearConversation]:
    seed = 1
    while True:
        for day in GeneratedYear(seed).days():
            yield from day.conversations
        seed += 1


def _ingest(me: User, talk: YearConversation, at: datetime) -> None:
    lines = "\n".join(
        json.dumps({"speaker": turn.role, "text": turn.text, "time": at.isoformat()})
        for turn in talk.turns
    )
    me.ingest(lines, format="conversation", date=at)


def measure_nights(database: Database, memories: int, sources: int) -> list[MeasuredNight]:
    """The first one, and the one after it."""
    book, clock = load_memory(database, memories, sources)
    nights = []
    with book:
        for night in range(2):
            clock.set(BEGINS + timedelta(days=DAYS + night))
            nights.append(measure_night(book.user(OWNER)))
            book.work(once=True)
    return nights


def measure_night(me: User) -> MeasuredNight:
    seconds, items = {}, {}
    for task in SleepTask:
        begins = perf_counter()
        report = me.sleep(tasks=[task])
        seconds[task] = perf_counter() - begins
        items[task] = sum(each.items for each in report.tasks)
    return MeasuredNight(seconds, items)


def night_tables(
    databases: Sequence[Database], sizes: Sequence[tuple[int, int]], step: Callable[[str], object]
) -> list[Table]:
    tables = []
    for database in databases:
        measured = {}
        for memories, sources in sizes:
            step(f"{memories} memories and {sources} sources on {database.name}")
            measured[memories, sources] = measure_nights(database, memories, sources)
        tables.append(night_table(database.name, measured))
    return tables


def night_table(database: str, measured: dict[tuple[int, int], list[MeasuredNight]]) -> Table:
    (_, half), (size, whole) = measured.items()
    first, second = whole
    table = Table(
        f"night_{database}",
        f"A night at {size[0]:,} memories and {size[1]:,} sources, on {database}",
        ("task", "items", "seconds", "share %", "x half the size", "second night, seconds"),
        notes=["The first night has a whole year to do. Items: changed, ended or made."],
    )
    for task in SleepTask:
        seconds = first.seconds[task]
        table.add(
            task.value,
            first.items[task],
            round(seconds, 3),
            round(100 * seconds / first.total, 1) if first.total else None,
            _growth(half[0].seconds[task], seconds),
            round(second.seconds[task], 3),
        )
    growth = _growth(half[0].total, first.total)
    table.add("all", None, round(first.total, 3), 100.0, growth, round(second.total, 3))
    return table


def _growth(once: float, twice: float) -> float | None:
    """None: too short to compare."""
    return round(twice / once, 2) if once >= _COMPARED_FROM else None


_COMPARED_FROM = 0.02  # seconds


def main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks night",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--memories", type=int, default=MEMORIES, help="(%(default)s)")
    parser.add_argument("--sources", type=int, default=SOURCES, help="(%(default)s)")
    parser.add_argument("--postgres", action="store_true", help="also on PostgreSQL")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the results as JSON")
    asked = parser.parse_args(arguments)
    sizes = [(int(asked.memories * factor), int(asked.sources * factor)) for factor in (0.5, 1)]
    notices = Console(stderr=True)
    with tempfile.TemporaryDirectory() as folder, available_databases(Path(folder)) as servers:
        report = Report(machine={})
        chosen = servers if asked.postgres else servers[:1]
        report.tables += night_tables(chosen, sizes, notices.print)
    report.print(Console(width=None if sys.stdout.isatty() else 120))
    if asked.json:
        asked.json.write_text(report.as_json(), encoding="utf-8")

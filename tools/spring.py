"""A month in which things change: three conversations and a letter, from which a graph is made. The
tour in `docs/graph-tour.md` and its picture; the originals are in the folder `spring`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from importlib import resources
from itertools import count

import commonplace
from commonplace.api import Commonplace, User
from commonplace.engine.graph.extraction.extract import Extracted
from commonplace.engine.sources.receive import Ingested

FOLDER = "spring"


@dataclass(frozen=True, slots=True)
class Arrival:
    file: str
    title: str
    told_of: str  # for the reader of the tour
    at: datetime  # when it came in
    date: str | None = None  # where the original does not say


ARRIVALS = (
    Arrival(
        "chat-with-tamar.jsonl",
        "Chat with Tamar",
        "a friend mentions Omer, her brother; Ana states a goal and a worry",
        datetime(2026, 3, 3, 20, 0, tzinfo=UTC),
    ),
    Arrival(
        "chat-with-noa.jsonl",
        "Chat with Noa",
        "two weeks later her sister says that Omer has moved and has a new job, and that he and "
        "Tamar had an argument",
        datetime(2026, 3, 16, 21, 0, tzinfo=UTC),
    ),
    Arrival(
        "call-with-omer.vtt",
        "Call with Omer",
        "Omer says that the argument is over, and what he works on",
        datetime(2026, 3, 23, 21, 0, tzinfo=UTC),
        date="2026-03-23T19:00:00Z",
    ),
    Arrival(
        "letter-from-yael.eml",
        "Letter from Yael",
        "from Omer's manager, with statements that no other source has",
        datetime(2026, 3, 29, 11, 0, tzinfo=UTC),
    ),
)
AFTERWARDS = datetime(2026, 4, 1, 9, 0, tzinfo=UTC)


@dataclass(slots=True)
class Calendar:
    now: datetime = ARRIVALS[0].at

    def __call__(self) -> datetime:
        return self.now


def opened(calendar: Calendar) -> Commonplace:
    """A store in which what is alike otherwise stands in the order in which it came: its ids are
    counted, so that a page made of its answers is the same each time."""
    book = commonplace.open(":memory:", clock=calendar, worker="off", extraction="on-demand")
    numbers = count(1)
    return Commonplace(replace(book._engine, new_id=lambda: _numbered(next(numbers))))


def _numbered(number: int) -> str:
    return f"{number:08x}-0000-4000-8000-{number:012x}"


def live_through_it(me: User, calendar: Calendar) -> Iterator[tuple[Arrival, Ingested, Extracted]]:
    """Each comes in on its day and is extracted; afterwards it is April."""
    folder = resources.files(__package__) / FOLDER
    for arrival in ARRIVALS:
        calendar.now = arrival.at
        with resources.as_file(folder / arrival.file) as path:
            ingested = me.ingest(path, title=arrival.title, date=arrival.date)
        yield arrival, ingested, me.extract()
    calendar.now = AFTERWARDS

"""Play a year: each turn through `observe`, a context every morning, a night after each day.

What the night does is an argument, so that a year with nights can be compared with one without.
Nothing is asked for the measurement in the store itself: reading would keep alive what nobody else
reads. Questions go to a copy of it.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta
from pathlib import Path

import commonplace
from benchmarks.judgement.everyday import PlayedClock
from benchmarks.measure import timed
from benchmarks.nights import sleep_after
from benchmarks.year.generate import ZONE, GeneratedYear, YearConversation, YearDay
from commonplace.api import Commonplace, User
from commonplace.language.embedders.embedder import Embedder

AGENT = "assistant"
NIGHT = time(3, 0)

Night = Callable[[User, YearDay], object]


def sleeping(me: User, day: YearDay) -> None:
    sleep_after(me, day.date)


def awake(me: User, day: YearDay) -> None:
    """No night at all."""


@dataclass(frozen=True, slots=True)
class PlayedYear:
    """A store in which the days up to some day were played."""

    path: Path
    book: Commonplace
    year: GeneratedYear
    clock: PlayedClock
    embedder: str | Embedder

    @property
    def me(self) -> User:
        return self.book.user(self.year.person)

    def play(self, day: YearDay, night: Night) -> float:
        """Returns the seconds that the night took."""
        for place, conversation in enumerate(day.conversations):
            self._play_conversation(conversation, is_first=place == 0)
        for proposal in self.me.proposals():
            self.me.accept(proposal.id)
        self.book.work(once=True)
        self.clock.advance(datetime.combine(day.date + timedelta(days=1), NIGHT, ZONE))
        seconds = timed(lambda: night(self.me, day))
        self.book.work(once=True)
        self.book.flush()
        return seconds

    def _play_conversation(self, conversation: YearConversation, *, is_first: bool) -> None:
        agent, thread = self.me.agent(AGENT), conversation.thread
        self.clock.advance(conversation.turns[0].at)
        if is_first:
            agent.context(conversation.turns[0].text, thread=thread)
        for turn in conversation.turns:
            self.clock.advance(turn.at)
            if turn.is_question:
                agent.query(turn.text, thread=thread)
            agent.observe(turn.text, role=turn.role, thread=thread, at=turn.at)

    @contextmanager
    def copy(self, folder: Path) -> Iterator[PlayedYear]:
        """A copy that may be read without a trace in the store."""
        target = folder / "copy.db"
        for file in self.path.parent.glob(f"{self.path.name}*"):
            shutil.copy(file, folder / file.name.replace(self.path.name, target.name))
        clock = PlayedClock()
        clock.now = self.clock.now
        try:
            with _open(target, clock, self.embedder) as book:
                yield PlayedYear(target, book, self.year, clock, self.embedder)
        finally:
            for file in folder.glob(f"{target.name}*"):
                file.unlink()

    @property
    def disk_bytes(self) -> int:
        return sum(file.stat().st_size for file in self.path.parent.glob(f"{self.path.name}*"))


def begin(folder: Path, year: GeneratedYear, embedder: str | Embedder) -> PlayedYear:
    """An empty store on the morning of the first day, of a person whose name is known."""
    clock = PlayedClock()
    clock.now = datetime.combine(next(year.days(1)).date, NIGHT, ZONE).astimezone(UTC)
    path = folder / "year.db"
    played = PlayedYear(path, _open(path, clock, embedder), year, clock, embedder)
    played.me.profile_set("preferred_name", year.name)
    return played


def _open(path: Path, clock: PlayedClock, embedder: str | Embedder) -> Commonplace:
    return commonplace.open(
        str(path), embedder=embedder, clock=clock, worker="off", tidy_on_open=False
    )

"""The demo data: a month of conversations in the folder `month`, with five questions about it.

Used by `commonplace demo`, `commonplace serve --demo` and the tour in `docs/tour.md`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from importlib import resources
from pathlib import Path
from typing import Any

import commonplace
from commonplace.api import Commonplace, User
from commonplace.lazy import lazy_imports
from commonplace.settings import default_store

with lazy_imports(__name__):
    from yaml import safe_load

    from commonplace.engine.sources.receive import Ingested

AFTERWARDS = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
FOLDER = "month"


@dataclass(frozen=True, slots=True)
class DemoSource:
    file: str
    title: str
    about: str  # for the reader of the tour
    date: str | None = None  # if the original has none


ORIGINALS = (
    DemoSource(
        "chat-with-noa.jsonl", "Chat with Noa", "four conversations between Ana and her sister"
    ),
    DemoSource("chat-with-the-assistant.jsonl", "Ljubljana", "Ana plans a trip with an assistant"),
    DemoSource("letter-from-the-landlord.eml", "Your lease from May", "an e-mail with a quotation"),
    DemoSource(
        "release-meeting.vtt",
        "Release",
        "a transcript of a meeting at work",
        "2026-02-23T10:00:00Z",
    ),
    DemoSource("notes-on-bread.md", "Sourdough", "a page of notes", "2026-02-22"),
)


@dataclass(frozen=True, slots=True)
class DemoQuestion:
    query: str
    look: str  # what to look at in the answer


QUESTIONS = (
    DemoQuestion(
        "When does Noa's pottery course begin?",
        "One turn mentions the course, and another one, without the word, its date. The second is "
        "found by its surrounding turns, its speaker, the time it contains, and the question "
        "before it.",
    ),
    DemoQuestion(
        "What did Maya decide about the release?",
        "The query names the speaker. A turn that is itself a question scores lower.",
    ),
    DemoQuestion(
        "How much will the rent be?",
        "Signature and quotation of the letter are removed; its title helps to find it. Two hits "
        "were requested and only one is good: the bars of the second show its low score.",
    ),
    DemoQuestion(
        "What can I not eat?",
        "Memories and passages are in one list. A memory has no adjacent turns, so it has fewer "
        "bars.",
    ),
    DemoQuestion(
        "Which colour is the sofa of the neighbours?",
        "Nothing in this month is about that: the hit is marked as a weak match. With `--strict` "
        "the answer is empty.",
    ),
)
MEMORY = "I cannot eat sesame, it makes me ill"


def opened() -> Commonplace:
    """Without extraction: the graph has its own tour (`docs/graph-tour.md`)."""
    return commonplace.open(":memory:", clock=lambda: AFTERWARDS, extraction="on-demand")


def ingest_the_month(me: User) -> Iterator[tuple[DemoSource, Ingested]]:
    folder = resources.files(__package__) / FOLDER
    for original in ORIGINALS:
        with resources.as_file(folder / original.file) as path:
            yield original, me.ingest(path, title=original.title, date=original.date)


# ——— the demo store ———

USER = "demo"
QUESTION = "What can Ana not eat?"
_DAYS = 30


@dataclass(frozen=True, slots=True)
class DemoMemory:
    """The contents of the demo store."""

    memories: int
    conversations: int
    questions: int
    proposals: int
    is_new: bool

    def summary(self) -> str:
        return (
            f"The demo store {'was filled' if self.is_new else 'is ready'}: {self.memories} "
            f"memories, {self.conversations} sources, {_open(self.questions, 'conflict')}, "
            f"{_open(self.proposals, 'profile proposal')}."
        )


def _open(count: int, what: str) -> str:
    return f"{count or 'no'} open {what}{'' if count == 1 else 's'}"


def demo_store() -> str:
    """A file next to the owner's own store, never that store itself."""
    return str(Path(default_store()).with_name("demo.db"))


def prepare(store: str, embedder: str | None, now: datetime) -> DemoMemory:
    """Fill the store, unless it has memories already. Each item gets its own day of the month."""
    moment = [now]
    with commonplace.open(store, embedder=embedder, clock=lambda: moment[0], worker="off") as book:
        me = book.user(USER)
        is_new = not me.list(limit=1).memories

        def on(day: int) -> None:
            moment[0] = now - timedelta(days=_DAYS - day)

        if is_new:
            _fill(me, on)
        on(_DAYS)
        return DemoMemory(
            len(me.list(limit=1000).memories),
            len(me.sources().sources),
            len(me.conflicts()),
            len(me.proposals()),
            is_new,
        )


def _fill(me: User, on: Callable[[int], None]) -> None:
    folder = resources.files(__package__) / FOLDER
    month: dict[str, Any] = safe_load((folder / "memories.yaml").read_text("utf-8"))
    for name, value in month["profile"].items():
        me.profile_set(name, value)
    for note in month["notes"]:
        me.profile_note(note)
    for entry in month["memories"]:
        on(entry.pop("day"))
        me.remember(**entry)
    for original in ORIGINALS:
        if original.file in month["conversations"]:
            with resources.as_file(folder / original.file) as path:
                me.ingest(path, title=original.title)
    on(_DAYS)  # a proposal is open for a week
    proposed = month["proposal"]
    me.agent(proposed.pop("agent")).propose(**proposed)

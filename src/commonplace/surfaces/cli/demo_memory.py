"""A small memory to look at: a month of somebody's, made once and kept in a file of its own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from importlib import resources
from pathlib import Path
from typing import Any

import yaml

import commonplace
from commonplace.book import User
from commonplace.settings import default_store
from commonplace.surfaces.cli.month import FOLDER, ORIGINALS

USER = "demo"
QUESTION = "What can Ana not eat?"
_DAYS = 30


@dataclass(frozen=True, slots=True)
class Held:
    """What is there."""

    memories: int
    conversations: int
    questions: int
    proposals: int
    is_new: bool

    def told(self) -> str:
        return (
            f"A month of Ana's is {'now' if self.is_new else 'already'} in it: {self.memories} "
            f"memories, {self.conversations} conversations, {_some(self.questions, 'question')} "
            f"for her to decide, {_some(self.proposals, 'proposal')} for her profile."
        )


def _some(count: int, what: str) -> str:
    return f"{count or 'no'} open {what}{'' if count == 1 else 's'}"


def demo_store() -> str:
    """Beside the owner's own file, and never that one."""
    return str(Path(default_store()).with_name("demo.db"))


def prepare(store: str, embedder: str | None, now: datetime) -> Held:
    """Fill the store, unless somebody is in it already. Each day of the month has its own time."""
    moment = [now]
    with commonplace.open(store, embedder=embedder, clock=lambda: moment[0], worker="off") as book:
        me = book.user(USER)
        is_new = not me.list(limit=1).memories

        def on(day: int) -> None:
            moment[0] = now - timedelta(days=_DAYS - day)

        if is_new:
            _fill(me, on)
        on(_DAYS)
        return Held(
            len(me.list(limit=1000).memories),
            len(me.sources().sources),
            len(me.conflicts()),
            len(me.proposals()),
            is_new,
        )


def _fill(me: User, on: Callable[[int], None]) -> None:
    folder = resources.files(__package__) / FOLDER
    month: dict[str, Any] = yaml.safe_load((folder / "memories.yaml").read_text("utf-8"))
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
    on(_DAYS)  # it waits for a week
    proposed = month["proposal"]
    me.agent(proposed.pop("agent")).propose(**proposed)

"""Dialogues in which a value changes, and what is wrong with the answers afterwards."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from commonplace.api import User
from support.clock import Clock

_MARKED = re.compile("outdated")
LABELLED = Path(__file__).parents[2] / "labelled"
START = datetime(2026, 2, 1, 9, 0, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Dialogue:
    id: str
    sessions: tuple[tuple[str, ...], ...]  # the owner's turns, by thread
    ask: str
    now: str
    was: str

    def says_now(self, text: str) -> bool:
        return self.now.casefold() in text.casefold()

    def says_only_former(self, text: str) -> bool:
        return self.was.casefold() in text.casefold() and not self.says_now(text)


def load_dialogues(half: str) -> tuple[Dialogue, ...]:
    lines = (LABELLED / f"dialogues-{half}.jsonl").read_text(encoding="utf-8").splitlines()
    return tuple(_read(json.loads(line)) for line in lines)


def _read(row: dict[str, object]) -> Dialogue:
    sessions = row.pop("sessions")
    assert isinstance(sessions, list)
    turns = tuple((each,) if isinstance(each, str) else tuple(each) for each in sessions)
    return Dialogue(sessions=turns, **{name: str(value) for name, value in row.items()})


def play(me: User, clock: Clock, dialogue: Dialogue) -> None:
    """Each session in a thread of its own, a fortnight apart; the question is asked a month after
    the last."""
    for place, turns in enumerate(dialogue.sessions):
        clock.now = START + timedelta(days=14 * place)
        for turn in turns:
            me.observe(turn, thread=f"t{place}", at=clock.now)
            clock.tick(minutes=2)
    clock.tick(days=30)


def find_faults(me: User, dialogue: Dialogue) -> list[str]:
    """What recall, query and context say that is not the one truth."""
    hits = [hit.bullet for hit in me.recall(dialogue.ask).hits]
    items = [item.text for item in me.agent("assistant").query(dialogue.ask, thread="asks").items]
    context = me.context(dialogue.ask, thread="asks").text.splitlines()
    shown = [line for line in context if dialogue.says_now(line) or dialogue.was in line]
    return [
        *_faults("recall", hits, dialogue),
        *_faults("query", items, dialogue),
        *_faults("context", shown, dialogue, first=False),
    ]


def _faults(
    where: str, texts: Sequence[str], dialogue: Dialogue, *, first: bool = True
) -> list[str]:
    found = []
    if not texts or not (
        dialogue.says_now(texts[0]) if first else any(map(dialogue.says_now, texts))
    ):
        found.append(f"{where}: the latest value is not first: {texts[:3]}")
    stale = [text for text in texts if dialogue.says_only_former(text) and not _MARKED.search(text)]
    return found + [f"{where}: unmarked: {text}" for text in stale]

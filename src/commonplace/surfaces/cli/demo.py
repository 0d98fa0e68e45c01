"""`commonplace demo`: a guided tour on a temporary store."""

from __future__ import annotations

import sys
import tempfile
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.rule import Rule
from rich.text import Text

import commonplace
from commonplace.api import User
from commonplace.surfaces.cli.month import QUESTIONS, ingest_the_month
from commonplace.surfaces.cli.render import drawn


class _DemoClock:
    """The tour has its own clock, so that days can pass."""

    def __init__(self) -> None:
        self.now = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now


class _Tour:
    def __init__(self, console: Console, pauses: bool):
        self.console = console
        self.pauses = pauses

    def chapter(self, title: str, why: str) -> None:
        if self.pauses:
            self.console.input(Text("  — press Enter —", "dim"))
        self.console.print(Rule(title, style="cyan", align="left"))
        self.console.print(Text(why, "italic"))

    def step(self, code: str, answer: Any) -> None:
        self.console.print(Text(f">>> {code}", "bold"))
        self.console.print(drawn(answer))


def demo() -> None:
    """Run a guided tour on a temporary store.

    Shows remember, recall, ingest, conflicts, changes, forget and erase."""
    console = Console(highlight=False)
    clock = _DemoClock()
    with tempfile.TemporaryDirectory(prefix="commonplace-demo-") as folder:
        path = Path(folder) / "demo.db"
        with commonplace.open(str(path), clock=clock) as book:
            _tour(book.user("ana"), clock, _Tour(console, sys.stdin.isatty()))
    console.print(Rule(style="cyan"))
    console.print("The temporary store is deleted. Start your own with:")
    console.print(Text('  commonplace remember "The wifi password is tulip42"', "bold"))


def _tour(me: User, clock: _DemoClock, tour: _Tour) -> None:
    _remember(me, tour)
    _recall(me, tour)
    clock.now += timedelta(days=1)
    _month(me, tour)
    _truth(me, tour)
    _changes(me, tour)
    _forget(me, tour)
    _erase(me, tour)


def _remember(me: User, tour: _Tour) -> None:
    tour.chapter("Remember", "One SQLite file; no language model and no network.")
    for text in (
        "The wifi password is tulip42",
        "I prefer oat milk in my coffee",
        "Met Dana Levi at the bank to discuss the mortgage",
    ):
        tour.step(f'me.remember("{text}")', me.remember(text))
    dana = {"name": "Dana Levi", "role": "banker", "phone": "052-1234567"}
    answer = me.remember(kind="contact", metadata=dana)
    tour.step(f'me.remember(kind="contact", metadata={dana})', answer)
    me.profile_set("preferred_name", "Ana")


def _recall(me: User, tour: _Tour) -> None:
    tour.chapter("Recall", "Best first, within a token budget; each hit is explained.")
    for query in ("wifi password", "what milk do I like in coffee?", "phone of Dana the banker"):
        answer = me.recall(query, k=1, explain=True)
        tour.step(f'me.recall("{query}", k=1, explain=True)', answer)
    nothing = me.recall("who won the chess olympiad?")
    tour.step('me.recall("who won the chess olympiad?")', nothing)


def _month(me: User, tour: _Tour) -> None:
    tour.chapter("A month of conversations", "Sources are stored whole; recall finds passages.")
    for original, answer in ingest_the_month(me):
        tour.step(f'me.ingest("{original.file}")', answer)
    for question in (QUESTIONS[0], QUESTIONS[-1]):
        recalled = me.recall(question.query, k=2, explain=True)
        tour.step(f'me.recall("{question.query}", k=2, explain=True)', recalled)


def _truth(me: User, tour: _Tour) -> None:
    tour.chapter("What is true?", "No duplicates, and no value is overwritten without asking.")
    for text in ("Noa works at Intel", "Noa works for Intel", "Noa started working at Wix"):
        tour.step(f'me.remember("{text}", kind="fact")', me.remember(text, kind="fact"))
    held = me.remember("The wifi password is daffodil43")
    tour.step('me.remember("The wifi password is daffodil43")', held)
    tour.step('me.recall("wifi password", k=1)', me.recall("wifi password", k=1))
    tour.step("me.conflicts()", me.conflicts())
    conflict = str(held.conflict)
    decided = me.resolve(conflict, "override")
    tour.step(f'me.resolve("{conflict[:8]}…", "override")', decided)


def _changes(me: User, tour: _Tour) -> None:
    tour.chapter("What changed?", "An agent asks once per turn and gets only what is new to it.")
    assistant = me.agent("assistant")
    assistant.changes("monday")
    wifi = me.recall("wifi password").hits[0].id
    answer = me.update(wifi, content="The wifi password is crocus44")
    tour.step(f'me.update("{wifi[:8]}…", content="The wifi password is crocus44")', answer)
    tour.step('me.agent("assistant").changes("monday")', assistant.changes("monday"))
    tour.step('me.agent("assistant").changes("monday")', assistant.changes("monday"))


def _forget(me: User, tour: _Tour) -> None:
    tour.chapter("Forget and restore", "Forgetting can be undone for thirty days.")
    milk = me.recall("oat milk").hits[0].id
    tour.step(f'me.forget("{milk[:8]}…")', me.forget(milk))
    tour.step('me.recall("oat milk")', me.recall("oat milk"))
    tour.step(f'me.restore("{milk[:8]}…")', me.restore(milk))


def _erase(me: User, tour: _Tour) -> None:
    tour.chapter("Erase", "Removed from every table and from the bytes of the file.")
    milk = me.recall("oat milk").hits[0].id
    tour.step(f'me.erase("{milk[:8]}…", now=True)', me.erase(milk, now=True))
    verified = me.verify_forget("oat milk", files=True)
    tour.step('me.verify_forget("oat milk", files=True)', verified)
    tour.step("me.doctor()", me.doctor())

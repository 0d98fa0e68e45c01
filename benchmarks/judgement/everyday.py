"""Everyday benchmark: what is known and answered after months of one person's chats.

Each turn goes in through `observe`; the owner accepts the proposals at the end of a session; then,
a week later, every question is asked in a thread of its own. Beside it, a plain vector search and
BM25 over the bare turns. With `--nights`, the same with a night after each session beside it. The
files are in `labelled/people`; `labelled/README.md` has their format.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from pathlib import Path
from typing import Any

from rich.console import Console

import commonplace
from benchmarks.duplicates import duplicates
from benchmarks.judgement.labels import HALVES
from benchmarks.nights import memories_of, sleep_after
from benchmarks.quality.methods import Bm25Baseline, DenseBaseline, best
from benchmarks.report import Report, Table
from commonplace.api import Commonplace, User
from commonplace.language.text.normalise import fold_case

LABELLED = Path(__file__).resolve().parents[2] / "labelled" / "people"
TOP = 3
BUDGET = 1300  # tokens of a context
BETWEEN_TURNS = timedelta(seconds=40)
LATER = timedelta(days=7)
_THOUSANDS = re.compile(r"(?<=\d)[,. ](?=\d{3}\b)")
_ROWS = (
    ("facts kept", "kept", "facts"),
    ("kept though not to be", "wrongly kept", "not facts"),
    ("answered in a context", "in context", "questions"),
    ("answered by query, first item", "first", "questions"),
    ("answered by query, three items", "top", "questions"),
    ("… vector search over the turns", "vector", "questions"),
    ("… BM25 over the turns", "bm25", "questions"),
    ("empty though known", "empty", "questions"),
    ("former value first", "stale first", "with a former value"),
    ("nothing, or only weak, where nothing is known", "silent", "no answer"),
    ("forgotten on request", "gone", "to be gone"),
    ("duplicates", "duplicates", "live memories"),
)
NIGHT = time(3, 0)
WITH_NIGHTS = "{} with nights"


class PlayedClock:
    """The time of the chats, always a little later than before."""

    def __init__(self) -> None:
        self.now = datetime(2026, 1, 1, tzinfo=UTC)

    def __call__(self) -> datetime:
        self.now += timedelta(milliseconds=1)
        return self.now

    def advance(self, at: datetime) -> None:
        self.now = max(self.now, at.astimezone(UTC))


def has_part(text: str, part: str) -> bool:
    """``part``: alternatives with "|" between them. 1,500 is 1500."""
    folded = fold_case(text)
    forms = (folded, _THOUSANDS.sub("", folded))
    return any(fold_case(each) in form for each in part.split("|") for form in forms)


def is_answered(text: str, groups: Sequence[Sequence[str]]) -> bool:
    return all(any(has_part(text, part) for part in group) for group in groups)


@dataclass(frozen=True, slots=True)
class PlayedPerson:
    book: Commonplace
    user: User
    clock: PlayedClock
    data: Mapping[str, Any]

    @property
    def agent(self) -> User:
        return self.user.agent("assistant")

    @property
    def turns(self) -> list[str]:
        return [turn["text"] for session in self.data["sessions"] for turn in session["turns"]]


Night = Callable[[User, date], object]


def play(path: Path, embedder: str, folder: Path, night: Night | None = None) -> PlayedPerson:
    """A store after the person's chats, a week later, with a night after each session or without
    any."""
    data = json.loads(path.read_text(encoding="utf-8"))
    clock = PlayedClock()
    book = commonplace.open(str(folder / f"{path.stem}.db"), embedder=embedder, clock=clock)
    person = PlayedPerson(book, book.user(data["person"]), clock, data)
    begins = [datetime.fromisoformat(session["date"]) for session in data["sessions"]]
    for place, session in enumerate(data["sessions"]):
        _play_session(person, session)
        asked_at = clock.now + LATER  # at the same moment with a last night and without
        if night is not None:
            _play_night(person, night, begins[place], *begins[place + 1 : place + 2])
    book.work(once=True)
    person.user.extract()
    clock.advance(asked_at)
    return person


def _play_session(person: PlayedPerson, session: Mapping[str, Any]) -> None:
    at = datetime.fromisoformat(session["date"])
    for turn in session["turns"]:
        at += BETWEEN_TURNS
        person.clock.advance(at)
        person.agent.observe(turn["text"], role=turn["role"], thread=session["thread"], at=at)
    for proposal in person.user.proposals():
        person.user.accept(proposal.id)


def _play_night(person: PlayedPerson, night: Night, begins: datetime, *after: datetime) -> None:
    """At three in the morning; none between two sessions of one day."""
    at = datetime.combine(begins.date() + timedelta(days=1), NIGHT, begins.tzinfo)
    if all(at <= each for each in after):
        person.book.work(once=True)
        person.clock.advance(at)
        night(person.user, begins.date())


def score(person: PlayedPerson) -> Counter[str]:
    return _score_memories(person) + _score_questions(person) + _score_silence(person)


def _score_memories(person: PlayedPerson) -> Counter[str]:
    known = [str(person.user.profile())]
    page = person.user.list(limit=200)
    while True:
        known += [f"{each.content} {dict(each.metadata)}" for each in page.memories]
        if not page.next:
            break
        page = person.user.list(limit=200, after=page.next)
    counts: Counter[str] = Counter()
    for fact in person.data["facts"]:
        if not fact.get("ends"):
            counts["facts"] += 1
            counts["kept"] += any(
                all(has_part(text, part) for part in fact["must"]) for text in known
            )
    for each in person.data["not_facts"]:
        counts["not facts"] += 1
        counts["wrongly kept"] += any(
            has_part(text, part) for text in known[1:] for part in each["forbid"]
        )
    live = memories_of(person.book, person.user)
    counts["live memories"] = len(live)
    counts["duplicates"] = len(duplicates(live))
    return counts


def _score_questions(person: PlayedPerson) -> Counter[str]:
    counts: Counter[str] = Counter()
    agent, turns = person.agent, person.turns
    words, vectors = Bm25Baseline(turns), DenseBaseline(person.book.embedder, turns)
    for question in person.data["questions"]:
        ask, answer = question["ask"], question["answer"]
        texts = [item.text for item in agent.query(ask, top_k=TOP, thread=question["id"]).items]
        context = agent.context(ask, thread=f"see {question['id']}", budget_tokens=BUDGET).text
        by_words = [turns[place] for place in best(words.scores(ask), TOP)]
        by_vector = [turns[place] for place in best(vectors.scores([ask])[0], TOP)]
        is_top = is_answered("\n".join(texts), answer)
        counts["questions"] += 1
        counts["in context"] += is_answered(context, answer)
        counts["first"] += is_answered("\n".join(texts[:1]), answer)
        counts["top"] += is_top
        counts["vector"] += is_answered("\n".join(by_vector), answer)
        counts["bm25"] += is_answered("\n".join(by_words), answer)
        counts["empty"] += not texts
        counts[f"asked {question['kind']}"] += 1
        counts[f"found {question['kind']}"] += is_top
        if question.get("stale"):
            counts["with a former value"] += 1
            counts["stale first"] += _has_stale_first(texts, question)
    return counts


def _has_stale_first(texts: Sequence[str], question: Mapping[str, Any]) -> bool:
    """Whether a former value stands before the answer."""
    before = []
    for place, text in enumerate(texts):
        if is_answered("\n".join(texts[: place + 1]), question["answer"]):
            break
        before.append(text)
    return any(has_part("\n".join(before), part) for part in question["stale"])


def _score_silence(person: PlayedPerson) -> Counter[str]:
    counts: Counter[str] = Counter()
    for number, ask in enumerate(person.data["no_answer"]):
        items = person.agent.query(ask, top_k=TOP, thread=f"none {number}").items
        counts["no answer"] += 1
        counts["silent"] += all(item.weak for item in items)
    for number, each in enumerate(person.data.get("after_forget", ())):
        items = person.agent.query(each["ask"], top_k=TOP, thread=f"gone {number}").items
        text = "\n".join(item.text for item in items)
        counts["to be gone"] += 1
        counts["gone"] += not any(has_part(text, part) for part in each["gone"])
    return counts


def table_of(counts: Mapping[str, Counter[str]], embedder: str) -> Table:
    """A column for each group of files, in percent."""
    table = Table("everyday", f"Everyday chats, with {embedder}", ("percent", *counts))
    for title, part, whole in _ROWS:
        table.add(title, *(_percent(each, part, whole) for each in counts.values()))
    kinds = sorted({key[6:] for each in counts.values() for key in each if key[:6] == "asked "})
    for kind in kinds:
        cells = (_percent(each, f"found {kind}", f"asked {kind}") for each in counts.values())
        table.add(f"three items, {kind}", *cells)
    return table


def _percent(counts: Counter[str], part: str, whole: str) -> float | None:
    return round(100 * counts[part] / counts[whole], 1) if counts[whole] else None


def measure(
    groups: Mapping[str, Sequence[Path]],
    embedder: str,
    step: Callable[[str], object],
    night: Night | None = None,
) -> dict[str, Counter[str]]:
    """``night``: measured beside the same without it."""
    nights = (None,) if night is None else (None, night)
    counts: dict[str, Counter[str]] = {}
    for name, paths in groups.items():
        for each in nights:
            column = name if each is None else WITH_NIGHTS.format(name)
            step(f"{column}, {embedder}")
            counts[column] = Counter()
            for path in paths:
                counts[column] += _measure_one(path, embedder, each)
    return counts


def _measure_one(path: Path, embedder: str, night: Night | None) -> Counter[str]:
    with tempfile.TemporaryDirectory() as folder:
        person = play(path, embedder, Path(folder), night)
        counts = score(person)
        person.book.close()
    return counts


def _groups(files: Sequence[Path]) -> dict[str, list[Path]]:
    if files:
        return {"given": list(files)}
    return {half: sorted((LABELLED / half).glob("*.json")) for half in HALVES}


def main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks everyday",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("files", nargs="*", type=Path, help="default: both halves of labelled")
    parser.add_argument("--embedder", action="append", help="may be repeated (wordllama)")
    parser.add_argument(
        "--nights", action="store_true", help="also with a night after each session"
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the results as JSON")
    asked = parser.parse_args(arguments)
    notices = Console(stderr=True)
    report = Report(machine={})
    for embedder in asked.embedder or ["wordllama"]:
        night = sleep_after if asked.nights else None
        counts = measure(_groups(asked.files), embedder, notices.print, night)
        report.tables.append(table_of(counts, embedder))
    report.print(Console(width=None if sys.stdout.isatty() else 120))
    if asked.json:
        asked.json.write_text(report.as_json(), encoding="utf-8")

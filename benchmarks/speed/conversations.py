"""Conversation speed: ingest by stage, recall of passages, appends.

Every other word is a small one that people really say (and an analyser drops); the others are
pseudo-words with Zipf frequencies, of as many kinds as years of talk hold. A session has its own
topic: some words that its turns come back to.
"""

from __future__ import annotations

import json
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any
from unittest.mock import patch

import numpy as np

from benchmarks.fixtures import OWNER, PostgresServer, PreparedEmbedder, SqliteFolder, open_store
from benchmarks.measure import Method, SpeedPlan, Timing, interleaved, timed
from benchmarks.report import Table
from benchmarks.speed import peers
from benchmarks.speed.peers import PlainNumpy
from commonplace.api import Commonplace, User
from commonplace.engine import indexing
from commonplace.engine.context import EngineContext
from commonplace.engine.sources import process, receive
from commonplace.language.embedders.embedder import Vectors
from commonplace.language.text.terms import term_of

SEED = 20260402
VOCABULARY = 20_000
SESSION_TURNS = 25  # in a session
OWNER_NAME = "Ana"

_BEGIN = datetime(2024, 1, 1, 9, tzinfo=UTC)
_SAID_OFTEN = """
    i you the to and a it that of in was so for my we is on with have this but be really at
    about what me are not just your all they like do she he from some how when had
"""
_EXTRAS = ("yesterday", "in June", "at 5 pm", "last week", "two", "in 2023", "on Sunday")
_FIRST_NAMES = """Bruno Carla Dmitri Edith Farid Greta Hiro Ines Jonas Kira Liam Mona"""
_LAST_NAMES = """Abel Brandt Costa Dahl Endo Fabre Grau Hale"""
_SYLLABLES = tuple(c + v for c in "bdfgklmnprstvz" for v in ("a", "e", "i", "o", "u", "an", "er"))
_SHORTEST, _LONGEST = 6, 34  # words in a turn
_TOPIC = 12
_QUESTION_WORDS = 4


@dataclass(frozen=True, slots=True)
class InventedTurn:
    speaker: str
    text: str
    at: datetime


@dataclass(frozen=True, slots=True)
class InventedConversation:
    """One session of two people."""

    name: str
    turns: tuple[InventedTurn, ...]

    @property
    def as_json_lines(self) -> str:
        return "\n".join(
            json.dumps({"speaker": said.speaker, "text": said.text, "time": said.at.isoformat()})
            for said in self.turns
        )


class ConversationGenerator:
    """Makes up talks, always the same ones for the same seed."""

    def __init__(self, seed: int = SEED):
        self._random = np.random.default_rng(seed)
        self._small = _SAID_OFTEN.split()
        self._first, self._last = _FIRST_NAMES.split(), _LAST_NAMES.split()
        self._words = np.array(self._vocabulary())
        frequencies = 1 / np.arange(1, VOCABULARY + 1)
        self._up_to = np.cumsum(frequencies) / frequencies.sum()

    def _vocabulary(self) -> list[str]:
        """Of two or three syllables; some come twice, so more are drawn than wanted."""
        drawn = self._random.choice(_SYLLABLES, (2 * VOCABULARY, 3)).tolist()
        ends = self._random.integers(2, 4, 2 * VOCABULARY).tolist()
        words = dict.fromkeys("".join(word[:end]) for word, end in zip(drawn, ends, strict=True))
        return list(words)[:VOCABULARY]

    def talks(self, turns: int) -> list[InventedConversation]:
        """So many turns, in sessions; a session each day."""
        return [
            self._talk(number, min(SESSION_TURNS, turns - start))
            for number, start in enumerate(range(0, turns, SESSION_TURNS))
        ]

    def _talk(self, number: int, turns: int) -> InventedConversation:
        friend = f"{self._random.choice(self._first)} {self._random.choice(self._last)}"
        topic = self._random.choice(self._words, _TOPIC).tolist()
        begins = _BEGIN + timedelta(days=number % 700, hours=number // 700)
        said = [
            InventedTurn(
                friend if place % 2 else OWNER_NAME,
                self._sentence(topic, asks=place % 4 == 0),
                begins + timedelta(minutes=place),
            )
            for place in range(turns)
        ]
        return InventedConversation(f"talk-{number}", tuple(said))

    def _sentence(self, topic: Sequence[str], *, asks: bool) -> str:
        length = int(self._random.integers(_SHORTEST, _LONGEST + 1))
        small = self._random.choice(self._small, length)
        heavy = self._words[np.searchsorted(self._up_to, self._random.random(length))]
        again = self._random.choice(topic, length)
        kind = self._random.random(length)
        chosen = np.where(kind < 0.5, small, np.where(kind < 0.85, heavy, again)).tolist()
        if self._random.random() < 0.3:
            chosen.append(str(self._random.choice(_EXTRAS)))
        return " ".join(chosen).capitalize() + ("?" if asks else ".")

    def questions(self, talks: Sequence[InventedConversation], count: int) -> list[str]:
        """Each asks for some turn by a few of its words; every other one names who said it."""
        return list(self._questions(talks, count))

    def _questions(self, talks: Sequence[InventedConversation], count: int) -> Iterator[str]:
        for number in range(count):
            talk = talks[int(self._random.integers(len(talks)))]
            said = talk.turns[int(self._random.integers(len(talk.turns)))]
            told = [word for word in said.text.rstrip(".?").split() if word not in self._small]
            some = self._random.permutation(told)[:_QUESTION_WORDS].tolist()
            about = " ".join(word.lower() for word in some)
            who = said.speaker.split()[0]
            yield f"When did {who} say {about}?" if number % 2 else f"What about {about}?"


# Each stage, and the functions that it consists of.
_STAGE_FUNCTIONS: dict[str, tuple[tuple[Any, str], ...]] = {
    "read": ((receive, "choose_format"), (receive, "parse_source"), (process, "parse_parts")),
    "cut": ((process, "cut_into_passages"),),
    "describe": ((process, "describe"),),
    "analyse": ((indexing, "build_passage_indexing"),),
    "embed": ((EngineContext, "embed_passages"),),
}
STAGES = tuple(_STAGE_FUNCTIONS)


class IngestStages:
    """While this is open, every stage's seconds add up."""

    def __init__(self) -> None:
        self.seconds: defaultdict[str, float] = defaultdict(float)
        self._patches = ExitStack()

    def __enter__(self) -> IngestStages:
        for stage, functions in _STAGE_FUNCTIONS.items():
            for owner, name in functions:
                timed = self._timed(stage, getattr(owner, name))
                self._patches.enter_context(patch.object(owner, name, timed))
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._patches.close()

    def _timed(self, stage: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def timed(*given: Any, **named: Any) -> Any:
            start = time.perf_counter()
            try:
                return function(*given, **named)
            finally:
                self.seconds[stage] += time.perf_counter() - start

        return timed


_WARM_UP = 2


@dataclass(frozen=True, slots=True)
class _LoadedConversations:
    """A store that holds the talks, ready to be asked."""

    database: str
    book: Commonplace
    me: User

    def catch_up(self) -> Vectors:
        """Brings the index up to date; returns its vectors."""
        with self.book._engine.index.reading(self.me.principal.scope) as index:
            return index.vectors[: index.size]


class ConversationBenchmark:
    def __init__(self, plan: SpeedPlan, folder: Path):
        self._plan = plan
        self._folder = folder
        self.recall = Table(
            "passages",
            "Recall from conversations, compared with a plain vector scan",
            ("passages", "method", "p50 ms", "p95 ms", "x numpy", "cpu p50 ms", "x numpy's cpu"),
            notes=[
                "cpu: processor time of the calling thread, which a busy machine hardly changes; a "
                "longer call is interrupted more often than a short scan. A database server's work "
                "is not included."
            ],
        )
        self.ingest = Table(
            "ingest",
            "Ingesting conversations: passages a second, stage by stage",
            ("passages", "database", "all", *STAGES, "write", "index"),
            notes=[
                "All: `me.ingest` of one session of 25 turns after the other, durable. Write is "
                "what the other stages leave of it: the queue, the transactions, the journal.",
                "Embed is the `hashing` embedder, the only place where one is timed.",
                "Index is not part of all: a new process reads the whole index once.",
            ],
        )
        self.append = Table(
            "append",
            "One turn appended to a conversation",
            ("passages", "database", "append p50 ms", "catch-up p50 ms", "catch-up p95 ms"),
            notes=["Catch-up: how long the next read waits until its index has the turn."],
        )

    def measure(self, databases: Sequence[SqliteFolder | PostgresServer], passages: int) -> None:
        talker, embedder = ConversationGenerator(), PreparedEmbedder()
        talks = talker.talks(passages)
        questions = talker.questions(talks, self._plan.recalls)
        with ExitStack() as stack:
            told = [self._tell(each, talks, embedder, stack) for each in databases]
            self._ask(told, talks, questions, embedder)
            for each in told:
                self._append(each, talks, talker)

    def _tell(
        self,
        database: SqliteFolder | PostgresServer,
        talks: Sequence[InventedConversation],
        embedder: PreparedEmbedder,
        stack: ExitStack,
    ) -> _LoadedConversations:
        size = sum(len(talk.turns) for talk in talks)
        url = database.create(f"talks_{size}")
        embedder.forget()  # what another database's turn left behind would be a head start
        term_of.cache_clear()
        with open_store(url, embedder) as book, IngestStages() as stages:
            seconds = timed(partial(_ingest_all, book.user(OWNER), talks))
        database.settle(url)
        book = stack.enter_context(open_store(url, embedder))
        told = _LoadedConversations(database.name, book, book.user(OWNER))
        indexing = timed(told.catch_up)
        by_stage = [size / stages.seconds[stage] for stage in STAGES]
        written = size / (seconds - sum(stages.seconds.values()))
        self.ingest.add(size, database.name, size / seconds, *by_stage, written, size / indexing)
        return told

    def _ask(
        self,
        told: Sequence[_LoadedConversations],
        talks: Sequence[InventedConversation],
        questions: Sequence[str],
        embedder: PreparedEmbedder,
    ) -> None:
        scan = PlainNumpy(self._folder)
        scan.load([said.text for talk in talks for said in talk.turns], told[0].catch_up())
        for question in questions:  # so that its vectors are known to the embedder
            told[0].me.recall(question)
        vectors = embedder.embed(questions)
        methods: dict[str, Method] = {
            peers.NUMPY: lambda number: scan.search(questions[number], vectors[number])
        }
        for each in told:
            methods[f"commonplace on {each.database}"] = partial(_recall, each.me, questions)
        timings = interleaved(
            methods,
            self._plan.recalls - _WARM_UP,
            after=partial(_flush, told),
            warm_up=_WARM_UP,
        )
        size = sum(len(talk.turns) for talk in talks)
        for name, timing in timings.items():
            scanned = timings[peers.NUMPY]
            ratios = timing.p50 / scanned.p50, timing.cpu_p50 / scanned.cpu_p50
            self.recall.add(
                size, name, timing.p50, timing.p95, ratios[0], timing.cpu_p50, ratios[1]
            )

    def _append(
        self,
        told: _LoadedConversations,
        talks: Sequence[InventedConversation],
        talker: ConversationGenerator,
    ) -> None:
        """To talks all over the store, each time to another."""
        said = [turn for talk in talker.talks(self._plan.appends) for turn in talk.turns]
        appending, catching_up = [], []
        for number, turn in enumerate(said):
            talk = talks[number * len(talks) // len(said)]
            at = talk.turns[-1].at + timedelta(minutes=1 + number)
            line = {"speaker": turn.speaker, "text": turn.text, "time": at.isoformat()}
            add = partial(told.me.ingest, external_id=talk.name, format="conversation", append=True)
            appending.append(timed(partial(add, json.dumps(line))))
            catching_up.append(timed(told.catch_up))
        behind, caught_up = Timing(tuple(appending)), Timing(tuple(catching_up))
        size = sum(len(talk.turns) for talk in talks)
        self.append.add(size, told.database, behind.p50, caught_up.p50, caught_up.p95)


def _ingest_all(me: User, talks: Sequence[InventedConversation]) -> None:
    for talk in talks:
        me.ingest(talk.as_json_lines, external_id=talk.name, format="conversation")


def _flush(told: Sequence[_LoadedConversations]) -> None:
    for each in told:
        each.book.flush()


def _recall(me: User, questions: Sequence[str], number: int) -> None:
    me.recall(questions[number])

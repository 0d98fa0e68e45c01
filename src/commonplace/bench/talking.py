"""Conversations: ingested stage by stage, recalled beside the plain scan, appended to."""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from pathlib import Path

from commonplace.bench import peers
from commonplace.bench.conversations import Talk, Talker
from commonplace.bench.data import PreparedEmbedder
from commonplace.bench.databases import PostgresServer, SqliteFolder
from commonplace.bench.measure import Method, Timing, interleaved, timed
from commonplace.bench.peers.plain_numpy import PlainNumpy
from commonplace.bench.plan import Plan
from commonplace.bench.report import Table
from commonplace.bench.shelf import OWNER, open_book
from commonplace.bench.stages import STAGES, Stages
from commonplace.book import Commonplace, User
from commonplace.language.analyse import term_of
from commonplace.language.models.embedder import Vectors

_WARM_UP = 2


@dataclass(frozen=True, slots=True)
class _Told:
    """A store that holds the talks, ready to be asked."""

    database: str
    book: Commonplace
    me: User

    def catch_up(self) -> Vectors:
        """Brings the index up to date; returns its vectors."""
        with self.book._desk.index.reading(self.me.principal.scope) as index:
            return index.vectors[: index.size]


class Talking:
    def __init__(self, plan: Plan, folder: Path):
        self._plan = plan
        self._folder = folder
        self.recall = Table(
            "passages",
            "Recall from conversations, beside a plain scan by vector",
            ("passages", "method", "p50 ms", "p95 ms", "x numpy", "cpu p50 ms", "x numpy's cpu"),
            notes=[
                "cpu: of the calling thread alone. On a busy machine a short scan slips through "
                "where a longer call is interrupted; this column hardly feels it. A server's work "
                "is not in it."
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
                "Index is not in all: a process that was not there reads the whole, once.",
            ],
        )
        self.append = Table(
            "append",
            "One turn appended to a conversation",
            ("passages", "database", "append p50 ms", "catch-up p50 ms", "catch-up p95 ms"),
            notes=["Catch-up: what the next read waits until its index knows the turn."],
        )

    def measure(self, databases: Sequence[SqliteFolder | PostgresServer], passages: int) -> None:
        talker, embedder = Talker(), PreparedEmbedder()
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
        talks: Sequence[Talk],
        embedder: PreparedEmbedder,
        stack: ExitStack,
    ) -> _Told:
        size = sum(len(talk.turns) for talk in talks)
        url = database.create(f"talks_{size}")
        embedder.forget()  # what another database's turn left behind would be a head start
        term_of.cache_clear()
        with open_book(url, embedder) as book, Stages() as stages:
            seconds = timed(partial(_ingest_all, book.user(OWNER), talks))
        database.settle(url)
        book = stack.enter_context(open_book(url, embedder))
        told = _Told(database.name, book, book.user(OWNER))
        indexing = timed(told.catch_up)
        by_stage = [size / stages.seconds[stage] for stage in STAGES]
        written = size / (seconds - sum(stages.seconds.values()))
        self.ingest.add(size, database.name, size / seconds, *by_stage, written, size / indexing)
        return told

    def _ask(
        self,
        told: Sequence[_Told],
        talks: Sequence[Talk],
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

    def _append(self, told: _Told, talks: Sequence[Talk], talker: Talker) -> None:
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


def _ingest_all(me: User, talks: Sequence[Talk]) -> None:
    for talk in talks:
        me.ingest(talk.as_json_lines, external_id=talk.name, format="conversation")


def _flush(told: Sequence[_Told]) -> None:
    for each in told:
        each.book.flush()


def _recall(me: User, questions: Sequence[str], number: int) -> None:
    me.recall(questions[number])

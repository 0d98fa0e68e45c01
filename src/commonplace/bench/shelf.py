"""A loaded store of one user, ready to be asked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import commonplace
from commonplace.bench.data import PreparedEmbedder
from commonplace.bench.databases import Database
from commonplace.bench.measure import timed
from commonplace.book import Commonplace, User

OWNER = "ana"
BATCH = 1000


@dataclass(frozen=True, slots=True)
class Shelf:
    database: Database
    url: str
    book: Commonplace
    me: User
    load_seconds: float
    disk_bytes: int  # more than when it was empty


def load(
    database: Database, store: str, embedder: PreparedEmbedder, memories: Sequence[str]
) -> Shelf:
    url = database.create(store)
    open_book(url, embedder).close()
    when_empty = database.disk_bytes(url)
    with open_book(url, embedder) as book:
        seconds = timed(lambda: remember_all(book.user(OWNER), memories))
    database.settle(url)
    disk_bytes = database.disk_bytes(url) - when_empty  # closed, so that no log is left beside it
    book = open_book(url, embedder)
    return Shelf(database, url, book, book.user(OWNER), seconds, disk_bytes)


def open_book(url: str, embedder: PreparedEmbedder) -> Commonplace:
    return commonplace.open(url, embedder=embedder, tidy_on_open=False)


def remember_all(user: User, memories: Sequence[str]) -> None:
    for start in range(0, len(memories), BATCH):
        user.remember_many([{"content": text} for text in memories[start : start + BATCH]])

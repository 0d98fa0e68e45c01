"""Fixtures that every folder shares: a clock, two databases, an open book."""

from __future__ import annotations

import os
import random
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psycopg_pool.base
import pytest
from hypothesis import HealthCheck, settings

import commonplace
from commonplace.api import Commonplace, User
from commonplace.store.sqlite.store import SqliteStore
from support.clock import START, Clock
from support.postgres import Server

pytest_plugins = ["support.budgets"]

MEMORY = Path("/dev/shm")
ROOM_ENOUGH = 2 * 1024**3

BACKENDS = ("sqlite", "postgres")

# Machines are shared and noisy: how long an example takes says nothing about the product.
settings.register_profile("house", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("house")


def pytest_configure() -> None:
    """Temporary folders lie in memory, since each commit of SQLite waits for a disk to have it.
    Tests of what a disk holds (acceptance, soak) have folders on the disk all the same."""
    if MEMORY.is_dir() and shutil.disk_usage(MEMORY).free > ROOM_ENOUGH:
        os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(MEMORY))
    # Work that a test did not ask for would come between what it watches; those about extraction
    # say that they want it.
    os.environ.setdefault("COMMONPLACE_EXTRACTION", "on-demand")
    _give_the_pool_dice_of_its_own()


def _give_the_pool_dice_of_its_own() -> None:
    """A connection pool's threads roll for their delays whenever they like. On the common dice,
    Hypothesis would now and then take that roll for one made by a strategy, and refuse it."""
    psycopg_pool.base.random = random.Random().random


@pytest.fixture(scope="session", autouse=True)
def data_folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Servers keep their tokens there; a test leaves nothing in the developer's own."""
    folder = tmp_path_factory.mktemp("data")
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("XDG_DATA_HOME", str(folder))
        yield folder


@pytest.fixture(scope="session")
def postgres() -> Iterator[Server]:
    server = Server()
    yield server
    server.stop()


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture(scope="session")
def empty_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store of SQLite in which nothing is: a copy is made far faster than another."""
    path = tmp_path_factory.mktemp("empty") / "memory.db"
    SqliteStore(str(path), now=START).close()
    return path


@pytest.fixture(params=BACKENDS)
def store_url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """A fresh store on each database: a test that asks for it runs on both."""
    if request.param == "sqlite":
        path = tmp_path / "memory.db"
        shutil.copyfile(request.getfixturevalue("empty_file"), path)
        path.chmod(0o600)
        yield str(path)
        return
    server: Server = request.getfixturevalue("postgres")
    url = server.database()
    yield url
    server.give_back(url)


@pytest.fixture
def open_book(store_url: str, clock: Clock) -> Iterator[Callable[..., Commonplace]]:
    """Opens the test's store, as often as wanted; all are closed at the end."""
    opened: list[Commonplace] = []

    def open_(**settings: Any) -> Commonplace:
        settings.setdefault("embedder", "hashing")
        settings.setdefault("clock", clock)
        book = commonplace.open(settings.pop("url", store_url), **settings)
        opened.append(book)
        return book

    yield open_
    for book in opened:
        book.close()


@pytest.fixture
def book(open_book: Callable[..., Commonplace]) -> Commonplace:
    return open_book()


@pytest.fixture
def me(book: Commonplace) -> User:
    return book.user("ana")

"""A bare store on each database, behind the port and nothing else."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from commonplace.store.sql.store import SqlStore
from support.postgres import Server
from support.stores import open_store


@pytest.fixture
def store(store_url: str) -> Iterator[SqlStore]:
    opened = open_store(store_url)
    yield opened
    opened.close()


@pytest.fixture(scope="module", params=("sqlite", "postgres"))
def shared_url(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> str:
    """One store for a whole module: property tests give each example users of its own."""
    if request.param == "sqlite":
        folder: Path = tmp_path_factory.mktemp("shared")
        return str(folder / "memory.db")
    server: Server = request.getfixturevalue("postgres")
    return server.database()


@pytest.fixture(scope="module")
def shared_store(shared_url: str) -> Iterator[SqlStore]:
    opened = open_store(shared_url)
    yield opened
    opened.close()

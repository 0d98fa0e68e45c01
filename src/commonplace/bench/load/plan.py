"""What is measured: so many users and clients, and the ways in which a service can be set up."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from commonplace.bench.databases import POSTGRES


@dataclass(frozen=True, slots=True)
class Plan:
    users: int = 1000
    memories_each: int = 20
    clients: int = 50
    seconds: float = 60
    share_of_writes: float = 0.2
    embedder: str = "wordllama"


@dataclass(frozen=True, slots=True)
class Setup:
    """Processes on one store. One that is killed is started again at once."""

    name: str
    servers: int = 1
    workers: int = 0
    is_killed: bool = False


_ONE = Setup("one server")
_WITH_WORKER = Setup("one server, one worker", workers=1)
_TWO = Setup("two servers", servers=2)
_KILLED = Setup("one server, killed and restarted", is_killed=True)


def setups_of(database: str) -> Iterator[Setup]:
    """Two servers belong on PostgreSQL; on SQLite they would have to share one machine."""
    yield _ONE
    yield _WITH_WORKER
    if database == POSTGRES:
        yield _TWO
    yield _KILLED

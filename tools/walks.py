"""How far each verb walks through the package: `python -m tools.walks`.

Every call is traced with `sys.setprofile` on SQLite with a small store: how many files and
functions a verb enters, how often it changes the file, how deep it gets, and how many sessions it
opens at the store to read and to write. Threads of the engine's own are traced too.
"""

from __future__ import annotations

import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from types import FrameType
from typing import Any

import commonplace

PACKAGE = str(Path(commonplace.__file__).parent) + "/"
MAIL = b"""From: Tal <tal@example.com>\r
To: Ana <ana@example.com>\r
Subject: The kiln\r
Date: Mon, 02 Jun 2025 09:00:00 +0000\r
Message-ID: <one@example.com>\r
\r
Noa works at Intel. The kiln is fired on Sunday at nine.\r
"""
TALK = (
    "Ana: My sister Noa works at Intel.\n"
    "Tal: Does she live in Haifa?\n"
    "Ana: Yes, Noa lives in Haifa with her husband Dan.\n"
)


@dataclass
class Walk:
    files: set[str] = field(default_factory=set)
    functions: set[tuple[str, str]] = field(default_factory=set)
    switches: int = 0
    deepest: int = 0
    reads: int = 0
    writes: int = 0


@contextmanager
def traced(walk: Walk) -> Iterator[None]:
    state = threading.local()

    def profile(frame: FrameType, event: str, _: Any) -> None:
        path = frame.f_code.co_filename
        if not path.startswith(PACKAGE):
            return
        depth = getattr(state, "depth", 0) + {"call": 1, "return": -1}.get(event, 0)
        state.depth = max(depth, 0)
        if event != "call":
            return
        name = frame.f_code.co_qualname if hasattr(frame.f_code, "co_qualname") else "?"
        walk.files.add(path.removeprefix(PACKAGE))
        walk.functions.add((path, name))
        walk.switches += path != getattr(state, "last", path)
        walk.deepest = max(walk.deepest, state.depth)
        state.last = path
        # A session is entered twice: when it is opened, and when it is closed.
        walk.reads += name == "SqliteStore._begin_reading"
        walk.writes += name == "SqliteStore._begin_writing"

    threading.setprofile(profile)
    sys.setprofile(profile)
    try:
        yield
    finally:
        sys.setprofile(None)
        threading.setprofile(None)


def of_memories(me: Any) -> dict[str, Callable[[], Any]]:
    return {
        "remember, new fact": lambda: me.remember("Ruth works at Siemens"),
        "remember, changed fact": lambda: me.remember("Noa lives in Jaffa"),
        "recall": lambda: me.recall("where does Noa live?"),
        "context": lambda: me.context("where does Noa live?", thread="t"),
    }


def of_sources(me: Any, talk: str) -> dict[str, Callable[[], Any]]:
    query = "MATCH (a:Person)-[r]->(b) RETURN a.name, b.name"
    return {
        "ingest": lambda: me.ingest(MAIL, external_id="kiln"),
        "extract": lambda: me.extract([talk]),
        "explore": lambda: me.explore(text_matches=["Noa"], granularity=1),
        "traverse, ppr": lambda: me.traverse("ppr", seed_nodes=["Noa"]),
        "traverse, cypher": lambda: me.traverse(cypher=query),
    }


def opened(folder: str) -> commonplace.Commonplace:
    return commonplace.open(
        str(Path(folder) / "memory.db"),
        embedder="hashing",
        worker="off",
        tidy_on_open=False,
        clock=lambda: datetime(2026, 3, 1, 9, tzinfo=UTC),
    )


def walks() -> dict[str, Walk]:
    """Each verb was called before, so that caches are warm and the walk is that of every day."""
    found: dict[str, Walk] = {}
    with tempfile.TemporaryDirectory() as folder, opened(folder) as book:
        me = book.user("ana")
        me.remember("Noa lives in Haifa")
        me.remember("Ruth lives in Acre")
        me.recall("where does Ruth live?")
        me.context("where does Ruth live?", thread="t")
        book.flush()
        found |= {name: walk_of(verb, book) for name, verb in of_memories(me).items()}
        talk = me.ingest(TALK, format="transcript", external_id="talk").source.id
        me.extract()
        book.flush()
        found |= {name: walk_of(verb, book) for name, verb in of_sources(me, talk).items()}
    return found


def walk_of(verb: Callable[[], Any], book: commonplace.Commonplace) -> Walk:
    walk = Walk()
    with traced(walk):
        verb()
    book.flush()
    return walk


def main() -> None:
    out = sys.stdout.write
    out(f"{'walk':<24}{'files':>7}{'functions':>11}{'switches':>10}{'depth':>7}  sessions\n")
    for name, walk in walks().items():
        out(
            f"{name:<24}{len(walk.files):>7}{len(walk.functions):>11}{walk.switches:>10}"
            f"{walk.deepest:>7}  {walk.reads // 2} r + {walk.writes // 2} w\n"
        )


if __name__ == "__main__":
    main()

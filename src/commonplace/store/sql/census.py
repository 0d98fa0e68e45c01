"""A scope in numbers, and where in it a text still stands, on any SQL database."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from datetime import datetime
from typing import Any

from commonplace.model.changes import Receipt
from commonplace.model.filters import WHOLE, Visibility
from commonplace.model.graph.words import CATEGORY
from commonplace.model.scope import Scope
from commonplace.store.port import (
    Census,
    GraphCount,
    MemoryCount,
    NodeCount,
    OperationCount,
    SourceCount,
)
from commonplace.store.sql.rows import Row, instant, micros, moment
from commonplace.store.sql.session import Session

_LOOSE_ENDS = (
    "memories without terms",
    "memories without their version",
    "terms without a memory",
    "vectors without a memory",
    "versions without a memory",
    "links without a memory",
    "read marks without a memory",
    "disputed memories without a held value",
    "alternatives without a memory",
    "passages without a source",
    "passages without terms",
    "originals without a source",
    "sources with another number of passages",
    "sources without their whole original",
    "tellings without their node",
    "tellings without their edge",
    "nodes of which nobody told",
    "edges of which nobody told",
    "merged nodes without one that speaks",
    "notes about nothing",
    "vectors without a node or an edge",
    "marks on nothing",
)


class SqlCensus(ABC):
    @abstractmethod
    def _reading(self, scope: Scope) -> AbstractContextManager[Session]:
        """One consistent view of one scope."""

    def census(self, scope: Scope, now: datetime | None = None, seen: Visibility = WHOLE) -> Census:
        seen_by = sight(seen)
        with self._reading(scope) as session:
            # Sorted here: databases sort words each by its own locale.
            memories = sorted(
                session.rows("count_memories", now=micros(now), **seen_by),
                key=tuple,
            )
            operations = sorted(session.rows("count_operations"), key=tuple)
            receipts = session.rows("receipts")
            links = _count(session.one("count_links", everything=int(seen == WHOLE), **seen_by))
            loose = [
                count
                for statement in ("loose_ends", "loose_passages", "loose_graph")
                for count in session.one(statement) or ()
            ]
            sources = (
                sorted(
                    session.rows("count_sources", cleared=seen_by["cleared"], now=micros(now)),
                    key=tuple,
                )
                if seen.sees_sources
                else []
            )
            graph = _count_graph(session, seen)
        return Census(
            tuple(MemoryCount(*row) for row in memories),
            tuple(OperationCount(_day(day), *rest) for day, *rest in operations),
            tuple(Receipt(id, instant(at), n, moment(done)) for id, at, n, done in receipts),
            links,
            dict(zip(_LOOSE_ENDS, loose, strict=True)),
            tuple(SourceCount(*map(_plain, row)) for row in sources),
            graph,
        )

    def mentions(self, scope: Scope, text: str, *, files: bool = False) -> list[str]:
        """In capitals or not; compared here, because databases fold letters differently."""
        sought = text.casefold()
        with self._reading(scope) as session:
            found = [
                table
                for table in _TABLES_OF_TEXT
                if any(sought in each for each in _texts(session.rows(f"texts_of_{table}")))
            ]
            raw = (
                bytes(row[0]).decode("utf-8", "replace") for row in session.rows("raw_originals")
            )
            return found + ["originals"] * any(sought in text.casefold() for text in raw)


_TABLES_OF_TEXT = (
    "memories",
    "versions",
    "terms",
    "held",
    "proposals",
    "journal",
    "jobs",
    "sources",
    "passages",
    "recall_log",
    "keys",
    "kept_answers",
    "teams",
    "memberships",
    "shares",
    "nodes",
    "node_tellings",
    "edges",
    "edge_tellings",
    "graph_notes",
    "artifacts",
)


def _plain(value: Any) -> Any:
    """Sums come as decimals from PostgreSQL."""
    return value if isinstance(value, str) else int(value)


def _texts(rows: Sequence[Row]) -> Iterator[str]:
    """All that the columns say, folded; JSON as it reads once it is unquoted."""
    for row in rows:
        for value in row:
            if value and value[0] in "[{":
                yield from _strings(value)
            if value:
                yield value.casefold()


def _strings(text: str) -> Iterator[str]:
    """The words inside a column of JSON; a content that only looks like it has none."""
    try:
        waiting = [json.loads(text)]
    except ValueError:
        return
    while waiting:
        value = waiting.pop()
        if isinstance(value, str):
            yield value.casefold()
        elif isinstance(value, dict):
            waiting += [*value, *value.values()]
        elif isinstance(value, list):
            waiting += value


def _day(days_since_epoch: int) -> str:
    return instant(days_since_epoch * 86_400_000_000).date().isoformat()


def _count(row: Row | None) -> int:
    return int(row[0]) if row else 0


def _count_graph(session: Session, seen: Visibility) -> GraphCount:
    types = [str(type) for type, category in CATEGORY.items() if seen.admits_category(category)]
    asked = {"types": types, "cleared": int(seen.cleared)}
    everywhere = int(seen.categories is None)
    nodes = sorted(session.rows("count_nodes", **asked), key=tuple)
    return GraphCount(
        tuple(NodeCount(type, subtype, count) for type, subtype, count in nodes),
        _count(session.one("count_edges", **asked)),
        _count(session.one("count_notes", **asked, everywhere=everywhere)),
        _count(session.one("count_artifacts", cleared=asked["cleared"])) * everywhere,
    )


def sight(visibility: Visibility) -> dict[str, Any]:
    """What the asker may see, as statements ask for it."""
    return {
        "cleared": int(visibility.cleared),
        "agent": visibility.agent,
        "sees_all": int(visibility.categories is None),
        "seen_categories": sorted(visibility.categories or ()),
    }

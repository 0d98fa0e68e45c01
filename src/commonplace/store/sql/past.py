"""What time travel looks at, read in one snapshot."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from contextlib import AbstractContextManager
from datetime import datetime
from itertools import groupby
from typing import Any

from commonplace.model.memory import Version
from commonplace.model.scope import Scope
from commonplace.model.time_travel import Then
from commonplace.store.port import IndexedPassage, IndexedSource, IndexPage, Life, Past
from commonplace.store.sql.generations import counters_from
from commonplace.store.sql.rows import exact_micros, instant, memory_from, micros, version_from
from commonplace.store.sql.session import Session


class SqlPast(ABC):
    @abstractmethod
    def _reading(self, scope: Scope) -> AbstractContextManager[Session]:
        """One consistent view of one scope."""

    @abstractmethod
    def _hold_to(self, session: Session, generation: int) -> None:
        """Refuses vectors of another generation than the one this process was opened with."""

    def lives(self, scope: Scope, now: datetime) -> list[Life]:
        with self._reading(scope) as session:
            return _lives(session, scope, now)

    def past(self, scope: Scope, then: Then, now: datetime) -> Past:
        with self._reading(scope) as session:
            counters = counters_from(session.one("counters"))
            self._hold_to(session, counters.generation)
            lives = _lives(session, scope, now)
            sources = session.rows("index_sources_all")
            passages = session.rows("passages_then", **_moments(then))
            terms = session.rows("index_terms_all")
            vectors = session.rows("index_vectors_all", generation=counters.generation)
        page = IndexPage(
            counters,
            terms=[(unit, packed, traits) for unit, packed, traits in terms],
            vectors=[(unit, bytes(vector)) for unit, vector in vectors],
            sources=[IndexedSource._make(row) for row in sources],
            passages=[IndexedPassage._make(row) for row in passages],
        )
        return Past(lives, page)

    def units_then(self, scope: Scope, ids: Sequence[str], then: Then) -> dict[str, frozenset[int]]:
        with self._reading(scope) as session:
            rows = session.rows("units_of_sources_then", ids=list(ids), **_moments(then))
        found: dict[str, set[int]] = {}
        for id, unit in rows:
            found.setdefault(id, set()).add(unit)
        return {id: frozenset(units) for id, units in found.items()}


def _lives(session: Session, scope: Scope, now: datetime) -> list[Life]:
    """Most memories have never changed: then the row itself is the only version."""
    rows = session.rows("lives", now=exact_micros(now))
    earlier: dict[str, tuple[Version, ...]] = {
        id: tuple(version_from(scope, row) for row in group)
        for id, group in groupby(session.rows("earlier_versions"), key=lambda row: str(row[0]))
    }
    lives = []
    for unit, recorded_at, *row in rows:
        memory = memory_from(scope, row)
        present = Version(memory, instant(recorded_at), None)
        lives.append(Life(unit, memory, (*earlier.get(memory.id, ()), present)))
    return lives


def _moments(then: Then) -> dict[str, Any]:
    return {"as_of": micros(then.as_of), "known_at": micros(then.known_at)}

"""What time travel looks at, read in one snapshot."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager
from datetime import datetime
from itertools import groupby
from typing import Any

from commonplace.model.memory import Version
from commonplace.model.scope import Scope
from commonplace.model.time_travel import NOW, Then
from commonplace.store.port import Counters, IndexedPassage, IndexedSource, IndexPage, Life, Past
from commonplace.store.sql.rows import (
    Row,
    exact_micros,
    instant,
    memory_from,
    micros,
    moment,
    version_from,
)
from commonplace.store.sql.session import Session


class SqlPast(ABC):
    @abstractmethod
    def _reading(self, scope: Scope) -> AbstractContextManager[Session]:
        """One consistent view of one scope."""

    @abstractmethod
    def _index_page(self, session: Session, after_seq: int, epoch: int) -> IndexPage:
        """What the index of the present has missed."""

    @abstractmethod
    def _held_counters(self, session: Session) -> Counters:
        """The scope's numbers, while the vectors that are read are the current ones."""

    def past(self, scope: Scope, then: Then, now: datetime, known: Counters) -> Past:
        moments, at = _moments(then), exact_micros(now)
        with self._reading(scope) as session:
            missed = self._index_page(session, known.seq, known.epoch)
            unchanged = session.rows("unchanged_then", now=at, **moments)
            lives = _changed_lives(session, scope, at)
            cut = [id for (id,) in session.rows("sources_cut_then", **moments)]
            ended = [id for (id,) in session.rows("ended_sources", now=at)]
            partly = [id for id in cut if id not in ended]
            passages = session.rows("passages_then", ids=partly, **moments) if partly else ()
            left = list(dict.fromkeys(id for _, id, *_ in passages))
            sources = session.rows("index_sources_of", ids=left) if left else ()
            units = [life.unit for life in lives] + [unit for unit, *_ in passages]
            terms = session.rows("terms_of_units", units=units)
            generation = missed.counters.generation
            vectors = session.rows("vectors_of_units", units=units, generation=generation)
            (next_end,) = session.one("next_end", now=at) or (None,)
        page = _page_of(missed.counters, sources, passages, terms, vectors)
        units_unchanged = [unit for (unit,) in unchanged]
        return Past(missed, units_unchanged, lives, [*partly, *ended], page, moment(next_end))

    def index_page_of(
        self, scope: Scope, ids: Sequence[str], after_seq: int, epoch: int, then: Then = NOW
    ) -> IndexPage:
        moments = _moments(then)
        with self._reading(scope) as session:
            counters = self._held_counters(session)
            if (counters.seq, counters.epoch) == (after_seq, epoch):
                return IndexPage(counters)
            sources = session.rows("index_sources_open", ids=list(ids), **moments)
            left = [id for id, *_ in sources]
            passages = session.rows("passages_then", ids=left, **moments) if left else ()
            units = [unit for unit, *_ in passages]
            terms = session.rows("terms_of_units", units=units)
            generation = counters.generation
            vectors = session.rows("vectors_of_units", units=units, generation=generation)
        return _page_of(counters, sources, passages, terms, vectors)

    def units_then(self, scope: Scope, ids: Sequence[str], then: Then) -> dict[str, frozenset[int]]:
        with self._reading(scope) as session:
            rows = session.rows("units_of_sources_then", ids=list(ids), **_moments(then))
        found: dict[str, set[int]] = {}
        for id, unit in rows:
            found.setdefault(id, set()).add(unit)
        return {id: frozenset(units) for id, units in found.items()}


def _page_of(
    counters: Counters,
    sources: Iterable[Row],
    passages: Iterable[Row],
    terms: Iterable[Row],
    vectors: Iterable[Row],
) -> IndexPage:
    return IndexPage(
        counters,
        terms=[(unit, packed, traits) for unit, packed, traits in terms],
        vectors=[(unit, bytes(vector)) for unit, vector in vectors],
        sources=[IndexedSource._make(row) for row in sources],
        passages=[IndexedPassage._make(row) for row in passages],
    )


def _changed_lives(session: Session, scope: Scope, now: int) -> list[Life]:
    rows = session.rows("changed_lives", now=now)
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

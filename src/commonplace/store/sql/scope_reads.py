"""Whole-scope reads on SQL: statistics, past indexes."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager
from datetime import datetime
from itertools import groupby
from typing import Any

from commonplace.model.access.principal import Scope
from commonplace.model.changeset import Receipt
from commonplace.model.filters import OWNER_VISIBILITY, Visibility
from commonplace.model.graph.types import NODE_CATEGORY
from commonplace.model.memory.lifecycle import PointInTime
from commonplace.model.memory.memory import Version
from commonplace.store.queries import (
    Counters,
    GrantedSources,
    GraphCount,
    IndexedPassage,
    IndexedSource,
    IndexPage,
    MemoryCount,
    MemoryHistory,
    NodeCount,
    OperationCount,
    PastPage,
    ScopeStatistics,
    SourceCount,
)
from commonplace.store.sql.checksums import check_rows
from commonplace.store.sql.erasure import ReadOriginal, read_as_utf8, tables_mentioning
from commonplace.store.sql.rows import (
    Row,
    Session,
    exact_micros,
    instant,
    memory_from,
    micros,
    moment,
    text_list,
    version_from,
)

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
    "sources with a wrong number of passages",
    "sources without their whole original",
    "assertions without a node",
    "assertions without an edge",
    "nodes without an assertion",
    "edges without an assertion",
    "merged nodes without a target",
    "notes without a node or an edge",
    "vectors without a node or an edge",
    "marks without an item",
    "storylines without an anchor",
    "macros without an anchor",
)


class SqlStatistics(ABC):
    read_original: ReadOriginal = staticmethod(read_as_utf8)  # for searches in originals

    @abstractmethod
    def _reading(self, scope: Scope) -> AbstractContextManager[Session]:
        """A read transaction on one scope."""

    def statistics(
        self,
        scope: Scope,
        now: datetime | None = None,
        seen: Visibility = OWNER_VISIBILITY,
        *,
        checked: bool = False,
    ) -> ScopeStatistics:
        seen_by = visibility_values(seen)
        with self._reading(scope) as session:
            # Sorted here: the databases' collations differ.
            memories = sorted(
                session.rows("count_memories", now=micros(now), **seen_by),
                key=tuple,
            )
            operations = sorted(session.rows("count_operations"), key=tuple)
            receipts = session.rows("receipts")
            links = _count(
                session.one("count_links", everything=int(seen == OWNER_VISIBILITY), **seen_by)
            )
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
            checked_rows = check_rows(session) if checked else ()
        return ScopeStatistics(
            tuple(MemoryCount(*row) for row in memories),
            tuple(OperationCount(_day(day), *rest) for day, *rest in operations),
            tuple(_receipt_from(row) for row in receipts),
            links,
            dict(zip(_LOOSE_ENDS, loose, strict=True)),
            tuple(SourceCount(*map(_as_int, row)) for row in sources),
            graph,
            checked_rows,
        )

    def mentions(self, scope: Scope, text: str, *, files: bool = False) -> list[str]:
        with self._reading(scope) as session:
            return tables_mentioning(session, [text], self.read_original)


def _receipt_from(row: Row) -> Receipt:
    id, at, items, scrubbed_at, found_in = row
    return Receipt(id, instant(at), items, moment(scrubbed_at), text_list(found_in))


def _as_int(value: Any) -> Any:
    """PostgreSQL returns sums as decimals."""
    return value if isinstance(value, str) else int(value)


def _day(days_since_epoch: int) -> str:
    return instant(days_since_epoch * 86_400_000_000).date().isoformat()


def _count(row: Row | None) -> int:
    return int(row[0]) if row else 0


def _count_graph(session: Session, seen: Visibility) -> GraphCount:
    types = [
        str(type) for type, category in NODE_CATEGORY.items() if seen.admits_category(category)
    ]
    visible = {"types": types, "cleared": int(seen.cleared)}
    everywhere = int(seen.categories is None)
    nodes = sorted(session.rows("count_nodes", **visible), key=tuple)
    return GraphCount(
        tuple(NodeCount(type, subtype, count) for type, subtype, count in nodes),
        _count(session.one("count_edges", **visible)),
        _count(session.one("count_notes", **visible, everywhere=everywhere)),
        _count(session.one("count_artifacts", cleared=visible["cleared"])) * everywhere,
    )


def visibility_values(visibility: Visibility) -> dict[str, Any]:
    """The caller's visibility as parameters of statements."""
    return {
        "cleared": int(visibility.cleared),
        "agent": visibility.agent,
        "sees_all": int(visibility.categories is None),
        "seen_categories": sorted(visibility.categories or ()),
    }


class SqlTimeTravel(ABC):
    @abstractmethod
    def _reading(self, scope: Scope) -> AbstractContextManager[Session]:
        """A read transaction on one scope."""

    @abstractmethod
    def _index_page(self, session: Session, after_seq: int, epoch: int) -> IndexPage:
        """The changes that the index of the present has not absorbed yet."""

    @abstractmethod
    def _checked_counters(self, session: Session) -> Counters:
        """The scope's counters; raises if the vectors are another embedder's."""

    def past(self, scope: Scope, then: PointInTime, now: datetime, known: Counters) -> PastPage:
        moments, at = _moments(then), exact_micros(now)
        with self._reading(scope) as session:
            missed = self._index_page(session, known.seq, known.epoch)
            unchanged = session.rows("unchanged_then", now=at, **moments)
            histories = _changed_histories(session, scope, at)
            cut = [id for (id,) in session.rows("sources_cut_then", **moments)]
            ended = [id for (id,) in session.rows("ended_sources", now=at)]
            partial = [id for id in cut if id not in ended]
            passages = session.rows("passages_then", ids=partial, **moments) if partial else ()
            with_passages = list(dict.fromkeys(id for _, id, *_ in passages))
            sources = session.rows("index_sources_of", ids=with_passages) if with_passages else ()
            units = [history.unit for history in histories] + [unit for unit, *_ in passages]
            terms = session.rows("terms_of_units", units=units)
            generation = missed.counters.generation
            vectors = session.rows("vectors_of_units", units=units, generation=generation)
            (next_end,) = session.one("next_end", now=at) or (None,)
        page = _page_of(missed.counters, sources, passages, terms, vectors)
        units_unchanged = [unit for (unit,) in unchanged]
        return PastPage(
            missed, units_unchanged, histories, [*partial, *ended], page, moment(next_end)
        )

    def _index_page_of(
        self, session: Session, granted: GrantedSources, after_seq: int, epoch: int
    ) -> IndexPage:
        moments = _moments(granted.then)
        counters = self._checked_counters(session)
        if (counters.seq, counters.epoch) == (after_seq, epoch):
            return IndexPage(counters)
        sources = session.rows("index_sources_open", ids=list(granted.ids), **moments)
        ids = [id for id, *_ in sources]
        passages = session.rows("passages_then", ids=ids, **moments) if ids else ()
        units = [unit for unit, *_ in passages]
        terms = session.rows("terms_of_units", units=units)
        generation = counters.generation
        vectors = session.rows("vectors_of_units", units=units, generation=generation)
        return _page_of(counters, sources, passages, terms, vectors)

    def units_then(
        self, scope: Scope, ids: Sequence[str], then: PointInTime
    ) -> dict[str, frozenset[int]]:
        with self._reading(scope) as session:
            rows = session.rows("units_of_sources_then", ids=list(ids), **_moments(then))
        by_source: dict[str, set[int]] = {}
        for id, unit in rows:
            by_source.setdefault(id, set()).add(unit)
        return {id: frozenset(units) for id, units in by_source.items()}


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


def _changed_histories(session: Session, scope: Scope, now: int) -> list[MemoryHistory]:
    rows = session.rows("changed_lives", now=now)
    earlier: dict[str, tuple[Version, ...]] = {
        id: tuple(version_from(scope, row) for row in group)
        for id, group in groupby(session.rows("earlier_versions"), key=lambda row: str(row[0]))
    }
    histories = []
    for unit, recorded_at, *row in rows:
        memory = memory_from(scope, row)
        present = Version(memory, instant(recorded_at), None)
        histories.append(MemoryHistory(unit, memory, (*earlier.get(memory.id, ()), present)))
    return histories


def _moments(then: PointInTime) -> dict[str, Any]:
    return {"as_of": micros(then.as_of), "known_at": micros(then.known_at)}

"""The index of a scope as it stood: that of the present, taken back, and kept while nothing
changes. Most memories have never changed: those are not even read."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

import numpy as np

from commonplace.desk import EMBEDDED_AT_ONCE, Desk, Vector, indexing
from commonplace.model.filters import UNCLEARED, Filters, Visibility
from commonplace.model.memory import Memory, State, Version
from commonplace.model.reach import Reading
from commonplace.model.scope import Scope
from commonplace.model.time_travel import Then, as_it_stood, said_last
from commonplace.store.index import UNKNOWN, ScopeIndex
from commonplace.store.past_indexes import PastIndex
from commonplace.store.port import Counters, IndexedRow, IndexPage, Life
from commonplace.store.sql.rows import memory_values, pack_terms


def past_index(desk: Desk, scope: Scope, then: Then, seen: Visibility) -> PastIndex:
    """Of what ``seen`` admits today; what it said then is judged by whoever asks the index."""
    now = desk.clock()
    key = _key(scope, desk.store.counters(scope), then, seen)
    kept = desk.past.get(key, now)
    if kept is None:
        with desk.index.reading(scope) as present:
            index = present.copy()
        past = desk.store.past(scope, then, now, index.counters)
        index.absorb(past.missed)
        index.take_back(past.unchanged, past.cut)
        standing = list(_standing(past.lives, then, seen, now))
        index.absorb(_with_rows(desk, past.page, standing))
        kept = PastIndex(index, now, past.next_end, threading.Lock())
        desk.past.keep(_key(scope, past.missed.counters, then, seen), kept)
    return kept


def guests_past_index(desk: Desk, reading: Reading, then: Then) -> PastIndex:
    """Of the sources that are granted there, and of nothing else."""
    scope, now = reading.scope, desk.clock()
    key = (reading.key, _key(scope, desk.store.counters(scope), then, UNCLEARED))
    kept = desk.past.get(key, now)
    if kept is None:
        granted = desk.sources(scope, sorted(reading.sources or ()))
        live = [source for source in granted if source.is_live(now)]
        ends = [source.ends_at for source in live if source.ends_at]
        sources = [source.id for source in live]
        page = desk.store.index_page_of(scope, sources, UNKNOWN.seq, UNKNOWN.epoch, then)
        index = ScopeIndex(desk.embedder.dimension)
        index.absorb(page)
        kept = PastIndex(index, now, min(ends, default=None), threading.Lock())
        desk.past.keep((reading.key, _key(scope, page.counters, then, UNCLEARED)), kept)
    return kept


def ids_then(past: PastIndex, filters: Filters, seen: Visibility, now: datetime) -> list[str]:
    """Of all memories that a list may show, newest first."""
    with past.lock:
        index = past.index
        slots = np.flatnonzero(index.listed(filters, seen, now) & ~index.passages)
        units = np.array(index.units, dtype=np.int64)[slots]
        units = np.where(units < 0, ~units, units)  # as if nothing had been reworded
        order = np.lexsort((units, index.numeric["created_at"][slots]))
        return [index.ids[slot] for slot in slots[order][::-1].tolist()]


def _key(scope: Scope, counters: Counters, then: Then, seen: Visibility) -> tuple[object, ...]:
    """``seq`` moves with every change and every late vector, ``epoch`` when something vanished."""
    return (scope, counters.epoch, counters.seq, counters.generation, then, seen)


@dataclass(frozen=True, slots=True)
class _Standing:
    unit: int
    memory: Memory
    is_reworded: bool  # it said something else then, and is found by other words


def _standing(
    lives: Sequence[Life], then: Then, seen: Visibility, now: datetime
) -> Iterator[_Standing]:
    """Words that are not said any more have a unit of their own, which no stored one is."""
    for life in lives:
        stood = as_it_stood(life.memory, life.versions, then, now)
        if stood is None or stood.state is not State.ACTIVE or not seen.admits(life.memory):
            continue
        if not admits_words(seen, stood, life.versions):
            continue
        is_reworded = stood.searchable_text != life.memory.searchable_text
        yield _Standing(~life.unit if is_reworded else life.unit, stood, is_reworded)


def admits_words(seen: Visibility, stood: Memory, versions: Sequence[Version]) -> bool:
    """Neither then nor when these words were last said was it kept from the reader."""
    return seen.admits(stood) and seen.admits(said_last(stood, versions))


def _with_rows(desk: Desk, page: IndexPage, standing: Sequence[_Standing]) -> IndexPage:
    reworded = [each for each in standing if each.is_reworded]
    terms, vectors = list(page.terms), list(page.vectors)
    for each, vector in zip(reworded, _vectors(desk, reworded), strict=True):
        index = indexing(each.memory, vector)
        terms.append((each.unit, pack_terms(index.terms, index.keys), index.traits))
        if index.vector:
            vectors.append((each.unit, index.vector))
    rows = [_row(each.unit, each.memory) for each in standing]
    return replace(page, rows=rows, terms=terms, vectors=vectors)


def _vectors(desk: Desk, reworded: Sequence[_Standing]) -> list[Vector | None]:
    """In batches. While the embedder is down, these words are found as words alone."""
    texts = [each.memory.searchable_text for each in reworded]
    found: list[Vector | None] = []
    for start in range(0, len(texts), EMBEDDED_AT_ONCE):
        batch = texts[start : start + EMBEDDED_AT_ONCE]
        vectors = desk.embed(batch)
        found += [None] * len(batch) if vectors is None else list(vectors)
    return found


def _row(unit: int, memory: Memory) -> IndexedRow:
    """Whether it has ended is decided already."""
    values = {**memory_values(memory), "unit": unit, "ends_at": None}
    return IndexedRow(**{name: values[name] for name in IndexedRow._fields})

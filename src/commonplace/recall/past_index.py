"""The index of a scope as it stood: made from its versions, and kept while nothing changes."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import count

from commonplace.desk import EMBEDDED_AT_ONCE, Desk, Vector, indexing
from commonplace.model.filters import Visibility
from commonplace.model.memory import Memory, State
from commonplace.model.scope import Scope
from commonplace.model.time_travel import Then, as_it_stood
from commonplace.store.index import ScopeIndex
from commonplace.store.past_indexes import PastIndex
from commonplace.store.port import Counters, IndexedRow, IndexPage, Life, Past
from commonplace.store.sql.rows import memory_values, pack_terms


def past_index(desk: Desk, scope: Scope, then: Then, seen: Visibility) -> PastIndex:
    """Of what ``seen`` admits today; what it said then is judged by whoever asks the index."""
    now = desk.clock()
    key = _key(scope, desk.store.counters(scope), then, seen)
    kept = desk.past.get(key, now)
    if kept is None:
        past = desk.store.past(scope, then, now)
        kept = _made(desk, past, then, seen, now)
        desk.past.keep(_key(scope, past.page.counters, then, seen), kept)
    return kept


def _key(scope: Scope, counters: Counters, then: Then, seen: Visibility) -> tuple[object, ...]:
    """``seq`` moves with every change and every late vector, ``epoch`` when something vanished."""
    return (scope, counters.epoch, counters.seq, counters.generation, then, seen)


@dataclass(frozen=True, slots=True)
class _Standing:
    unit: int
    memory: Memory
    is_reworded: bool  # it said something else then, and is found by other words


def _made(desk: Desk, past: Past, then: Then, seen: Visibility, now: datetime) -> PastIndex:
    standing = list(_standing(past.lives, then, seen, now))
    page = _with_rows(desk, past.page, standing)
    index = ScopeIndex(desk.embedder.dimension)
    index.absorb(page)
    ends = [life.memory.ends_at for life in past.lives if life.memory.ends_at]
    return PastIndex(index, now, min(ends, default=None), threading.Lock())


def _standing(
    lives: Sequence[Life], then: Then, seen: Visibility, now: datetime
) -> Iterator[_Standing]:
    """Words that are not said any more have units of their own, which no stored unit has."""
    fresh = count(-1, -1)
    for life in reversed(lives):  # oldest first, as units are handed out
        stood = as_it_stood(life.memory, life.versions, then, now)
        if stood is None or stood.state is not State.ACTIVE or not seen.admits(life.memory):
            continue
        if stood.searchable_text == life.memory.searchable_text:
            yield _Standing(life.unit, stood, False)
        else:
            yield _Standing(next(fresh), stood, True)


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

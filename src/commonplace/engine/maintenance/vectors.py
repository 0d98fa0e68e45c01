"""Vectors and terms that are missing: of what was stored without the embedder, or by an older
version."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from commonplace.engine.context import EngineContext
from commonplace.engine.indexing import build_indexing, build_passage_indexing, index_memories
from commonplace.language.embedders.embedder import Vectors
from commonplace.model.access.principal import Principal, Scope
from commonplace.model.changeset import Bookkeeping
from commonplace.model.filters import Visibility
from commonplace.model.memory.memory import Memory, State
from commonplace.store.queries import (
    NO_LIMIT,
    MemoryListing,
    PassagesOf,
    SourceListing,
    UnembeddedQuery,
)

PAGE_SIZE = 1000
VECTORS_AT_ONCE = 512

LinkFunction = Callable[[Principal, Sequence[Memory], Vectors], object]


def fill_vectors(engine: EngineContext, principal: Principal, link: LinkFunction) -> int:
    """Embed what was stored without the embedder, and add the resulting links."""
    scope = principal.scope
    total = 0
    while True:
        listing = MemoryListing(
            states=tuple(State),
            visibility=Visibility(cleared=True),
            without_vector=True,
            limit=VECTORS_AT_ONCE,
        )
        waiting = engine.store.page(scope, listing)
        if not waiting:
            return total + fill_passage_vectors(engine, scope) + fill_graph_vectors(engine, scope)
        indexes, vectors = index_memories(engine, waiting)
        if vectors is None:
            return total
        ready = {
            memory.ref: index.vector
            for memory, index in zip(waiting, indexes, strict=True)
            if index.vector
        }
        engine.store.record(Bookkeeping(scope, engine.clock(), vectors=ready))
        link(principal, waiting, vectors)
        total += len(ready)


def fill_passage_vectors(engine: EngineContext, scope: Scope) -> int:
    total = 0
    while waiting := engine.store.unembedded(scope, UnembeddedQuery(VECTORS_AT_ONCE)).passages:
        vectors = engine.embed_passages([text for _, text in waiting])
        if vectors is None:
            break
        ready = {
            unit: row.astype("<f4").tobytes()
            for (unit, _), row in zip(waiting, vectors, strict=True)
        }
        engine.store.record(Bookkeeping(scope, engine.clock(), passage_vectors=ready))
        total += len(ready)
    return total


def fill_graph_vectors(engine: EngineContext, scope: Scope) -> int:
    """Embed nodes and edges. Concurrent changes are handled in the next round."""
    total = 0
    while waiting := engine.store.unembedded(scope, UnembeddedQuery(VECTORS_AT_ONCE)).graph:
        vectors = engine.embed_passages([text for _, text in waiting])
        if vectors is None:
            break
        ready = {
            ref: row.astype("<f4").tobytes() for (ref, _), row in zip(waiting, vectors, strict=True)
        }
        engine.store.record(Bookkeeping(scope, engine.clock(), graph_vectors=ready))
        total += len(ready)
    return total


def rebuild_index(engine: EngineContext, scope: Scope) -> int:
    """Recompute the terms of all memories and passages with the current analyser."""
    total, after = 0, None
    while True:
        listing = MemoryListing(
            states=tuple(State), visibility=Visibility(cleared=True), limit=PAGE_SIZE, after=after
        )
        page = engine.store.page(scope, listing)
        terms = {memory.ref: build_indexing(memory, None) for memory in page}
        engine.store.record(Bookkeeping(scope, engine.clock(), terms=terms))
        total += len(page)
        if len(page) < PAGE_SIZE:
            return total + _rebuild_passage_index(engine, scope)
        after = page[-1].id


def _rebuild_passage_index(engine: EngineContext, scope: Scope) -> int:
    listing = SourceListing(
        states=tuple(State), visibility=Visibility(cleared=True), limit=NO_LIMIT
    )
    total = 0
    for source in engine.store.sources(scope, listing):
        found = engine.store.passages(scope, PassagesOf(source.id, hidden=True)).items()
        terms = {
            unit: build_passage_indexing(source, passage, None)
            for unit, passage in found
            if not passage.is_erased
        }
        engine.store.record(Bookkeeping(scope, engine.clock(), passage_terms=terms))
        total += len(terms)
    return total

"""Vectors: embed everything again with another embedder; fill vectors missed while it was down.

The old vectors are used until the new ones are complete; then one transaction makes the new ones
current, and the old ones are removed. Each batch is a separate transaction, so the run can be
stopped or killed at any time and resumed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import numpy as np

from commonplace.engine.context import EngineContext
from commonplace.engine.indexing import group_by_memory, pack_vectors, texts_of_memories
from commonplace.engine.maintenance.vectors import LinkFunction, fill_vectors
from commonplace.engine.maintenance.worker import JobDecision
from commonplace.errors import EmbedderMismatch, EmbedderUnavailable, StoreBusy
from commonplace.language.embedders.embedder import Embedder, EmbedderDown, Vectors
from commonplace.model.access.principal import Principal, Scope
from commonplace.model.changeset import Bookkeeping, Changeset
from commonplace.model.filters import Visibility
from commonplace.model.jobs import Job
from commonplace.model.memory.memory import Memory, State
from commonplace.store.port import Backend
from commonplace.store.queries import (
    EmbedderIdentity,
    Generation,
    MemoryListing,
    ScopeQuery,
    UnembeddedQuery,
)

BATCH_SIZE = 256  # memories for each embedder call and transaction
MAX_PASSES = 1_000  # over concurrent writes


@dataclass(frozen=True, slots=True)
class ReembedProgress:
    phase: str  # "embedding" or "removing"
    done: int
    total: int


@dataclass(frozen=True, slots=True)
class Reembedded:
    embedder: str
    dimension: int
    memories: int  # including passages, nodes and edges embedded in this run

    @property
    def changed(self) -> bool:
        return self.memories > 0


ReportProgress = Callable[[ReembedProgress], object]


def reembed(store: Backend, model: Embedder, report: ReportProgress, at: datetime) -> Reembedded:
    identity = EmbedderIdentity(model.name, model.dimension)
    generation = store.begin_generation(identity)
    built = 0
    if generation.state == "building":
        built = _GenerationBuilder(store, model, generation, report, at).until_current()
    _remove_old(store, report)
    return Reembedded(identity.name, identity.dimension, built)


class _GenerationBuilder:
    def __init__(
        self,
        store: Backend,
        model: Embedder,
        generation: Generation,
        report: ReportProgress,
        at: datetime,
    ):
        self._store = store
        self._model = model
        self._generation = generation
        self._report = report
        self._at = at
        self._done = 0
        self._total = sum(
            store.unembedded(scope, UnembeddedQuery(0, generation.number, counted=True)).total
            for scope in store.scopes(ScopeQuery(unbuilt=generation.number))
        )

    def until_current(self) -> int:
        """Repeat for concurrent writes until none is left; each pass is shorter."""
        self._tell()
        try:
            for _ in range(MAX_PASSES):
                for scope in self._store.scopes(ScopeQuery(unbuilt=self._generation.number)):
                    self._build(scope)
                if self._store.switch_to(self._generation.number):
                    return self._done
        except EmbedderMismatch:
            if not self._is_current():
                raise
            return self._done  # another process finished first
        raise StoreBusy(
            "Memories are written faster than they can be re-embedded.",
            remedy="Progress is kept. Run reembed again when less is written.",
        )

    def _build(self, scope: Scope) -> None:
        number = self._generation.number
        while True:
            # Read before the page: later writes grow the number and are handled in the next pass.
            seq = self._store.counters(scope).seq
            waiting = self._store.page(scope, _without_vector(number))
            others = self._store.unembedded(scope, UnembeddedQuery(BATCH_SIZE, number))
            passages, graph = others.passages, others.graph
            if not waiting and not passages and not graph:
                self._record(scope, built_seq=seq)
                return
            made = self._vectors_of_memories(waiting)
            by_unit = self._vectors([text for _, text in passages])
            of_graph = self._vectors([text for _, text in graph])
            self._record(
                scope,
                vectors={memory.ref: row for memory, row in zip(waiting, made, strict=True)},
                passage_vectors={
                    unit: row for (unit, _), row in zip(passages, by_unit, strict=True)
                },
                graph_vectors={ref: row for (ref, _), row in zip(graph, of_graph, strict=True)},
            )
            self._done += len(waiting) + len(passages) + len(graph)
            self._tell()

    def _record(self, scope: Scope, **built: Any) -> None:
        number = self._generation.number
        self._store.record(Bookkeeping(scope, self._at, generation=number, **built))

    def _vectors_of_memories(self, memories: Sequence[Memory]) -> list[bytes]:
        rows = self._rows(texts_of_memories(memories))
        return [pack_vectors(each) for each in group_by_memory(memories, rows)]

    def _vectors(self, texts: list[str]) -> list[bytes]:
        return [pack_vectors(row) for row in self._rows(texts)]

    def _rows(self, texts: list[str]) -> Vectors:
        if not texts:
            return np.zeros((0, self._model.dimension), dtype=np.float32)
        try:
            rows = self._model.embed_passages(texts)
        except EmbedderDown as error:
            raise EmbedderUnavailable(
                f"The embedder {self._model.name} stopped answering: {error}.",
                remedy="Progress is kept and the old vectors stay in use. Run reembed "
                "again when it answers.",
            ) from error
        return np.asarray(rows, dtype=np.float32)

    def _tell(self) -> None:
        self._total = max(self._total, self._done)  # concurrent writes
        self._report(ReembedProgress("embedding", self._done, self._total))

    def _is_current(self) -> bool:
        return any(
            each.number == self._generation.number and each.state == "current"
            for each in self._store.generations()
        )


def _without_vector(generation: int) -> MemoryListing:
    return MemoryListing(
        states=tuple(State),
        visibility=Visibility(cleared=True),
        without_vector=True,
        generation=generation,
        limit=BATCH_SIZE,
    )


def _remove_old(store: Backend, report: ReportProgress) -> None:
    if not any(each.state == "retired" for each in store.generations()):
        return
    store.remove_retired(lambda done, total: report(ReembedProgress("removing", done, total)))


EMBED_ACTOR = "worker:embed"


def fill_late_vectors(engine: EngineContext, link: LinkFunction, job: Job) -> JobDecision:
    """Vectors are stored directly, so the returned changeset only finishes the job."""
    fill_vectors(engine, Principal(job.user_id, cleared=True), link)
    missing = MemoryListing(
        states=tuple(State), visibility=Visibility(cleared=True), without_vector=True, limit=1
    )
    others = engine.store.unembedded(job.scope, UnembeddedQuery(1))
    if others.passages or others.graph or engine.store.page(job.scope, missing):
        raise EmbedderUnavailable("The embedder is still down.")
    return lambda: Changeset(job.scope, engine.clock(), EMBED_ACTOR, ())

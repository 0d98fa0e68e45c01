"""ingest: receive an original, and on request see it through."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from commonplace.desk import Desk, can_see_source
from commonplace.ingest.again import without_words
from commonplace.ingest.original import Original, Outcome
from commonplace.ingest.receive import receive
from commonplace.model.job import Failure, Job
from commonplace.model.memory import State
from commonplace.model.owed import PROCESS, is_to_be_processed
from commonplace.model.scope import Principal, Scope
from commonplace.model.source import Source, Status

PATIENCE_SECONDS = 600.0

SeeThrough = Callable[[Scope, str, str, float], Job | None]


@dataclass(frozen=True, slots=True)
class Ingested:
    """What became of an original."""

    id: str
    action: Outcome
    source: Source
    revision: int
    failure: Failure | None = None  # of the last try, when it is not processed yet

    @property
    def is_new(self) -> bool:
        return self.action is Outcome.RECEIVED

    @property
    def is_processed(self) -> bool:
        return self.source.status is not Status.RAW


def ingest(
    desk: Desk, principal: Principal, original: Original, see_through: SeeThrough | None
) -> Ingested:
    """Without ``see_through``: a worker will process it."""
    received = receive(desk, principal, original, awaited=see_through is not None)
    source, scope = received.source, principal.scope
    waits = see_through is not None and is_to_be_processed(source)
    job = (
        see_through(scope, PROCESS, source.id, PATIENCE_SECONDS) if see_through and waits else None
    )
    if received.told is not None:
        return _blindly(desk, scope, received.told, see_through is not None)
    if not waits:
        return Ingested(source.id, received.outcome, _shown(principal, source), received.revision)
    now_is = next(iter(desk.sources(scope, [source.id])), source)
    return Ingested(
        source.id,
        received.outcome,
        _shown(principal, now_is),
        desk.store.counters(scope).revision,
        job.failure if job else None,
    )


def _blindly(desk: Desk, scope: Scope, told: Source, is_processed: bool) -> Ingested:
    """The same whatever is there: who sees no sources would learn from any other answer which
    names and which texts are known."""
    source = told.evolve(status=Status.PROCESSED) if is_processed else told
    return Ingested(told.id, Outcome.RECEIVED, source, desk.store.counters(scope).revision)


def _shown(principal: Principal, source: Source) -> Source:
    """One that was forgotten meanwhile, or that the agent only adds to, is told without a word."""
    told = source.state is State.ACTIVE and can_see_source(principal, source)
    return source if told else without_words(source)

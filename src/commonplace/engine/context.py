"""What every verb is handed: the engine of one store, and the request that is served."""

from __future__ import annotations

import logging
import uuid
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from datetime import datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray

from commonplace.engine.access_log import AccessLog
from commonplace.errors import CommonplaceError
from commonplace.language.embedders.embedder import Calibration, Embedder, EmbedderDown, Vectors
from commonplace.language.text.detect import detect_script
from commonplace.model.access.principal import Principal, Scope
from commonplace.model.changeset import Changeset
from commonplace.model.jobs import IdempotencyClaim
from commonplace.model.memory.kinds import Categories
from commonplace.model.memory.lifecycle import LIFETIMES, NOW, Lifetimes, PointInTime
from commonplace.model.sources.source import (
    Source,
)
from commonplace.store.cache.bounded_cache import BoundedCache
from commonplace.store.cache.graph_cache import GraphCache
from commonplace.store.cache.index_cache import IndexCache, PastIndex
from commonplace.store.port import Backend
from commonplace.store.queries import SourceByAlias, SourceListing, SourcesById

log = logging.getLogger("commonplace")

Vector = NDArray[np.float32]


def new_uuid() -> str:
    return str(uuid.uuid4())


@dataclass(slots=True)
class MeasuredCalibration:
    """What was measured on the user's own pairs; it outranks the embedder's. All who work at one
    engine share it, so that a calibration counts for each of them at once."""

    calibration: Calibration | None = None


MAX_CALLERS = 256  # whose messages are understood without being read again
MAX_GRAPHS = 8  # a few users, each with an agent or two
MAX_CYPHER_BYTES = 138_000_000  # about 600,000 nodes and relationships
MAX_PAST_INDEXES = 16  # of several scopes, for one who reads them together
MAX_PAST_BYTES = 1 << 28
MAX_PARSED = 64  # requests that wait for a file at once


def _graph_cache() -> BoundedCache[Hashable, Any]:
    return BoundedCache(max_entries=MAX_GRAPHS)


def _understanding_cache() -> BoundedCache[Hashable, BoundedCache[Hashable, Any]]:
    return BoundedCache(max_entries=MAX_CALLERS)


@dataclass(frozen=True, slots=True)
class EngineCaches:
    """What is worked out once for several requests, within bounds, and ends with the store. The
    values are Any where their type belongs to a subject that is built on this module."""

    # Per caller: what was understood of their messages, while their abbreviations are the same.
    understandings: BoundedCache[Hashable, BoundedCache[Hashable, Any]] = field(
        default_factory=_understanding_cache
    )
    # Per moment that was asked about; what is larger than all may be is not kept.
    past_indexes: BoundedCache[Hashable, PastIndex] = field(
        default_factory=lambda: BoundedCache(max_entries=MAX_PAST_INDEXES, max_bytes=MAX_PAST_BYTES)
    )
    # Per who looks, as of the graph's revision: GraphView.
    graph_views: BoundedCache[Hashable, Any] = field(default_factory=_graph_cache)
    # Per revision, what the caller may see of it, and day: TransitionMatrix.
    transition_matrices: BoundedCache[Hashable, Any] = field(default_factory=_graph_cache)
    # Per who looks: ExpansionGraph.
    expansion_graphs: BoundedCache[Hashable, Any] = field(default_factory=_graph_cache)
    # Per revision, visibility and day: CypherGraph. The newest stays however large it is.
    cypher_graphs: BoundedCache[Hashable, Any] = field(
        default_factory=lambda: BoundedCache(
            max_entries=MAX_GRAPHS, max_bytes=MAX_CYPHER_BYTES, keeps_newest=True
        )
    )

    # Per source: an original that was parsed when it came, while its caller waits for the rest.
    parsed_originals: BoundedCache[str, Any] = field(
        default_factory=lambda: BoundedCache(max_entries=MAX_PARSED)
    )

    def without_understandings(self) -> EngineCaches:
        return replace(self, understandings=_understanding_cache())

    def close(self) -> None:
        for each in fields(self):
            getattr(self, each.name).close()


@dataclass(frozen=True, slots=True)
class EngineContext:
    store: Backend
    index: IndexCache
    embedder: Embedder
    clock: Callable[[], datetime]
    access_log: AccessLog
    graph_cache: GraphCache  # of everybody's graph
    new_id: Callable[[], str] = field(default=new_uuid)
    lifetimes: Lifetimes = LIFETIMES
    categories: Callable[[], Categories] = Categories  # as the file says now
    recall_floor: float = 0.65  # the evidence that an answer needs
    recall_log: bool = False  # whether what was asked and returned is written down
    observe_daily: int = 50  # memories that conversations may become in a day
    extracts: bool = True  # whether what was processed is extracted, too
    settings: Mapping[str, str] = field(default_factory=dict)  # in force, for the doctor to show
    measured: MeasuredCalibration = field(default_factory=MeasuredCalibration)
    caches: EngineCaches = field(default_factory=EngineCaches)
    moment: PointInTime = NOW  # that its store shows; another one than now: see time_travel
    # What a change of sources means for what was learned from them, in every reader's memory.
    cascade: Callable[[Changeset], list[Changeset]] = lambda changeset: [changeset]

    @property
    def calibration(self) -> Calibration:
        return self.measured.calibration or self.embedder.calibration

    # ——— sources that have not ended ———

    def live_sources(self, scope: Scope, ids: Sequence[str]) -> list[Source]:
        now = self.clock()
        return [source.as_it_stands(now) for source in self.store.sources(scope, SourcesById(ids))]

    def live_source_by_alias(self, scope: Scope, origin: str, external_id: str) -> Source | None:
        found = self.store.sources(scope, SourceByAlias(origin, external_id))
        return found[0].as_it_stands(self.clock()) if found else None

    def live_source_page(self, scope: Scope, listing: SourceListing) -> list[Source]:
        """Without those that have ended."""
        return self.store.sources(scope, replace(listing, live_at=self.clock()))

    # ——— meaning ———

    def embed(self, texts: Sequence[str]) -> Vectors | None:
        """One call for all texts, a row for each. None while the embedder is down: nothing else
        may fail then. No transaction stays open meanwhile."""
        self.store.end_read_transaction()
        try:
            return self.embedder.embed(texts)
        except EmbedderDown as error:
            log.warning("embedder is down, vectors are queued: %s", error)
        except CommonplaceError:  # no outage: it was set up wrongly, and says how
            raise
        except Exception:  # whatever a model does, the text is worth keeping
            log.exception("embedder failed, vectors are queued")
        return None

    def similarities(self, cosines: Vector, text: str) -> NDArray[np.float64] | None:
        """On the contract's scale; None where the model is blind to the text's script."""
        return self.calibration.similarities(cosines, detect_script(text))

    def similarities_between(
        self, cosines: Vector, text: str, others: Sequence[str]
    ) -> NDArray[np.float64]:
        """Of one text with each other one; not a number where the model is blind to either's
        script."""
        return self.calibration.similarities_between(
            cosines, detect_script(text), list(map(detect_script, others))
        )

    def similarity(self, cosine: float | None, one: str, other: str) -> float | None:
        """Of two texts: known only where the model can read both."""
        if cosine is None:
            return None
        told = [
            self.calibration.similarity(cosine, written_in)
            for written_in in {detect_script(one), detect_script(other)}
        ]
        known = [similarity for similarity in told if similarity is not None]
        return min(known) if len(known) == len(told) else None


@dataclass(frozen=True, slots=True)
class RequestContext:
    """One call: who asks, what must hold for its changes, and whether it is done once."""

    principal: Principal
    # Raises where what the caller requires (If-Match) does not hold; checked in each decision.
    precondition: Callable[[], None] = lambda: None
    claim: IdempotencyClaim | None = None  # of a request that is done once; every change carries it

    def acting_as(self, principal: Principal) -> RequestContext:
        """The same call, with the principal placed in another scope."""
        return replace(self, principal=principal)

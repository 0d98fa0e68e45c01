"""The two arguments of every verb: the context of the engine and of the request."""

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
from commonplace.language.llm.language_model import ModelAccess
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
    """A calibration measured on the user's own pairs; it overrides the embedder's. All users of one
    engine share this object, so that a new calibration applies at once."""

    calibration: Calibration | None = None


MAX_CALLERS = 256  # callers with cached understandings
MAX_GRAPHS = 8  # a few users, each with an agent or two
MAX_CYPHER_BYTES = 138_000_000  # about 600,000 nodes and relationships
MAX_PAST_INDEXES = 16  # a reader of several scopes needs one for each
MAX_PAST_BYTES = 1 << 28
MAX_CHECKED_TEXTS = 32_768  # texts that were checked for prompt injection
MAX_PARSED = 64  # files of requests in progress


def _graph_cache() -> BoundedCache[Hashable, Any]:
    return BoundedCache(max_entries=MAX_GRAPHS)


def _understanding_cache() -> BoundedCache[Hashable, BoundedCache[Hashable, Any]]:
    return BoundedCache(max_entries=MAX_CALLERS)


@dataclass(frozen=True, slots=True)
class EngineCaches:
    """Bounded caches shared by requests; they end with the store. Values are Any where their type
    belongs to a module that imports this one."""

    # Per caller: understandings of messages, while the caller's abbreviations are the same.
    understandings: BoundedCache[Hashable, BoundedCache[Hashable, Any]] = field(
        default_factory=_understanding_cache
    )
    # Per requested point in time; an index over the byte limit is not cached.
    past_indexes: BoundedCache[Hashable, PastIndex] = field(
        default_factory=lambda: BoundedCache(max_entries=MAX_PAST_INDEXES, max_bytes=MAX_PAST_BYTES)
    )
    # Per caller and graph revision: GraphView.
    graph_views: BoundedCache[Hashable, Any] = field(default_factory=_graph_cache)
    # Per caller: the terms of each text of the graph.
    graph_terms: BoundedCache[Hashable, dict[str, frozenset[str]]] = field(
        default_factory=_graph_cache
    )
    # Per revision, visibility and day: TransitionMatrix.
    transition_matrices: BoundedCache[Hashable, Any] = field(default_factory=_graph_cache)
    # Per caller: ExpansionGraph.
    expansion_graphs: BoundedCache[Hashable, Any] = field(default_factory=_graph_cache)
    # Per revision, visibility and day: CypherGraph. The newest is kept whatever its size.
    cypher_graphs: BoundedCache[Hashable, Any] = field(
        default_factory=lambda: BoundedCache(
            max_entries=MAX_GRAPHS, max_bytes=MAX_CYPHER_BYTES, keeps_newest=True
        )
    )

    # Per digest of a text: whether it looks like instructions. No text is retained.
    suspicions: BoundedCache[bytes, bool] = field(
        default_factory=lambda: BoundedCache(max_entries=MAX_CHECKED_TEXTS)
    )

    # Per user: NextEnds.
    source_ends: BoundedCache[str, Any] = field(
        default_factory=lambda: BoundedCache(max_entries=MAX_CALLERS)
    )

    # Per source: the original as parsed on arrival, while its caller waits for the processing.
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
    graph_cache: GraphCache  # of all scopes
    new_id: Callable[[], str] = field(default=new_uuid)
    lifetimes: Lifetimes = LIFETIMES
    categories: Callable[[], Categories] = Categories  # the file's current content
    recall_floor: float = 0.65  # minimum evidence for an answer
    recall_log: bool = False  # whether queries and results are logged
    observe_daily: int = 50  # memories per day from conversations
    extracts: bool = True  # whether processed sources are extracted
    model: ModelAccess | None = None  # language models; None: rules alone
    settings: Mapping[str, str] = field(default_factory=dict)  # in effect; the doctor shows them
    measured: MeasuredCalibration = field(default_factory=MeasuredCalibration)
    caches: EngineCaches = field(default_factory=EngineCaches)
    moment: PointInTime = NOW  # the point in time that the store shows; see time_travel
    # Adds what a change of sources causes in every reader's memories and graph.
    cascade: Callable[[Changeset], list[Changeset]] = lambda changeset: [changeset]

    @property
    def calibration(self) -> Calibration:
        return self.measured.calibration or self.embedder.calibration

    # ——— sources that have not expired ———

    def live_sources(self, scope: Scope, ids: Sequence[str]) -> list[Source]:
        now = self.clock()
        return [source.as_it_stands(now) for source in self.store.sources(scope, SourcesById(ids))]

    def live_source_by_alias(self, scope: Scope, origin: str, external_id: str) -> Source | None:
        found = self.store.sources(scope, SourceByAlias(origin, external_id))
        return found[0].as_it_stands(self.clock()) if found else None

    def live_source_page(self, scope: Scope, listing: SourceListing) -> list[Source]:
        """Without expired sources."""
        return self.store.sources(scope, replace(listing, live_at=self.clock()))

    # ——— embeddings ———

    def embed_queries(self, texts: Sequence[str]) -> Vectors | None:
        """Of questions, to be compared with what is stored; else as `embed_passages`."""
        return self._embed(self.embedder.embed_queries, texts, "it is searched by words only")

    def embed_passages(self, texts: Sequence[str]) -> Vectors | None:
        """One call for all texts, one row per text. None while the embedder is down: nothing else
        may fail then. Two statements are compared as two passages."""
        return self._embed(self.embedder.embed_passages, texts, "vectors are made later")

    def _embed(
        self, embed: Callable[[Sequence[str]], Vectors], texts: Sequence[str], meanwhile: str
    ) -> Vectors | None:
        """The read transaction ends first, so that none stays open during the call."""
        self.store.end_read_transaction()
        try:
            return embed(texts)
        except EmbedderDown as error:
            log.warning("embedder is down, %s: %s", meanwhile, error)
        except CommonplaceError:  # a configuration error, not an outage
            raise
        except Exception:  # the text is stored even if the model fails
            log.exception("embedder failed, %s", meanwhile)
        return None

    def similarities(self, cosines: Vector, text: str) -> NDArray[np.float64] | None:
        """Calibrated to 0–1; None if the model does not support the text's script."""
        return self.calibration.similarities(cosines, detect_script(text))

    def similarities_between(
        self, cosines: Vector, text: str, others: Sequence[str]
    ) -> NDArray[np.float64]:
        """Of one text with each of the others; NaN if the model does not support either's
        script."""
        return self.calibration.similarities_between(
            cosines, detect_script(text), list(map(detect_script, others))
        )

    def similarity(self, cosine: float | None, one: str, other: str) -> float | None:
        """Of two texts; None unless the model supports the scripts of both."""
        if cosine is None:
            return None
        by_script = [
            self.calibration.similarity(cosine, script)
            for script in {detect_script(one), detect_script(other)}
        ]
        known = [similarity for similarity in by_script if similarity is not None]
        return min(known) if len(known) == len(by_script) else None


@dataclass(frozen=True, slots=True)
class RequestContext:
    """One call: the caller, the precondition of its changes, and its idempotency claim."""

    principal: Principal
    # Raises if the caller's precondition (If-Match) fails; checked in each decision.
    precondition: Callable[[], None] = lambda: None
    claim: IdempotencyClaim | None = None  # of an idempotent request; every change carries it

    def acting_as(self, principal: Principal) -> RequestContext:
        """The same call with another principal, for instance in another scope."""
        return replace(self, principal=principal)

"""Engine context: adapters, caches, settings, clock; transactions, indexing, visibility."""

from __future__ import annotations

import logging
import threading
import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from commonplace.engine.access_log import AccessLog
from commonplace.engine.follow_up_jobs import with_follow_up_jobs
from commonplace.engine.query_cache import QueryCache
from commonplace.errors import CommonplaceError, StaleDecision, StoreClosed
from commonplace.language.compare.keys import memory_keys, memory_name_keys
from commonplace.language.embedders.embedder import Calibration, Embedder, EmbedderDown, Vectors
from commonplace.language.text.detect import detect_script, traits_of
from commonplace.language.text.terms import count_terms
from commonplace.model.access.principal import Principal, ReadableScope, Scope
from commonplace.model.access.team import Share, current_shares, guest_sources, reachable_teams
from commonplace.model.changeset import Applied, Changeset, IndexEntry, merge_changesets
from commonplace.model.filters import Visibility
from commonplace.model.jobs import IdempotencyClaim
from commonplace.model.memory.kinds import Categories
from commonplace.model.memory.lifecycle import LIFETIMES, NOW, Lifetimes, PointInTime
from commonplace.model.memory.memory import Memory
from commonplace.model.sources.source import (
    Passage,
    Source,
    is_source_id,
    split_alias,
    split_passage_id,
    text_to_embed,
    text_to_index,
)
from commonplace.store.cache.graph_cache import GraphCache
from commonplace.store.cache.index_cache import IndexCache, PastIndexCache
from commonplace.store.port import SourceListing, Store

log = logging.getLogger("commonplace")

AnswerT = TypeVar("AnswerT")
DecidedT = TypeVar("DecidedT")
SingletonT = TypeVar("SingletonT")
Vector = NDArray[np.float32]

EMBED_BATCH_SIZE = 256
MAX_DECISIONS = 64  # how often a verb decides again before it gives up


def new_uuid() -> str:
    return str(uuid.uuid4())


@dataclass(slots=True)
class MeasuredCalibration:
    """What was measured on the user's own pairs; it outranks the embedder's. All who work at one
    desk share it, so that a calibration counts for each of them at once."""

    calibration: Calibration | None = None


class Singletons:
    """What is made once for a store, when it is first needed, and ends with it."""

    def __init__(self) -> None:
        self._made: dict[type, Any] = {}
        self._lock = threading.Lock()
        self._closed = False

    def get(self, kind: type[SingletonT]) -> SingletonT:
        with self._lock:
            if self._closed:
                raise StoreClosed("The store is closed.")
            if kind not in self._made:
                self._made[kind] = kind()
            found: SingletonT = self._made[kind]
            return found

    def close(self) -> None:
        with self._lock:
            made, self._made, self._closed = list(self._made.values()), {}, True
        for each in made:
            if hasattr(each, "close"):
                each.close()


@dataclass(frozen=True, slots=True)
class EngineContext:
    store: Store
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
    past: PastIndexCache = field(default_factory=PastIndexCache)  # of moments that were asked about
    kept: QueryCache = field(default_factory=QueryCache)  # what was understood of messages
    made: Singletons = field(default_factory=Singletons)
    then: PointInTime = NOW  # the moment that lies on it
    # Raises where what a caller insists on does not hold; asked of each decision, see `decide`.
    precondition: Callable[[], None] = lambda: None
    claim: IdempotencyClaim | None = (
        None  # on a request that is to be done once; every change carries it
    )
    # What a change of sources means for what was learned from them, in every reader's memory.
    cascade: Callable[[Changeset], list[Changeset]] = lambda changeset: [changeset]

    @property
    def calibration(self) -> Calibration:
        return self.measured.calibration or self.embedder.calibration

    # ——— sources, as they stand at this moment ———

    def sources(self, scope: Scope, ids: Sequence[str]) -> list[Source]:
        now = self.clock()
        return [source.as_it_stands(now) for source in self.store.sources(scope, ids)]

    def source_by_alias(self, scope: Scope, origin: str, external_id: str) -> Source | None:
        found = self.store.source_by_alias(scope, origin, external_id)
        return found.as_it_stands(self.clock()) if found else None

    def source_page(self, scope: Scope, listing: SourceListing) -> list[Source]:
        """Without those that have ended."""
        return self.store.source_page(scope, replace(listing, live_at=self.clock()))

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

    def run_transaction(
        self, decision: Callable[[], tuple[Changeset, AnswerT]]
    ) -> tuple[int, AnswerT]:
        """Decide and apply; decide again when another writer was faster.

        Returns the revision after the change. A changeset without steps changes nothing.
        """
        for _ in range(MAX_DECISIONS):
            changeset, answer = self._decide_with_precondition(decision)
            if not changeset.steps:
                return self.store.counters(changeset.scope).revision, answer
            try:
                whole, *elsewhere = self.cascade(changeset)
                return self.apply(
                    self._with_follow_up_jobs(whole), map(self._with_follow_up_jobs, elsewhere)
                ).revision, answer
            except StaleDecision:
                continue
        raise StaleDecision("Other writers changed the memory meanwhile, on every try.")

    def run_transaction_across_scopes(
        self, decision: Callable[[], tuple[list[Changeset], AnswerT]]
    ) -> AnswerT:
        """The same for what changes several scopes at once."""
        for _ in range(MAX_DECISIONS):
            changesets, answer = self._decide_with_precondition(decision)
            try:
                whole = [each for changeset in changesets for each in self.cascade(changeset)]
                if whole:
                    self.apply_together(
                        [self._with_follow_up_jobs(each) for each in _merge_by_scope(whole)]
                    )
                return answer
            except StaleDecision:
                continue
        raise StaleDecision("Other writers changed the memory meanwhile, on every try.")

    def _decide_with_precondition(self, decision: Callable[[], DecidedT]) -> DecidedT:
        """After the decision has read the revision that it rests on, the caller may insist: where
        another changes something since, the changeset is stale, and this is asked again."""
        try:
            return decision()
        finally:
            self.precondition()

    def _with_follow_up_jobs(self, changeset: Changeset) -> Changeset:
        return with_follow_up_jobs(changeset, self.new_id, extracts=self.extracts)

    def apply(self, changeset: Changeset, elsewhere: Iterable[Changeset] = ()) -> Applied:
        carried = self._with_claim(_with_revision_checks([changeset, *elsewhere]))
        in_order = sorted(each.scope.key for each in carried)
        return self.store.apply_together(carried)[in_order.index(changeset.scope.key)]

    def apply_together(self, changesets: Sequence[Changeset]) -> None:
        self.store.apply_together(self._with_claim(_with_revision_checks(changesets)))

    def _with_claim(self, changesets: Sequence[Changeset]) -> list[Changeset]:
        """With the note that a request was done, where it is to be done once: it lies with who
        asks, also where the change does not."""
        claim = self.claim
        if claim is None:
            return list(changesets)
        carried = [
            replace(each, claim=claim) if each.scope == claim.scope else each for each in changesets
        ]
        if any(each.claim is not None for each in carried):
            return carried
        return [*carried, Changeset(claim.scope, carried[0].at, carried[0].actor, (), claim=claim)]


def _with_revision_checks(changesets: Sequence[Changeset]) -> list[Changeset]:
    """A changeset without steps changes nothing, and is refused where its scope has changed."""
    unchanged = [
        Changeset(scope, each.at, each.actor, (), revision)
        for each in changesets
        for scope, revision in each.rests_on
    ]
    return _merge_by_scope([*changesets, *unchanged])


def _merge_by_scope(changesets: Iterable[Changeset]) -> list[Changeset]:
    """What several parts of a decision mean for one scope is one change of it."""
    found: dict[Scope, Changeset] = {}
    for each in changesets:
        before = found.get(each.scope)
        found[each.scope] = each if before is None else merge_changesets(before, each)
    return list(found.values())


def build_indexing(memory: Memory, vector: Vector | None) -> IndexEntry:
    blob = None if vector is None else vector.astype("<f4").tobytes()
    text = memory.searchable_text
    return IndexEntry(
        count_terms(text), blob, memory_keys(memory) | memory_name_keys(memory), traits_of(text)
    )


def build_passage_indexing(source: Source, passage: Passage, vector: Vector | None) -> IndexEntry:
    blob = None if vector is None else vector.astype("<f4").tobytes()
    words = text_to_index(source.content_type, source.title, passage.text)
    return IndexEntry(count_terms(words), blob, traits=traits_of(passage.text))


def index_memories(
    desk: EngineContext, memories: Sequence[Memory]
) -> tuple[list[IndexEntry], Vectors | None]:
    """How each is found, with one call to the embedder."""
    vectors = desk.embed([memory.searchable_text for memory in memories])
    return [
        build_indexing(memory, None if vectors is None else vectors[place])
        for place, memory in enumerate(memories)
    ], vectors


def passage_text_to_embed(source: Source, passage: Passage) -> str:
    return text_to_embed(passage.speaker, source.content_type, source.title, passage.text)


def index_passages(
    desk: EngineContext, passages: Sequence[tuple[Source, Passage]]
) -> list[IndexEntry]:
    """How each is found. The embedder is called in batches; as soon as it is down, the vectors of
    all of them come late."""
    texts = [passage_text_to_embed(*each) for each in passages]
    rows: list[Vector] = []
    for start in range(0, len(texts), EMBED_BATCH_SIZE):
        found = desk.embed(texts[start : start + EMBED_BATCH_SIZE])
        if found is None:
            return [build_passage_indexing(source, passage, None) for source, passage in passages]
        rows += list(np.asarray(found, dtype=np.float32))
    return [
        build_passage_indexing(source, passage, row)
        for (source, passage), row in zip(passages, rows, strict=True)
    ]


def can_see(principal: Principal, memory: Memory) -> bool:
    """By id, the owner sees everything of theirs; an agent only what it is cleared for and what its
    allowlist names."""
    return principal.is_owner or visibility_of(principal).admits(memory)


def can_see_source(principal: Principal, source: Source) -> bool:
    """By id, everybody sees what they brought themselves, also where it is a team's."""
    brought = principal.is_owner and (
        principal.is_in_own_scope or source.user_id == principal.user_id
    )
    return brought or visibility_of(principal).admits_source(source)


def visibility_of(principal: Principal) -> Visibility:
    """Whoever is cleared is so for their own memory, and for nobody else's."""
    cleared = principal.cleared and principal.is_in_own_scope
    return Visibility(cleared, principal.agent, principal.categories)


def visibility_in(principal: Principal, reading: ReadableScope) -> Visibility:
    return visibility_of(principal.at(reading.scope))


# ——— how far a read goes ———


def readable_scopes(
    desk: EngineContext, principal: Principal, *, searching: bool = True
) -> tuple[ReadableScope, ...]:
    """The scopes that they may read at this moment, their own first: the one place where a
    principal becomes scopes. Asked of the database each time, so that whoever has left a team
    sees nothing more of it from that moment on. Searches leave out teams beside the active one."""
    own = ReadableScope(principal.own_scope)
    if not visibility_of(principal).sees_sources:
        return (own,)
    found = desk.store.reachable(principal.own_scope)
    teams = reachable_teams(principal, found.memberships)
    active = [one for one in teams if one.is_active] if searching else []
    others = [ReadableScope(one.team_scope, is_own=False) for one in active or teams]
    if principal.team is None:
        given = current_shares(found.shares, _shares_by_owner(desk, found.shares))
        guests = guest_sources(given, {one.team_scope for one in teams})
        others += [ReadableScope(scope, is_own=False, sources=ids) for scope, ids in guests.items()]
    return (own, *sorted(others, key=lambda reading: reading.scope.key))


def _shares_by_owner(desk: EngineContext, shares: Sequence[Share]) -> list[Share]:
    """Once for each owner, however much of theirs is shared."""
    owners = dict.fromkeys(share.owner for share in shares)
    return [told for owner in owners for told in desk.store.shares(owner) if told.owner == owner]


def principal_at_source(desk: EngineContext, principal: Principal, id: str) -> Principal:
    """The same one, where the source is that this id or name from elsewhere means; at home when
    they know of none."""
    at_home = principal.at(principal.own_scope)
    if not is_source_id(id) and split_alias(id) is None:
        return at_home
    if _find_source(desk, principal.own_scope, id):  # mostly: then nobody else is asked
        return at_home
    for reading in readable_scopes(desk, principal, searching=False)[1:]:
        found = _find_source(desk, reading.scope, id)
        if found and reading.covers(found.id):
            return principal.at(reading.scope)
    return at_home


def _find_source(desk: EngineContext, scope: Scope, id: str) -> Source | None:
    """The source of this id, of this passage's id, or of this name from elsewhere."""
    if is_source_id(id):
        return next(iter(desk.sources(scope, [split_passage_id(id)[0]])), None)
    alias = split_alias(id)
    return desk.source_by_alias(scope, *alias) if alias else None

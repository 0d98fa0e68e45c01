"""remember: check requests, embed once, compare, decide and apply a batch."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from commonplace.engine.access import can_see, visibility_of
from commonplace.engine.comparison import WriteDecision, check_live_limits, decide_action
from commonplace.engine.composition import (
    check_caller_metadata,
    compose_memory,
    read_draft,
    writing_warnings,
)
from commonplace.engine.context import EngineContext, RequestContext
from commonplace.engine.indexing import build_indexing
from commonplace.engine.memories.neighbours import (
    Comparer,
    Neighbourhood,
    StoredMemories,
    candidates_in_batch,
    load_neighbourhood,
    load_rivals,
    neighbours_in_batch,
    pairs_to_compare,
)
from commonplace.engine.memories.write_plan import (
    PlannedMemory,
    WriteOutcome,
    WritePlan,
    texts_after_decision,
)
from commonplace.engine.profile.profile import refuse_profile_field
from commonplace.engine.provenance.evidence import OWNER_EVIDENCE
from commonplace.engine.transaction import run_transaction
from commonplace.errors import NotAllowed
from commonplace.language.embedders.embedder import Vectors
from commonplace.model import validation
from commonplace.model.access.principal import Principal
from commonplace.model.changeset import Bookkeeping, Changeset, IndexEntry
from commonplace.model.journal import Entry, Op
from commonplace.model.memory.kinds import Action, MemoryRelation, OnConflict
from commonplace.model.memory.memory import Memory
from commonplace.store.queries import HeldQuery


def allowlist_warnings(
    engine: EngineContext, principal: Principal, category: str
) -> tuple[str, ...]:
    """Said beforehand, since the agent would look for it in vain. It depends on the file of
    categories alone, and so tells nothing of what is there."""
    if principal.agent is None or visibility_of(principal).admits_category(category):
        return ()
    allowlist = engine.categories().allowlist_of(principal.agent).agent
    return (
        f"The allowlist {allowlist!r} of {principal.agent} does not name the category "
        f"{category!r}: the owner can read this memory, {principal.agent} cannot. To change this, "
        "add the category to the allowlist in the file of categories.",
    )


VECTOR_QUEUED = (
    "The embedder is down: the text is stored and found by its words, its vector follows."
)


@dataclass(frozen=True, slots=True)
class Remembered:
    id: str  # of the memory that says it now, or waits
    memory: Memory
    relation: MemoryRelation
    action: Action
    revision: int
    warnings: tuple[str, ...] = ()
    conflict: str | None = None  # the open question, when a person decides
    is_override: bool = False
    others: tuple[str, ...] = ()  # the other side: what it repeats, changes or is near to
    reason: str = ""  # what is the same or differs, in words
    undo: tuple[str, ...] = ()  # what `restore` takes to have it as it was

    @property
    def memory_type(self) -> str:
        return self.memory.kind

    @property
    def is_new(self) -> bool:
        return self.relation is MemoryRelation.NEW

    @property
    def has_metadata(self) -> bool:
        return bool(self.memory.metadata)


@dataclass(frozen=True, slots=True)
class RememberRequest:
    """One memory that is asked for, composed but not looked for yet."""

    memory: Memory
    mentioned: frozenset[str]  # the fields that the caller gave
    wish: OnConflict = OnConflict.ASK
    remarks: tuple[str, ...] = ()  # of the writing policy, and of the allowlist


def read_request(
    engine: EngineContext, principal: Principal, given: Mapping[str, Any], now: datetime
) -> RememberRequest:
    """Checked and composed, or an error that names the field."""
    fields = dict(given)
    wish = _read_on_conflict(principal, fields.pop("on_conflict", None))
    check_caller_metadata(fields.get("metadata") or {})
    memory = compose_memory(read_draft(fields), engine.new_id(), principal, now)
    refuse_profile_field(principal, memory)
    if OWNER_EVIDENCE in memory.evidence and not principal.is_owner:
        raise NotAllowed("Only the owner may give evidence 'owner'.", field="evidence")
    mentioned = frozenset(name for name, value in given.items() if value is not None)
    unseen = allowlist_warnings(engine, principal, memory.category)
    return RememberRequest(memory, mentioned, wish, (*writing_warnings(memory), *unseen))


def _read_on_conflict(principal: Principal, given: object) -> OnConflict:
    if given is None:
        return OnConflict.ASK
    wish = validation.choice(given, "on_conflict", OnConflict, {})
    if wish is OnConflict.OVERRIDE and not principal.decides:
        raise NotAllowed(
            f"{principal.agent} may not override memories.",
            remedy="Use on_conflict=ask: the owner decides (conflicts, resolve).",
            field="on_conflict",
        )
    return wish


@dataclass(frozen=True, slots=True)
class MemoryBatch:
    """What was asked for, and what each is found by."""

    asked: Sequence[RememberRequest]
    indexes: Sequence[IndexEntry]
    vectors: Vectors | None
    scales: Comparer
    stored: StoredMemories | None = None  # what they are probably compared with

    @property
    def memories(self) -> list[Memory]:
        return [each.memory for each in self.asked]

    def part(self, places: Sequence[int]) -> MemoryBatch:
        return replace(
            self,
            asked=[self.asked[place] for place in places],
            indexes=[self.indexes[place] for place in places],
            vectors=None if self.vectors is None else self.vectors[list(places)],
        )

    @property
    def common_thread(self) -> str | None:
        """Of several conversations, each memory tells its own."""
        threads = {memory.thread_id for memory in self.memories}
        return threads.pop() if len(threads) == 1 else None


def prepare_batch(
    engine: EngineContext,
    principal: Principal,
    asked: Sequence[RememberRequest],
    beside: Sequence[str] = (),
) -> MemoryBatch:
    """With one call to the embedder for the memories, for all that comparing them will ask of it,
    and for what else the caller has to embed (``beside``)."""
    scales = Comparer(engine)
    memories = [each.memory for each in asked]
    texts = [memory.searchable_text for memory in memories]
    unembedded = [build_indexing(memory, None) for memory in memories]
    stored, pairs = load_rivals(engine, principal.scope, memories, unembedded)
    mentioned = {each.memory.id: each.mentioned for each in asked}
    joined = [
        text
        for new, old in pairs
        for text in texts_after_decision(
            new, mentioned[new.id], old, scales.may_relate(new, old), principal.is_owner
        )
    ]
    scales.embed([*texts, *beside, *scales.texts_of(pairs), *joined])
    vectors = scales.vectors_of(texts)
    blobs = [None] * len(texts) if vectors is None else list(vectors)
    indexes = [
        replace(entry, vector=None if row is None else row.astype("<f4").tobytes())
        for entry, row in zip(unembedded, blobs, strict=True)
    ]
    return MemoryBatch(asked, indexes, vectors, scales, stored)


def load_batch_neighbourhood(
    engine: EngineContext, principal: Principal, batch: MemoryBatch
) -> Neighbourhood:
    return load_neighbourhood(
        engine, principal.scope, batch.memories, batch.vectors, batch.indexes, batch.stored
    )


RefusalCheck = Callable[[int, Memory, WriteDecision, WritePlan], bool]


def plan_batch(
    engine: EngineContext,
    principal: Principal,
    batch: MemoryBatch,
    around: Neighbourhood,
    refuses: RefusalCheck = lambda *_: False,
) -> tuple[WritePlan, list[Remembered | None]]:
    """One after the other; None for those that the caller refuses after all."""
    memories, scales = batch.memories, batch.scales
    rivals = [
        [*stored, *same_batch]
        for stored, same_batch in zip(
            around.candidates,
            candidates_in_batch(memories, batch.indexes, batch.vectors),
            strict=True,
        )
    ]
    ledger = _open_write_plan(engine, principal, batch, around)
    queued = () if batch.vectors is not None else (VECTOR_QUEUED,)
    known = {**ledger.standing, **{memory.id: memory for memory in memories}}
    scales.prepare(pairs_to_compare(memories, rivals, known))
    answers: list[Remembered | None] = []
    for place, (memory, each) in enumerate(zip(memories, batch.asked, strict=True)):
        cosines = {rival.id: rival.cosine for rival in rivals[place]}
        compared = [
            scales.weigh(memory, old, cosines[old.id]) for old in ledger.live(cosines, memory)
        ]
        weighed = [found for found in compared if ledger.may_affect(found)]
        wish = ledger.on_conflict_for(each.wish, weighed)
        decision = decide_action(memory, weighed, ledger.now, wish)
        if refuses(place, memory, decision, ledger):
            answers.append(None)
            continue
        near = [
            *around.neighbours[place],
            *neighbours_in_batch(engine, memories, batch.vectors, place),
        ]
        item = PlannedMemory(memory, batch.indexes[place], each.mentioned, near)
        outcome = ledger.apply_decision(item, decision)
        answers.append(_answer(principal, memory, decision, outcome, (*queued, *each.remarks)))
    return ledger, answers


def _open_write_plan(
    engine: EngineContext, principal: Principal, batch: MemoryBatch, around: Neighbourhood
) -> WritePlan:
    """Rivals as they stand, with what waits for or beside them."""
    standing = dict(around.known)
    conflicts = {memory.conflict for memory in standing.values() if memory.conflict}
    aside = any(each.wish is OnConflict.ALTERNATIVE for each in batch.asked)
    beside = list(standing) if aside else []
    held = []
    if conflicts or beside:
        query = HeldQuery(conflicts=sorted(conflicts), alternative_to=beside)
        held = engine.store.held(principal.scope, query)
    return WritePlan(engine, principal, engine.clock(), standing, held, batch.scales)


def _answer(
    principal: Principal,
    said: Memory,
    decision: WriteDecision,
    outcome: WriteOutcome,
    warnings: tuple[str, ...],
) -> Remembered:
    """To one who may not see the other side: that it is there, and nothing of it. To one who may
    not see what they tell: always the same."""
    if not visibility_of(principal).admits_category(said.category):
        return Remembered(said.id, said, MemoryRelation.NEW, Action.STORED, 0, warnings)
    involved = (outcome.memory, *decision.others)
    visible = all(can_see(principal, memory) for memory in involved)
    unguarded = all(visibility_of(principal).admits(memory) for memory in involved)
    return Remembered(
        id=outcome.memory.id,
        memory=outcome.memory if visible else said.evolve(id=outcome.memory.id),
        relation=decision.relation,
        action=decision.action,
        revision=0,
        warnings=warnings,
        conflict=outcome.conflict,
        is_override=decision.action is Action.OVERRIDDEN,
        others=tuple(other.id for other in decision.others),
        reason=decision.reason if unguarded else "",
        undo=outcome.undo,
    )


def log_repeats(
    engine: EngineContext, principal: Principal, answers: Sequence[Remembered], thread: str | None
) -> None:
    """Told again with nothing new, a memory is touched; it has no new version."""
    same = [each for each in answers if each.action is Action.REFRESHED and not each.undo]
    if not same:
        return
    entries = tuple(
        Entry(op=Op.UPDATE, subject=each.id, meta={"relation": each.relation}) for each in same
    )
    engine.access_log.record_later(
        Bookkeeping(
            principal.scope,
            engine.clock(),
            touched=Counter(each.id for each in same),
            entries=entries,
            thread_id=thread,
            actor=principal.actor,
        )
    )


def remember(
    engine: EngineContext, request: RequestContext, given: Sequence[Mapping[str, Any]]
) -> list[Remembered]:
    """All of them in one transaction, or none."""
    principal = request.principal
    now = engine.clock()
    wanted = [read_request(engine, principal, each, now) for each in given]
    batch = prepare_batch(engine, principal, wanted)

    def decision() -> tuple[Changeset, list[Remembered]]:
        with engine.store.read_session():
            around = load_batch_neighbourhood(engine, principal, batch)
            check_live_limits(batch.memories, around.live_by_kind)
            ledger, answers = plan_batch(engine, principal, batch, around)
        changeset = Changeset(
            principal.scope,
            ledger.now,
            principal.actor,
            ledger.all_steps(),
            around.revision,
            batch.common_thread,
        )
        return changeset, [answer for answer in answers if answer is not None]

    revision, answers = run_transaction(engine, request, decision)
    log_repeats(engine, principal, answers, batch.common_thread)
    return [replace(answer, revision=revision) for answer in answers]

"""remember: check requests, embed once, compare, decide and apply a batch."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from commonplace.engine.access import can_see, proposes, visibility_of
from commonplace.engine.context import EngineContext, RequestContext
from commonplace.engine.memories.write_plan import WritePlan
from commonplace.engine.memory_relation import WriteDecision
from commonplace.engine.provenance.evidence import OWNER_EVIDENCE
from commonplace.errors import NotAllowed
from commonplace.language.embedders.embedder import Vectors
from commonplace.lazy import lazy_imports
from commonplace.model import validation
from commonplace.model.access.principal import Principal
from commonplace.model.changeset import Bookkeeping, Changeset, IndexEntry
from commonplace.model.journal import Entry, Op
from commonplace.model.memory.kinds import Action, MemoryRelation, OnConflict
from commonplace.model.memory.memory import Memory
from commonplace.store.queries import HeldQuery

with lazy_imports(__name__):
    from commonplace.engine.composition import (
        check_caller_metadata,
        compose_memory,
        read_draft,
        writing_warnings,
    )
    from commonplace.engine.indexing import build_indexing, texts_of_memories
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
        texts_after_decision,
    )
    from commonplace.engine.memory_relation import (
        check_live_limits,
        decide_action,
        propose_instruction,
    )
    from commonplace.engine.profile.profile import refuse_profile_field
    from commonplace.engine.transaction import run_transaction


def allowlist_warnings(
    engine: EngineContext, principal: Principal, category: str
) -> tuple[str, ...]:
    """Warn an agent that it will not see what it writes. The warning depends on the categories file
    alone, so it reveals nothing about stored memories."""
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
    id: str  # of the memory that now holds it, or that is pending
    memory: Memory
    relation: MemoryRelation
    action: Action
    revision: int
    warnings: tuple[str, ...] = ()
    conflict: str | None = None  # id of the open conflict
    is_override: bool = False
    others: tuple[str, ...] = ()  # ids of the memories that it repeats, changes or is near to
    reason: str = ""  # what is equal or differs, in words
    undo: tuple[str, ...] = ()  # ids for `restore`

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
    """A memory to store, composed but not compared yet."""

    memory: Memory
    mentioned: frozenset[str]  # the fields that the caller gave
    on_conflict: OnConflict = OnConflict.ASK
    warnings: tuple[str, ...] = ()  # about writing policy and allowlist
    said_at: datetime | None = None  # by a dated turn; None: it is said now


def read_request(
    engine: EngineContext, principal: Principal, given: Mapping[str, Any], now: datetime
) -> RememberRequest:
    """Check and compose; an error names the field."""
    fields = dict(given)
    on_conflict = _read_on_conflict(principal, fields.pop("on_conflict", None))
    check_caller_metadata(fields.get("metadata") or {})
    own_evidence = (OWNER_EVIDENCE,) if principal.is_owner else ()
    memory = compose_memory(read_draft(fields, own_evidence), engine.new_id(), principal, now)
    refuse_profile_field(principal, memory)
    if OWNER_EVIDENCE in memory.evidence and not principal.is_owner:
        raise NotAllowed("Only the owner may give evidence 'owner'.", field="evidence")
    mentioned = frozenset(name for name, value in given.items() if value is not None)
    warnings = (
        *(writing_warnings(memory) if "kind" in mentioned else ()),
        *allowlist_warnings(engine, principal, memory.category),
        *_proposal_warnings(principal, memory),
    )
    return RememberRequest(memory, mentioned, on_conflict, warnings)


def _proposal_warnings(principal: Principal, memory: Memory) -> tuple[str, ...]:
    if not proposes(principal, memory):
        return ()
    return (
        f"A {memory.kind} in {memory.category} for all agents is the owner's: {principal.agent} "
        "proposed it, and it waits in the inbox (conflicts) until the owner decides (resolve). "
        f"A rule or soul with agent_id={principal.agent!r} needs no decision.",
    )


def _read_on_conflict(principal: Principal, given: object) -> OnConflict:
    if given is None:
        return OnConflict.ASK
    on_conflict = validation.choice(given, "on_conflict", OnConflict, {})
    if on_conflict is OnConflict.OVERRIDE and not principal.decides:
        raise NotAllowed(
            f"{principal.agent} may not override memories.",
            remedy="Use on_conflict=ask: the owner decides (conflicts, resolve).",
            field="on_conflict",
        )
    return on_conflict


@dataclass(frozen=True, slots=True)
class MemoryBatch:
    """Memories to store, with their index entries."""

    requests: Sequence[RememberRequest]
    indexes: Sequence[IndexEntry]
    vectors: Vectors | None
    comparer: Comparer
    stored: StoredMemories | None = None  # what they are probably compared with

    @property
    def memories(self) -> list[Memory]:
        return [each.memory for each in self.requests]

    def part(self, places: Sequence[int]) -> MemoryBatch:
        return replace(
            self,
            requests=[self.requests[place] for place in places],
            indexes=[self.indexes[place] for place in places],
            vectors=None if self.vectors is None else self.vectors[list(places)],
        )

    @property
    def common_thread(self) -> str | None:
        """The thread of all memories; None if they have different ones."""
        threads = {memory.thread_id for memory in self.memories}
        return threads.pop() if len(threads) == 1 else None


def prepare_batch(
    engine: EngineContext,
    principal: Principal,
    requests: Sequence[RememberRequest],
    other_texts: Sequence[str] = (),
) -> MemoryBatch:
    """Call the embedder once: for the memories, for the texts that comparing them will need, and
    for ``other_texts`` of the caller."""
    comparer = Comparer(engine)
    memories = [each.memory for each in requests]
    texts = [memory.searchable_text for memory in memories]
    unembedded = [build_indexing(memory, None) for memory in memories]
    stored, pairs = load_rivals(engine, principal.scope, memories, unembedded)
    mentioned = {each.memory.id: each.mentioned for each in requests}
    joined = [
        text
        for new, old in pairs
        for text in texts_after_decision(
            new, mentioned[new.id], old, comparer.may_relate(new, old), principal.is_owner
        )
    ]
    comparer.embed([*texts_of_memories(memories), *other_texts, *comparer.texts_of(pairs), *joined])
    return MemoryBatch(
        requests, comparer.index(memories), comparer.vectors_of(texts), comparer, stored
    )


def load_batch_neighbourhood(
    engine: EngineContext, principal: Principal, batch: MemoryBatch
) -> Neighbourhood:
    return load_neighbourhood(
        engine, principal.scope, batch.memories, batch.vectors, batch.indexes, batch.stored
    )


RefusalCheck = Callable[[int, Memory, WriteDecision, WritePlan], bool]
# The memory, with the decision about it, as they stand after a review; None: it is not stored.
DecisionReview = Callable[
    [int, Memory, WriteDecision, WritePlan], tuple[Memory, WriteDecision | None]
]


def keep_decision(
    _place: int, memory: Memory, decision: WriteDecision, _plan: WritePlan
) -> tuple[Memory, WriteDecision | None]:
    return memory, decision


def plan_batch(
    engine: EngineContext,
    principal: Principal,
    batch: MemoryBatch,
    around: Neighbourhood,
    refuses: RefusalCheck = lambda *_: False,
    review: DecisionReview = keep_decision,
) -> tuple[WritePlan, list[Remembered | None]]:
    """Decide each memory in order; None for those that ``refuses`` rejects. ``review`` may take
    back what a decision would replace."""
    memories, comparer = batch.memories, batch.comparer
    rivals = [
        [*stored, *same_batch]
        for stored, same_batch in zip(
            around.candidates,
            candidates_in_batch(memories, batch.indexes, batch.vectors),
            strict=True,
        )
    ]
    plan = _open_write_plan(engine, principal, batch, around)
    queued = () if batch.vectors is not None else (VECTOR_QUEUED,)
    known = {**plan.memories, **{memory.id: memory for memory in memories}}
    comparer.prepare(pairs_to_compare(memories, rivals, known))
    answers: list[Remembered | None] = []
    for place, (memory, each) in enumerate(zip(memories, batch.requests, strict=True)):
        cosines = {rival.id: rival.cosine for rival in rivals[place]}
        compared = [
            comparer.weigh(memory, old, cosines[old.id]) for old in plan.live(cosines, memory)
        ]
        weighed = [found for found in compared if plan.may_affect(memory, found)]
        on_conflict = plan.on_conflict_for(each.on_conflict, weighed)
        decision = decide_action(memory, weighed, plan.now, on_conflict, each.said_at)
        if proposes(principal, memory):
            decision = propose_instruction(memory, decision, principal.actor)
        memory, reviewed = review(place, memory, decision, plan)
        if reviewed is None or refuses(place, memory, reviewed, plan):
            answers.append(None)
            continue
        near = [
            *around.neighbours[place],
            *neighbours_in_batch(engine, memories, batch.vectors, place),
        ]
        item = PlannedMemory(memory, batch.indexes[place], each.mentioned, near)
        outcome = plan.apply_decision(item, reviewed)
        answers.append(_answer(principal, memory, reviewed, outcome, (*queued, *each.warnings)))
    return plan, answers


def _open_write_plan(
    engine: EngineContext, principal: Principal, batch: MemoryBatch, around: Neighbourhood
) -> WritePlan:
    """The candidates, with pending and alternative values held for them."""
    active = dict(around.known)
    conflicts = {memory.conflict for memory in active.values() if memory.conflict}
    aside = any(each.on_conflict is OnConflict.ALTERNATIVE for each in batch.requests)
    beside = list(active) if aside else []
    held = []
    if any(proposes(principal, memory) for memory in batch.memories):
        held = engine.store.held(principal.scope)
    elif conflicts or beside:
        query = HeldQuery(conflicts=sorted(conflicts), alternative_to=beside)
        held = engine.store.held(principal.scope, query)
    return WritePlan(engine, principal, engine.clock(), active, held, batch.comparer)


def _answer(
    principal: Principal,
    said: Memory,
    decision: WriteDecision,
    outcome: WriteOutcome,
    warnings: tuple[str, ...],
) -> Remembered:
    """A caller that may not see the other memory learns that there is one, but no content. A caller
    that may not see the category always gets the same answer."""
    if not visibility_of(principal).admits_category(said.category):
        action = Action.PENDING if proposes(principal, said) else Action.STORED
        return Remembered(said.id, said, MemoryRelation.NEW, action, 0, warnings)
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
    """Record access to memories that were repeated without new content; no version is written."""
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
    """Store all in one transaction, or none."""
    principal = request.principal
    now = engine.clock()
    wanted = [read_request(engine, principal, each, now) for each in given]
    batch = prepare_batch(engine, principal, wanted)

    def decision() -> tuple[Changeset, list[Remembered]]:
        with engine.store.read_session():
            around = load_batch_neighbourhood(engine, principal, batch)
            stored = [memory for memory in batch.memories if not proposes(principal, memory)]
            check_live_limits(stored, around.live)
            plan, answers = plan_batch(engine, principal, batch, around)
        changeset = Changeset(
            principal.scope,
            plan.now,
            principal.actor,
            plan.all_steps(),
            around.revision,
            batch.common_thread,
        )
        return changeset, [answer for answer in answers if answer is not None]

    revision, answers = run_transaction(engine, request, decision)
    log_repeats(engine, principal, answers, batch.common_thread)
    return [replace(answer, revision=revision) for answer in answers]

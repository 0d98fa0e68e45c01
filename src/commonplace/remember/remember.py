"""remember: check, compose, embed, look around, weigh, decide, carry out, apply."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from commonplace.desk import Desk, can_see, index_all, visibility_of
from commonplace.errors import NotAllowed
from commonplace.language.models.embedder import Vectors
from commonplace.model import check
from commonplace.model.changes import Bookkeeping, Changeset, Indexing
from commonplace.model.journal import Entry, Op
from commonplace.model.memory import Memory
from commonplace.model.relations import Action, OnConflict, Relation
from commonplace.model.scope import Principal
from commonplace.remember.carry_out import Item, Ledger, Outcome
from commonplace.remember.compose import compose, remarks_on
from commonplace.remember.decide import Decision, decide, hold_to_limits
from commonplace.remember.draft import callers_metadata, draft_from
from commonplace.remember.link import within_batch
from commonplace.remember.neighbours import Surroundings, look_around
from commonplace.remember.weigh import Scales, pairs_of, rivals_in_batch
from commonplace.store.port import HeldQuery

VECTOR_QUEUED = (
    "The embedder is down: the text is stored and found by its words, its vector follows."
)


@dataclass(frozen=True, slots=True)
class Remembered:
    id: str  # of the memory that says it now, or waits
    memory: Memory
    relation: Relation
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
        return self.relation is Relation.NEW

    @property
    def has_metadata(self) -> bool:
        return bool(self.memory.metadata)


@dataclass(frozen=True, slots=True)
class _Batch:
    """What was asked for, composed and embedded once, however often it is decided."""

    memories: Sequence[Memory]
    mentioned: Sequence[frozenset[str]]
    wishes: Sequence[OnConflict]
    warnings: Sequence[tuple[str, ...]]
    indexes: Sequence[Indexing]
    vectors: Vectors | None


def remember(
    desk: Desk, principal: Principal, given: Sequence[Mapping[str, Any]]
) -> list[Remembered]:
    """All of them in one transaction, or none."""
    batch = _composed(desk, principal, given)
    scales = Scales(desk)

    def decision() -> tuple[Changeset, list[Remembered]]:
        around = look_around(desk, principal.scope, batch.memories, batch.vectors, batch.indexes)
        hold_to_limits(batch.memories, around.live_by_kind)
        ledger, answers = _decide_each(desk, principal, batch, around, scales)
        changeset = Changeset(
            principal.scope,
            ledger.now,
            principal.actor,
            ledger.all_steps(),
            around.revision,
            _thread_of_all(batch.memories),
        )
        return changeset, answers

    revision, answers = desk.decide(decision)
    _note_repeats(desk, principal, batch, answers)
    return [replace(answer, revision=revision) for answer in answers]


def _note_repeats(
    desk: Desk, principal: Principal, batch: _Batch, answers: Sequence[Remembered]
) -> None:
    """Told again with nothing new, a memory is touched; it has no new version."""
    same = [each for each in answers if each.action is Action.REFRESHED and not each.undo]
    if not same:
        return
    entries = tuple(
        Entry(op=Op.UPDATE, subject=each.id, meta={"relation": each.relation}) for each in same
    )
    desk.books.later(
        Bookkeeping(
            principal.scope,
            desk.clock(),
            touched=Counter(each.id for each in same),
            entries=entries,
            thread_id=_thread_of_all(batch.memories),
            actor=principal.actor,
        )
    )


def _thread_of_all(memories: Sequence[Memory]) -> str | None:
    """Of several conversations, each memory tells its own."""
    threads = {memory.thread_id for memory in memories}
    return threads.pop() if len(threads) == 1 else None


def _composed(desk: Desk, principal: Principal, given: Sequence[Mapping[str, Any]]) -> _Batch:
    wishes, drafts = [], []
    for each in given:
        fields = dict(each)
        wishes.append(_wish(principal, fields.pop("on_conflict", None)))
        callers_metadata(fields.get("metadata") or {})
        drafts.append(draft_from(fields))
    now = desk.clock()
    memories = [compose(draft, desk.new_id(), principal, now) for draft in drafts]
    indexes, vectors = index_all(desk, memories)
    queued = () if vectors is not None else (VECTOR_QUEUED,)
    return _Batch(
        memories,
        [frozenset(n for n, value in each.items() if value is not None) for each in given],
        wishes,
        [(*queued, *remarks_on(memory)) for memory in memories],
        indexes,
        vectors,
    )


def _wish(principal: Principal, given: object) -> OnConflict:
    if given is None:
        return OnConflict.ASK
    wish = check.choice(given, "on_conflict", OnConflict, {})
    if wish is OnConflict.OVERRIDE and not principal.decides:
        raise NotAllowed(
            f"{principal.agent} may not override what is remembered.",
            remedy="Leave on_conflict at ask: the owner decides in the inbox (conflicts, resolve).",
            field="on_conflict",
        )
    return wish


def _decide_each(
    desk: Desk, principal: Principal, batch: _Batch, around: Surroundings, scales: Scales
) -> tuple[Ledger, list[Remembered]]:
    memories = batch.memories
    rivals = [
        [*stored, *same_batch]
        for stored, same_batch in zip(
            around.rivals, rivals_in_batch(memories, batch.indexes, batch.vectors), strict=True
        )
    ]
    ledger = _ledger(desk, principal, batch, around)
    known = {**ledger.standing, **{memory.id: memory for memory in memories}}
    scales.prepare(pairs_of(memories, rivals, known))
    answers = []
    for place, memory in enumerate(memories):
        cosines = {rival.id: rival.cosine for rival in rivals[place]}
        weighed = [
            scales.weigh(memory, old, cosines[old.id]) for old in ledger.live(cosines, memory)
        ]
        decision = decide(memory, weighed, ledger.now, batch.wishes[place])
        near = [*around.neighbours[place], *within_batch(desk, memories, batch.vectors, place)]
        item = Item(memory, batch.indexes[place], batch.mentioned[place], near)
        outcome = ledger.carry_out(item, decision)
        answers.append(_answer(principal, memory, decision, outcome, batch.warnings[place]))
    return ledger, answers


def _ledger(desk: Desk, principal: Principal, batch: _Batch, around: Surroundings) -> Ledger:
    """Rivals as they stand, with what waits for or beside them."""
    standing = dict(around.known)
    conflicts = {memory.conflict for memory in standing.values() if memory.conflict}
    beside = list(standing) if OnConflict.ALTERNATIVE in batch.wishes else []
    held = []
    if conflicts or beside:
        query = HeldQuery(conflicts=sorted(conflicts), beside=beside)
        held = desk.store.held(principal.scope, query)
    return Ledger(desk, principal, desk.clock(), standing, held)


def _answer(
    principal: Principal,
    said: Memory,
    decision: Decision,
    outcome: Outcome,
    warnings: tuple[str, ...],
) -> Remembered:
    """To one who may not see the other side: that it is there, and nothing of it. To one who may
    not see what they tell: always the same."""
    if not visibility_of(principal).admits_category(said.category):
        return Remembered(said.id, said, Relation.NEW, Action.STORED, 0, warnings)
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

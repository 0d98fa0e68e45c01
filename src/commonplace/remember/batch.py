"""A batch of new memories: composed and embedded once, decided as often as other writers are
faster. The steps of a decision can stand in a changeset beside those of others."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from commonplace.desk import Desk, can_see, visibility_of
from commonplace.errors import NotAllowed
from commonplace.language.models.embedder import Vectors
from commonplace.model import check
from commonplace.model.changes import Bookkeeping, Indexing
from commonplace.model.journal import Entry, Op
from commonplace.model.memory import Memory
from commonplace.model.relations import Action, OnConflict, Relation
from commonplace.model.scope import Principal
from commonplace.remember.carry_out import Item, Ledger, Outcome
from commonplace.remember.compose import compose, remarks_on
from commonplace.remember.decide import Decision, decide
from commonplace.remember.draft import callers_metadata, draft_from
from commonplace.remember.link import within_batch
from commonplace.remember.neighbours import Surroundings
from commonplace.remember.profile import leave_fields_to_their_owner
from commonplace.remember.supports import OWNER
from commonplace.remember.unseen import unseen_by_its_teller
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
class Asked:
    """One memory that is asked for, composed but not looked for yet."""

    memory: Memory
    mentioned: frozenset[str]  # the fields that the caller gave
    wish: OnConflict = OnConflict.ASK
    remarks: tuple[str, ...] = ()  # of the writing policy, and of the allowlist


def asked(desk: Desk, principal: Principal, given: Mapping[str, Any], now: datetime) -> Asked:
    """Checked and composed, or an error that names the field."""
    fields = dict(given)
    wish = _wish(principal, fields.pop("on_conflict", None))
    callers_metadata(fields.get("metadata") or {})
    memory = compose(draft_from(fields), desk.new_id(), principal, now)
    leave_fields_to_their_owner(principal, memory)
    if OWNER in memory.evidence and not principal.is_owner:
        raise NotAllowed("Only the owner may give evidence 'owner'.", field="evidence")
    mentioned = frozenset(name for name, value in given.items() if value is not None)
    unseen = unseen_by_its_teller(desk, principal, memory.category)
    return Asked(memory, mentioned, wish, (*remarks_on(memory), *unseen))


def _wish(principal: Principal, given: object) -> OnConflict:
    if given is None:
        return OnConflict.ASK
    wish = check.choice(given, "on_conflict", OnConflict, {})
    if wish is OnConflict.OVERRIDE and not principal.decides:
        raise NotAllowed(
            f"{principal.agent} may not override memories.",
            remedy="Use on_conflict=ask: the owner decides (conflicts, resolve).",
            field="on_conflict",
        )
    return wish


@dataclass(frozen=True, slots=True)
class Batch:
    """What was asked for, and what each is found by."""

    asked: Sequence[Asked]
    indexes: Sequence[Indexing]
    vectors: Vectors | None

    @property
    def memories(self) -> list[Memory]:
        return [each.memory for each in self.asked]

    @property
    def thread_of_all(self) -> str | None:
        """Of several conversations, each memory tells its own."""
        threads = {memory.thread_id for memory in self.memories}
        return threads.pop() if len(threads) == 1 else None


Refusal = Callable[[int, Memory, Decision, Ledger], bool]


def decide_each(
    desk: Desk,
    principal: Principal,
    batch: Batch,
    around: Surroundings,
    scales: Scales,
    refuses: Refusal = lambda *_: False,
) -> tuple[Ledger, list[Remembered | None]]:
    """One after the other; None for those that the caller refuses after all."""
    memories = batch.memories
    rivals = [
        [*stored, *same_batch]
        for stored, same_batch in zip(
            around.rivals, rivals_in_batch(memories, batch.indexes, batch.vectors), strict=True
        )
    ]
    ledger = _ledger(desk, principal, batch, around)
    queued = () if batch.vectors is not None else (VECTOR_QUEUED,)
    known = {**ledger.standing, **{memory.id: memory for memory in memories}}
    scales.prepare(pairs_of(memories, rivals, known))
    answers: list[Remembered | None] = []
    for place, (memory, each) in enumerate(zip(memories, batch.asked, strict=True)):
        cosines = {rival.id: rival.cosine for rival in rivals[place]}
        compared = [
            scales.weigh(memory, old, cosines[old.id]) for old in ledger.live(cosines, memory)
        ]
        weighed = [found for found in compared if ledger.may_follow(found)]
        wish = ledger.wish_for(each.wish, weighed)
        decision = decide(memory, weighed, ledger.now, wish)
        if refuses(place, memory, decision, ledger):
            answers.append(None)
            continue
        near = [*around.neighbours[place], *within_batch(desk, memories, batch.vectors, place)]
        item = Item(memory, batch.indexes[place], each.mentioned, near)
        outcome = ledger.carry_out(item, decision)
        answers.append(_answer(principal, memory, decision, outcome, (*queued, *each.remarks)))
    return ledger, answers


def _ledger(desk: Desk, principal: Principal, batch: Batch, around: Surroundings) -> Ledger:
    """Rivals as they stand, with what waits for or beside them."""
    standing = dict(around.known)
    conflicts = {memory.conflict for memory in standing.values() if memory.conflict}
    aside = any(each.wish is OnConflict.ALTERNATIVE for each in batch.asked)
    beside = list(standing) if aside else []
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


def repeats_told(
    desk: Desk, principal: Principal, answers: Sequence[Remembered], thread: str | None
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
            thread_id=thread,
            actor=principal.actor,
        )
    )

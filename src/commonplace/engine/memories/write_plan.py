"""Write plan: the steps of a batch, and its state after each decision."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any

from commonplace.engine.access import (
    can_see,
    may_change_instruction,
    proposes,
    visibility_of,
)
from commonplace.engine.composition import build_successor, is_override, retire_memory
from commonplace.engine.context import EngineContext
from commonplace.engine.memories.conflicts import (
    held_values_about,
    hold_alternative,
    hold_in_conflict,
    hold_proposal,
    is_same_statement,
    transfer_held_values,
)
from commonplace.engine.memories.neighbours import Comparer, Neighbour, build_links
from commonplace.engine.memory_relation import ComparedMemory, WriteDecision
from commonplace.engine.provenance.contributions import (
    REPLACES,
    add_contributor_evidence,
    hold_contributions,
    inherit_contributions,
    make_contribution,
    new_contributions,
    refresh_memory,
)
from commonplace.engine.provenance.evidence import (
    added_evidence,
    adds_only_evidence,
    supporting_sources,
)
from commonplace.model.access.principal import Principal
from commonplace.model.changeset import (
    AddMemory,
    ChangeMemory,
    ChangesetStep,
    IndexEntry,
    build_add,
    build_change,
    build_link,
)
from commonplace.model.journal import Event, Op
from commonplace.model.memory.kinds import (
    POLICIES,
    Action,
    MemoryRelation,
    OnConflict,
    action_for,
)
from commonplace.model.memory.memory import HeldValue, Memory, State


@dataclass(frozen=True, slots=True)
class PlannedMemory:
    """A new memory, ready to be stored."""

    memory: Memory
    index: IndexEntry
    mentioned: frozenset[str]  # the fields that the caller gave
    near: Sequence[Neighbour]


@dataclass(frozen=True, slots=True)
class WriteOutcome:
    memory: Memory  # the active memory, or the pending value
    conflict: str | None = None
    undo: tuple[str, ...] = ()  # refs that `restore` takes to undo the write


@dataclass(slots=True)
class WritePlan:
    """The state of the scope after the steps so far: each item of a batch is compared with the
    results of the items before it."""

    engine: EngineContext
    principal: Principal
    now: datetime
    memories: dict[str, Memory]
    held: list[HeldValue]
    comparer: Comparer
    steps: list[ChangesetStep] = field(default_factory=list)
    # By step number: memories whose text a decision changed.
    _to_reindex: dict[int, Memory] = field(default_factory=dict)
    _with_contributions: set[str] = field(default_factory=set)  # memories with stored contributions

    def live(self, ids: Iterable[str], new: Memory) -> list[Memory]:
        """The active memories among these that the new one may be compared with. Only memories that
        the caller can see are compared: an agent could otherwise test guesses and learn hidden
        content from the answers. If the new memory's own category is hidden from the caller,
        memories of hidden categories are compared too, so that nothing is stored twice; the answer
        is then the same in every case. See `may_affect`."""
        known = (self.memories.get(id) for id in ids)
        return [
            memory
            for memory in known
            if memory and memory.is_live(self.now) and self._may_be_compared(memory, new)
        ]

    def _may_be_compared(self, memory: Memory, new: Memory) -> bool:
        if can_see(self.principal, memory):
            return True
        visibility = visibility_of(self.principal)
        admitted_but_for_category = replace(visibility, categories=None).admits(memory)
        return admitted_but_for_category and not visibility.admits_category(new.category)

    def may_affect(self, new: Memory, compared: ComparedMemory) -> bool:
        """A caller cannot replace a memory that they cannot see. For such a memory only a repeat
        counts, and a pending value where the owner decides; anything else is stored separately. A
        rule of an agent's own replaces none of the owner's."""
        if compared.relation is MemoryRelation.NEW:
            return True
        if not proposes(self.principal, new) and not may_change_instruction(
            self.engine, self.principal, compared.old
        ):
            return False
        if POLICIES[new.kind].is_standing_instruction and new.agent_id != compared.old.agent_id:
            return False
        if can_see(self.principal, compared.old):
            return True
        return (
            compared.relation is MemoryRelation.REPEAT or POLICIES[compared.old.kind].asks_on_change
        )

    def on_conflict_for(
        self, requested: OnConflict, compared: Iterable[ComparedMemory]
    ) -> OnConflict:
        """A caller cannot override a memory that they cannot see: the owner is asked."""
        unseen = any(not can_see(self.principal, each.old) for each in compared)
        return OnConflict.ASK if unseen and requested is OnConflict.OVERRIDE else requested

    def all_steps(self) -> tuple[ChangesetStep, ...]:
        """Embed all texts that decisions changed, in one call."""
        if not self._to_reindex:
            return tuple(self.steps)
        indexes = self.comparer.index(list(self._to_reindex.values()))
        index_by_step = dict(zip(self._to_reindex, indexes, strict=True))
        return tuple(
            replace(step, index=index_by_step[number])
            if number in index_by_step and isinstance(step, AddMemory | ChangeMemory)
            else step
            for number, step in enumerate(self.steps)
        )

    def apply_decision(self, item: PlannedMemory, decision: WriteDecision) -> WriteOutcome:
        match decision.action:
            case Action.REFRESHED:
                return self._refresh(item, decision)
            case Action.SUPERSEDED | Action.OVERRIDDEN:
                return self._replace(item, decision)
            case Action.PENDING:
                return self._hold(item, decision)
            case Action.ALTERNATIVE:
                return self._hold_alternative(item, decision)
            case _:
                return self._store(_as_history(item, decision.until))

    def _store(self, item: PlannedMemory) -> WriteOutcome:
        best = round(item.near[0].similarity, 4) if item.near else None  # rest: noise of floats
        self._add(build_add(item.memory, item.index, similarity=best), item.memory)
        self._link(item.memory, item.near)
        return WriteOutcome(item.memory)

    def _refresh(self, item: PlannedMemory, decision: WriteDecision) -> WriteOutcome:
        old = decision.others[0]
        if proposes(self.principal, item.memory):  # the owner's own words already
            return WriteOutcome(old, old.conflict)
        mentioned = item.mentioned
        if not can_see(self.principal, old):
            if not POLICIES[old.kind].asks_on_change:
                return WriteOutcome(old, old.conflict)
            mentioned = frozenset()  # fill in missing fields only
        by_owner = self.principal.is_owner
        said = max(old.updated_at, item.memory.updated_at)
        after = refresh_memory(old, item.memory, mentioned, said, by_owner=by_owner)
        contributions = self._new_contributions(old, item, mentioned)
        if contributions:
            after = add_contributor_evidence(after, item.memory)
        meta: dict[str, Any] = {"relation": decision.relation}
        if after.evolve(updated_at=old.updated_at) == old:  # a repeat that adds nothing
            return WriteOutcome(old, old.conflict)
        if adds_only_evidence(old, after):
            meta["supported"] = True
        step = build_change(old, after, op=Op.UPDATE, event=Event.UPDATE, meta=meta)
        if after.indexed_texts != old.indexed_texts:
            self._to_reindex[len(self.steps)] = after
        self._add(step, step.after)
        self._hold_contributions(step.after, contributions)
        return WriteOutcome(step.after, old.conflict, (old.ref,))

    def _new_contributions(
        self, old: Memory, item: PlannedMemory, mentioned: frozenset[str]
    ) -> list[HeldValue]:
        """Contributions to a shared memory are also stored one by one, so that each can be
        withdrawn."""
        # Later than the stored contributions, and in the order of the batch.
        at = self.now + timedelta(microseconds=len(self.steps) + 1)
        has_first = old.id in self._with_contributions
        new = item.memory
        return new_contributions(self.engine, self.principal, old, new, mentioned, at, has_first)

    def _hold_contributions(self, memory: Memory, contributions: Sequence[HeldValue]) -> None:
        self.steps += hold_contributions(memory, contributions)
        if contributions:
            self._with_contributions.add(memory.id)

    def _replace(self, item: PlannedMemory, decision: WriteDecision) -> WriteOutcome:
        first = decision.others[0]
        new = build_successor(item.memory, first, item.mentioned)
        if decision.relation is MemoryRelation.REWORDING:
            earlier = added_evidence(new, first, first.agent_id is None)
            new = new.evolve(evidence=(*earlier, *new.evidence))
        if new.indexed_texts != item.memory.indexed_texts:
            self._to_reindex[len(self.steps)] = new
        event = Event.OVERRIDE if is_override(new.kind) else Event.UPDATE
        meta = {"relation": decision.relation, "replaces": [m.id for m in decision.others]}
        self._add(build_add(new, item.index, event=event, old_ref=first.ref, meta=meta), new)
        if decision.relation is MemoryRelation.REWORDING or decision.action is Action.OVERRIDDEN:
            replaces = REPLACES if decision.action is Action.OVERRIDDEN else ""
            self._hold_contributions(new, self._inherited_contributions(new, first, item, replaces))
        for old in decision.others:
            self.retire(old, new)
        gone = {old.id for old in decision.others}
        self._link(new, [near for near in item.near if near.id not in gone])
        return WriteOutcome(new, undo=tuple(old.id for old in decision.others))

    def retire(self, old: Memory, new: Memory) -> None:
        """The new memory, which is stored, takes the old one's place."""
        step = retire_memory(old, new, self.now, self.engine.lifetimes.restorable)
        self._add(step, step.after)
        self._transfer_held_values(old, new)

    def _inherited_contributions(
        self, new: Memory, old: Memory, item: PlannedMemory, reason: str
    ) -> list[HeldValue]:
        """The contributions to the old memory, and this one, become contributions to the new
        memory."""
        at = self.now + timedelta(microseconds=len(self.steps) + 1)
        contribution = make_contribution(item.memory, item.mentioned, at, reason)
        return inherit_contributions(self.engine, self.principal, new, old, contribution)

    def _transfer_held_values(self, old: Memory, new: Memory) -> None:
        """Transfer the values held against the old memory: those in the store and those of this
        batch."""
        stored = {h.memory.id: h for h in held_values_about(self.engine, self.principal, old)}
        by_id = stored | {held.memory.id: held for held in self.held}
        affected = [
            held
            for held in by_id.values()
            if held.alternative_to == old.id or (old.conflict and held.conflict == old.conflict)
        ]
        transferred = transfer_held_values(old, affected, new)
        self.steps += transferred.steps
        moved_ids = {held.memory.id for held in affected}
        self.held = [h for h in self.held if h.memory.id not in moved_ids] + list(transferred.left)
        if any(held.conflict for held in transferred.left):
            self.memories[new.id] = new.evolve(conflict=old.conflict)

    def _hold(self, item: PlannedMemory, decision: WriteDecision) -> WriteOutcome:
        value = self._held(item, decision, conflict=self.engine.new_id())
        if proposes(self.principal, item.memory):
            result = hold_proposal(value, decision.others, self.held)
        else:
            result = hold_in_conflict(value, decision.others, self.held)
        self.steps += result.steps
        if result.steps:
            joined = {target.conflict for target in decision.others} - {None, result.conflict}
            self.held = [_move_to_conflict(each, joined, result.conflict) for each in self.held]
            if result.held not in self.held:
                self.held.append(result.held)
            disputed = {target.id for target in decision.others}
            for id, memory in self.memories.items():
                if id in disputed or memory.conflict in joined:
                    self.memories[id] = memory.evolve(conflict=result.conflict)
        return WriteOutcome(result.held.memory, result.conflict)

    def _hold_alternative(self, item: PlannedMemory, decision: WriteDecision) -> WriteOutcome:
        target = decision.others[0]
        value = self._held(item, decision, alternative_to=target.id)
        for other in self.held:  # one per source: the other sources may be removed later
            is_same = other.alternative_to == target.id and is_same_statement(
                other.memory, item.memory
            )
            if is_same and supporting_sources(item.memory) <= supporting_sources(other.memory):
                return WriteOutcome(other.memory)
        self.steps.append(hold_alternative(value, target))
        self.held.append(value)
        return WriteOutcome(item.memory)

    def _held(
        self,
        item: PlannedMemory,
        decision: WriteDecision,
        conflict: str | None = None,
        alternative_to: str | None = None,
    ) -> HeldValue:
        actor = self.principal.actor
        # Distinct within a batch, so that one value is the newest.
        at = self.now + timedelta(microseconds=len(self.steps))
        return HeldValue(
            item.memory, conflict, alternative_to, item.mentioned, decision.reason, actor, at
        )

    def _add(self, step: ChangesetStep, after: Memory) -> None:
        self.steps.append(step)
        self.memories[after.id] = after

    def _link(self, memory: Memory, near: Iterable[Neighbour]) -> None:
        active = [
            each
            for each in near
            if each.id in self.memories and self.memories[each.id].is_live(self.now)
        ]
        self.steps += [build_link(link) for link in build_links(memory, active, self.now)]


def texts_after_decision(
    new: Memory, mentioned: frozenset[str], old: Memory, relation: MemoryRelation, by_owner: bool
) -> list[str]:
    """The text that a decision would produce by combining two memories, if it changes the old one's
    text."""
    if relation in (MemoryRelation.NEW, MemoryRelation.NEAR):
        return []
    if action_for(relation, new.kind, same_day=True) is Action.REFRESHED:
        after = refresh_memory(old, new, mentioned, new.created_at, by_owner=by_owner)
    else:
        after = build_successor(new, old, mentioned)
    return list(after.indexed_texts) if after.indexed_texts != old.indexed_texts else []


def _as_history(item: PlannedMemory, until: Memory | None) -> PlannedMemory:
    """A value that was replaced before the known value started is stored as superseded: it is valid
    in its own period only."""
    if until is None:
        return item
    ends = max(filter(None, (item.memory.valid_from, until.valid_from)), default=None)
    superseded = item.memory.evolve(state=State.SUPERSEDED, superseded_by=until.id, valid_to=ends)
    return replace(item, memory=superseded)


def _move_to_conflict(held: HeldValue, joined: set[str | None], conflict: str) -> HeldValue:
    return replace(held, conflict=conflict) if held.conflict in joined else held

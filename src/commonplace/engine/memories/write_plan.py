"""Write plan: the steps of a batch, and its state after each decision."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any

from commonplace.engine.access import can_see, visibility_of
from commonplace.engine.comparison import ComparedMemory, WriteDecision
from commonplace.engine.composition import build_successor, is_override, retire_memory
from commonplace.engine.context import EngineContext
from commonplace.engine.memories.conflicts import (
    held_values_about,
    hold_alternative,
    hold_in_conflict,
    is_same_statement,
    transfer_held_values,
)
from commonplace.engine.memories.neighbours import Comparer, Neighbour, build_links
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
    memory: Memory  # that says it now, or waits
    conflict: str | None = None
    undo: tuple[str, ...] = ()  # what `restore` takes to have it as it was


@dataclass(slots=True)
class WritePlan:
    """How things stand after the steps so far, so that the next of a batch sees what the ones
    before it did."""

    engine: EngineContext
    principal: Principal
    now: datetime
    standing: dict[str, Memory]
    held: list[HeldValue]
    scales: Comparer
    steps: list[ChangesetStep] = field(default_factory=list)
    _to_reindex: dict[int, Memory] = field(default_factory=dict)  # what a step says in new words
    _with_contributions: set[str] = field(
        default_factory=set
    )  # memories whose tellings are kept, too

    def live(self, ids: Iterable[str], new: Memory) -> list[Memory]:
        """Of these what the new one is compared with: what the caller may know of, since an agent
        that told guesses of what is kept from it would learn from the answers which of them is
        right. Who tells of a category that they do not see is answered the same whatever is there,
        so there the rest of what is unseen counts too, and nothing is stored twice: but see
        `may_follow`."""
        known = (self.standing.get(id) for id in ids)
        return [
            memory
            for memory in known
            if memory and memory.is_live(self.now) and self._may_be_compared(memory, new)
        ]

    def _may_be_compared(self, memory: Memory, new: Memory) -> bool:
        if can_see(self.principal, memory):
            return True
        sight = visibility_of(self.principal)
        by_category = replace(sight, categories=None).admits(memory)
        return by_category and not sight.admits_category(new.category)

    def may_affect(self, weighed: ComparedMemory) -> bool:
        """Nobody takes the place of what they do not see. There, what was told before counts, and
        where the owner decides, that another value waits; whatever else is told stands beside."""
        if can_see(self.principal, weighed.old):
            return True
        return (
            weighed.relation is MemoryRelation.REPEAT or POLICIES[weighed.old.kind].asks_on_change
        )

    def on_conflict_for(self, wish: OnConflict, weighed: Iterable[ComparedMemory]) -> OnConflict:
        """Nor does anybody decide about it."""
        unseen = any(not can_see(self.principal, each.old) for each in weighed)
        return OnConflict.ASK if unseen and wish is OnConflict.OVERRIDE else wish

    def all_steps(self) -> tuple[ChangesetStep, ...]:
        """Words that came of a decision are embedded together, however many there are."""
        if not self._to_reindex:
            return tuple(self.steps)
        indexes = self.scales.index(list(self._to_reindex.values()))
        anew = dict(zip(self._to_reindex, indexes, strict=True))
        return tuple(
            replace(step, index=anew[place])
            if place in anew and isinstance(step, AddMemory | ChangeMemory)
            else step
            for place, step in enumerate(self.steps)
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
        best = item.near[0].similarity if item.near else None
        self._add(build_add(item.memory, item.index, similarity=best), item.memory)
        self._link(item.memory, item.near)
        return WriteOutcome(item.memory)

    def _refresh(self, item: PlannedMemory, decision: WriteDecision) -> WriteOutcome:
        old = decision.others[0]
        mentioned = item.mentioned
        if not can_see(self.principal, old):
            if not POLICIES[old.kind].asks_on_change:
                return WriteOutcome(old, old.conflict)
            mentioned = frozenset()  # only what is missing is filled in
        by_owner = self.principal.is_owner
        after = refresh_memory(old, item.memory, mentioned, self.now, by_owner=by_owner)
        parts = self._parts(old, item, mentioned)
        if parts:
            after = add_contributor_evidence(after, item.memory)
        told: dict[str, Any] = {"relation": decision.relation}
        if after.evolve(updated_at=old.updated_at) == old:  # told again, with nothing new
            return WriteOutcome(old, old.conflict)
        if adds_only_evidence(old, after):
            told["supported"] = True
        step = build_change(old, after, op=Op.UPDATE, event=Event.UPDATE, meta=told)
        if after.searchable_text != old.searchable_text:
            self._to_reindex[len(self.steps)] = after
        self._add(step, step.after)
        self._keep_parts(step.after, parts)
        return WriteOutcome(step.after, old.conflict, (old.ref,))

    def _parts(
        self, old: Memory, item: PlannedMemory, mentioned: frozenset[str]
    ) -> list[HeldValue]:
        """What is told together is kept apart, too, so that each can be taken back."""
        at = self.now + timedelta(microseconds=len(self.steps) + 1)  # after what stood, in order
        has_first = old.id in self._with_contributions
        new = item.memory
        return new_contributions(self.engine, self.principal, old, new, mentioned, at, has_first)

    def _keep_parts(self, memory: Memory, parts: Sequence[HeldValue]) -> None:
        self.steps += hold_contributions(memory, parts)
        if parts:
            self._with_contributions.add(memory.id)

    def _replace(self, item: PlannedMemory, decision: WriteDecision) -> WriteOutcome:
        first = decision.others[0]
        new = build_successor(item.memory, first, item.mentioned)
        if decision.relation is MemoryRelation.REWORDING:
            earlier = added_evidence(new, first, first.agent_id is None)
            new = new.evolve(evidence=(*earlier, *new.evidence))
        if new.searchable_text != item.memory.searchable_text:
            self._to_reindex[len(self.steps)] = new
        event = Event.OVERRIDE if is_override(new.kind) else Event.UPDATE
        told = {"relation": decision.relation, "replaces": [m.id for m in decision.others]}
        self._add(build_add(new, item.index, event=event, old_ref=first.ref, meta=told), new)
        if decision.relation is MemoryRelation.REWORDING or decision.action is Action.OVERRIDDEN:
            replaces = REPLACES if decision.action is Action.OVERRIDDEN else ""
            self._keep_parts(new, self._parts_in_place(new, first, item, replaces))
        for old in decision.others:
            step = retire_memory(old, new, self.now, self.engine.lifetimes.restorable)
            self._add(step, step.after)
            self._transfer_held_values(old, new)
        gone = {old.id for old in decision.others}
        self._link(new, [near for near in item.near if near.id not in gone])
        return WriteOutcome(new, undo=tuple(old.id for old in decision.others))

    def _parts_in_place(
        self, new: Memory, old: Memory, item: PlannedMemory, how: str
    ) -> list[HeldValue]:
        """What was told of the old one, and what is told now, are parts of the new one."""
        at = self.now + timedelta(microseconds=len(self.steps) + 1)
        told = make_contribution(item.memory, item.mentioned, at, how)
        return inherit_contributions(self.engine, self.principal, new, old, told)

    def _transfer_held_values(self, old: Memory, new: Memory) -> None:
        """What waits about the old one, as the store has it and as this batch has left it."""
        stored = {h.memory.id: h for h in held_values_about(self.engine, self.principal, old)}
        known = stored | {held.memory.id: held for held in self.held}
        waiting = [
            held
            for held in known.values()
            if held.alternative_to == old.id or (old.conflict and held.conflict == old.conflict)
        ]
        carried = transfer_held_values(old, waiting, new)
        self.steps += carried.steps
        handed = {held.memory.id for held in waiting}
        self.held = [h for h in self.held if h.memory.id not in handed] + list(carried.left)
        if any(held.conflict for held in carried.left):
            self.standing[new.id] = new.evolve(conflict=old.conflict)

    def _hold(self, item: PlannedMemory, decision: WriteDecision) -> WriteOutcome:
        value = self._held(item, decision, conflict=self.engine.new_id())
        waiting = hold_in_conflict(value, decision.others, self.held)
        self.steps += waiting.steps
        if waiting.steps:
            joined = {target.conflict for target in decision.others} - {None, waiting.conflict}
            self.held = [_move_to_conflict(each, joined, waiting.conflict) for each in self.held]
            if waiting.held not in self.held:
                self.held.append(waiting.held)
            disputed = {target.id for target in decision.others}
            for id, memory in self.standing.items():
                if id in disputed or memory.conflict in joined:
                    self.standing[id] = memory.evolve(conflict=waiting.conflict)
        return WriteOutcome(waiting.held.memory, waiting.conflict)

    def _hold_alternative(self, item: PlannedMemory, decision: WriteDecision) -> WriteOutcome:
        stands = decision.others[0]
        value = self._held(item, decision, beside=stands.id)
        for known in self.held:
            is_same = known.alternative_to == stands.id and is_same_statement(
                known.memory, item.memory
            )
            if is_same and supporting_sources(item.memory) <= supporting_sources(known.memory):
                return WriteOutcome(
                    known.memory
                )  # another source tells it, too: it may be the last
        self.steps.append(hold_alternative(value, stands))
        self.held.append(value)
        return WriteOutcome(item.memory)

    def _held(
        self,
        item: PlannedMemory,
        decision: WriteDecision,
        conflict: str | None = None,
        beside: str | None = None,
    ) -> HeldValue:
        actor = self.principal.actor
        at = self.now + timedelta(microseconds=len(self.steps))  # of a batch, too, one is newest
        return HeldValue(item.memory, conflict, beside, item.mentioned, decision.reason, actor, at)

    def _add(self, step: ChangesetStep, after: Memory) -> None:
        self.steps.append(step)
        self.standing[after.id] = after

    def _link(self, memory: Memory, near: Iterable[Neighbour]) -> None:
        standing = [
            each
            for each in near
            if each.id in self.standing and self.standing[each.id].is_live(self.now)
        ]
        self.steps += [build_link(link) for link in build_links(memory, standing, self.now)]


def texts_after_decision(
    asked: Memory, mentioned: frozenset[str], old: Memory, relation: MemoryRelation, by_owner: bool
) -> list[str]:
    """The words of what comes of two memories, where a decision may join them."""
    if relation in (MemoryRelation.NEW, MemoryRelation.NEAR):
        return []
    if action_for(relation, asked.kind, same_day=True) is Action.REFRESHED:
        after = refresh_memory(old, asked, mentioned, asked.created_at, by_owner=by_owner)
    else:
        after = build_successor(asked, old, mentioned)
    return [after.searchable_text] if after.searchable_text != old.searchable_text else []


def _as_history(item: PlannedMemory, until: Memory | None) -> PlannedMemory:
    """What held before something that is known already: it is true of its time, and not now."""
    if until is None:
        return item
    over = item.memory.evolve(
        state=State.SUPERSEDED, superseded_by=until.id, valid_to=until.valid_from
    )
    return replace(item, memory=over)


def _move_to_conflict(held: HeldValue, joined: set[str | None], conflict: str) -> HeldValue:
    return replace(held, conflict=conflict) if held.conflict in joined else held

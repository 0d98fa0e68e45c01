"""From a decision to the steps that carry it out, one item of a batch after the other."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any

from commonplace.desk import Desk, can_see, index_all, visibility_of
from commonplace.model.changes import Add, Change, Indexing, Step, added, changed, connected
from commonplace.model.conflict import Held
from commonplace.model.journal import Event, Op
from commonplace.model.memory import Memory, State
from commonplace.model.relations import Action, OnConflict, Relation, asks
from commonplace.model.scope import Principal
from commonplace.remember.decide import Decision, Weighed
from commonplace.remember.hold import (
    carry,
    hold,
    hold_beside,
    says_the_same,
    waiting_about,
)
from commonplace.remember.link import links_for
from commonplace.remember.neighbours import Neighbour
from commonplace.remember.refresh import refreshed
from commonplace.remember.replace import in_place_of, is_override, make_way
from commonplace.remember.supports import added_by_telling, is_only_supported, sources_behind
from commonplace.remember.told_together import (
    REPLACES,
    kept_with,
    parts_in_place,
    resting_on,
    saying,
    tellings,
)


@dataclass(frozen=True, slots=True)
class Item:
    """A new memory, ready to be stored."""

    memory: Memory
    index: Indexing
    mentioned: frozenset[str]  # the fields that the caller gave
    near: Sequence[Neighbour]


@dataclass(frozen=True, slots=True)
class Outcome:
    memory: Memory  # that says it now, or waits
    conflict: str | None = None
    undo: tuple[str, ...] = ()  # what `restore` takes to have it as it was


@dataclass(slots=True)
class Ledger:
    """How things stand after the steps so far, so that the next of a batch sees what the ones
    before it did."""

    desk: Desk
    principal: Principal
    now: datetime
    standing: dict[str, Memory]
    held: list[Held]
    steps: list[Step] = field(default_factory=list)
    _reworded: dict[int, Memory] = field(default_factory=dict)  # what a step says in new words
    _in_parts: set[str] = field(default_factory=set)  # memories whose tellings are kept, too

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

    def may_follow(self, weighed: Weighed) -> bool:
        """Nobody takes the place of what they do not see. There, what was told before counts, and
        where the owner decides, that another value waits; whatever else is told stands beside."""
        if can_see(self.principal, weighed.old):
            return True
        return weighed.relation is Relation.REPEAT or asks(weighed.old.kind)

    def wish_for(self, wish: OnConflict, weighed: Iterable[Weighed]) -> OnConflict:
        """Nor does anybody decide about it."""
        unseen = any(not can_see(self.principal, each.old) for each in weighed)
        return OnConflict.ASK if unseen and wish is OnConflict.OVERRIDE else wish

    def all_steps(self) -> tuple[Step, ...]:
        """Words that came of a decision are embedded together, however many there are."""
        if not self._reworded:
            return tuple(self.steps)
        indexes, _ = index_all(self.desk, list(self._reworded.values()))
        anew = dict(zip(self._reworded, indexes, strict=True))
        return tuple(
            replace(step, index=anew[place])
            if place in anew and isinstance(step, Add | Change)
            else step
            for place, step in enumerate(self.steps)
        )

    def carry_out(self, item: Item, decision: Decision) -> Outcome:
        match decision.action:
            case Action.REFRESHED:
                return self._refresh(item, decision)
            case Action.SUPERSEDED | Action.OVERRIDDEN:
                return self._replace(item, decision)
            case Action.PENDING:
                return self._hold(item, decision)
            case Action.ALTERNATIVE:
                return self._keep_beside(item, decision)
            case _:
                return self._store(_as_history(item, decision.until))

    def _store(self, item: Item) -> Outcome:
        best = item.near[0].similarity if item.near else None
        self._add(added(item.memory, item.index, similarity=best), item.memory)
        self._link(item.memory, item.near)
        return Outcome(item.memory)

    def _refresh(self, item: Item, decision: Decision) -> Outcome:
        old = decision.others[0]
        mentioned = item.mentioned
        if not can_see(self.principal, old):
            if not asks(old.kind):
                return Outcome(old, old.conflict)
            mentioned = frozenset()  # only what is missing is filled in
        by_owner = self.principal.is_owner
        after = refreshed(old, item.memory, mentioned, self.now, by_owner=by_owner)
        parts = self._parts(old, item, mentioned)
        if parts:
            after = resting_on(after, item.memory)
        told: dict[str, Any] = {"relation": decision.relation}
        if after.evolve(updated_at=old.updated_at) == old:  # told again, with nothing new
            return Outcome(old, old.conflict)
        if is_only_supported(old, after):
            told["supported"] = True
        step = changed(old, after, op=Op.UPDATE, event=Event.UPDATE, meta=told)
        if after.searchable_text != old.searchable_text:
            self._reworded[len(self.steps)] = after
        self._add(step, step.after)
        self._keep_parts(step.after, parts)
        return Outcome(step.after, old.conflict, (old.ref,))

    def _parts(self, old: Memory, item: Item, mentioned: frozenset[str]) -> list[Held]:
        """What is told together is kept apart, too, so that each can be taken back."""
        at = self.now + timedelta(microseconds=len(self.steps) + 1)  # after what stood, in order
        has_first = old.id in self._in_parts
        new = item.memory
        return tellings(self.desk, self.principal, old, new, mentioned, at, has_first)

    def _keep_parts(self, memory: Memory, parts: Sequence[Held]) -> None:
        self.steps += kept_with(memory, parts)
        if parts:
            self._in_parts.add(memory.id)

    def _replace(self, item: Item, decision: Decision) -> Outcome:
        first = decision.others[0]
        new = in_place_of(item.memory, first, item.mentioned)
        if decision.relation is Relation.REWORDING:
            earlier = added_by_telling(new, first, first.agent_id is None)
            new = new.evolve(evidence=(*earlier, *new.evidence))
        if new.searchable_text != item.memory.searchable_text:
            self._reworded[len(self.steps)] = new
        event = Event.OVERRIDE if is_override(new.kind) else Event.UPDATE
        told = {"relation": decision.relation, "replaces": [m.id for m in decision.others]}
        self._add(added(new, item.index, event=event, old_ref=first.ref, meta=told), new)
        if decision.relation is Relation.REWORDING or decision.action is Action.OVERRIDDEN:
            replaces = REPLACES if decision.action is Action.OVERRIDDEN else ""
            self._keep_parts(new, self._parts_in_place(new, first, item, replaces))
        for old in decision.others:
            step = make_way(old, new, self.now, self.desk.lifetimes.restorable)
            self._add(step, step.after)
            self._hand_over(old, new)
        gone = {old.id for old in decision.others}
        self._link(new, [near for near in item.near if near.id not in gone])
        return Outcome(new, undo=tuple(old.id for old in decision.others))

    def _parts_in_place(self, new: Memory, old: Memory, item: Item, how: str) -> list[Held]:
        """What was told of the old one, and what is told now, are parts of the new one."""
        at = self.now + timedelta(microseconds=len(self.steps) + 1)
        told = saying(item.memory, item.mentioned, at, how)
        return parts_in_place(self.desk, self.principal, new, old, told)

    def _hand_over(self, old: Memory, new: Memory) -> None:
        """What waits about the old one, as the store has it and as this batch has left it."""
        stored = {h.memory.id: h for h in waiting_about(self.desk, self.principal, old)}
        known = stored | {held.memory.id: held for held in self.held}
        waiting = [
            held
            for held in known.values()
            if held.beside == old.id or (old.conflict and held.conflict == old.conflict)
        ]
        carried = carry(old, waiting, new)
        self.steps += carried.steps
        handed = {held.memory.id for held in waiting}
        self.held = [h for h in self.held if h.memory.id not in handed] + list(carried.left)
        if any(held.conflict for held in carried.left):
            self.standing[new.id] = new.evolve(conflict=old.conflict)

    def _hold(self, item: Item, decision: Decision) -> Outcome:
        value = self._held(item, decision, conflict=self.desk.new_id())
        waiting = hold(value, decision.others, self.held)
        self.steps += waiting.steps
        if waiting.steps:
            joined = {target.conflict for target in decision.others} - {None, waiting.conflict}
            self.held = [_moved(each, joined, waiting.conflict) for each in self.held]
            if waiting.held not in self.held:
                self.held.append(waiting.held)
            disputed = {target.id for target in decision.others}
            for id, memory in self.standing.items():
                if id in disputed or memory.conflict in joined:
                    self.standing[id] = memory.evolve(conflict=waiting.conflict)
        return Outcome(waiting.held.memory, waiting.conflict)

    def _keep_beside(self, item: Item, decision: Decision) -> Outcome:
        stands = decision.others[0]
        value = self._held(item, decision, beside=stands.id)
        for known in self.held:
            is_same = known.beside == stands.id and says_the_same(known.memory, item.memory)
            if is_same and sources_behind(item.memory) <= sources_behind(known.memory):
                return Outcome(known.memory)  # another source tells it, too: it may be the last
        self.steps.append(hold_beside(value, stands))
        self.held.append(value)
        return Outcome(item.memory)

    def _held(
        self,
        item: Item,
        decision: Decision,
        conflict: str | None = None,
        beside: str | None = None,
    ) -> Held:
        actor = self.principal.actor
        at = self.now + timedelta(microseconds=len(self.steps))  # of a batch, too, one is newest
        return Held(item.memory, conflict, beside, item.mentioned, decision.reason, actor, at)

    def _add(self, step: Step, after: Memory) -> None:
        self.steps.append(step)
        self.standing[after.id] = after

    def _link(self, memory: Memory, near: Iterable[Neighbour]) -> None:
        standing = [
            each
            for each in near
            if each.id in self.standing and self.standing[each.id].is_live(self.now)
        ]
        self.steps += [connected(link) for link in links_for(memory, standing, self.now)]


def _as_history(item: Item, until: Memory | None) -> Item:
    """What held before something that is known already: it is true of its time, and not now."""
    if until is None:
        return item
    over = item.memory.evolve(
        state=State.SUPERSEDED, superseded_by=until.id, valid_to=until.valid_from
    )
    return replace(item, memory=over)


def _moved(held: Held, joined: set[str | None], conflict: str) -> Held:
    return replace(held, conflict=conflict) if held.conflict in joined else held

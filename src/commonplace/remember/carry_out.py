"""From a decision to the steps that carry it out, one item of a batch after the other."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from commonplace.desk import Desk, index_all
from commonplace.model.changes import Indexing, Step, added, changed, connected
from commonplace.model.conflict import Held
from commonplace.model.journal import Event, Op
from commonplace.model.memory import Memory
from commonplace.model.relations import Action, Relation
from commonplace.model.scope import Principal
from commonplace.remember.decide import Decision
from commonplace.remember.hold import carried, hold, hold_beside
from commonplace.remember.link import links_for
from commonplace.remember.neighbours import Neighbour
from commonplace.remember.refresh import refreshed
from commonplace.remember.replace import in_place_of, is_override, make_way


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

    def live(self, ids: Iterable[str]) -> list[Memory]:
        known = (self.standing.get(id) for id in ids)
        return [memory for memory in known if memory and memory.is_live(self.now)]

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
                return self._store(item)

    def _store(self, item: Item) -> Outcome:
        best = item.near[0].similarity if item.near else None
        self._add(added(item.memory, item.index, similarity=best), item.memory)
        self._link(item.memory, item.near)
        return Outcome(item.memory)

    def _refresh(self, item: Item, decision: Decision) -> Outcome:
        old = decision.others[0]
        after = refreshed(old, item.memory, item.mentioned, self.now)
        index = None
        if after.searchable_text != old.searchable_text:
            index = index_all(self.desk, [after])[0][0]
        step = changed(
            old,
            after,
            op=Op.UPDATE,
            event=Event.UPDATE,
            index=index,
            meta={"relation": decision.relation},
        )
        self._add(step, step.after)
        return Outcome(step.after, old.conflict, (old.ref,))

    def _replace(self, item: Item, decision: Decision) -> Outcome:
        first = decision.others[0]
        same_fact = decision.relation is Relation.REWORDING
        new = in_place_of(item.memory, first, item.mentioned, same_fact=same_fact)
        index = item.index
        if new.searchable_text != item.memory.searchable_text:
            index = index_all(self.desk, [new])[0][0]
        event = Event.OVERRIDE if is_override(new.kind) else Event.UPDATE
        told = {"relation": decision.relation, "replaces": [m.id for m in decision.others]}
        self._add(added(new, index, event=event, old_ref=first.ref, meta=told), new)
        for old in decision.others:
            step = make_way(old, new, self.now, self.desk.lifetimes.restorable)
            self._add(step, step.after)
            if old.conflict:
                waiting = [held for held in self.held if held.conflict == old.conflict]
                self.steps += carried(old, waiting, new)
        gone = {old.id for old in decision.others}
        self._link(new, [near for near in item.near if near.id not in gone])
        return Outcome(new, undo=tuple(old.id for old in decision.others))

    def _hold(self, item: Item, decision: Decision) -> Outcome:
        value = self._held(item, decision.reason, conflict=self.desk.new_id())
        waiting = hold(value, decision.others, self.held)
        self.steps += waiting.steps
        if waiting.steps:
            joined = {target.conflict for target in decision.others} - {None, waiting.conflict}
            self.held = [_moved(each, joined, waiting.conflict) for each in self.held]
            self.held.append(waiting.held)
            for target in decision.others:
                self.standing[target.id] = target.evolve(conflict=waiting.conflict)
        return Outcome(waiting.held.memory, waiting.conflict)

    def _keep_beside(self, item: Item, decision: Decision) -> Outcome:
        stands = decision.others[0]
        value = self._held(item, decision.reason, beside=stands.id)
        known = [each for each in self.held if each.beside == stands.id]
        steps = hold_beside(value, stands, known)
        self.steps += steps
        self.held += [value] if steps else []
        return Outcome(item.memory)

    def _held(
        self, item: Item, reason: str, conflict: str | None = None, beside: str | None = None
    ) -> Held:
        actor = self.principal.actor
        return Held(item.memory, conflict, beside, item.mentioned, reason, actor, self.now)

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


def _moved(held: Held, joined: set[str | None], conflict: str) -> Held:
    return replace(held, conflict=conflict) if held.conflict in joined else held

"""Unimportant memories that nobody has read for long are forgotten; `restore` brings them back."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from commonplace.engine.composition import soft_delete_memory
from commonplace.engine.context import EngineContext
from commonplace.engine.maintenance.sleep.task import Batch, Decide, Night, NightAction
from commonplace.engine.maintenance.sleep.tasks.expiry import find_memories_where
from commonplace.model.access.principal import Scope
from commonplace.model.changeset import ChangeMemory
from commonplace.model.filters import Filters
from commonplace.model.journal import Event, JournalNode
from commonplace.model.memory.lifecycle import IDLE_KINDS, is_idle, last_used
from commonplace.model.memory.memory import Memory
from commonplace.store.queries import MemoryListing

IDLE = "unimportant, and not read for long"
_PAGE_SIZE = 1000
_IMPORTANCE_MAX = 2


def run_idle(night: Night) -> Decide:
    """The least important first, and of these those that were not used for longest."""

    def decide() -> Batch:
        idle = find_idle(night.engine, night.scope, night.now)
        found = [each for each in idle if each.id not in night.rests]
        may_end = night.may_still_end
        chosen = found[: min(may_end, night.actions_at_once)]
        actions = [idle_action(night.engine, each, night.now) for each in chosen]
        left = len(found) - len(chosen)
        has_more = bool(left) and may_end > len(chosen)
        return Batch(actions, has_more=has_more, waiting=left)

    return decide


def find_idle(engine: EngineContext, scope: Scope, now: datetime) -> list[Memory]:
    unchanged = now - engine.lifetimes.idle
    # One microsecond more: `updated_before` excludes the moment itself.
    filters = Filters(
        kinds=IDLE_KINDS,
        importance_max=_IMPORTANCE_MAX,
        updated_before=unchanged + timedelta(microseconds=1),
    )
    listing = MemoryListing(filters=filters, now=now, limit=_PAGE_SIZE)
    found = find_memories_where(
        engine, scope, listing, lambda each: is_idle(each, now, engine.lifetimes)
    )
    return sorted(found, key=lambda each: (each.importance, last_used(each), each.id))


def forget_idle_memories(
    engine: EngineContext, scope: Scope, now: datetime, limit: int
) -> Sequence[NightAction]:
    """As a stage of tidy."""
    return [idle_action(engine, each, now) for each in find_idle(engine, scope, now)[:limit]]


def idle_action(engine: EngineContext, memory: Memory, now: datetime) -> NightAction:
    return NightAction(IDLE, (_forget(engine, memory, now),), ends=(memory.id,))


def _forget(engine: EngineContext, memory: Memory, now: datetime) -> ChangeMemory:
    until = now + engine.lifetimes.restorable
    return soft_delete_memory(memory, now, until, event=Event.TTL, node=JournalNode.WORKER)

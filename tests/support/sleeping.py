"""Runs one task of a night: its batches are applied as the runner does, one changeset for each."""

from __future__ import annotations

from collections.abc import Sequence

from commonplace.api import User
from commonplace.engine.indexing import index_memories
from commonplace.engine.maintenance.sleep.task import Batch, Night, NightAction, Task
from commonplace.engine.transaction import run_transaction
from commonplace.model.changeset import Changeset, build_add
from commonplace.model.memory.memory import Memory
from commonplace.model.sleep import SLEEP_ACTOR, SleepRun, SleepSchedule, SleepTask, endings_left
from support.making import changeset


def a_night(me: User, *, live: int = 1000, ended: int = 0, dry_run: bool = False) -> Night:
    engine = me._engine
    engine.access_log.flush()
    now = engine.clock()
    run = SleepRun(
        id="run",
        schedule=SleepSchedule.BY_HAND,
        due_at=now,
        tasks=tuple(SleepTask),
        started_at=now,
        live_at_start=live,
        ended=ended,
    )
    left = endings_left(run, ())
    return Night(engine, me.principal.own_scope, run, now, left, dry_run)


def sleep_through(me: User, task: Task, *, live: int = 1000, ended: int = 0) -> list[Batch]:
    """All batches of the task, within the limits of a night."""
    batches = []
    while True:
        night = a_night(me, live=live, ended=ended)
        decide = task(night)

        def decision(night: Night = night, decide=decide) -> tuple[Changeset, Batch]:
            revision = night.engine.store.counters(night.scope).revision
            batch = decide()
            steps = [step for action in batch.actions for step in action.steps]
            all_steps = (*steps, *batch.silent)
            return Changeset(night.scope, night.now, SLEEP_ACTOR, all_steps, revision), batch

        _, batch = run_transaction(night.engine, None, decision)
        ended += sum(len(action.ends) for action in batch.actions)
        batches.append(batch)
        if not batch.has_more:
            return batches


def store_beside(me: User, memories: Sequence[Memory]) -> list[str]:
    """As an import does: nothing compares them while they are stored."""
    indexes, _ = index_memories(me._engine, memories)
    steps = (build_add(memory, index) for memory, index in zip(memories, indexes, strict=True))
    me._engine.store.apply(changeset(*steps))
    return [memory.id for memory in memories]


def actions_of(batches: list[Batch]) -> list[NightAction]:
    return [action for batch in batches for action in batch.actions]


def rehearsed(me: User, task: Task, *, live: int = 1000) -> Batch:
    """What a dry run would do."""
    return task(a_night(me, live=live, dry_run=True))()

"""One task of a night, run to its end without a runner."""

from __future__ import annotations

from commonplace.api import User
from commonplace.engine.maintenance.sleep.task import Batch, Night, Task
from commonplace.engine.transaction import run_transaction
from commonplace.model.changeset import Changeset
from commonplace.model.sleep import (
    SLEEP_ACTOR,
    SleepRun,
    SleepSchedule,
    SleepTask,
    TaskResult,
    endings_left,
)

MAX_BATCHES = 50


def night_of(user: User, *, dry_run: bool = False, done: tuple[TaskResult, ...] = ()) -> Night:
    engine = user._engine
    now = engine.clock()
    run = SleepRun(
        id="run",
        schedule=SleepSchedule.BY_HAND,
        due_at=now,
        tasks=tuple(SleepTask),
        started_at=now,
        live_at_start=1_000,
        results=done,
    )
    left = endings_left(run, ())
    return Night(engine, user.principal.own_scope, run, now, left, dry_run)


def run_task(user: User, task: Task, name: SleepTask) -> list[Batch]:
    """What it did, batch by batch."""
    batches: list[Batch] = []
    done = TaskResult(task=name)
    while not batches or batches[-1].has_more:
        assert len(batches) < MAX_BATCHES, "the task has no end"
        batch = _apply(night_of(user, done=(done,)), task)
        items = sum(action.items for action in batch.actions)
        done += TaskResult(task=name, actions=len(batch.actions), items=items)
        batches.append(batch)
    return batches


def _apply(night: Night, task: Task) -> Batch:
    decide = task(night)

    def decision() -> tuple[Changeset, Batch]:
        revision = night.engine.store.counters(night.scope).revision
        batch = decide()
        steps = tuple(step for action in batch.actions for step in action.steps)
        changed = (*steps, *batch.silent)
        return Changeset(night.scope, night.now, SLEEP_ACTOR, changed, revision), batch

    return run_transaction(night.engine, None, decision)[1]

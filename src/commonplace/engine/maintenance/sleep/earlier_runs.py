"""What earlier runs mean for a run: how many memories it may still end, and what rests.

Runs that begin within some hours share the limit of one night. What an undo brought back rests for
as long as it could have been undone: the task that ended it leaves it alone.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from commonplace.engine.context import EngineContext
from commonplace.engine.maintenance.sleep.task import Batch, NightAction
from commonplace.model.access.principal import Scope
from commonplace.model.sleep import (
    UNDO_RETENTION,
    ItemKind,
    RunState,
    SleepRun,
    SleepTask,
    endings_left,
)
from commonplace.store.queries import SleepRunQuery

_RESTING = (ItemKind.MEMORY, ItemKind.ARCHIVED)
_TAKEN_BACK = (RunState.UNDONE, RunState.PARTLY_UNDONE)


def may_still_end(engine: EngineContext, scope: Scope, run: SleepRun) -> int:
    return endings_left(run, engine.store.sleep_runs(scope, SleepRunQuery()))


def resting_items(engine: EngineContext, scope: Scope, task: SleepTask) -> frozenset[str]:
    """Ids of memories and sources that an undo of the last days brought back from this task."""
    now = engine.clock()
    taken_back = [
        run
        for state in _TAKEN_BACK
        for run in engine.store.sleep_runs(scope, SleepRunQuery(state=state))
        if run.undone_at and now - run.undone_at < UNDO_RETENTION
    ]
    return frozenset(
        change.subject
        for run in taken_back
        for change in engine.store.sleep_changes(scope, run.id)
        if change.task is task and change.kind in _RESTING
        if change.is_undone or run.state is RunState.UNDONE
    )


def without_resting(batch: Batch, rests: Collection[str]) -> Batch:
    """Also of tasks that do not look at what rests themselves."""
    if not rests:
        return batch
    actions = [each for each in batch.actions if _subjects(each).isdisjoint(rests)]
    return replace(batch, actions=actions)


def _subjects(action: NightAction) -> set[str]:
    archived = {
        id for step in action.steps for id in getattr(step, "ids", ()) if hasattr(step, "at")
    }
    return archived | set(action.ends)

"""One slice of a run: one batch of one task, applied in one changeset with how far the run is.

A task is asked outside any transaction; its decision is checked against what no night may do. A
task that fails does not stop the run: the next task follows, and the log says which one failed.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from commonplace.engine.context import EngineContext
from commonplace.engine.maintenance.sleep.catalog import Catalog
from commonplace.engine.maintenance.sleep.changes import ChangeReader
from commonplace.engine.maintenance.sleep.earlier_runs import (
    may_still_end,
    resting_items,
    without_resting,
)
from commonplace.engine.maintenance.sleep.invariants import (
    KnownItems,
    broken_rule,
    ended_memories,
    named_memories,
    named_sources,
)
from commonplace.engine.maintenance.sleep.task import Batch, Night, NightAction
from commonplace.errors import CommonplaceError, LeaseLost, StoreError
from commonplace.model.access.principal import Scope
from commonplace.model.changeset import STEPS_WITHOUT_ENTRY, ChangesetStep
from commonplace.model.sleep import (
    UNDO_RETENTION,
    RecordSleep,
    RunState,
    SleepChange,
    SleepRun,
    TaskResult,
)
from commonplace.store.queries import SleepRunQuery, SourcesById

log = logging.getLogger("commonplace")

MAX_ACTIONS = 10_000  # of one task in one run, so that every run ends
REFUSED = "refused: {}"
FAILED = "failed: {}"

DecideBatch = Callable[[], Batch]


@dataclass(frozen=True, slots=True)
class Slice:
    """The steps of one changeset, and the run after it."""

    run: SleepRun
    steps: tuple[ChangesetStep, ...]
    revision: int | None  # that it was decided on; None: it changes no memory
    actions: tuple[NightAction, ...] = ()


def begin_slice(
    engine: EngineContext, scope: Scope, run: SleepRun, catalog: Catalog, failure: str | None = None
) -> Callable[[], Slice]:
    """Asks the task that is next. ``failure``: code of what stopped it in every try before, so that
    it is passed over."""
    started = engine.clock()
    decide: DecideBatch | None = None
    if failure is None and run.next_task is not None:
        try:
            night = prepare_night(engine, scope, run, started)
            decide = catalog[run.next_task](night)
        except StoreError:  # may be temporary
            raise
        except Exception as error:
            failure = code_of(error)
            log.warning("sleep task %s failed: %s", run.next_task, failure)
            log.debug("why sleep task %s failed", run.next_task, exc_info=error)

    def decide_slice() -> Slice:
        require_same_run(engine, scope, run)
        now = engine.clock()
        if run.next_task is None:
            return _end(run, now)
        if decide is None:
            return _passed_over(run, now, failure or "", _seconds_since(engine, started))
        revision = engine.store.counters(scope).revision
        try:
            batch = without_resting(decide(), resting_items(engine, scope, run.next_task))
        except StoreError:
            raise
        except Exception as error:
            log.debug("why sleep task %s failed", run.next_task, exc_info=error)
            return _passed_over(run, now, code_of(error), _seconds_since(engine, started))
        seconds = _seconds_since(engine, started)
        return plan_slice(engine, scope, run, batch, now, revision, seconds)

    return decide_slice


def prepare_night(
    engine: EngineContext, scope: Scope, run: SleepRun, now: datetime, dry_run: bool = False
) -> Night:
    """For the task that is next."""
    assert run.next_task is not None
    left = may_still_end(engine, scope, run)
    rests = resting_items(engine, scope, run.next_task)
    return Night(engine, scope, run, now, left, dry_run, rests)


def _seconds_since(engine: EngineContext, started: datetime) -> float:
    """What the changeset takes to be written is not in it."""
    return (engine.clock() - started).total_seconds()


def code_of(error: Exception) -> str:
    """Its message may contain words of the user."""
    return error.code if isinstance(error, CommonplaceError) else type(error).__name__


def require_same_run(engine: EngineContext, scope: Scope, run: SleepRun) -> None:
    if engine.store.sleep_runs(scope, SleepRunQuery(id=run.id)) != [run]:
        raise LeaseLost("Another worker goes on with this run.")


def plan_slice(
    engine: EngineContext,
    scope: Scope,
    run: SleepRun,
    batch: Batch,
    now: datetime,
    revision: int,
    seconds: float = 0.0,
) -> Slice:
    task = run.next_task
    assert task is not None
    steps = tuple(step for action in batch.actions for step in action.steps)
    known = _load_known(engine, scope, steps)
    declared = {id for action in batch.actions for id in action.ends}
    broken = broken_rule(steps, declared, may_still_end(engine, scope, run), known, now)
    result = TaskResult(
        task=task,
        waiting=batch.waiting,
        outcome=batch.outcome,
        seconds=seconds,
        tokens=batch.tokens,
    )
    if broken is not None:
        log.warning("a batch of the sleep task %s was refused: %s", task, broken)
        refused = replace(result, outcome=REFUSED.format(broken), waiting=len(batch.actions))
        return _moved(run, refused, now, is_over=True)
    changes = changes_of_batch(engine, scope, run, batch.actions)
    result = replace(
        result,
        actions=len(batch.actions),
        items=sum(action.items for action in batch.actions),
    )
    ended = len(ended_memories(steps, known, now).keys() | declared)
    moved = _moved(
        run.evolve(ended=run.ended + ended),
        result,
        now,
        is_over=not (batch.has_more and batch.actions) or _is_full(run, result),
    )
    journaled = tuple(
        _explained(step, run, action.why) for action in batch.actions for step in action.steps
    )
    record = RecordSleep(moved.run, tuple(changes), run, forget_before=_too_old(moved.run, now))
    return Slice(
        moved.run,
        (*journaled, *batch.silent, record),
        revision if journaled or batch.silent else None,
        tuple(batch.actions),
    )


def changes_of_batch(
    engine: EngineContext, scope: Scope, run: SleepRun, actions: Sequence[NightAction]
) -> list[SleepChange]:
    task = run.next_task
    assert task is not None
    reader = ChangeReader(engine, scope)
    return [
        change
        for number, action in enumerate(actions, run.actions + 1)
        for change in reader.changes_of(run.id, task, number, action)
    ]


def _load_known(
    engine: EngineContext, scope: Scope, steps: tuple[ChangesetStep, ...]
) -> KnownItems:
    memories, sources = sorted(named_memories(steps)), sorted(named_sources(steps))
    store = engine.store
    return KnownItems(
        {each.id: each for each in store.fetch(scope, memories)} if memories else {},
        {each.id: each for each in store.sources(scope, SourcesById(sources))} if sources else {},
    )


def _is_full(run: SleepRun, result: TaskResult) -> bool:
    return run.with_result(result).results[-1].actions >= MAX_ACTIONS


def _explained(step: ChangesetStep, run: SleepRun, why: str) -> ChangesetStep:
    """With the run and the reason in its journal entry, so that an item's history tells them."""
    if isinstance(step, STEPS_WITHOUT_ENTRY):
        return step
    explained: Any = step
    entry = replace(explained.entry, meta={**explained.entry.meta, "run": run.id, "why": why})
    with_reason: ChangesetStep = replace(explained, entry=entry)
    return with_reason


def _moved(run: SleepRun, result: TaskResult, now: datetime, *, is_over: bool) -> Slice:
    after = run.with_result(result)
    if is_over:
        after = after.evolve(position=run.position + 1)
    if after.next_task is None:
        after = after.evolve(state=RunState.DONE, finished_at=now)
    return Slice(after, (RecordSleep(after, (), run, forget_before=_too_old(after, now)),), None)


def _passed_over(run: SleepRun, now: datetime, failure: str, seconds: float) -> Slice:
    assert run.next_task is not None
    outcome = FAILED.format(failure)
    result = TaskResult(task=run.next_task, outcome=outcome, seconds=seconds)
    return _moved(run, result, now, is_over=True)


def _end(run: SleepRun, now: datetime) -> Slice:
    after = run.evolve(state=RunState.DONE, finished_at=now)
    return Slice(after, (RecordSleep(after, (), run, forget_before=_too_old(after, now)),), None)


def _too_old(run: SleepRun, now: datetime) -> datetime | None:
    """Undo data is kept for some time; the end of each run deletes what is older."""
    return None if run.is_running else now - UNDO_RETENTION

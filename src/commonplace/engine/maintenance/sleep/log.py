"""The log of sleep: runs with what each task did, and the actions of a run. No text of a user."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby

from commonplace.engine.context import EngineContext
from commonplace.errors import NotFound
from commonplace.model.access.principal import Principal, Scope
from commonplace.model.paging import take_page
from commonplace.model.sleep import (
    RunState,
    SleepChange,
    SleepRun,
    SleepSchedule,
    SleepTask,
    TaskResult,
)
from commonplace.store.queries import NO_LIMIT, SleepRunQuery

MAX_ACTIONS_SHOWN = 1000


@dataclass(frozen=True, slots=True)
class SleepAction:
    number: int  # in its run
    task: SleepTask
    why: str
    items: tuple[str, ...]  # ids; of a link, both ids with a space between
    can_be_undone: bool


@dataclass(frozen=True, slots=True)
class SleepReport:
    """One run of sleep."""

    id: str | None  # None: a dry run, which changed nothing
    schedule: SleepSchedule
    state: RunState
    due_at: datetime
    started_at: datetime
    finished_at: datetime | None
    undone_at: datetime | None
    ended: int  # live memories that it ended, expired ones aside
    tasks: tuple[TaskResult, ...]
    actions: tuple[SleepAction, ...] = ()  # where one run is shown
    more_actions: int = 0


def present_run(
    run: SleepRun, changes: Iterable[SleepChange] = (), *, is_dry: bool = False
) -> SleepReport:
    actions = group_actions(changes)
    return SleepReport(
        id=None if is_dry else run.id,
        schedule=run.schedule,
        state=run.state,
        due_at=run.due_at,
        started_at=run.started_at,
        finished_at=run.finished_at,
        undone_at=run.undone_at,
        ended=run.ended,
        tasks=run.results,
        actions=tuple(actions[:MAX_ACTIONS_SHOWN]),
        more_actions=max(0, len(actions) - MAX_ACTIONS_SHOWN),
    )


def group_actions(changes: Iterable[SleepChange]) -> list[SleepAction]:
    ordered = sorted(changes, key=lambda change: change.number)
    return [
        _action(number, list(group)) for number, group in groupby(ordered, lambda each: each.number)
    ]


def _action(number: int, changes: Sequence[SleepChange]) -> SleepAction:
    return SleepAction(
        number=number,
        task=changes[0].task,
        why=changes[0].why,
        items=tuple(dict.fromkeys(change.subject for change in changes)),
        can_be_undone=all(change.can_be_undone for change in changes),
    )


def read_log(
    engine: EngineContext, principal: Principal, limit: int, after: str | None, run: str | None
) -> list[SleepReport]:
    scope = principal.own_scope
    if run is not None:
        found = read_run(engine, scope, run)
        return [present_run(found, engine.store.sleep_changes(scope, run))]
    query = SleepRunQuery(limit=limit if after is None else NO_LIMIT)
    runs = engine.store.sleep_runs(scope, query)
    return [present_run(each) for each in take_page(runs, after, limit)]


def read_run(engine: EngineContext, scope: Scope, id: str) -> SleepRun:
    found = engine.store.sleep_runs(scope, SleepRunQuery(id=id))
    if not found:
        raise NotFound(
            f"Unknown run {id!r}.",
            remedy="See the log of runs: `commonplace sleep log`.",
            field="run",
        )
    return found[0]

"""Runs of sleep by hand: begins a run and sees it through; the dry run.

The caller does the work, slice by slice, and holds the job's lease meanwhile. When the caller is
gone, any worker goes on with the same run.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from commonplace.engine.context import EngineContext, RequestContext
from commonplace.engine.follow_up_jobs import SLEEP_JOB
from commonplace.engine.maintenance.sleep.catalog import TASKS, Catalog
from commonplace.engine.maintenance.sleep.earlier_runs import without_resting
from commonplace.engine.maintenance.sleep.log import SleepReport, present_run, read_run
from commonplace.engine.maintenance.sleep.schedule import (
    begin_run,
    build_sleep_job,
    end_run,
    is_held,
    run_sleep_job,
)
from commonplace.engine.maintenance.sleep.slices import (
    FAILED,
    changes_of_batch,
    code_of,
    plan_slice,
    prepare_night,
)
from commonplace.engine.maintenance.worker import JobDecision, Worker
from commonplace.engine.transaction import run_transaction
from commonplace.errors import StoreError
from commonplace.model.access.principal import Scope
from commonplace.model.changeset import Changeset, EnqueueJob
from commonplace.model.jobs import LEASE, Job
from commonplace.model.sleep import (
    SLEEP_ACTOR,
    RecordSleep,
    RunState,
    SleepChange,
    SleepRun,
    SleepSchedule,
    SleepTask,
    TaskResult,
)
from commonplace.store.queries import SleepRunQuery

PATIENCE = 24 * 3600.0  # seconds

ReportSleep = Callable[[SleepRun], object]


def sleep(
    engine: EngineContext,
    request: RequestContext,
    tasks: Sequence[SleepTask] | None = None,
    dry_run: bool = False,
    progress: ReportSleep = lambda _: None,
    catalog: Catalog = TASKS,
) -> SleepReport:
    """Without ``tasks``: all of them, whatever day it is. Always in the order of a night. A run by
    hand that was interrupted is finished first."""
    engine.access_log.flush()
    wanted = tuple(task for task in SleepTask if tasks is None or task in tasks)
    scope, now = request.principal.own_scope, engine.clock()
    if dry_run:
        run = begin_run(engine, scope, SleepSchedule.BY_HAND, now, wanted)
        return _rehearse(engine, request, run, progress, catalog)
    _finish_interrupted(engine, scope, catalog)
    run = begin_run(engine, scope, SleepSchedule.BY_HAND, now, wanted)

    def decide() -> tuple[Changeset, None]:
        # Due when the caller's lease would have ended: the caller runs it before.
        job = build_sleep_job(scope, run.id, engine.new_id(), now + LEASE, now)
        steps = (RecordSleep(run), EnqueueJob(job))
        return Changeset(scope, now, SLEEP_ACTOR, steps), None

    run_transaction(engine, request, decide)

    _see_through(engine, scope, run, catalog, progress)
    done = read_run(engine, scope, run.id)
    progress(done)
    return present_run(done, engine.store.sleep_changes(scope, run.id))


def _see_through(
    engine: EngineContext, scope: Scope, run: SleepRun, catalog: Catalog, progress: ReportSleep
) -> None:
    def run_one(job: Job) -> JobDecision:
        if job.key == run.id:
            progress(read_run(engine, scope, run.id))
        return run_sleep_job(engine, job, catalog, pause=LEASE)

    Worker(engine, {SLEEP_JOB: run_one}).see_through(scope, SLEEP_JOB, run.id, PATIENCE)


def _finish_interrupted(engine: EngineContext, scope: Scope, catalog: Catalog) -> None:
    """Also one whose job is dead or was cancelled: it is ended."""
    query = SleepRunQuery(schedule=SleepSchedule.BY_HAND, state=RunState.RUNNING)
    for run in reversed(engine.store.sleep_runs(scope, query)):
        if is_held(engine, scope, run):
            continue
        _see_through(engine, scope, run, catalog, lambda _: None)
        left = read_run(engine, scope, run.id)
        if left.is_running and not is_held(engine, scope, left):
            end_run(engine, scope, left.id)


def _rehearse(
    engine: EngineContext,
    request: RequestContext,
    run: SleepRun,
    progress: ReportSleep,
    catalog: Catalog,
) -> SleepReport:
    """Each task decides on the present state; nothing is applied, and no model is asked."""
    changes: list[SleepChange] = []
    while (task := run.next_task) is not None:
        progress(run)
        run, found = _rehearse_task(engine, request, run, task, catalog)
        changes += found
    run = run.evolve(state=RunState.DONE, finished_at=engine.clock())
    progress(run)
    return present_run(run, changes, is_dry=True)


def _rehearse_task(
    engine: EngineContext,
    request: RequestContext,
    run: SleepRun,
    task: SleepTask,
    catalog: Catalog,
) -> tuple[SleepRun, list[SleepChange]]:
    scope, now = request.principal.own_scope, engine.clock()
    try:
        night = prepare_night(engine, scope, run, now, dry_run=True)
        batch = without_resting(catalog[task](night)(), night.rests)
    except StoreError:
        raise
    except Exception as error:
        failed = TaskResult(task=task, outcome=FAILED.format(code_of(error)))
        return run.with_result(failed).evolve(position=run.position + 1), []
    planned = plan_slice(engine, scope, run, batch, now, 0)
    changes = changes_of_batch(engine, scope, run, planned.actions)
    return planned.run.evolve(position=run.position + 1, state=RunState.RUNNING), changes

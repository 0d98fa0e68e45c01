"""When runs take place: two jobs of each user, which queue themselves for their next time.

Each execution of a job does one slice of a run and queues itself again, so that a worker that stops
finishes a slice at most, and another one goes on with the same run. A store that was closed for
several nights runs once, for the newest of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta, tzinfo

from commonplace.engine.context import EngineContext
from commonplace.engine.follow_up_jobs import SLEEP_JOB
from commonplace.engine.maintenance.sleep.catalog import TASKS, Catalog
from commonplace.engine.maintenance.sleep.slices import Slice, begin_slice
from commonplace.engine.maintenance.worker import JobDecision
from commonplace.engine.prompt_context.wording import TIME_ZONE_FIELD, zone_of
from commonplace.engine.transaction import run_transaction
from commonplace.model.access.principal import Scope
from commonplace.model.changeset import Changeset, ChangesetStep, EnqueueJob
from commonplace.model.jobs import Job, JobState
from commonplace.model.memory.memory import State
from commonplace.model.sleep import (
    SLEEP_ACTOR,
    RecordSleep,
    RunState,
    SleepRun,
    SleepSchedule,
    SleepTask,
    next_due,
)
from commonplace.store.queries import JobQuery, JournalQuery, SleepRunQuery

SCHEDULES = (SleepSchedule.NIGHTLY, SleepSchedule.WEEKLY)
_LONGER_THAN = {SleepSchedule.NIGHTLY: timedelta(days=2), SleepSchedule.WEEKLY: timedelta(days=15)}


def ensure_sleep_jobs(engine: EngineContext, scope: Scope) -> None:
    """Queues what is missing. A job that is waiting keeps its time: it may have passed, and is
    caught up then. So is the newest missed night of a user who was there before it."""
    queued = {
        job.key for job in engine.store.jobs(scope, JobQuery(kinds=[SLEEP_JOB])) if job.due_at
    }
    missing = [schedule for schedule in SCHEDULES if schedule not in queued]
    if not missing:
        return
    now, zone = engine.clock(), time_zone_of(engine, scope)
    since = _last_change(engine, scope) or now
    steps = tuple(_first_job(engine, scope, each, zone, since, now) for each in missing)
    run_transaction(engine, None, lambda: (Changeset(scope, now, SLEEP_ACTOR, steps), None))


def _last_change(engine: EngineContext, scope: Scope) -> datetime | None:
    newest = engine.store.journal(scope, JournalQuery(newest=1))
    return newest[0].ts if newest else None


def _first_job(
    engine: EngineContext,
    scope: Scope,
    schedule: SleepSchedule,
    zone: tzinfo,
    since: datetime,
    now: datetime,
) -> EnqueueJob:
    missed = last_due(schedule, now, zone, scope.name)
    due = missed if since < missed else next_due(schedule, now, zone, scope.name)
    return EnqueueJob(build_sleep_job(scope, schedule, engine.new_id(), due, now))


def time_zone_of(engine: EngineContext, scope: Scope) -> tzinfo:
    found = engine.store.fetch(scope, [TIME_ZONE_FIELD])
    return zone_of(found[0].metadata.get("value") if found else None)


def last_due(schedule: SleepSchedule, now: datetime, zone: tzinfo, user: str) -> datetime:
    """The newest moment of the schedule that has come."""
    last = next_due(schedule, now - _LONGER_THAN[schedule], zone, user)
    while (following := next_due(schedule, last, zone, user)) <= now:
        last = following
    return last


def begin_run(
    engine: EngineContext,
    scope: Scope,
    schedule: SleepSchedule,
    due_at: datetime,
    tasks: Sequence[SleepTask],
) -> SleepRun:
    now = engine.clock()
    rows = engine.store.statistics(scope, now).memories
    return SleepRun(
        id=f"sleep:{engine.new_id()}",
        schedule=schedule,
        due_at=due_at,
        tasks=tuple(tasks),
        started_at=now,
        live_at_start=sum(row.count for row in rows if row.state == State.ACTIVE),
    )


def build_sleep_job(scope: Scope, key: str, job_id: str, due_at: datetime, now: datetime) -> Job:
    """The key is a schedule, or the id of a run by hand."""
    return Job(
        id=job_id,
        scope=scope,
        kind=SLEEP_JOB,
        key=key,
        due_at=due_at,
        created_at=now,
        updated_at=now,
    )


def run_sleep_job(
    engine: EngineContext,
    job: Job,
    catalog: Catalog | None = None,
    pause: timedelta = timedelta(0),
) -> JobDecision:
    """One slice. ``pause``: the caller does the next one at once, and a worker only if the caller
    is gone."""
    engine.access_log.flush()
    run = _unfinished_run(engine, job)
    if run is None:
        return lambda: _begin_if_due(engine, job)
    # The last try of this job passes over the task that failed in all others.
    failure = job.failure.code if job.failure and job.tries >= job.max_tries else None
    decide = begin_slice(engine, job.scope, run, catalog or TASKS, failure)

    def decide_changeset() -> Changeset:
        done: Slice = decide()
        again = _again(engine, job, pause, is_running=done.run.is_running)
        return Changeset(
            job.scope, engine.clock(), SLEEP_ACTOR, (*done.steps, *again), done.revision
        )

    return decide_changeset


def _unfinished_run(engine: EngineContext, job: Job) -> SleepRun | None:
    query = SleepRunQuery(state=RunState.RUNNING, limit=1)
    if job.key in SCHEDULES:
        query = replace(query, schedule=SleepSchedule(job.key))
    else:
        query = replace(query, id=job.key)
    found = engine.store.sleep_runs(job.scope, query)
    return found[0] if found else None


def is_held(engine: EngineContext, scope: Scope, run: SleepRun) -> bool:
    """Whether somebody does this run now; else it was interrupted."""
    by_hand = run.schedule is SleepSchedule.BY_HAND
    key, now = run.id if by_hand else run.schedule, engine.clock()
    for job in engine.store.jobs(scope, JobQuery(kinds=[SLEEP_JOB], keys=[key])):
        if job.state is JobState.RUNNING and not job.lease_has_ended(now):
            return True
        # Between two slices the caller does the next one before it is due.
        if by_hand and job.state is JobState.QUEUED and job.failure is None:
            return job.due_at is not None and job.due_at > now
    return False


def end_run(engine: EngineContext, scope: Scope, id: str) -> None:
    """What is left of an interrupted run is for the next one."""

    def decide() -> tuple[Changeset, None]:
        now = engine.clock()
        found = engine.store.sleep_runs(scope, SleepRunQuery(id=id, state=RunState.RUNNING))
        ends = tuple(
            RecordSleep(run.evolve(state=RunState.DONE, finished_at=now), (), run) for run in found
        )
        return Changeset(scope, now, SLEEP_ACTOR, ends), None

    run_transaction(engine, None, decide)


def _begin_if_due(engine: EngineContext, job: Job) -> Changeset:
    now = engine.clock()
    if job.key not in SCHEDULES:  # its run is over
        return Changeset(job.scope, now, SLEEP_ACTOR, ())
    schedule = SleepSchedule(job.key)
    due = last_due(schedule, now, time_zone_of(engine, job.scope), job.scope.name)
    known = engine.store.sleep_runs(job.scope, SleepRunQuery(schedule=schedule, due_at=due))
    if known:
        steps: tuple[ChangesetStep, ...] = _again(engine, job, is_running=False)
    else:
        run = begin_run(engine, job.scope, schedule, due, schedule.tasks)
        steps = (RecordSleep(run), *_again(engine, job, is_running=True))
    return Changeset(job.scope, now, SLEEP_ACTOR, steps)


def _again(
    engine: EngineContext, job: Job, pause: timedelta = timedelta(0), *, is_running: bool
) -> tuple[ChangesetStep, ...]:
    """A run that goes on is due at once; a schedule has its next time; a run by hand is over."""
    now = engine.clock()
    if is_running:
        following = build_sleep_job(job.scope, job.key, engine.new_id(), now + pause, now)
        return (EnqueueJob(following),)
    if job.key not in SCHEDULES:
        return ()
    zone = time_zone_of(engine, job.scope)
    return (_again_at(engine, job.scope, SleepSchedule(job.key), zone, now),)


def _again_at(
    engine: EngineContext, scope: Scope, schedule: SleepSchedule, zone: tzinfo, now: datetime
) -> EnqueueJob:
    due = next_due(schedule, now, zone, scope.name)
    return EnqueueJob(build_sleep_job(scope, schedule, engine.new_id(), due, now))

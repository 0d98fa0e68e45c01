"""Small tasks of sleep, made for tests of runs, and one task of a night run to its end."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Any

from commonplace.api import User
from commonplace.engine.composition import soft_delete_memory, supersede_memory
from commonplace.engine.indexing import build_indexing
from commonplace.engine.maintenance.sleep.catalog import Catalog
from commonplace.engine.maintenance.sleep.task import NOTHING_TO_DO, Action, Batch, Night, Task
from commonplace.engine.memories.merge import build_summary
from commonplace.engine.transaction import run_transaction
from commonplace.model.changeset import Changeset, ChangesetStep, build_add, build_link
from commonplace.model.filters import OWNER_VISIBILITY
from commonplace.model.journal import Event, JournalNode
from commonplace.model.memory.memory import Link, Memory
from commonplace.model.sleep import (
    SLEEP_ACTOR,
    SleepRun,
    SleepSchedule,
    SleepTask,
    TaskResult,
)
from commonplace.store.queries import NO_LIMIT, MemoryListing

WORKER = JournalNode.WORKER
IDLE_WORD, TWIN_WORD = "draft", "twin"


def live(night: Night, word: str = "") -> list[Memory]:
    listing = MemoryListing(now=night.now, visibility=OWNER_VISIBILITY, limit=NO_LIMIT)
    found = night.engine.store.page(night.scope, listing)
    return sorted((m for m in found if word in m.content), key=lambda m: (m.created_at, m.content))


def forgetting(memory: Memory, night: Night) -> ChangesetStep:
    until = night.now + timedelta(days=30)
    return soft_delete_memory(memory, night.now, until, event=Event.TTL, node=WORKER)


def forget_drafts(at_once: int = 2) -> Task:
    """A few at a time, within the limits of a night."""

    def run(night: Night) -> Callable[[], Batch]:
        def decide() -> Batch:
            found = live(night, IDLE_WORD)
            chosen = found[: min(at_once, night.run.may_still_end)]
            actions = [Action("a draft", (forgetting(m, night),), (m.id,)) for m in chosen]
            left = len(found) - len(chosen)
            return Batch(actions, has_more=bool(left and actions), waiting=left)

        return decide

    return run


def merge_twins(night: Night) -> Callable[[], Batch]:
    """Two become one, which is linked with the first other memory."""

    def decide() -> Batch:
        twins = live(night, TWIN_WORD)
        if len(twins) != 2:
            return NOTHING_TO_DO
        summary = build_summary(night.engine.new_id(), twins, night.now)
        summary = summary.evolve(content="Both of them say the same.", summary="The same.")
        vector = night.engine.embedder.embed_passages([summary.content])[0]
        steps: list[ChangesetStep] = [
            build_add(summary, build_indexing(summary, vector), event=Event.MERGE, node=WORKER)
        ]
        steps += (supersede_memory(m, summary.id, night.now, Event.MERGE, WORKER) for m in twins)
        others = [m for m in live(night) if m not in twins]
        steps += (
            build_link(Link.between(summary.id, m.id, 0.7, night.now), node=WORKER)
            for m in others[:1]
        )
        return Batch([Action("twins", tuple(steps), tuple(m.id for m in twins), items=3)])

    return decide


def doing(*actions: Action, **batch: Any) -> Task:
    return lambda night: lambda: Batch(actions, **batch)


def ending_all(night: Night) -> Callable[[], Batch]:
    """What a model may say: everything is obsolete."""
    return lambda: Batch(
        [Action("obsolete", (forgetting(m, night),), (m.id,)) for m in live(night)]
    )


def raising(night: Night) -> Callable[[], Batch]:
    raise KeyError("the user's own words")


def raising_late(night: Night) -> Callable[[], Batch]:
    def decide() -> Batch:
        raise ZeroDivisionError("the user's own words")

    return decide


def a_catalog(**tasks: Task) -> Catalog:
    """Tasks that are not named do nothing."""
    return {task: tasks.get(str(task), resting) for task in SleepTask}


def resting(night: Night) -> Callable[[], Batch]:
    return lambda: NOTHING_TO_DO


def usual_catalog() -> Catalog:
    return a_catalog(idle=forget_drafts(), duplicates=merge_twins)


def texts(memories: Sequence[Memory]) -> list[str]:
    return sorted(memory.content for memory in memories)


# ——— one task, without a runner ———

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
    return Night(engine, user.principal.own_scope, run, now, dry_run)


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

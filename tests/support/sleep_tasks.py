"""Small tasks of sleep, made for tests of runs: each does one thing to the memory."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Any

from commonplace.engine.composition import soft_delete_memory, supersede_memory
from commonplace.engine.indexing import build_indexing
from commonplace.engine.maintenance.sleep.catalog import Catalog
from commonplace.engine.maintenance.sleep.task import NOTHING_TO_DO, Batch, Night, NightAction, Task
from commonplace.engine.memories.merge import build_summary
from commonplace.model.changeset import ChangesetStep, build_add, build_link
from commonplace.model.filters import OWNER_VISIBILITY
from commonplace.model.journal import Event, JournalNode
from commonplace.model.memory.memory import Link, Memory
from commonplace.model.sleep import SleepTask
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
            chosen = found[: min(at_once, night.may_still_end)]
            actions = [NightAction("a draft", (forgetting(m, night),), (m.id,)) for m in chosen]
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
        return Batch([NightAction("twins", tuple(steps), tuple(m.id for m in twins), items=3)])

    return decide


def doing(*actions: NightAction, **batch: Any) -> Task:
    return lambda night: lambda: Batch(actions, **batch)


def ending_all(night: Night) -> Callable[[], Batch]:
    """What a model may say: everything is obsolete."""
    return lambda: Batch(
        [NightAction("obsolete", (forgetting(m, night),), (m.id,)) for m in live(night)]
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

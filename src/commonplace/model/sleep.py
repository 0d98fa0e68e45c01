"""Sleep: what maintenance does at night, as values and rules: tasks, runs, limits, schedules.

A run consists of actions. Each is carried out whole, and undone whole. The log of a run says what
was done to which items and why, in codes and numbers; texts are only in the undo data, which is
erased with the items that they come from.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, time, timedelta, tzinfo
from enum import StrEnum
from typing import Any, Self
from zlib import crc32

SLEEP_ACTOR = "worker:sleep"


class SleepTask(StrEnum):
    """In the order in which a night runs them."""

    EXPIRY = "expiry"  # ends what has expired, and purges what was forgotten long ago
    IDLE = "idle"  # forgets unimportant memories that nobody read
    VOLATILE = "volatile"  # merges volatile memories in fives
    NOTES = "notes"  # removes expired notes of nodes and edges
    CONSOLIDATION = "consolidation"  # turns old, unread sources into notes, and archives them
    ARCHIVE = "archive"  # archives sources that nobody reads
    DUPLICATES = "duplicates"  # merges or links memories that say the same
    DESCRIPTIONS = "descriptions"  # rewrites descriptions of nodes and edges with new notes
    STORYLINES = "storylines"  # what many sources say about one anchor
    INSIGHTS = "insights"  # what follows from the last days; needs a language model
    MACROS = "macros"  # what several storylines say over months; weekly


NIGHTLY_TASKS = tuple(task for task in SleepTask if task is not SleepTask.MACROS)
WEEKLY_TASKS = (SleepTask.MACROS,)


class SleepSchedule(StrEnum):
    NIGHTLY = "nightly"  # 03:00
    WEEKLY = "weekly"  # Sunday 02:00
    BY_HAND = "by hand"

    @property
    def tasks(self) -> tuple[SleepTask, ...]:
        return {
            SleepSchedule.NIGHTLY: NIGHTLY_TASKS,
            SleepSchedule.WEEKLY: WEEKLY_TASKS,
            SleepSchedule.BY_HAND: tuple(SleepTask),
        }[self]


class RunState(StrEnum):
    RUNNING = "running"  # also one that was interrupted: the next worker goes on with it
    DONE = "done"
    PARTLY_UNDONE = "partly undone"  # the rest of its actions can be tried again
    UNDONE = "undone"


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskResult:
    """What one task of a run did. Counts of actions, not of rows."""

    task: SleepTask
    actions: int = 0
    items: int = 0  # that were changed, ended or made
    waiting: int = 0  # that the limits of a night left for the next
    outcome: str = ""  # why nothing was done: no model, over budget, not due; or of asking a model
    seconds: float = 0.0
    tokens: int = 0

    def __add__(self, other: TaskResult) -> TaskResult:
        return TaskResult(
            task=self.task,
            actions=self.actions + other.actions,
            items=self.items + other.items,
            waiting=other.waiting,
            outcome=other.outcome or self.outcome,
            seconds=self.seconds + other.seconds,
            tokens=self.tokens + other.tokens,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class SleepRun:
    id: str
    schedule: SleepSchedule
    due_at: datetime  # the night that it is for; one run for each
    tasks: tuple[SleepTask, ...]  # in order
    state: RunState = RunState.RUNNING
    started_at: datetime
    finished_at: datetime | None = None
    undone_at: datetime | None = None
    live_at_start: int = 0  # live memories: the limit of a night is a share of them
    ended: int = 0  # live memories that it has ended, expired ones aside
    position: int = 0  # how many of its tasks are over
    results: tuple[TaskResult, ...] = ()  # of the tasks that are over, or under way

    def evolve(self, **changes: Any) -> Self:
        return replace(self, **changes)

    @property
    def is_running(self) -> bool:
        return self.state is RunState.RUNNING

    @property
    def next_task(self) -> SleepTask | None:
        """The task that is under way or comes next; None: all are over."""
        return self.tasks[self.position] if self.position < len(self.tasks) else None

    @property
    def actions(self) -> int:
        """How many it has carried out: the next one gets the next number."""
        return sum(result.actions for result in self.results)

    def with_result(self, result: TaskResult) -> Self:
        """Added to what the same task has done before."""
        others = tuple(each for each in self.results if each.task is not result.task)
        before = next((each for each in self.results if each.task is result.task), None)
        return self.evolve(results=(*others, before + result if before else result))


MIN_ENDINGS = 5
ENDED_SHARE = 0.20


SAME_NIGHT = timedelta(hours=20)  # runs that begin within this time share one limit


def endings_left(run: SleepRun, others: Iterable[SleepRun]) -> int:
    """How many live memories this run may still end, besides expired ones. ``others``: of the same
    user. What is undone is not counted."""
    night = [each for each in others if _shares_night(each, run)]
    first = min((*night, run), key=lambda each: each.started_at)
    ended = run.ended + sum(each.ended for each in night)
    return max(0, limit_of_endings(first.live_at_start) - ended)


def _shares_night(other: SleepRun, run: SleepRun) -> bool:
    is_near = abs(run.started_at - other.started_at) < SAME_NIGHT
    return other.id != run.id and is_near and other.state is not RunState.UNDONE


def limit_of_endings(live: int) -> int:
    """How many live memories a night may end, expired ones aside; the rest waits."""
    return max(MIN_ENDINGS, int(live * ENDED_SHARE))


class ItemKind(StrEnum):
    MEMORY = "memory"
    LINK = "link"
    NODE = "node"
    EDGE = "edge"
    NOTE = "note"
    SOURCE = "source"
    ARCHIVED = "archived"  # the mark of a source that searches count less
    HELD = "held"  # what supports a memory that absorbed another
    STORYLINE = "storyline"
    MACRO = "macro"


@dataclass(frozen=True, slots=True, kw_only=True)
class SleepChange:
    """What an action did to one item, and what undoes it."""

    run: str
    number: int  # of the action, in its run
    task: SleepTask
    why: str  # in words without user text: "equal terms"
    kind: ItemKind
    subject: str  # the item's id; of a link, both ids with a space between
    before: Mapping[str, Any] | None = None  # its record as in an export; None: it was made
    after_ref: str | None = None  # its version afterwards; None: removed
    can_be_undone: bool = True  # False: it expired, or was purged

    @property
    def is_undone(self) -> bool:
        return self.after_ref == UNDONE_REF


UNDONE_REF = "undone"  # of a change that an undo took back


@dataclass(frozen=True, slots=True)
class RecordSleep:
    """A changeset step: how far a run has come, and what undoes the other steps. Expected: the
    stored run has come as far as the decision saw."""

    run: SleepRun
    changes: tuple[SleepChange, ...] = ()
    before: SleepRun | None = None  # None: the run begins
    undone: tuple[int, ...] = ()  # actions of it that are taken back: their undo data is deleted
    forget_before: datetime | None = None  # older changes of any run are deleted


@dataclass(frozen=True, slots=True)
class PairFingerprint:
    """Two memories that were compared at a similarity: they rest for some days."""

    a: str  # sorts before b
    b: str
    score: float  # rounded to two digits
    checked_at: datetime


@dataclass(frozen=True, slots=True)
class KeepFingerprints:
    """A changeset step."""

    fingerprints: tuple[PairFingerprint, ...]
    forget_before: datetime | None = None


UNDO_RETENTION = timedelta(days=30)
FINGERPRINT_REST = timedelta(days=14)
MAX_PAIRS_A_DAY = 50

NIGHT_AT = time(3, 0)
WEEK_AT = time(2, 0)
SUNDAY = 6  # as `date.weekday`
STAGGER = timedelta(minutes=60)  # runs of different users begin within this time


def next_due(schedule: SleepSchedule, after: datetime, zone: tzinfo, user: str) -> datetime:
    """The first moment of this schedule after ``after``, in the user's local time. Each user has
    an offset of their own, so that not all begin at once."""
    offset = STAGGER * (crc32(user.encode()) / 2**32)
    local = after.astimezone(zone)
    day = local.date() - timedelta(days=1)
    while True:
        if schedule is not SleepSchedule.WEEKLY or day.weekday() == SUNDAY:
            begins = WEEK_AT if schedule is SleepSchedule.WEEKLY else NIGHT_AT
            due = datetime.combine(day, begins, zone).astimezone(after.tzinfo) + offset
            if due > after:
                return due
        day += timedelta(days=1)

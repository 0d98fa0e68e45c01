"""The interface of a task: slow work first, then a decision that may be repeated.

A task is called with the night it runs in. What is slow, such as asking a language model, happens
then, outside any transaction. It returns a decision: a function that reads the present state and
returns a batch of actions. The runner applies a batch as one changeset, asks for the decision again
if another writer was faster, and calls the task again while it has more.

A task decides from the stored state alone and keeps no state of its own. So a run that was killed
goes on with the same task and ends in the same state, and two workers do nothing twice.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

from commonplace.engine.context import EngineContext
from commonplace.model.access.principal import Principal, Scope
from commonplace.model.changeset import ChangesetStep
from commonplace.model.sleep import SleepRun
from commonplace.store.queries import NO_LIMIT

ACTIONS_AT_ONCE = 100  # of a batch


@dataclass(frozen=True, slots=True)
class Night:
    """The run that a task works for."""

    engine: EngineContext
    scope: Scope  # a user's
    run: SleepRun
    now: datetime
    may_still_end: int  # live memories, besides expired ones
    dry_run: bool = False  # nothing is applied: no model is asked, a task is called once
    rests: frozenset[str] = frozenset()  # what an undo brought back: not for this task

    @property
    def principal(self) -> Principal:
        """The owner, who sees all of the memory."""
        return Principal(self.scope.name, cleared=True)

    @property
    def actions_at_once(self) -> int:
        """Of a batch. A dry run shows all of them."""
        return NO_LIMIT if self.dry_run else ACTIONS_AT_ONCE


@dataclass(frozen=True, slots=True)
class NightAction:
    """One decision of a task: carried out whole, and undone whole. Its steps are journaled as
    those of a worker (`JournalNode.WORKER`)."""

    why: str  # in words without user text: "equal terms"
    steps: tuple[ChangesetStep, ...]
    ends: tuple[str, ...] = ()  # live memories that it ends; expired ones do not count
    items: int = 1  # that it changes, ends or makes
    can_be_undone: bool = True  # False: expiry and purge


@dataclass(frozen=True, slots=True)
class Batch:
    """What a task decides at one time."""

    actions: Sequence[NightAction] = ()
    has_more: bool = False  # the task is called again
    waiting: int = 0  # what the limits of a night leave for the next
    outcome: str = ""  # why nothing is done: "no model", "over budget"
    tokens: int = 0
    silent: Sequence[ChangesetStep] = ()  # bookkeeping, with nothing to see or undo


NOTHING_TO_DO = Batch()

Decide = Callable[[], Batch]
Task = Callable[[Night], Decide]

"""Which actions of a run can be undone. Pure.

An action is undone whole or not at all. From the last one back: an item is taken back while it is
as the action left it. Where somebody changed it since, that action stays, and with it every earlier
one that changed the same item.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from typing import Any

from commonplace.model.sleep import ItemKind, RunState, SleepChange, SleepRun, SleepTask

ItemKey = tuple[ItemKind, str]

CHANGED = "changed since"
GONE = "gone"
NO_UNDO_DATA = "expired, purged or erased"


@dataclass(frozen=True, slots=True)
class LeftAction:
    """An action that stays, and why."""

    number: int
    task: SleepTask
    items: tuple[str, ...]  # those that prevent it
    reason: str

    @property
    def can_be_tried_again(self) -> bool:
        return self.reason != NO_UNDO_DATA


@dataclass(frozen=True, slots=True)
class UndoPlan:
    undone: tuple[int, ...]  # numbers of actions
    left: tuple[LeftAction, ...]
    # What each item is again; None: it was made by the run, and is removed.
    targets: Mapping[ItemKey, Mapping[str, Any] | None]

    def mark(self, run: SleepRun, now: datetime) -> SleepRun:
        """The run afterwards. What is left can be tried again, unless its undo data is gone."""
        ended = run.evolve(finished_at=run.finished_at or now)
        if not any(each.can_be_tried_again for each in self.left):
            return ended.evolve(state=RunState.UNDONE, undone_at=now)
        if self.undone:
            return ended.evolve(state=RunState.PARTLY_UNDONE, undone_at=now)
        return ended.evolve(state=RunState.DONE) if run.is_running else ended


def plan_undo(
    changes: Iterable[SleepChange],
    refs: Mapping[ItemKey, str | None],
    ref_of_record: Mapping[tuple[ItemKind, str, int], str | None],
) -> UndoPlan:
    """``refs``: the present version of each item; None: it is not there. ``ref_of_record``: the
    version that the record of an action's change has."""
    present = dict(refs)
    undone: list[int] = []
    left: list[LeftAction] = []
    targets: dict[ItemKey, Mapping[str, Any] | None] = {}
    ordered = sorted(changes, key=lambda each: each.number, reverse=True)
    for number, group in groupby(ordered, lambda each: each.number):
        action = list(group)
        reason, items = _obstacle(action, present)
        if reason:
            left.append(LeftAction(number, action[0].task, items, reason))
            continue
        undone.append(number)
        for each in action:
            key = each.kind, each.subject
            present[key] = ref_of_record[each.kind, each.subject, number]
            targets[key] = each.before
    return UndoPlan(tuple(sorted(undone)), tuple(reversed(left)), targets)


def _obstacle(
    action: Sequence[SleepChange], present: Mapping[ItemKey, str | None]
) -> tuple[str, tuple[str, ...]]:
    """Why it cannot be undone, and because of which items; an empty text: it can."""
    lost = tuple(each.subject for each in action if not each.can_be_undone)
    if lost:
        return NO_UNDO_DATA, lost
    differing = [each for each in action if present[each.kind, each.subject] != each.after_ref]
    gone = [each.subject for each in differing if present[each.kind, each.subject] is None]
    if gone:
        return GONE, tuple(gone)
    return (CHANGED, tuple(each.subject for each in differing)) if differing else ("", ())

"""Runs of sleep, what they did, and compared pairs, on SQL."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager
from dataclasses import asdict
from typing import Any

from commonplace.errors import StaleDecision
from commonplace.model.access.principal import Scope
from commonplace.model.changeset import (
    Changeset,
    ChangesetStep,
    ChangeSource,
    RemoveMemory,
    RemoveSource,
    RewriteMemory,
)
from commonplace.model.graph.steps import (
    RemoveEdge,
    RemoveNode,
    RemoveNotes,
    RemoveStories,
)
from commonplace.model.journal import Event
from commonplace.model.sleep import (
    UNDONE_REF,
    ItemKind,
    KeepFingerprints,
    PairFingerprint,
    RecordSleep,
    SleepChange,
    SleepRun,
    SleepTask,
    TaskResult,
)
from commonplace.store.queries import SleepRunQuery
from commonplace.store.sql.rows import (
    Row,
    RowCodec,
    Session,
    WriteNumbers,
    instant,
    micros,
    to_json,
)

_RUN = RowCodec(SleepRun, ("tasks", "results"))
_CHANGE = RowCodec(SleepChange, ("before",))
_FINGERPRINT = RowCodec(PairFingerprint)
SLEEP_RUN_COLUMNS = f"s.tasks, s.results, {_RUN.columns('s')}"
SLEEP_CHANGE_COLUMNS = f"c.before, {_CHANGE.columns('c')}"

# Computed from other items: their texts may tell of anything that is erased.
_DERIVED = (
    ItemKind.NODE,
    ItemKind.EDGE,
    ItemKind.NOTE,
    ItemKind.STORYLINE,
    ItemKind.MACRO,
)


class SqlSleep(ABC):
    @abstractmethod
    def _reading(self, scope: Scope) -> AbstractContextManager[Session]:
        """A read transaction on one scope."""

    def sleep_runs(self, scope: Scope, query: SleepRunQuery) -> list[SleepRun]:
        with self._reading(scope) as session:
            rows = session.rows(
                "sleep_runs",
                id=query.id,
                schedule=query.schedule and str(query.schedule),
                state=query.state and str(query.state),
                due_at=micros(query.due_at),
                limit=query.limit,
            )
        return [_run_from(row) for row in rows]

    def sleep_changes(self, scope: Scope, run: str) -> list[SleepChange]:
        with self._reading(scope) as session:
            rows = session.rows("sleep_changes", run=run)
        return [_change_from(row) for row in rows]

    def fingerprints(self, scope: Scope) -> list[PairFingerprint]:
        with self._reading(scope) as session:
            rows = session.rows("fingerprints")
        return [PairFingerprint(a, b, score, instant(at)) for a, b, score, at in rows]


def _run_from(row: Row) -> SleepRun:
    tasks = tuple(map(SleepTask, json.loads(row[0])))
    results = tuple(
        TaskResult(**{**each, "task": SleepTask(each["task"])}) for each in json.loads(row[1])
    )
    return SleepRun(tasks=tasks, results=results, **_RUN.decode(row[2:]))


def _run_values(run: SleepRun) -> dict[str, Any]:
    results = to_json([asdict(each) for each in run.results])
    return {**_RUN.values(run), "tasks": to_json(list(run.tasks)), "results": results}


def _change_from(row: Row) -> SleepChange:
    before = None if row[0] is None else json.loads(row[0])
    return SleepChange(before=before, **_CHANGE.decode(row[1:]))


def _change_values(change: SleepChange, numbers: WriteNumbers) -> dict[str, Any]:
    before = None if change.before is None else to_json(dict(change.before))
    return {**_CHANGE.values(change), "before": before, "at": micros(numbers.at)}


def record_sleep(session: Session, batch: Sequence[RecordSleep], numbers: WriteNumbers) -> None:
    for step in batch:
        if not _was_as_expected(session, step):
            raise StaleDecision("Another worker went on with this run first.")
        session.run_many(
            "insert_sleep_change", [_change_values(each, numbers) for each in step.changes]
        )
        undone = [{"run": step.run.id, "number": each} for each in step.undone]
        session.run_many("mark_undone", [{**each, "after_ref": UNDONE_REF} for each in undone])
        if step.forget_before is not None:
            session.run("delete_old_sleep_changes", before=micros(step.forget_before))


def _was_as_expected(session: Session, step: RecordSleep) -> bool:
    values = _run_values(step.run)
    if step.before is None:
        return session.one("add_sleep_run", **values) is not None
    before = _run_values(step.before)
    expected = {
        f"old_{name}": before[name]
        for name in ("state", "ended", "position", "results", "undone_at")
    }
    moved = {
        name: values[name]
        for name in (
            "id",
            "state",
            "finished_at",
            "undone_at",
            "live_at_start",
            "ended",
            "position",
            "results",
        )
    }
    return session.one("move_sleep_run", **moved, **expected) is not None


def keep_fingerprints(
    session: Session, batch: Sequence[KeepFingerprints], numbers: WriteNumbers
) -> None:
    for step in batch:
        if step.forget_before is not None:
            session.run("delete_old_fingerprints", before=micros(step.forget_before))
        session.run_many("keep_fingerprint", [_FINGERPRINT.values(e) for e in step.fingerprints])


def remove_undo_data(session: Session, changeset: Changeset, numbers: WriteNumbers) -> None:
    """Deletes what nights kept of items that are gone for good or lose words; and, with any
    erasure, of items whose texts were made of others."""
    ended = sorted({id for step in changeset.steps for id in _ended_for_good(step)})
    session.run("forget_undo_of_items", ids=ended)
    memories = [step.id for step in changeset.steps if isinstance(step, RemoveMemory)]
    session.run("delete_fingerprints_of", ids=memories)
    erases = changeset.receipt or changeset.invalidates_answers
    if erases or numbers.erased_texts or numbers.erased_names:
        session.run("forget_undo_of_kinds", kinds=[str(kind) for kind in _DERIVED])


def _ended_for_good(step: ChangesetStep) -> Iterable[str]:
    match step:
        case RemoveMemory() | RemoveSource():
            return (step.id,)
        case RewriteMemory():
            return (step.memory.id,)
        case ChangeSource() if any(passage.is_erased for passage in step.revised):
            return (step.after.id,)
        case RemoveNotes() | RemoveStories() if step.entry.event is Event.ERASE:
            return step.ids
        case RemoveNode() | RemoveEdge() if step.entry.event is Event.ERASE:
            return (step.id,)
        case _:
            return ()

"""Applying a changeset inside a transaction: number it, write its rows, journal it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, get_args

from commonplace.errors import StaleDecision
from commonplace.model.changes import (
    NO_MEMORY,
    OF_THE_QUEUE,
    Add,
    AddSource,
    Change,
    Changeset,
    ChangeSource,
    Copy,
    Hold,
    Propose,
    Remove,
    RemoveEverything,
    RemoveSource,
    Rewrite,
    Step,
)
from commonplace.model.company_steps import SetGrant, SetMembership
from commonplace.model.graph.steps import GraphStep, SetExtracted
from commonplace.model.heard import day_of
from commonplace.store.failpoints import reached
from commonplace.store.sql.graph_steps import REMOVING, erases
from commonplace.store.sql.kept_answers import hold_to_claim
from commonplace.store.sql.numbers import Numbers
from commonplace.store.sql.rows import entry_values, micros
from commonplace.store.sql.session import Session
from commonplace.store.sql.step_writers import WRITERS
from commonplace.store.sql.teams import hold_to_members

# The counters that a writer locks and moves; bookkeeping locks them and moves none.
NO_MOVES = {
    "changes": 0,
    "entries": 0,
    "units": 0,
    "vanished": 0,
    "profile_numbers": 0,
    "observed": 0,
    "day": 0,
    "graph": 0,
    "graph_vanished": 0,
}


def write_steps(session: Session, changeset: Changeset, hold_to: Callable[[int], None]) -> int:
    """``hold_to`` refuses vectors of another generation than the current one."""
    numbers = _number(session, changeset)
    hold_to(numbers.generation)
    if changeset.member is not None:
        hold_to_members(session, changeset.member)
    if changeset.claim is not None:
        hold_to_claim(session, changeset.claim)
    for batch in _batches(changeset):
        WRITERS[type(batch[0])](session, batch, numbers)
    if changeset.receipt or changeset.silences or any(map(_silences, changeset.steps)):
        session.run("silence_answers")
    reached("apply.rows")
    _write_journal(session, changeset, numbers)
    if changeset.receipt:
        receipt = changeset.receipt
        session.run("insert_receipt", id=receipt.id, at=micros(receipt.at), items=receipt.items)
    reached("apply.journal")
    return numbers.revision


def _number(session: Session, changeset: Changeset) -> Numbers:
    """Lock the scope's counters and move them; from here on this writer is alone."""
    entries = sum(1 for step in changeset.steps if not isinstance(step, _UNTOLD))
    changes = int(not all(isinstance(step, NO_MEMORY) for step in changeset.steps))
    units = sum(_units_of(step) for step in changeset.steps)
    moves = {
        "changes": changes,
        "entries": entries,
        "units": units,
        "vanished": int(any(map(_vanishes, changeset.steps))),
        "profile_numbers": changeset.profile_numbers,
        "observed": changeset.observed,
        "day": day_of(changeset.at),
        "graph": int(any(map(_changes_graph, changeset.steps))),
        "graph_vanished": int(any(isinstance(step, REMOVING) for step in changeset.steps)),
    }
    row = session.one("lock_counters", **moves)
    if row is None:
        session.run("open_scope")
        row = session.one("lock_counters", **moves)
    assert row is not None
    revision, seq, _, journal, units_after, *_, generation = row
    if changeset.decided_on is not None and revision - changes != changeset.decided_on:
        raise StaleDecision("Another writer changed this memory first.")
    return Numbers(revision, seq, journal - entries, units_after - units, changeset.at, generation)


def _units_of(step: Step) -> int:
    match step:
        case Copy():
            return len(step.memories) + sum(map(_units_of, step.sources))
        case Add() | Rewrite():
            return 1
        case Change():
            return int(step.index is not None)
        case AddSource() | ChangeSource():
            return len(step.passages)
        case _:
            return 0


_UNTOLD = (Copy, *OF_THE_QUEUE)  # a copy brings its own journal


def _vanishes(step: Step) -> bool:
    """Caches only ever hear of what is there: what is gone makes them start anew. Passages that
    others replace do not: they are known by their source's first unit."""
    if isinstance(step, REMOVING):
        return erases(step)
    return isinstance(step, Remove | Rewrite | RemoveEverything | Copy | RemoveSource)


_OF_THE_GRAPH = tuple(kind for kind in get_args(GraphStep) if kind is not SetExtracted)


def _changes_graph(step: Step) -> bool:
    return isinstance(step, (*_OF_THE_GRAPH, RemoveEverything, Copy))


def _silences(step: Step) -> bool:
    """Answers that are kept may tell of what is gone, or of what may not be read any more."""
    if isinstance(step, SetMembership | SetGrant):
        return step.gone or (isinstance(step, SetGrant) and step.share.declined)
    return _vanishes(step)


def _batches(changeset: Changeset) -> Sequence[Sequence[Any]]:
    """Runs of like steps, so that a run is written with one statement per table."""
    batches: list[list[Any]] = []
    for step in changeset.steps:
        if batches and type(batches[-1][0]) is type(step):
            batches[-1].append(step)
        else:
            batches.append([step])
    return batches


def _write_journal(session: Session, changeset: Changeset, numbers: Numbers) -> None:
    told = [step for step in changeset.steps if not isinstance(step, _UNTOLD)]
    numbers.journal_rows += [
        {
            **entry_values(step.entry),
            "seq": numbers.journal + 1 + offset,
            "ts": micros(changeset.at),
            "revision": numbers.revision,
            "thread_id": _thread_of(step, changeset),
            "actor": changeset.actor,
        }
        for offset, step in enumerate(told)
    ]
    session.run_many("insert_journal", numbers.journal_rows)


def _thread_of(step: Step, changeset: Changeset) -> str | None:
    """A batch may bring memories of several conversations."""
    match step:
        case _ if changeset.thread_id:
            return changeset.thread_id
        case Add():
            return step.memory.thread_id
        case Hold(values=(first, *_)):
            return first.memory.thread_id
        case Propose():
            return step.proposal.signals[-1].thread
        case _:
            return None

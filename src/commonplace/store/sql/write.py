"""Applying a changeset inside a transaction: number it, write its rows, journal it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from commonplace.errors import StaleDecision
from commonplace.model.changes import (
    NO_MEMORY,
    OF_THE_QUEUE,
    Add,
    AddKey,
    AddSource,
    Amend,
    Change,
    ChangeKey,
    Changeset,
    ChangeSource,
    Connect,
    Copy,
    Enqueue,
    Finish,
    Hold,
    Indexing,
    LetGo,
    Propose,
    PutTeam,
    Remove,
    RemoveEverything,
    RemoveSource,
    Rewrite,
    SetGrant,
    SetMember,
    SetMembership,
    SetShare,
    Settle,
    Step,
    Withdraw,
)
from commonplace.model.heard import day_of
from commonplace.model.journal import Event
from commonplace.model.memory import Link, Memory
from commonplace.store.failpoints import reached
from commonplace.store.sql.held import copy_held, hold, let_go
from commonplace.store.sql.jobs import enqueue, finish
from commonplace.store.sql.kept_answers import hold_to_claim
from commonplace.store.sql.keys import add_key, end_key
from commonplace.store.sql.proposals import insert_proposals, settle
from commonplace.store.sql.recall_log import forget_recalled, insert_logged
from commonplace.store.sql.rows import (
    Row,
    entry_values,
    found_by,
    memory_values,
    micros,
    version_values,
)
from commonplace.store.sql.session import Session
from commonplace.store.sql.sources import add_source, change_source, remove_sources
from commonplace.store.sql.teams import hold_to_members, put_team, set_membership, set_share


@dataclass
class Numbers:
    """Where this changeset stands, and which index units its new memories get."""

    revision: int
    seq: int
    journal: int  # before this changeset
    next_unit: int
    at: datetime
    generation: int  # of its vectors
    journal_rows: list[dict[str, Any]] = field(default_factory=list)

    def take_unit(self) -> int:
        self.next_unit += 1
        return self.next_unit - 1


# The counters that a writer locks and moves; bookkeeping locks them and moves none.
NO_MOVES = {
    "changes": 0,
    "entries": 0,
    "units": 0,
    "vanished": 0,
    "profile_numbers": 0,
    "observed": 0,
    "day": 0,
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
        _write_batch(session, batch, numbers)
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
    return isinstance(step, Remove | Rewrite | RemoveEverything | Copy | RemoveSource)


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


def _write_batch(session: Session, batch: Sequence[Any], numbers: Numbers) -> None:
    match batch[0]:
        case Add():
            _add(session, [(step.memory, step.index) for step in batch], numbers)
            session.run_many(
                "insert_version", [version_values(step.memory, numbers.at) for step in batch]
            )
        case Change():
            for step in batch:
                _change(session, step, numbers)
        case Connect():
            _connect(session, [step.link for step in batch])
        case Hold():
            for step in batch:
                hold(session, step)
        case LetGo():
            for step in batch:
                let_go(session, step)
        case Propose():
            insert_proposals(session, [step.proposal for step in batch])
        case Settle():
            for step in batch:
                settle(session, step)
        case Amend():
            for step in batch:
                _amend(session, step, numbers)
        case Remove():
            erased = [step.id for step in batch if step.entry.event is Event.ERASE]
            if erased:  # categories and threads are words of the caller's, too
                session.run("silence_journal", ids=erased)
                forget_recalled(session, erased, erased=True)
                session.run("delete_held_about_nothing", ids=erased)
            _remove(session, [step.id for step in batch])
        case Rewrite():
            for step in batch:
                _rewrite(session, step, numbers)
        case AddSource():
            for step in batch:
                _add_source(session, step, numbers)
        case ChangeSource():
            for step in batch:
                units = [numbers.take_unit() for _ in step.passages]
                placed = change_source(session, step, numbers.seq, units, numbers.at)
                _index(session, placed, numbers.generation)
        case RemoveSource():
            remove_sources(session, batch)
        case RemoveEverything():
            for table in _EVERYTHING:
                session.run(f"clear_{table}")
        case Copy():
            for step in batch:
                _copy(session, step, numbers)
        case AddKey():
            for step in batch:
                add_key(session, step)
        case ChangeKey():
            for step in batch:
                end_key(session, step)
        case PutTeam():
            for step in batch:
                put_team(session, step)
        case SetMember() | SetMembership():
            for step in batch:
                set_membership(session, step)
        case SetShare() | SetGrant():
            for step in batch:
                set_share(session, step)
        case Enqueue():
            enqueue(session, [step.job for step in batch])
        case Finish():
            for step in batch:
                finish(session, step.job, numbers.at)
        case Withdraw():
            session.run("withdraw_jobs", keys=[key for step in batch for key in step.keys])


_EVERYTHING = (
    "terms",
    "vectors",
    "versions",
    "links",
    "reads",
    "held",
    "proposals",
    "memories",
    "passages",
    "originals",
    "sources",
    "journal",
    "cursors",
    "jobs",
    "recall_hits",
    "recall_log",
    "keys",
    "kept_answers",
    "teams",
    "memberships",
    "shares",
)


def _add(session: Session, items: Sequence[tuple[Memory, Indexing]], numbers: Numbers) -> None:
    placed = [(numbers.take_unit(), memory, index) for memory, index in items]
    session.run_many(
        "insert_memory",
        [{**memory_values(memory), "unit": unit, "seq": numbers.seq} for unit, memory, _ in placed],
    )
    _index(session, [(unit, index) for unit, _, index in placed], numbers.generation)


def _index(session: Session, placed: Sequence[tuple[int, Indexing]], generation: int) -> None:
    session.run_many(
        "insert_terms",
        [{"unit": unit, **found_by(index)} for unit, index in placed],
    )
    session.run_many(
        "insert_vector",
        [
            {"unit": unit, "vector": index.vector, "generation": generation}
            for unit, index in placed
            if index.vector
        ],
    )


def _add_source(session: Session, step: AddSource, numbers: Numbers) -> None:
    units = [numbers.take_unit() for _ in step.passages]
    placed = add_source(session, step, numbers.seq, units, numbers.at)
    _index(session, placed, numbers.generation)


def _change(session: Session, step: Change, numbers: Numbers) -> None:
    _update(session, step.after, step.before.version, step.index, numbers)
    session.run("close_version", id=step.after.id, at=micros(numbers.at))
    session.run_many("insert_version", [version_values(step.after, numbers.at)])


def _amend(session: Session, step: Amend, numbers: Numbers) -> None:
    memory = step.memory
    _update(session, memory, memory.version, None, numbers)
    fields = version_values(memory, numbers.at)["fields"]
    session.run("amend_version", id=memory.id, version=memory.version, fields=fields)


def _update(
    session: Session,
    memory: Memory,
    expected_version: int,
    index: Indexing | None,
    numbers: Numbers,
) -> None:
    """A unit's terms never change, so that caches need not look twice: new words, new unit."""
    values = memory_values(memory)
    del values["arrived_at"]
    unit = None
    if index:
        unit = numbers.take_unit()
        session.run("delete_terms", ids=[memory.id])
        session.run("delete_vectors", ids=[memory.id])
        _index(session, [(unit, index)], numbers.generation)
    row: Row | None = session.one(
        "update_memory", **values, unit=unit, seq=numbers.seq, expected_version=expected_version
    )
    if row is None:
        raise StaleDecision("Another writer changed this memory first.")


def _connect(session: Session, links: Sequence[Link]) -> None:
    session.run_many(
        "insert_link",
        [
            {
                "a": link.a,
                "b": link.b,
                "relation": link.relation,
                "strength": link.strength,
                "created_at": micros(link.created_at),
            }
            for link in links
        ],
    )


def _remove(session: Session, ids: Sequence[str]) -> None:
    forget_recalled(session, ids, erased=False)
    for statement in (
        "delete_terms",
        "delete_vectors",
        "delete_versions",
        "delete_links",
        "delete_reads",
        "delete_held_beside",
        "silence_held",
        "orphan_successors",
        "delete_memories",
    ):
        session.run(statement, ids=list(ids))


def _rewrite(session: Session, step: Rewrite, numbers: Numbers) -> None:
    _update(session, step.memory, step.memory.version, step.index, numbers)
    session.run("delete_versions", ids=[step.memory.id])
    session.run_many("insert_version", [version_values(step.memory, numbers.at)])


def _copy(session: Session, copy: Copy, numbers: Numbers) -> None:
    _add(session, copy.memories, numbers)
    session.run_many(
        "insert_version",
        [version_values(v.memory, v.recorded_at, v.invalidated_at) for v in copy.versions],
    )
    _connect(session, copy.links)
    copy_held(session, copy)
    insert_proposals(session, copy.proposals)
    insert_logged(session, copy.recall_log)
    for source in copy.sources:
        _add_source(session, source, numbers)
    session.run_many(
        "insert_reads",
        [
            {
                "id": memory.id,
                "last_accessed_at": micros(memory.last_accessed_at),
                "access_count": memory.access_count,
            }
            for memory, _ in copy.memories
            if memory.last_accessed_at
        ],
    )
    # An erased memory left its last lines and numbers here: what comes is told after them.
    revisions, lines = numbers.revision - 1, numbers.journal
    numbers.revision = revisions + max(copy.revision, 1)
    numbers.journal_rows += [
        {
            **entry_values(row.entry),
            "seq": lines + row.seq,
            "ts": micros(row.ts),
            "revision": revisions + row.revision,
            "thread_id": row.thread_id,
            "actor": row.actor,
        }
        for row in copy.journal
    ]
    session.run(
        "set_counters",
        revision=numbers.revision,
        journal=lines + max((row.seq for row in copy.journal), default=0),
        profile_numbers=copy.profile_numbers,
    )


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

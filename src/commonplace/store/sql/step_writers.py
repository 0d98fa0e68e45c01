"""What each step of a changeset writes: a table of writers. Each takes a run of like steps, so that
a run is written with one statement per table."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from commonplace.model.changes import (
    Add,
    AddSource,
    Amend,
    Change,
    ChangeSource,
    Connect,
    Copy,
    Enqueue,
    Finish,
    Hold,
    LetGo,
    Propose,
    Remove,
    RemoveEverything,
    RemoveSource,
    Rewrite,
    Settle,
    Withdraw,
)
from commonplace.model.company_steps import (
    AddKey,
    ChangeKey,
    PutTeam,
    SetGrant,
    SetMember,
    SetMembership,
    SetShare,
)
from commonplace.model.graph.steps import (
    PutArtifact,
    PutEdge,
    PutNode,
    PutNote,
    RemoveArtifact,
    RemoveEdge,
    RemoveNode,
    RemoveNotes,
    SetExtracted,
)
from commonplace.store.sql.graph_steps import (
    copy_graph,
    put_artifacts,
    put_edges,
    put_nodes,
    put_notes,
    remove_artifacts,
    remove_edges,
    remove_nodes,
    remove_notes,
    set_extracted,
)
from commonplace.store.sql.held import copy_held, hold, let_go
from commonplace.store.sql.jobs import enqueue, finish
from commonplace.store.sql.keys import add_key, end_key
from commonplace.store.sql.memories import (
    add_memories,
    amend_memory,
    change_memory,
    connect,
    insert_index,
    remove_memories,
    rewrite_memory,
)
from commonplace.store.sql.numbers import Numbers
from commonplace.store.sql.proposals import insert_proposals, settle
from commonplace.store.sql.recall_log import insert_logged
from commonplace.store.sql.rows import entry_values, micros, version_values
from commonplace.store.sql.session import Session
from commonplace.store.sql.sources import add_source, change_source, remove_sources
from commonplace.store.sql.teams import put_team, set_membership, set_share

Writer = Callable[[Session, Sequence[Any], Numbers], None]


def _each(write: Callable[[Session, Any], None]) -> Writer:
    """A writer of one step at a time, to which the numbers are nothing."""

    def writer(session: Session, batch: Sequence[Any], numbers: Numbers) -> None:
        for step in batch:
            write(session, step)

    return writer


def _numbered(write: Callable[[Session, Any, Numbers], None]) -> Writer:
    def writer(session: Session, batch: Sequence[Any], numbers: Numbers) -> None:
        for step in batch:
            write(session, step, numbers)

    return writer


def _add(session: Session, batch: Sequence[Add], numbers: Numbers) -> None:
    add_memories(session, [(step.memory, step.index) for step in batch], numbers)
    session.run_many("insert_version", [version_values(step.memory, numbers.at) for step in batch])


def _connect(session: Session, batch: Sequence[Connect], numbers: Numbers) -> None:
    connect(session, [step.link for step in batch])


def _propose(session: Session, batch: Sequence[Propose], numbers: Numbers) -> None:
    insert_proposals(session, [step.proposal for step in batch])


def _add_source(session: Session, step: AddSource, numbers: Numbers) -> None:
    units = [numbers.take_unit() for _ in step.passages]
    placed = add_source(session, step, numbers.seq, units, numbers.at)
    insert_index(session, placed, numbers.generation)


def _change_source(session: Session, step: ChangeSource, numbers: Numbers) -> None:
    units = [numbers.take_unit() for _ in step.passages]
    placed = change_source(session, step, numbers.seq, units, numbers.at)
    insert_index(session, placed, numbers.generation)


def _remove_sources(session: Session, batch: Sequence[RemoveSource], numbers: Numbers) -> None:
    remove_sources(session, batch)


def _enqueue(session: Session, batch: Sequence[Enqueue], numbers: Numbers) -> None:
    enqueue(session, [step.job for step in batch])


def _finish(session: Session, step: Finish, numbers: Numbers) -> None:
    finish(session, step.job, numbers.at)


def _withdraw(session: Session, batch: Sequence[Withdraw], numbers: Numbers) -> None:
    session.run("withdraw_jobs", keys=[key for step in batch for key in step.keys])


def _remove_everything(
    session: Session, batch: Sequence[RemoveEverything], numbers: Numbers
) -> None:
    for table in _EVERYTHING:
        session.run(f"clear_{table}")


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
    "graph_vectors",
    "marks",
    "extractions",
    "artifacts",
    "graph_notes",
    "edge_tellings",
    "edges",  # before the nodes that they hold on to
    "node_tellings",
    "nodes",
)


def _copy(session: Session, copy: Copy, numbers: Numbers) -> None:
    add_memories(session, copy.memories, numbers)
    session.run_many(
        "insert_version",
        [version_values(v.memory, v.recorded_at, v.invalidated_at) for v in copy.versions],
    )
    connect(session, copy.links)
    copy_held(session, copy)
    insert_proposals(session, copy.proposals)
    insert_logged(session, copy.recall_log)
    for source in copy.sources:
        _add_source(session, source, numbers)
    copy_graph(session, copy, numbers)
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


WRITERS: dict[type, Writer] = {
    Add: _add,
    Change: _numbered(change_memory),
    Connect: _connect,
    Hold: _each(hold),
    LetGo: _each(let_go),
    Propose: _propose,
    Settle: _each(settle),
    Amend: _numbered(amend_memory),
    Remove: remove_memories,
    Rewrite: _numbered(rewrite_memory),
    RemoveEverything: _remove_everything,
    Copy: _numbered(_copy),
    AddSource: _numbered(_add_source),
    ChangeSource: _numbered(_change_source),
    RemoveSource: _remove_sources,
    PutNode: put_nodes,
    PutEdge: put_edges,
    RemoveNode: remove_nodes,
    RemoveEdge: remove_edges,
    PutNote: put_notes,
    RemoveNotes: remove_notes,
    PutArtifact: put_artifacts,
    RemoveArtifact: remove_artifacts,
    SetExtracted: set_extracted,
    AddKey: _each(add_key),
    ChangeKey: _each(end_key),
    PutTeam: _each(put_team),
    SetMember: _each(set_membership),
    SetMembership: _each(set_membership),
    SetShare: _each(set_share),
    SetGrant: _each(set_share),
    Enqueue: _enqueue,
    Finish: _numbered(_finish),
    Withdraw: _withdraw,
}

"""Changeset writer: assigns numbers to a changeset, writes its steps and journal."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, get_args

from commonplace.errors import StaleDecision
from commonplace.model.access.team import (
    AddKey,
    ChangeKey,
    PutTeam,
    SetGrant,
    SetMember,
    SetMembership,
    SetShare,
)
from commonplace.model.changeset import (
    STEPS_WITHOUT_ENTRY,
    STEPS_WITHOUT_REVISION,
    AddMemory,
    AddSource,
    AmendMemory,
    ChangeMemory,
    Changeset,
    ChangesetStep,
    ChangeSource,
    ClearScope,
    CloseProposals,
    EnqueueJob,
    FinishJob,
    HoldValues,
    ImportScope,
    LinkMemories,
    PutProposal,
    ReleaseHeld,
    RemoveMemory,
    RemoveSource,
    RetryJob,
    RewriteMemory,
    UnlinkMemories,
    WithdrawJobs,
)
from commonplace.model.graph.steps import (
    GraphStep,
    PutArtifact,
    PutEdge,
    PutNode,
    PutNote,
    PutStory,
    RemoveArtifact,
    RemoveEdge,
    RemoveNode,
    RemoveNotes,
    RemoveStories,
    SetArchived,
    SetExtraction,
)
from commonplace.model.model_calls import SetReading
from commonplace.model.sleep import KeepFingerprints, RecordSleep
from commonplace.model.sources.source import utc_day
from commonplace.store.failpoints import reach_failpoint
from commonplace.store.sql.access import (
    add_key,
    end_key,
    put_team,
    require_member,
    set_membership,
    set_share,
)
from commonplace.store.sql.erasure import ReadOriginal, remove_traces
from commonplace.store.sql.graph import (
    REMOVAL_STEPS,
    import_graph,
    is_erasure,
    put_artifacts,
    put_edges,
    put_nodes,
    put_notes,
    remove_artifacts,
    remove_edges,
    remove_nodes,
    remove_notes,
    set_extractions,
)
from commonplace.store.sql.jobs import enqueue, finish, require_claim, retry, withdraw
from commonplace.store.sql.llm.model_calls import (
    import_readings,
    remove_model_answers,
    set_readings,
)
from commonplace.store.sql.maintenance.sleep import (
    keep_fingerprints,
    record_sleep,
    remove_undo_data,
)
from commonplace.store.sql.maintenance.storylines import (
    put_stories,
    remove_stories,
    set_archived,
    unlink,
)
from commonplace.store.sql.memories import (
    add_memories,
    amend_memory,
    change_memory,
    close_proposals,
    hold_values,
    import_held,
    insert_index,
    insert_links,
    insert_logged,
    insert_proposals,
    release_held,
    remove_memories,
    rewrite_memory,
)
from commonplace.store.sql.rows import (
    Session,
    WriteNumbers,
    entry_values,
    micros,
    to_json,
    version_values,
)
from commonplace.store.sql.sources import (
    add_source,
    change_source,
    note_erased_passages,
    remove_sources,
)

Writer = Callable[[Session, Sequence[Any], WriteNumbers], None]


def _one_by_one(write: Callable[[Session, Any], None]) -> Writer:
    """A writer of one step at a time that needs no numbers."""

    def writer(session: Session, batch: Sequence[Any], numbers: WriteNumbers) -> None:
        for step in batch:
            write(session, step)

    return writer


def _one_by_one_numbered(write: Callable[[Session, Any, WriteNumbers], None]) -> Writer:
    def writer(session: Session, batch: Sequence[Any], numbers: WriteNumbers) -> None:
        for step in batch:
            write(session, step, numbers)

    return writer


def _add(session: Session, batch: Sequence[AddMemory], numbers: WriteNumbers) -> None:
    add_memories(session, [(step.memory, step.index) for step in batch], numbers)
    session.run_many("insert_version", [version_values(step.memory, numbers.at) for step in batch])


def _connect(session: Session, batch: Sequence[LinkMemories], numbers: WriteNumbers) -> None:
    insert_links(session, [step.link for step in batch])


def _propose(session: Session, batch: Sequence[PutProposal], numbers: WriteNumbers) -> None:
    insert_proposals(session, [step.proposal for step in batch])


def _add_source(session: Session, step: AddSource, numbers: WriteNumbers) -> None:
    units = [numbers.take_unit() for _ in step.passages]
    placed = add_source(session, step, numbers.seq, units, numbers.at)
    insert_index(session, placed, numbers.generation)


def _change_source(session: Session, step: ChangeSource, numbers: WriteNumbers) -> None:
    units = [numbers.take_unit() for _ in step.passages]
    note_erased_passages(session, step, numbers)
    placed = change_source(session, step, numbers.seq, units, numbers.at)
    insert_index(session, placed, numbers.generation)


def _enqueue(session: Session, batch: Sequence[EnqueueJob], numbers: WriteNumbers) -> None:
    enqueue(session, [step.job for step in batch])


def _finish(session: Session, step: FinishJob, numbers: WriteNumbers) -> None:
    finish(session, step.job, numbers.at)


def _withdraw(session: Session, batch: Sequence[WithdrawJobs], numbers: WriteNumbers) -> None:
    withdraw(session, batch)


def _retry(session: Session, step: RetryJob, numbers: WriteNumbers) -> None:
    retry(session, step, numbers.at)


def _remove_everything(
    session: Session, batch: Sequence[ClearScope], numbers: WriteNumbers
) -> None:
    for table in _SCOPE_TABLES:
        session.run(f"clear_{table}")


_SCOPE_TABLES = (
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
    "model_answers",
    "model_usage",
    "model_readings",
    "sleep_changes",
    "sleep_runs",
    "fingerprints",
    "teams",
    "memberships",
    "shares",
    "graph_vectors",
    "marks",
    "extractions",
    "storylines",
    "macros",
    "artifacts",
    "graph_notes",
    "edge_tellings",
    "edges",  # before the nodes that they reference
    "node_tellings",
    "nodes",
)


def _import_scope(session: Session, imported: ImportScope, numbers: WriteNumbers) -> None:
    add_memories(session, imported.memories, numbers)
    session.run_many(
        "insert_version",
        [version_values(v.memory, v.recorded_at, v.invalidated_at) for v in imported.versions],
    )
    insert_links(session, imported.links)
    import_held(session, imported)
    insert_proposals(session, imported.proposals)
    insert_logged(session, imported.recall_log)
    for source in imported.sources:
        _add_source(session, source, numbers)
    import_graph(session, imported, numbers)
    import_readings(session, imported.readings)
    session.run_many(
        "insert_reads",
        [
            {
                "id": memory.id,
                "last_accessed_at": micros(memory.last_accessed_at),
                "access_count": memory.access_count,
            }
            for memory, _ in imported.memories
            if memory.last_accessed_at
        ],
    )
    # An erased scope keeps its last journal rows and counters: imported rows continue after them.
    revisions, journal = numbers.revision - 1, numbers.journal
    numbers.revision = revisions + max(imported.revision, 1)
    numbers.journal_rows += [
        {
            **entry_values(row.entry),
            "seq": journal + row.seq,
            "ts": micros(row.ts),
            "revision": revisions + row.revision,
            "thread_id": row.thread_id,
            "actor": row.actor,
        }
        for row in imported.journal
    ]
    session.run(
        "set_counters",
        revision=numbers.revision,
        journal=journal + max((row.seq for row in imported.journal), default=0),
        profile_numbers=imported.profile_numbers,
    )


WRITERS: dict[type, Writer] = {
    AddMemory: _add,
    ChangeMemory: _one_by_one_numbered(change_memory),
    LinkMemories: _connect,
    UnlinkMemories: _one_by_one(unlink),
    HoldValues: _one_by_one(hold_values),
    ReleaseHeld: _one_by_one_numbered(release_held),
    PutProposal: _propose,
    CloseProposals: _one_by_one_numbered(close_proposals),
    AmendMemory: _one_by_one_numbered(amend_memory),
    RemoveMemory: remove_memories,
    RewriteMemory: _one_by_one_numbered(rewrite_memory),
    ClearScope: _remove_everything,
    ImportScope: _one_by_one_numbered(_import_scope),
    AddSource: _one_by_one_numbered(_add_source),
    ChangeSource: _one_by_one_numbered(_change_source),
    RemoveSource: remove_sources,
    PutNode: put_nodes,
    PutEdge: put_edges,
    RemoveNode: remove_nodes,
    RemoveEdge: remove_edges,
    PutNote: put_notes,
    RemoveNotes: remove_notes,
    PutArtifact: put_artifacts,
    RemoveArtifact: remove_artifacts,
    PutStory: put_stories,
    RemoveStories: remove_stories,
    SetArchived: set_archived,
    SetExtraction: set_extractions,
    SetReading: set_readings,
    AddKey: _one_by_one(add_key),
    ChangeKey: _one_by_one(end_key),
    PutTeam: _one_by_one(put_team),
    SetMember: _one_by_one(set_membership),
    SetMembership: _one_by_one(set_membership),
    SetShare: _one_by_one(set_share),
    SetGrant: _one_by_one(set_share),
    RecordSleep: record_sleep,
    KeepFingerprints: keep_fingerprints,
    EnqueueJob: _enqueue,
    FinishJob: _one_by_one_numbered(_finish),
    WithdrawJobs: _withdraw,
    RetryJob: _one_by_one_numbered(_retry),
}


# The increments of the counters that a writer locks; bookkeeping locks them without incrementing.
NO_COUNTER_MOVES = {
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


def write_steps(
    session: Session,
    changeset: Changeset,
    require_generation: Callable[[int], None],
    read_original: ReadOriginal,
) -> WriteNumbers:
    """``require_generation`` raises if the current vectors are of another
    embedder."""
    numbers = _lock_and_number(session, changeset)
    require_generation(numbers.generation)
    if changeset.member is not None:
        require_member(session, changeset.member)
    if changeset.claim is not None:
        require_claim(session, changeset.claim)
    for batch in _batches(changeset):
        WRITERS[type(batch[0])](session, batch, numbers)
    if (
        changeset.receipt
        or changeset.invalidates_answers
        or any(map(_invalidates_answers, changeset.steps))
    ):
        session.run("silence_answers")
    remove_model_answers(session, changeset)
    reach_failpoint("apply.rows")
    _write_journal(session, changeset, numbers)
    remove_undo_data(session, changeset, numbers)
    found_in = remove_traces(session, numbers, read_original)
    if changeset.receipt:
        receipt = changeset.receipt
        session.run(
            "insert_receipt",
            id=receipt.id,
            at=micros(receipt.at),
            items=receipt.items,
            found_in=to_json(found_in),
        )
    reach_failpoint("apply.journal")
    return numbers


def _lock_and_number(session: Session, changeset: Changeset) -> WriteNumbers:
    """Lock and increment the scope's counters; from here on this is the scope's only writer."""
    entries = sum(1 for step in changeset.steps if not isinstance(step, STEPS_WITHOUT_ENTRY))
    changes = int(not all(isinstance(step, STEPS_WITHOUT_REVISION) for step in changeset.steps))
    units = sum(_units_of(step) for step in changeset.steps)
    moves = {
        "changes": changes,
        "entries": entries,
        "units": units,
        "vanished": int(any(map(_removes_rows, changeset.steps))),
        "profile_numbers": changeset.profile_numbers,
        "observed": changeset.observed,
        "day": utc_day(changeset.at),
        "graph": int(any(map(_changes_graph, changeset.steps))),
        "graph_vanished": int(any(isinstance(step, REMOVAL_STEPS) for step in changeset.steps)),
    }
    row = session.one("lock_counters", **moves)
    if row is None:
        session.run("open_scope")
        row = session.one("lock_counters", **moves)
    assert row is not None
    revision, seq, _, journal, units_after, *_, generation = row
    if changeset.decided_on is not None and revision - changes != changeset.decided_on:
        raise StaleDecision("Another writer changed this memory first.")
    return WriteNumbers(
        revision, seq, journal - entries, units_after - units, changeset.at, generation
    )


def _units_of(step: ChangesetStep) -> int:
    match step:
        case ImportScope():
            return len(step.memories) + sum(map(_units_of, step.sources))
        case AddMemory() | RewriteMemory():
            return 1
        case ChangeMemory():
            return int(step.index is not None)
        case AddSource() | ChangeSource():
            return len(step.passages)
        case _:
            return 0


def _removes_rows(step: ChangesetStep) -> bool:
    """Whether caches have to be rebuilt: they read changed rows and cannot see removed ones.
    Replaced passages need no rebuild: the first unit of their source identifies them."""
    if isinstance(step, REMOVAL_STEPS):
        return is_erasure(step)
    if isinstance(step, ChangeSource):
        return bool(step.revised)
    return isinstance(step, RemoveMemory | RewriteMemory | ClearScope | ImportScope | RemoveSource)


_GRAPH_STEPS = tuple(kind for kind in get_args(GraphStep) if kind is not SetExtraction)


def _changes_graph(step: ChangesetStep) -> bool:
    return isinstance(step, (*_GRAPH_STEPS, ClearScope, ImportScope))


def _invalidates_answers(step: ChangesetStep) -> bool:
    """Whether stored answers may contain what is removed, or may no longer be read."""
    if isinstance(step, SetMembership | SetGrant):
        return step.gone or (isinstance(step, SetGrant) and step.share.is_refused)
    return _removes_rows(step)


def _batches(changeset: Changeset) -> Sequence[Sequence[Any]]:
    """Consecutive steps of one type, which are written with one statement per table."""
    batches: list[list[Any]] = []
    for step in changeset.steps:
        if batches and type(batches[-1][0]) is type(step):
            batches[-1].append(step)
        else:
            batches.append([step])
    return batches


def _write_journal(session: Session, changeset: Changeset, numbers: WriteNumbers) -> None:
    journaled = [step for step in changeset.steps if not isinstance(step, STEPS_WITHOUT_ENTRY)]
    numbers.journal_rows += [
        {
            **entry_values(step.entry),
            "seq": numbers.journal + 1 + offset,
            "ts": micros(changeset.at),
            "revision": numbers.revision,
            "thread_id": _thread_of(step, changeset),
            "actor": changeset.actor,
        }
        for offset, step in enumerate(journaled)
    ]
    session.run_many("insert_journal", numbers.journal_rows)


def _thread_of(step: ChangesetStep, changeset: Changeset) -> str | None:
    """The changeset's thread, else the step's: a batch may come from several conversations."""
    match step:
        case _ if changeset.thread_id:
            return changeset.thread_id
        case AddMemory():
            return step.memory.thread_id
        case HoldValues(values=(first, *_)):
            return first.memory.thread_id
        case PutProposal():
            return step.proposal.signals[-1].thread
        case _:
            return None

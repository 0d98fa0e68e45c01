"""Changeset: the steps of one decision, applied whole or not at all; bookkeeping.

A changeset can be shown before it is applied (dry run) and undone afterwards (each change names the
version that it replaces). Each step carries its journal entry, except steps about jobs and runs of
sleep, which change no memory. Steps about keys, memberships, shares and extraction state are
journaled but do not move the scope's revision.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from commonplace.model.access.principal import Scope
from commonplace.model.access.team import (
    AccessStep,
    AddKey,
    ChangeKey,
    SetGrant,
    SetMembership,
)
from commonplace.model.graph.snapshot import NO_GRAPH, WholeGraph
from commonplace.model.graph.steps import GraphStep, NamedGraphItems, SetExtraction
from commonplace.model.jobs import AnswerOutcome, IdempotencyClaim, Job
from commonplace.model.journal import (
    Entry,
    Event,
    JournalNode,
    JournalRow,
    Op,
    RecallLogEntry,
    RecallTurn,
)
from commonplace.model.memory.kinds import BUILT_IN_CATEGORIES, POLICIES
from commonplace.model.memory.memory import HeldValue, Link, Memory, Sensitivity, Version
from commonplace.model.model_calls import KeepModelAnswer, ModelReading, ModelUsageRow, SetReading
from commonplace.model.profile.fields import Proposal
from commonplace.model.sleep import KeepFingerprints, RecordSleep
from commonplace.model.sources.source import SOURCE_CATEGORY, Passage, Source


@dataclass(frozen=True, slots=True)
class IndexEntry:
    """The search data of a memory: terms with counts, and its vector if it is embedded yet."""

    terms: Mapping[str, int]
    vector: bytes | None  # little-endian float32
    keys: frozenset[str] = frozenset()  # comparison keys of its meaning: they find restatements
    traits: int = 0  # bit set of properties that its words do not show (language/traits)


@dataclass(frozen=True, slots=True)
class AddMemory:
    memory: Memory
    index: IndexEntry
    entry: Entry


@dataclass(frozen=True, slots=True)
class ChangeMemory:
    """A new version of a memory. ``index`` only when its search data changed."""

    before: Memory
    after: Memory
    entry: Entry
    index: IndexEntry | None = None


@dataclass(frozen=True, slots=True)
class LinkMemories:
    link: Link
    entry: Entry


@dataclass(frozen=True, slots=True)
class UnlinkMemories:
    """Removes a link, where a night that made it is undone."""

    a: str
    b: str
    entry: Entry


@dataclass(frozen=True, slots=True)
class HoldValues:
    """Values held in a conflict or as alternatives to a memory; the targets become disputed."""

    conflict: str | None
    values: tuple[HeldValue, ...]
    entry: Entry
    targets: tuple[str, ...] = ()
    absorbs: tuple[str, ...] = ()  # conflicts merged into this one, with their values
    releases: tuple[str, ...] = ()  # memories that are no longer disputed


@dataclass(frozen=True, slots=True)
class ReleaseHeld:
    """Held values to delete; ``conflict`` is closed, and its targets are no longer disputed."""

    values: tuple[str, ...]
    entry: Entry
    conflict: str | None = None


@dataclass(frozen=True, slots=True)
class PutProposal:
    """A pending profile value; an existing proposal gets its new signals."""

    proposal: Proposal
    entry: Entry


@dataclass(frozen=True, slots=True)
class CloseProposals:
    """Delete these proposals, whatever was decided."""

    ids: tuple[str, ...]
    entry: Entry


@dataclass(frozen=True, slots=True)
class AmendMemory:
    """An update in place: the content is the same, so there is no new version."""

    memory: Memory
    entry: Entry


@dataclass(frozen=True, slots=True)
class RemoveMemory:
    """Deletes the row, its versions, links, index entries and access statistics."""

    id: str
    entry: Entry


@dataclass(frozen=True, slots=True)
class RewriteMemory:
    """New content *without* history: for erasure, where the old text must not survive."""

    memory: Memory
    index: IndexEntry
    entry: Entry


@dataclass(frozen=True, slots=True)
class ClearScope:
    """Deletes the whole scope: memories, journal, cursors. Its counters continue, so that caches
    notice."""

    entry: Entry


@dataclass(frozen=True, slots=True)
class Receipt:
    """Proof of an erasure. Holds no text and no hash of one."""

    id: str
    at: datetime
    items: int
    scrubbed_at: datetime | None = None  # None: bytes may remain in the files until compaction
    found_in: tuple[str, ...] = ()  # tables where other items say the same text

    @property
    def scrub(self) -> str:
        """Complete only if `verify_forget` finds the erased texts nowhere."""
        if self.scrubbed_at is None:
            return "pending"
        return "text remains" if self.found_in else "complete"


@dataclass(frozen=True, slots=True)
class EnqueueJob:
    """A follow-up job. It adds nothing while the same job is queued; while that job runs, it is
    queued again."""

    job: Job


@dataclass(frozen=True, slots=True)
class FinishJob:
    """The changeset is the job's result: applied only while the job is held by the same lease."""

    job: Job


@dataclass(frozen=True, slots=True)
class WithdrawJobs:
    """Cancels jobs; the result of a running one is refused. ``keys``: their subjects are gone.
    ``ids``: cancelled by the owner; these must still exist."""

    keys: tuple[str, ...] = ()
    ids: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RetryJob:
    """Makes a job due at once with all its tries. A running job continues unchanged."""

    id: str


@dataclass(frozen=True, slots=True)
class AddSource:
    """A new source. An imported one also has further parts of its original, and passages."""

    source: Source
    original: bytes
    entry: Entry
    further: tuple[bytes, ...] = ()
    passages: tuple[tuple[Passage, IndexEntry], ...] = ()


@dataclass(frozen=True, slots=True)
class ChangeSource:
    """``original`` is appended as a further part, ``passages`` are appended. ``anew``: existing
    passages are deleted first, and ``original`` replaces the stored one. ``revised``: passages that
    are forgotten, restored or erased, with their new text."""

    before: Source
    after: Source
    entry: Entry
    original: bytes | None = None
    anew: bool = False
    passages: tuple[tuple[Passage, IndexEntry], ...] = ()
    revised: tuple[Passage, ...] = ()
    parts: tuple[tuple[int, bytes], ...] = ()  # of the original that lose erased words, by number
    with_memory: bool = False  # a memory takes the revised passages along: other memories stay


@dataclass(frozen=True, slots=True)
class RemoveSource:
    """Deletes the row, its original, its passages and their index entries."""

    id: str
    entry: Entry


@dataclass(frozen=True, slots=True)
class ImportScope:
    """A user's whole memory as it was exported, with numbers and journal."""

    memories: tuple[tuple[Memory, IndexEntry], ...]
    versions: tuple[Version, ...]
    links: tuple[Link, ...]
    journal: tuple[JournalRow, ...]
    revision: int
    profile_numbers: int
    held: tuple[HeldValue, ...] = ()
    sources: tuple[AddSource, ...] = ()  # without entries: the imported journal has them
    proposals: tuple[Proposal, ...] = ()
    recall_log: tuple[RecallLogEntry, ...] = ()
    graph: WholeGraph = NO_GRAPH
    graph_vectors: Mapping[str, bytes] = field(
        default_factory=dict
    )  # by id; the others are embedded later
    readings: tuple[ModelReading, ...] = ()


ChangesetStep = (
    AddMemory
    | ChangeMemory
    | LinkMemories
    | UnlinkMemories
    | HoldValues
    | ReleaseHeld
    | PutProposal
    | CloseProposals
    | AmendMemory
    | RemoveMemory
    | RewriteMemory
    | ClearScope
    | ImportScope
    | AddSource
    | ChangeSource
    | RemoveSource
    | GraphStep
    | SetReading
    | AccessStep
    | RecordSleep
    | KeepFingerprints
    | EnqueueJob
    | FinishJob
    | WithdrawJobs
    | RetryJob
)
JOB_STEPS = (EnqueueJob, FinishJob, WithdrawJobs, RetryJob)
# These steps alone do not move the revision.
STEPS_WITHOUT_REVISION = (
    *JOB_STEPS,
    SetExtraction,
    SetReading,
    AddKey,
    ChangeKey,
    SetMembership,
    SetGrant,
    RecordSleep,
    KeepFingerprints,
)
# These steps are in no journal.
STEPS_WITHOUT_ENTRY = (*JOB_STEPS, ImportScope, RecordSleep, KeepFingerprints)


@dataclass(frozen=True, slots=True)
class Changeset:
    scope: Scope
    at: datetime
    actor: str
    steps: tuple[ChangesetStep, ...]
    decided_on: int | None = None  # the revision it was decided on; None: depends on no state
    thread_id: str | None = None
    receipt: Receipt | None = None
    profile_numbers: int = 0  # increment of the scope's counter of profile notes
    observed: int = 0  # how many of its memories are from conversations: limited per day
    member: str | None = None  # precondition: this user is a member of the team
    invalidates_answers: bool = False  # stored answers may contain what another scope removes
    # Sources of another scope that are gone or lost words: what models answered about them goes.
    ended_sources: tuple[str, ...] = ()
    claim: IdempotencyClaim | None = None  # of an idempotent request
    rests_on: tuple[tuple[Scope, int], ...] = ()  # other scopes, at the revisions it was decided on
    # What callers found in its turns, as HandedFindings of engine/graph/extraction: the cascade
    # adds it to the graph together with what the turns tell.
    handed: tuple[Any, ...] = ()
    named: NamedGraphItems | None = None  # the cascade makes steps of it

    @property
    def is_empty(self) -> bool:
        """It changes nothing."""
        return not self.steps and self.named is None


def merge_changesets(one: Changeset, other: Changeset) -> Changeset:
    """The steps of both, for one scope; the other fields are those of ``one``."""
    return replace(
        one,
        steps=(*one.steps, *other.steps),
        decided_on=other.decided_on if one.decided_on is None else one.decided_on,
        invalidates_answers=one.invalidates_answers or other.invalidates_answers,
        ended_sources=(*one.ended_sources, *other.ended_sources),
        rests_on=(*one.rests_on, *other.rests_on),
        handed=(*one.handed, *other.handed),
    )


@dataclass(frozen=True, slots=True)
class Applied:
    revision: int  # of the first changeset's scope


# ——— bookkeeping: the second kind of write, which never moves the revision ———


@dataclass(frozen=True, slots=True)
class Bookkeeping:
    """Writes that do not change memory. A crash may lose what was not recorded yet; the store stays
    consistent."""

    scope: Scope
    at: datetime
    touched: Mapping[str, int] = field(default_factory=dict)  # id → reads
    entries: tuple[Entry, ...] = ()  # operational journal rows
    thread_id: str | None = None
    actor: str | None = None
    cursor: tuple[str, str, int] | None = None  # agent, thread, revision seen
    vectors: Mapping[str, bytes] = field(default_factory=dict)  # late vectors, by Memory.ref
    terms: Mapping[str, IndexEntry] = field(default_factory=dict)  # recomputed, by Memory.ref
    passage_vectors: Mapping[int, bytes] = field(default_factory=dict)  # late vectors, by unit
    graph_vectors: Mapping[str, bytes] = field(default_factory=dict)  # by Node.ref or Edge.ref
    passage_terms: Mapping[int, IndexEntry] = field(default_factory=dict)  # recomputed, by unit
    # Rows without a checksum get one; damaged vectors are removed, to be embedded again.
    repairs_checksums: bool = False
    tidied: bool = False
    turns: tuple[RecallTurn, ...] = ()  # for the recall log
    log_before: datetime | None = None  # given: older entries of the recall log are deleted
    used_keys: tuple[str, ...] = ()
    # Nodes, edges and sources that were returned, and whether each was a top hit (salience).
    read: Mapping[str, bool] = field(default_factory=dict)
    # Given: the vectors belong to this generation, which is being built and is not read yet.
    generation: int | None = None
    built_seq: int | None = None  # given: that generation is complete up to this sequence number
    answers: tuple[AnswerOutcome, ...] = ()  # of idempotent requests
    facts: Mapping[str, str] = field(default_factory=dict)  # about the store, not about the scope
    model_answers: tuple[KeepModelAnswer, ...] = ()
    model_usage: tuple[ModelUsageRow, ...] = ()
    model_answers_before: datetime | None = None  # given: older answers of models are deleted

    @property
    def is_about_reads(self) -> bool:
        """Whether it only counts and logs what was read."""
        computed = (self.vectors, self.terms, self.passage_vectors, self.graph_vectors)
        done = (
            self.passage_terms,
            self.repairs_checksums,
            self.tidied,
            self.log_before,
            self.answers,
            self.facts,
            self.model_answers,
            self.model_usage,
            self.model_answers_before,
        )
        return not any((*computed, *done, self.generation is not None))


def build_add(
    memory: Memory,
    index: IndexEntry,
    *,
    node: JournalNode = JournalNode.HOTPATH,
    **entry_fields: Any,
) -> AddMemory:
    entry = Entry(
        op=entry_fields.pop("op", Op.CREATE),
        event=entry_fields.pop("event", Event.ADD),
        node=node,
        subject=memory.id,
        category=memory.category,
        new_ref=memory.ref,
        **entry_fields,
    )
    return AddMemory(memory, index, entry)


def build_change(
    before: Memory,
    after: Memory,
    *,
    op: Op,
    event: Event,
    node: JournalNode = JournalNode.HOTPATH,
    index: IndexEntry | None = None,
    **entry_fields: Any,
) -> ChangeMemory:
    after = after.evolve(version=before.version + 1)
    entry = Entry(
        op=op,
        event=event,
        node=node,
        subject=after.id,
        category=after.category,
        old_ref=before.ref,
        new_ref=entry_fields.pop("new_ref", after.ref),
        **entry_fields,
    )
    return ChangeMemory(before, after, entry, index)


def build_removal(
    memory: Memory, *, event: Event, node: JournalNode = JournalNode.HOTPATH
) -> RemoveMemory:
    """Permanent removal. For an erased item not even a category of the caller's own is kept."""
    entry = Entry(
        op=Op.DELETE,
        event=event,
        node=node,
        subject=memory.id,
        category=_category_after_removal(memory.category, event),
        old_ref=memory.ref,
        meta=_hidden_from(memory),
    )
    return RemoveMemory(memory.id, entry)


def build_source_removal(
    source: Source, *, event: Event, node: JournalNode = JournalNode.HOTPATH
) -> RemoveSource:
    """Permanent removal. The entry is hidden from callers who could not see the source."""
    hidden = source.sensitivity is Sensitivity.HIGH
    entry = Entry(
        op=Op.DELETE,
        event=event,
        node=node,
        subject=source.id,
        category=SOURCE_CATEGORY,
        old_ref=source.ref,
        meta={"sensitivity": source.sensitivity} if hidden else {},
    )
    return RemoveSource(source.id, entry)


def _category_after_removal(category: str, event: Event) -> str | None:
    """The category decides which agents see the entry; an erased item keeps only a built-in one."""
    return category if event is not Event.ERASE or category in BUILT_IN_CATEGORIES else None


def _hidden_from(memory: Memory) -> dict[str, Any]:
    """From whom the removed item was hidden, so that the entry of its removal is hidden, too."""
    meta: dict[str, Any] = {}
    if memory.sensitivity is Sensitivity.HIGH:
        meta["sensitivity"] = memory.sensitivity
    if POLICIES[memory.kind].is_private_to_agent and memory.agent_id:
        meta["soul_of"] = memory.agent_id
    return meta


def build_link(link: Link, *, node: JournalNode = JournalNode.HOTPATH) -> LinkMemories:
    entry = Entry(
        op=Op.LINK,
        event=Event.LINK,
        node=node,
        subject=link.a,
        new_ref=link.b,
        similarity=link.strength,
    )
    return LinkMemories(link, entry)

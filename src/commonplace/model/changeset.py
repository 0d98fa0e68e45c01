"""Changeset: the steps of one decision, applied whole or not at all; bookkeeping.

It can be shown before it happens (dry run) and undone after (each change names the version it
replaces). A step carries the journal entry that tells of it; what is owed (Enqueue, Finish,
Withdraw) is no change of memory, and has none. Keys, the company that somebody keeps and how far a
source was read are no memory either: they are told of, and do not move its revision.
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
    SetShare,
)
from commonplace.model.graph.snapshot import NO_GRAPH, WholeGraph
from commonplace.model.graph.steps import GraphStep, SetExtraction
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
from commonplace.model.profile.fields import Proposal
from commonplace.model.sources.source import SOURCE_CATEGORY, Passage, Source


@dataclass(frozen=True, slots=True)
class IndexEntry:
    """How a memory is found: its terms with their counts, and its vector if there is one yet."""

    terms: Mapping[str, int]
    vector: bytes | None  # little-endian float32
    keys: frozenset[str] = frozenset()  # by which it is known again: what it says, not its words
    traits: int = 0  # what it is like besides its words (language/traits)


@dataclass(frozen=True, slots=True)
class AddMemory:
    memory: Memory
    index: IndexEntry
    entry: Entry


@dataclass(frozen=True, slots=True)
class ChangeMemory:
    """A new version of a memory. ``index`` only when what it is found by has changed."""

    before: Memory
    after: Memory
    entry: Entry
    index: IndexEntry | None = None


@dataclass(frozen=True, slots=True)
class LinkMemories:
    link: Link
    entry: Entry


@dataclass(frozen=True, slots=True)
class HoldValues:
    """Values that wait in a conflict, or beside a memory; targets are disputed from now on."""

    conflict: str | None
    values: tuple[HeldValue, ...]
    entry: Entry
    targets: tuple[str, ...] = ()
    absorbs: tuple[str, ...] = ()  # conflicts that end in this one, their values with them
    releases: tuple[str, ...] = ()  # memories that are asked about no longer


@dataclass(frozen=True, slots=True)
class ReleaseHeld:
    """Held values that wait no longer; ``conflict`` is over, and nothing is disputed in it."""

    values: tuple[str, ...]
    entry: Entry
    conflict: str | None = None


@dataclass(frozen=True, slots=True)
class PutProposal:
    """A value for the profile that waits; one that is there already gets its new signals."""

    proposal: Proposal
    entry: Entry


@dataclass(frozen=True, slots=True)
class CloseProposals:
    """These proposals wait no longer, whatever was decided."""

    ids: tuple[str, ...]
    entry: Entry


@dataclass(frozen=True, slots=True)
class AmendMemory:
    """Bookkeeping in place: what the memory says is the same, so it has no new version."""

    memory: Memory
    entry: Entry


@dataclass(frozen=True, slots=True)
class RemoveMemory:
    """Gone: the row, its versions, links, index entries and read marks."""

    id: str
    entry: Entry


@dataclass(frozen=True, slots=True)
class RewriteMemory:
    """New content *without* history: used where the old text must not survive (erasing)."""

    memory: Memory
    index: IndexEntry
    entry: Entry


@dataclass(frozen=True, slots=True)
class ClearScope:
    """The whole scope: memories, journal, cursors. Its counters go on, so that caches notice."""

    entry: Entry


@dataclass(frozen=True, slots=True)
class Receipt:
    """Proof of an erasure. Holds no text and no hash of one."""

    id: str
    at: datetime
    items: int
    scrubbed_at: datetime | None = None  # None: bytes may remain in the files until compaction

    @property
    def scrub(self) -> str:
        return "complete" if self.scrubbed_at else "pending"


@dataclass(frozen=True, slots=True)
class EnqueueJob:
    """Work that this change causes. While the same work waits already it adds nothing; while it
    runs, it runs again afterwards."""

    job: Job


@dataclass(frozen=True, slots=True)
class FinishJob:
    """This changeset is the job's result: applied only while the job is held by the same lease."""

    job: Job


@dataclass(frozen=True, slots=True)
class WithdrawJobs:
    """These jobs are owed no longer, and whoever is at one has its result refused: what the keys
    name is gone, or the owner does not want the ones of these ids, which must still be there."""

    keys: tuple[str, ...] = ()
    ids: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RetryJob:
    """Due at once, with all its tries before it. One that runs goes on as it is."""

    id: str


@dataclass(frozen=True, slots=True)
class AddSource:
    """From another memory it comes whole: with further parts of its original, and passages."""

    source: Source
    original: bytes
    entry: Entry
    further: tuple[bytes, ...] = ()
    passages: tuple[tuple[Passage, IndexEntry], ...] = ()


@dataclass(frozen=True, slots=True)
class ChangeSource:
    """``original`` is a further part of it, ``passages`` come after those that are there.
    ``anew``: all passages go first, and an ``original`` takes the place of the old one."""

    before: Source
    after: Source
    entry: Entry
    original: bytes | None = None
    anew: bool = False
    passages: tuple[tuple[Passage, IndexEntry], ...] = ()


@dataclass(frozen=True, slots=True)
class RemoveSource:
    """Gone: the row, its original, its passages and what they were found by."""

    id: str
    entry: Entry


@dataclass(frozen=True, slots=True)
class ImportScope:
    """Somebody's whole memory, brought in as it was, numbers and journal included."""

    memories: tuple[tuple[Memory, IndexEntry], ...]
    versions: tuple[Version, ...]
    links: tuple[Link, ...]
    journal: tuple[JournalRow, ...]
    revision: int
    profile_numbers: int
    held: tuple[HeldValue, ...] = ()
    sources: tuple[AddSource, ...] = ()  # of their entries the journal that comes tells
    proposals: tuple[Proposal, ...] = ()
    recall_log: tuple[RecallLogEntry, ...] = ()
    graph: WholeGraph = NO_GRAPH
    graph_vectors: Mapping[str, bytes] = field(default_factory=dict)  # by id; the others come late


ChangesetStep = (
    AddMemory
    | ChangeMemory
    | LinkMemories
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
    | AccessStep
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
    AddKey,
    ChangeKey,
    SetMembership,
    SetShare,
    SetGrant,
)


@dataclass(frozen=True, slots=True)
class Changeset:
    scope: Scope
    at: datetime
    actor: str
    steps: tuple[ChangesetStep, ...]
    decided_on: int | None = None  # the revision it was decided on; None: depends on no state
    thread_id: str | None = None
    receipt: Receipt | None = None
    profile_numbers: int = 0  # how far the scope's counter of profile notes moves with it
    observed: int = 0  # how many of its memories are from conversations: each day has a limit
    member: str | None = None  # given: applied only while this user is a member of the team
    invalidates_answers: bool = False  # answers that are kept here may tell of what goes elsewhere
    claim: IdempotencyClaim | None = (
        None  # the request that it answers, where that is to be done once
    )
    rests_on: tuple[tuple[Scope, int], ...] = ()  # other scopes, at the revisions it was decided on


def merge_changesets(one: Changeset, other: Changeset) -> Changeset:
    """Of one scope, the steps of both; the rest is the first one's."""
    return replace(
        one,
        steps=(*one.steps, *other.steps),
        decided_on=other.decided_on if one.decided_on is None else one.decided_on,
        invalidates_answers=one.invalidates_answers or other.invalidates_answers,
        rests_on=(*one.rests_on, *other.rests_on),
    )


@dataclass(frozen=True, slots=True)
class Applied:
    revision: int  # of the first changeset's scope


# ——— bookkeeping: the second door, which never moves the revision ———


@dataclass(frozen=True, slots=True)
class Bookkeeping:
    """What is worth writing down but is no change of memory. A crash may lose what was not
    recorded yet, and nothing is wrong then."""

    scope: Scope
    at: datetime
    touched: Mapping[str, int] = field(default_factory=dict)  # id → reads
    entries: tuple[Entry, ...] = ()  # operational journal rows
    thread_id: str | None = None
    actor: str | None = None
    cursor: tuple[str, str, int] | None = None  # agent, thread, revision seen
    vectors: Mapping[str, bytes] = field(default_factory=dict)  # late ones, by Memory.ref
    terms: Mapping[str, IndexEntry] = field(default_factory=dict)  # made anew, by Memory.ref
    passage_vectors: Mapping[int, bytes] = field(default_factory=dict)  # late ones, by unit
    graph_vectors: Mapping[str, bytes] = field(default_factory=dict)  # by Node.ref or Edge.ref
    passage_terms: Mapping[int, IndexEntry] = field(default_factory=dict)  # made anew, by unit
    tidied: bool = False
    turns: tuple[RecallTurn, ...] = ()  # for the recall log
    log_before: datetime | None = None  # given: the log forgets what is older
    used_keys: tuple[str, ...] = ()
    # Nodes, edges and sources that were shown, and whether each was among the first (salience).
    read: Mapping[str, bool] = field(default_factory=dict)
    # Given: the vectors are of this generation, which is being built, and nobody reads them yet.
    generation: int | None = None
    built_seq: int | None = None  # given: that generation is complete up to this sequence number
    answers: tuple[AnswerOutcome, ...] = ()  # of requests that are to be done once
    facts: Mapping[str, str] = field(default_factory=dict)  # about the store, not about the scope


def build_add(
    memory: Memory, index: IndexEntry, *, node: JournalNode = JournalNode.HOTPATH, **told: Any
) -> AddMemory:
    entry = Entry(
        op=told.pop("op", Op.CREATE),
        event=told.pop("event", Event.ADD),
        node=node,
        subject=memory.id,
        category=memory.category,
        new_ref=memory.ref,
        **told,
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
    **told: Any,
) -> ChangeMemory:
    after = after.evolve(version=before.version + 1)
    entry = Entry(
        op=op,
        event=event,
        node=node,
        subject=after.id,
        category=after.category,
        old_ref=before.ref,
        new_ref=told.pop("new_ref", after.ref),
        **told,
    )
    return ChangeMemory(before, after, entry, index)


def build_removal(
    memory: Memory, *, event: Event, node: JournalNode = JournalNode.HOTPATH
) -> RemoveMemory:
    """Gone for good. Of an erased item not even the caller's own word for a category stays."""
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
    """Gone for good. Who may not know of it is not told of its end either."""
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
    """An agent hears of an ending only if it might have known of the item."""
    return category if event is not Event.ERASE or category in BUILT_IN_CATEGORIES else None


def _hidden_from(memory: Memory) -> dict[str, Any]:
    """Whom a removed item was hidden from; without it, telling of the removal would betray it."""
    told: dict[str, Any] = {}
    if memory.sensitivity is Sensitivity.HIGH:
        told["sensitivity"] = memory.sensitivity
    if POLICIES[memory.kind].is_private_to_agent and memory.agent_id:
        told["soul_of"] = memory.agent_id
    return told


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

"""A Changeset: all that one decision changes, applied whole or not at all.

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

from commonplace.model.categories import OWN_WORDS
from commonplace.model.company_steps import (
    AddKey,
    ChangeKey,
    CompanyStep,
    SetGrant,
    SetMembership,
    SetShare,
)
from commonplace.model.conflict import Held
from commonplace.model.graph.steps import GraphStep, SetExtracted
from commonplace.model.graph.whole import NO_GRAPH, WholeGraph
from commonplace.model.job import Job
from commonplace.model.journal import Entry, Event, JournalRow, Node, Op
from commonplace.model.kept_answer import Claim
from commonplace.model.kinds import Kind
from commonplace.model.memory import Link, Memory, Sensitivity, Version
from commonplace.model.proposal import Proposal
from commonplace.model.recall_log import Logged, Turn
from commonplace.model.scope import Scope
from commonplace.model.source import CATEGORY, Passage, Source


@dataclass(frozen=True, slots=True)
class Indexing:
    """How a memory is found: its terms with their counts, and its vector if there is one yet."""

    terms: Mapping[str, int]
    vector: bytes | None  # little-endian float32
    keys: frozenset[str] = frozenset()  # by which it is known again: what it says, not its words
    traits: int = 0  # what it is like besides its words (language/traits)


@dataclass(frozen=True, slots=True)
class Add:
    memory: Memory
    index: Indexing
    entry: Entry


@dataclass(frozen=True, slots=True)
class Change:
    """A new version of a memory. ``index`` only when what it is found by has changed."""

    before: Memory
    after: Memory
    entry: Entry
    index: Indexing | None = None


@dataclass(frozen=True, slots=True)
class Connect:
    link: Link
    entry: Entry


@dataclass(frozen=True, slots=True)
class Hold:
    """Values that wait in a conflict, or beside a memory; targets are disputed from now on."""

    conflict: str | None
    values: tuple[Held, ...]
    entry: Entry
    targets: tuple[str, ...] = ()
    absorbs: tuple[str, ...] = ()  # conflicts that end in this one, their values with them
    releases: tuple[str, ...] = ()  # memories that are asked about no longer


@dataclass(frozen=True, slots=True)
class LetGo:
    """Held values that wait no longer; ``conflict`` is over, and nothing is disputed in it."""

    values: tuple[str, ...]
    entry: Entry
    conflict: str | None = None


@dataclass(frozen=True, slots=True)
class Propose:
    """A value for the profile that waits; one that is there already gets its new signals."""

    proposal: Proposal
    entry: Entry


@dataclass(frozen=True, slots=True)
class Settle:
    """These proposals wait no longer, whatever was decided."""

    ids: tuple[str, ...]
    entry: Entry


@dataclass(frozen=True, slots=True)
class Amend:
    """Bookkeeping in place: what the memory says is the same, so it has no new version."""

    memory: Memory
    entry: Entry


@dataclass(frozen=True, slots=True)
class Remove:
    """Gone: the row, its versions, links, index entries and read marks."""

    id: str
    entry: Entry


@dataclass(frozen=True, slots=True)
class Rewrite:
    """New content *without* history: used where the old text must not survive (erasing)."""

    memory: Memory
    index: Indexing
    entry: Entry


@dataclass(frozen=True, slots=True)
class RemoveEverything:
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
class Enqueue:
    """Work that this change causes. While the same work waits already it adds nothing; while it
    runs, it runs again afterwards."""

    job: Job


@dataclass(frozen=True, slots=True)
class Finish:
    """This changeset is the job's result: applied only while the job is held by the same lease."""

    job: Job


@dataclass(frozen=True, slots=True)
class Withdraw:
    """What these jobs are about is gone: they are owed no longer, and whoever is at one has its
    result refused."""

    keys: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class AddSource:
    """From another memory it comes whole: with further parts of its original, and passages."""

    source: Source
    original: bytes
    entry: Entry
    further: tuple[bytes, ...] = ()
    passages: tuple[tuple[Passage, Indexing], ...] = ()


@dataclass(frozen=True, slots=True)
class ChangeSource:
    """``original`` is a further part of it, ``passages`` come after those that are there.
    ``anew``: all passages go first, and an ``original`` takes the place of the old one."""

    before: Source
    after: Source
    entry: Entry
    original: bytes | None = None
    anew: bool = False
    passages: tuple[tuple[Passage, Indexing], ...] = ()


@dataclass(frozen=True, slots=True)
class RemoveSource:
    """Gone: the row, its original, its passages and what they were found by."""

    id: str
    entry: Entry


@dataclass(frozen=True, slots=True)
class Copy:
    """Somebody's whole memory, brought in as it was, numbers and journal included."""

    memories: tuple[tuple[Memory, Indexing], ...]
    versions: tuple[Version, ...]
    links: tuple[Link, ...]
    journal: tuple[JournalRow, ...]
    revision: int
    profile_numbers: int
    held: tuple[Held, ...] = ()
    sources: tuple[AddSource, ...] = ()  # of their entries the journal that comes tells
    proposals: tuple[Proposal, ...] = ()
    recall_log: tuple[Logged, ...] = ()
    graph: WholeGraph = NO_GRAPH
    graph_vectors: Mapping[str, bytes] = field(default_factory=dict)  # by id; the others come late


Step = (
    Add
    | Change
    | Connect
    | Hold
    | LetGo
    | Propose
    | Settle
    | Amend
    | Remove
    | Rewrite
    | RemoveEverything
    | Copy
    | AddSource
    | ChangeSource
    | RemoveSource
    | GraphStep
    | CompanyStep
    | Enqueue
    | Finish
    | Withdraw
)
OF_THE_QUEUE = (Enqueue, Finish, Withdraw)
# These steps alone do not move the revision.
NO_MEMORY = (*OF_THE_QUEUE, SetExtracted, AddKey, ChangeKey, SetMembership, SetShare, SetGrant)


@dataclass(frozen=True, slots=True)
class Changeset:
    scope: Scope
    at: datetime
    actor: str
    steps: tuple[Step, ...]
    decided_on: int | None = None  # the revision it was decided on; None: depends on no state
    thread_id: str | None = None
    receipt: Receipt | None = None
    profile_numbers: int = 0  # how far the scope's counter of profile notes moves with it
    observed: int = 0  # how many of its memories are from conversations: each day has a limit
    member: str | None = None  # given: applied only while this user is a member of the team
    silences: bool = False  # answers that are kept here may tell of what goes elsewhere
    claim: Claim | None = None  # the request that it answers, where that is to be done once
    rests_on: tuple[tuple[Scope, int], ...] = ()  # other scopes, at the revisions it was decided on


def together(one: Changeset, other: Changeset) -> Changeset:
    """Of one scope, the steps of both; the rest is the first one's."""
    return replace(
        one,
        steps=(*one.steps, *other.steps),
        decided_on=other.decided_on if one.decided_on is None else one.decided_on,
        silences=one.silences or other.silences,
        rests_on=(*one.rests_on, *other.rests_on),
    )


@dataclass(frozen=True, slots=True)
class Applied:
    revision: int


# ——— bookkeeping: the second door, which never moves the revision ———


@dataclass(frozen=True, slots=True)
class Bookkeeping:
    """What is worth writing down but is no change of memory. A crash may lose it."""

    scope: Scope
    at: datetime
    touched: Mapping[str, int] = field(default_factory=dict)  # id → reads
    entries: tuple[Entry, ...] = ()  # operational journal rows
    thread_id: str | None = None
    actor: str | None = None
    cursor: tuple[str, str, int] | None = None  # agent, thread, revision seen
    vectors: Mapping[str, bytes] = field(default_factory=dict)  # late ones, by Memory.ref
    terms: Mapping[str, Indexing] = field(default_factory=dict)  # made anew, by Memory.ref
    passage_vectors: Mapping[int, bytes] = field(default_factory=dict)  # late ones, by unit
    graph_vectors: Mapping[str, bytes] = field(default_factory=dict)  # by Node.ref or Edge.ref
    passage_terms: Mapping[int, Indexing] = field(default_factory=dict)  # made anew, by unit
    tidied: bool = False
    turns: tuple[Turn, ...] = ()  # for the recall log
    log_before: datetime | None = None  # given: the log forgets what is older
    used_keys: tuple[str, ...] = ()
    # Nodes, edges and sources that were shown, and whether each was among the first (salience).
    read: Mapping[str, bool] = field(default_factory=dict)


def added(memory: Memory, index: Indexing, *, node: Node = Node.HOTPATH, **told: Any) -> Add:
    entry = Entry(
        op=told.pop("op", Op.CREATE),
        event=told.pop("event", Event.ADD),
        node=node,
        subject=memory.id,
        category=memory.category,
        new_ref=memory.ref,
        **told,
    )
    return Add(memory, index, entry)


def changed(
    before: Memory,
    after: Memory,
    *,
    op: Op,
    event: Event,
    node: Node = Node.HOTPATH,
    index: Indexing | None = None,
    **told: Any,
) -> Change:
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
    return Change(before, after, entry, index)


def removed(memory: Memory, *, event: Event, node: Node = Node.HOTPATH) -> Remove:
    """Gone for good. Of an erased item not even the caller's own word for a category stays."""
    entry = Entry(
        op=Op.DELETE,
        event=event,
        node=node,
        subject=memory.id,
        category=_category_after(memory.category, event),
        old_ref=memory.ref,
        meta=_kept_from(memory),
    )
    return Remove(memory.id, entry)


def removed_source(source: Source, *, event: Event, node: Node = Node.HOTPATH) -> RemoveSource:
    """Gone for good. Who may not know of it is not told of its end either."""
    hidden = source.sensitivity is Sensitivity.HIGH
    entry = Entry(
        op=Op.DELETE,
        event=event,
        node=node,
        subject=source.id,
        category=CATEGORY,
        old_ref=source.ref,
        meta={"sensitivity": source.sensitivity} if hidden else {},
    )
    return RemoveSource(source.id, entry)


def _category_after(category: str, event: Event) -> str | None:
    """An agent hears of an ending only if it might have known of the item."""
    return category if event is not Event.ERASE or category in OWN_WORDS else None


def _kept_from(memory: Memory) -> dict[str, Any]:
    """Whom a removed item was hidden from; without it, telling of the removal would betray it."""
    told: dict[str, Any] = {}
    if memory.sensitivity is Sensitivity.HIGH:
        told["sensitivity"] = memory.sensitivity
    if memory.kind is Kind.SOUL and memory.agent_id:
        told["soul_of"] = memory.agent_id
    return told


def connected(link: Link, *, node: Node = Node.HOTPATH) -> Connect:
    entry = Entry(
        op=Op.LINK,
        event=Event.LINK,
        node=node,
        subject=link.a,
        new_ref=link.b,
        similarity=link.strength,
    )
    return Connect(link, entry)

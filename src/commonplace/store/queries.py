"""Store queries: the values that a store is asked with and answers with."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import NamedTuple

from commonplace.model.changeset import Receipt
from commonplace.model.filters import NO_FILTERS, UNCLEARED, Filters, Visibility
from commonplace.model.graph.assertion import EdgeAssertion, NodeAssertion, Note
from commonplace.model.graph.elements import Artifact, Edge, Node
from commonplace.model.graph.salience import AccessStats
from commonplace.model.graph.snapshot import SourceMention
from commonplace.model.jobs import JobState
from commonplace.model.memory.lifecycle import NOW, PointInTime
from commonplace.model.memory.memory import Memory, State, Version


@dataclass(frozen=True, slots=True)
class EmbedderIdentity:
    """Vectors of different embedders never meet, so the store remembers whose they are."""

    name: str
    dimension: int


@dataclass(frozen=True, slots=True)
class Generation:
    """All vectors that one embedder made. Only the current ones are ever read."""

    number: int
    embedder: EmbedderIdentity
    state: str  # building, current, retired, removed


@dataclass(frozen=True, slots=True)
class Counters:
    """The scope's numbers, locked and moved in the transaction of a change.

    ``revision`` counts changes of memory. ``seq`` also counts what only the index sees (a late
    vector). ``epoch`` moves when something vanished for good, so that every cache starts
    anew.
    """

    revision: int = 0
    seq: int = 0
    epoch: int = 0
    journal: int = 0
    units: int = 0
    profile_numbers: int = 0
    tidied_at: datetime | None = None
    generation: int = 1  # of the vectors that are current
    observed_day: int = 0
    observed: int = 0  # memories made of conversations on that day
    graph: int = 0  # counts changes of the graph
    graph_epoch: int = 0  # moves when something of the graph alone vanished

    @property
    def epoch_of_graph(self) -> int:
        """Other than before when anything vanished that a picture of the graph may show."""
        return self.epoch + self.graph_epoch

    def observed_on(self, day: int) -> int:
        return self.observed if self.observed_day == day else 0


NO_LIMIT = 1 << 40  # as a limit: all there are


@dataclass(frozen=True, slots=True)
class MemoryListing:
    """A page of a scope's memories, newest first unless asked otherwise."""

    filters: Filters = NO_FILTERS
    visibility: Visibility = UNCLEARED
    now: datetime | None = None  # given: only what is live at this instant
    states: tuple[State, ...] = (State.ACTIVE,)
    expired_by: datetime | None = None  # given: only what has ended by this instant
    purgeable_by: datetime | None = None
    restorable_at: datetime | None = None  # given: only what is not to be purged yet
    without_vector: bool = False
    generation: int | None = None  # whose vector is missing; None: the current one's
    superseded_by: tuple[str, ...] = ()
    only_profile: bool = False
    volatile: bool = False  # only what is volatile and has no end of its own
    limit: int = 50
    after: str | None = None  # the id of the last item of the page before


@dataclass(frozen=True, slots=True)
class DisputedMemories:
    """The targets of open conflicts, whatever their state."""

    conflicts: Sequence[str] | None = None  # None: of all of them


@dataclass(frozen=True, slots=True)
class SourcesById:
    """Those that exist, whatever their state, in the order asked for."""

    ids: Sequence[str]


@dataclass(frozen=True, slots=True)
class SourceByAlias:
    """The one of this name elsewhere, whatever its state; or none."""

    origin: str
    external_id: str


@dataclass(frozen=True, slots=True)
class SourceListing:
    """A page of a scope's sources, newest first."""

    visibility: Visibility = UNCLEARED
    states: tuple[State, ...] = (State.ACTIVE,)
    types: tuple[str, ...] = ()
    statuses: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    thread_id: str | None = None
    origin: str | None = None
    said_after: datetime | None = None
    said_before: datetime | None = None
    purgeable_by: datetime | None = None
    restorable_at: datetime | None = None
    live_at: datetime | None = None  # given: without those that have ended by then
    ended_by: datetime | None = None
    then: PointInTime = NOW  # only what has a passage that was said and known by then
    limit: int = 50
    after: tuple[datetime, str] | None = None  # when the last one of the page before came; its id
    among: frozenset[str] | None = None  # given: of these alone
    brought_by: str | None = None


SourceQuery = SourcesById | SourceByAlias | SourceListing


@dataclass(frozen=True, slots=True)
class PassagesByUnit:
    units: Sequence[int]


@dataclass(frozen=True, slots=True)
class PassagesOf:
    """Those of one source, in order."""

    source_id: str
    first: int = 1
    last: int = NO_LIMIT


PassageQuery = PassagesByUnit | PassagesOf


@dataclass(frozen=True, slots=True)
class GrantedSources:
    """Of these sources all that a guest may find, as it was said and known then. What is forgotten
    or marked sensitivity high is not among it, for nobody but its owner may know of that."""

    ids: Sequence[str]
    then: PointInTime = NOW


@dataclass(frozen=True, slots=True)
class UnembeddedQuery:
    """What has no vector of a generation."""

    limit: int = NO_LIMIT  # of passages, and of items of the graph
    generation: int | None = None  # None: the current one
    counted: bool = False  # whether to count all there are; needs a generation


@dataclass(frozen=True, slots=True)
class Unembedded:
    """Passages by unit, nodes and edges by ref (id@version), each with its text."""

    passages: Sequence[tuple[int, str]]
    graph: Sequence[tuple[str, str]]
    total: int = 0  # with the memories, where it was asked for


@dataclass(frozen=True, slots=True)
class GraphQuery:
    """Items of the graph, whatever their state: all that any of these asks for."""

    nodes: Sequence[str] = ()  # ids: answered in this order
    merged_into: Sequence[str] = ()  # nodes: those for which one of these speaks, directly
    edges: Sequence[str] = ()  # ids: answered in this order
    notes: Sequence[str] = ()  # ids
    notes_about: Sequence[str] = ()  # nodes and edges: answered newest first
    artifacts: Sequence[str] | None = ()  # ids; None: all. Answered newest first
    marks: Sequence[str] | None = ()  # nodes, edges and sources; None: all

    @property
    def is_empty(self) -> bool:
        wishes = (self.nodes, self.merged_into, self.edges, self.notes, self.notes_about)
        return not any(wishes) and all(
            w is not None and not w for w in (self.artifacts, self.marks)
        )


@dataclass(frozen=True, slots=True)
class GraphItems:
    nodes: Sequence[Node] = ()
    edges: Sequence[Edge] = ()
    notes: Sequence[Note] = ()
    artifacts: Sequence[Artifact] = ()
    marks: Mapping[str, AccessStats] = field(default_factory=dict)  # what readings have left


@dataclass(frozen=True, slots=True)
class AssertionQuery:
    """Assertions, those that do not stand, too: all that any of these asks for."""

    nodes: Sequence[str] = ()  # about these nodes; answered oldest first
    ends: Sequence[str] = ()  # about edges that begin or end at these nodes; oldest first
    types: Collection[str] | None = None  # of edges at ``ends``; None: all
    sources: Sequence[str] = ()  # all that this reader has from these

    @property
    def is_empty(self) -> bool:
        return not self.nodes and not self.ends and not self.sources


class Assertions(NamedTuple):
    nodes: Sequence[NodeAssertion]
    edges: Sequence[EdgeAssertion]
    notes: Sequence[Note]  # from sources


@dataclass(frozen=True, slots=True)
class EndedQuery:
    """What of the graph the night removes."""

    notes_by: datetime | None = None  # given: notes that have ended by then
    artifacts_made_by: datetime | None = None  # given: ephemeral artifacts made by then
    limit: int = NO_LIMIT  # of notes


@dataclass(frozen=True, slots=True)
class EndedGraphItems:
    forgotten: Mapping[str, datetime]  # by hand: nodes, edges, notes, artifacts; when they are gone
    notes: Sequence[Note] = ()
    artifacts: Sequence[str] = ()  # ids


@dataclass(frozen=True, slots=True)
class ScopeQuery:
    """Scopes that something waits to be done for; without a wish all of them."""

    tidied_before: datetime | None = None
    unbuilt: int | None = None  # given: whoever lacks a vector of this generation


ALL_SCOPES = ScopeQuery()


@dataclass(frozen=True, slots=True)
class JournalQuery:
    subject: str | None = None
    thread_id: str | None = None
    after_revision: int | None = None
    after_seq: int | None = None
    events_only: bool = False  # leave out operational rows
    newest: int | None = None  # given: only so many, newest first; else all, oldest first
    news_for: Visibility | None = None  # given: what is news to it, the most important items first


@dataclass(frozen=True, slots=True)
class HeldQuery:
    """Held values by any of these."""

    ids: Sequence[str] = ()  # of those that wait
    conflicts: Sequence[str] = ()
    alternative_to: Sequence[str] = ()
    contributes_to: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class JobQuery:
    """Jobs that are all of what is given here, the next to run first."""

    ids: Sequence[str] = ()
    kinds: Sequence[str] = ()
    keys: Sequence[str] = ()
    states: Sequence[JobState] = ()
    limit: int = NO_LIMIT


class IndexedRow(NamedTuple):
    """What the in-process index knows of a memory, as stored; its text stays in the database.

    A plain tuple, because a cold start reads a hundred thousand of them.
    """

    unit: int
    id: str
    kind: str
    category: str
    tags: str  # JSON
    importance: int
    sensitivity: str
    pinned: int
    facet: str | None
    source_type: str | None
    source_id: str | None
    agent_id: str | None
    run_id: str | None
    actor_id: str | None
    role: str | None
    thread_id: str | None
    state: str
    ends_at: int | None  # microseconds, as the next two
    created_at: int
    updated_at: int


class IndexedSource(NamedTuple):
    """What the index knows of a source; its passages share it."""

    id: str
    user_id: str
    title: str
    participants: str  # JSON
    tags: str  # JSON
    sensitivity: str
    source_type: str
    thread_id: str | None
    state: str
    external_id: str = ""
    first_unit: int = 0  # of its present passages: those with lower ones were replaced
    ends_at: int | None = None  # microseconds


class IndexedPassage(NamedTuple):
    unit: int
    source_id: str
    number: int
    speaker: str | None
    role: str | None
    session: str | None
    at: int  # microseconds


@dataclass(frozen=True, slots=True)
class IndexPage:
    """What changed for the index since a sequence number, read in one snapshot."""

    counters: Counters
    rows: Sequence[IndexedRow] = ()
    terms: Sequence[tuple[int, str, int]] = ()  # unit, packed terms, traits
    vectors: Sequence[tuple[int, bytes]] = ()
    sources: Sequence[IndexedSource] = ()
    passages: Sequence[IndexedPassage] = ()


@dataclass(frozen=True, slots=True)
class MemoryHistory:
    """A memory that has changed and is neither forgotten nor ended, with all it ever said."""

    unit: int  # of what it says now
    memory: Memory
    versions: tuple[Version, ...]  # oldest first


@dataclass(frozen=True, slots=True)
class PastPage:
    """What makes an index of the past out of that of the present, read in one snapshot."""

    missed: IndexPage  # what the index of the present is to take in before
    unchanged: Sequence[int]  # units of memories that stood then as they are now
    histories: Sequence[MemoryHistory]  # memories that have changed, oldest first
    cut: Sequence[str]  # sources of which not every passage was there, and those that have ended
    page: IndexPage  # what there was of those, and the terms and vectors of lives
    next_end: datetime | None  # when the next memory or source ends


@dataclass(frozen=True, slots=True)
class OperationCount:
    day: str
    node: str
    op: str
    status: str
    count: int


@dataclass(frozen=True, slots=True)
class MemoryCount:
    kind: str
    category: str
    state: str
    count: int


@dataclass(frozen=True, slots=True)
class SourceCount:
    source_type: str
    status: str
    state: str
    count: int
    passages: int


@dataclass(frozen=True, slots=True)
class NodeCount:
    type: str
    subtype: str
    count: int


@dataclass(frozen=True, slots=True)
class GraphCount:
    """Of what stands; a node that was merged into another is not counted."""

    nodes: tuple[NodeCount, ...] = ()
    edges: int = 0
    notes: int = 0
    artifacts: int = 0


@dataclass(frozen=True, slots=True)
class ScopeStatistics:
    """A scope in numbers."""

    memories: tuple[MemoryCount, ...]
    operations: tuple[OperationCount, ...]
    receipts: tuple[Receipt, ...]
    links: int
    loose_ends: Mapping[str, int]  # rows that lack their counterpart; all zero is good
    sources: tuple[SourceCount, ...] = ()
    graph: GraphCount = GraphCount()


@dataclass(frozen=True, slots=True)
class StoreHealth:
    """What a store says about itself."""

    backend: str
    version: str
    schema: int
    integrity: tuple[str, ...]  # problems; empty is good
    looked_at: str  # what was checked for that
    bytes_on_disk: int
    pending_scrubs: int


@dataclass(frozen=True, slots=True)
class GraphPage:
    """What of the graph has changed since a sequence number, read in one snapshot.

    ``epoch`` other than the one asked with: something vanished, and all of it is here.
    """

    revision: int  # of the graph: it moves with every change of it
    seq: int
    epoch: int
    generation: int  # of the vectors
    nodes: Sequence[Node] = ()
    edges: Sequence[Edge] = ()
    mentions: Mapping[str, tuple[SourceMention, ...]] = field(
        default_factory=dict
    )  # all of each node's
    notes: Mapping[str, tuple[Note, ...]] = field(default_factory=dict)  # all, by what they are on
    artifacts: Sequence[Artifact] = ()
    vectors: Sequence[tuple[str, bytes]] = ()  # of nodes and edges, by id

"""Store queries: the parameters and results of the store port."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import NamedTuple

from commonplace.model.access.principal import Scope
from commonplace.model.changeset import Receipt
from commonplace.model.filters import NO_FILTERS, UNCLEARED, Filters, Visibility
from commonplace.model.graph.assertion import EdgeAssertion, NodeAssertion, Note
from commonplace.model.graph.elements import Artifact, Edge, Node
from commonplace.model.graph.salience import AccessStats
from commonplace.model.graph.snapshot import SourceMention
from commonplace.model.graph.storylines import Macro, Storyline
from commonplace.model.jobs import JobState
from commonplace.model.memory.lifecycle import NOW, PointInTime
from commonplace.model.memory.memory import Memory, State, Version
from commonplace.model.sleep import RunState, SleepSchedule


@dataclass(frozen=True, slots=True)
class EmbedderIdentity:
    """Vectors of different embedders are not comparable, so the store records the embedder."""

    name: str
    dimension: int


@dataclass(frozen=True, slots=True)
class Generation:
    """All vectors that one embedder made. Only the current generation is read."""

    number: int
    embedder: EmbedderIdentity
    state: str  # building, current, retired, removed


@dataclass(frozen=True, slots=True)
class Counters:
    """The scope's counters, locked and incremented in the transaction of a change.

    ``revision`` counts changes of memory. ``seq`` also counts changes that only the index sees (a
    late vector). ``epoch`` changes when rows were removed, so that every cache is rebuilt.
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
    graph_epoch: int = 0  # changes when only rows of the graph were removed
    erasures: int = 0  # counts changes that took away what a model's answer may contain

    @property
    def epoch_of_graph(self) -> int:
        """Changes when any row was removed that a graph snapshot may contain."""
        return self.epoch + self.graph_epoch

    def observed_on(self, day: int) -> int:
        return self.observed if self.observed_day == day else 0


NO_LIMIT = 1 << 40


@dataclass(frozen=True, slots=True)
class MemoryListing:
    """A page of a scope's memories, newest first."""

    filters: Filters = NO_FILTERS
    visibility: Visibility = UNCLEARED
    now: datetime | None = None  # given: only memories that are live then
    states: tuple[State, ...] = (State.ACTIVE,)
    expired_by: datetime | None = None  # given: only memories that ended by then
    purgeable_by: datetime | None = None
    restorable_at: datetime | None = None  # given: only those that are not purgeable yet
    without_vector: bool = False
    generation: int | None = None  # of the missing vector; None: the current one
    superseded_by: tuple[str, ...] = ()
    only_profile: bool = False
    volatile: bool = False  # only volatile memories without an expiry
    limit: int = 50
    after: str | None = None  # the id of the last item of the page before


@dataclass(frozen=True, slots=True)
class CitingMemories:
    """Active and superseded memories that were made from these sources."""

    sources: Sequence[str]


@dataclass(frozen=True, slots=True)
class DisputedMemories:
    """The targets of open conflicts, in any state."""

    conflicts: Sequence[str] | None = None  # None: all


@dataclass(frozen=True, slots=True)
class SourcesById:
    """Those that exist, in any state, in the order of ``ids``."""

    ids: Sequence[str]


@dataclass(frozen=True, slots=True)
class SourceByAlias:
    """The source with this id at its origin, in any state, or none."""

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
    live_at: datetime | None = None  # given: without those that expired by then
    ended_by: datetime | None = None
    then: PointInTime = NOW  # only sources with a passage that was said and known by then
    limit: int = 50
    after: tuple[datetime, str] | None = (
        None  # creation time and id of the previous page's last one
    )
    among: frozenset[str] | None = None  # given: only these ids
    brought_by: str | None = None


SourceQuery = SourcesById | SourceByAlias | SourceListing


@dataclass(frozen=True, slots=True)
class PassagesByUnit:
    units: Sequence[int]


@dataclass(frozen=True, slots=True)
class PassagesOf:
    """The passages of one source, in order."""

    source_id: str
    first: int = 1
    last: int = NO_LIMIT
    hidden: bool = False  # also forgotten and erased ones


@dataclass(frozen=True, slots=True)
class HiddenPassages:
    """The forgotten and erased passages of these sources, or of all; those to purge by then."""

    source_ids: Sequence[str] | None = None
    purgeable_by: datetime | None = None


PassageQuery = PassagesByUnit | PassagesOf | HiddenPassages


@dataclass(frozen=True, slots=True)
class GrantedSources:
    """What a guest may find of these sources, as said and known then. Forgotten sources and those
    of sensitivity high are left out: only their owner may know of them."""

    ids: Sequence[str]
    then: PointInTime = NOW


@dataclass(frozen=True, slots=True)
class UnembeddedQuery:
    """Passages and graph items without a vector of a generation."""

    limit: int = NO_LIMIT  # of passages, and of items of the graph
    generation: int | None = None  # None: the current one
    counted: bool = False  # also count all of them; needs a generation


@dataclass(frozen=True, slots=True)
class Unembedded:
    """Passages by unit, nodes and edges by ref (id@version), each with its text."""

    passages: Sequence[tuple[int, str]]
    graph: Sequence[tuple[str, str]]
    total: int = 0  # including memories; only if ``counted``


@dataclass(frozen=True, slots=True)
class GraphQuery:
    """Items of the graph, in any state: the union of all fields."""

    nodes: Sequence[str] = ()  # ids; results in this order
    merged_into: Sequence[str] = ()  # ids of nodes: the nodes merged directly into them
    edges: Sequence[str] = ()  # ids; results in this order
    notes: Sequence[str] = ()  # ids
    notes_about: Sequence[str] = ()  # ids of nodes and edges; results newest first
    artifacts: Sequence[str] | None = ()  # ids; None: all. Results newest first
    marks: Sequence[str] | None = ()  # ids of all that is read; None: all
    storylines: Sequence[str] | None = ()  # ids; None: all. Results oldest first
    macros: Sequence[str] | None = ()  # ids; None: all. Results oldest first

    @property
    def is_empty(self) -> bool:
        ids = (self.nodes, self.merged_into, self.edges, self.notes, self.notes_about)
        return not any(ids) and all(
            each is not None and not each
            for each in (self.artifacts, self.marks, self.storylines, self.macros)
        )


@dataclass(frozen=True, slots=True)
class GraphItems:
    nodes: Sequence[Node] = ()
    edges: Sequence[Edge] = ()
    notes: Sequence[Note] = ()
    artifacts: Sequence[Artifact] = ()
    marks: Mapping[str, AccessStats] = field(default_factory=dict)
    storylines: Sequence[Storyline] = ()
    macros: Sequence[Macro] = ()


@dataclass(frozen=True, slots=True)
class AssertionQuery:
    """Assertions, including inactive ones: the union of all fields."""

    nodes: Sequence[str] = ()  # about these nodes; results oldest first
    ends: Sequence[str] = ()  # about edges that begin or end at these nodes; oldest first
    types: Collection[str] | None = None  # of edges at ``ends``; None: all
    sources: Sequence[str] = ()  # extracted from these sources

    @property
    def is_empty(self) -> bool:
        return not self.nodes and not self.ends and not self.sources


class Assertions(NamedTuple):
    nodes: Sequence[NodeAssertion]
    edges: Sequence[EdgeAssertion]
    notes: Sequence[Note]  # from sources


@dataclass(frozen=True, slots=True)
class EndedQuery:
    """Items of the graph that maintenance removes."""

    notes_by: datetime | None = None  # given: notes that expired by then
    artifacts_made_by: datetime | None = None  # given: ephemeral artifacts made by then
    limit: int = NO_LIMIT  # of notes


@dataclass(frozen=True, slots=True)
class EndedGraphItems:
    forgotten: Mapping[str, datetime]  # by a user: nodes, edges, notes, artifacts → purge time
    notes: Sequence[Note] = ()
    artifacts: Sequence[str] = ()  # ids


@dataclass(frozen=True, slots=True)
class ScopeQuery:
    """Scopes that need maintenance; without a criterion all of them."""

    tidied_before: datetime | None = None
    unbuilt: int | None = None  # given: scopes that lack a vector of this generation


ALL_SCOPES = ScopeQuery()


@dataclass(frozen=True, slots=True)
class JournalQuery:
    subject: str | None = None
    thread_id: str | None = None
    after_revision: int | None = None
    after_seq: int | None = None
    events_only: bool = False  # leave out operational rows
    newest: int | None = None  # given: only this many, newest first; else all, oldest first
    news_for: Visibility | None = None  # given: rows for its delta header, most important first


@dataclass(frozen=True, slots=True)
class HeldQuery:
    """Held values that match any of these."""

    ids: Sequence[str] = ()
    conflicts: Sequence[str] = ()
    alternative_to: Sequence[str] = ()
    contributes_to: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class JobQuery:
    """Jobs that match all given fields, the next to run first."""

    ids: Sequence[str] = ()
    kinds: Sequence[str] = ()
    keys: Sequence[str] = ()
    states: Sequence[JobState] = ()
    limit: int = NO_LIMIT


@dataclass(frozen=True, slots=True)
class ReservedJobs:
    """Jobs of these kinds are claimed only for these owners; those of others wait."""

    kinds: Sequence[str] = ()
    scopes: Sequence[Scope] = ()


NO_RESERVED_JOBS = ReservedJobs()


class IndexedRow(NamedTuple):
    """The columns of a memory in the in-process index, as stored; its text stays in the database.

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
    """The columns of a source in the index; its passages share them."""

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
    first_unit: int = 0  # of its present passages: those with lower units were replaced
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
    """Changes for the index since a sequence number, read in one snapshot."""

    counters: Counters
    rows: Sequence[IndexedRow] = ()
    terms: Sequence[tuple[int, str, int]] = ()  # unit, packed terms, traits
    vectors: Sequence[tuple[int, bytes]] = ()
    sources: Sequence[IndexedSource] = ()
    passages: Sequence[IndexedPassage] = ()


@dataclass(frozen=True, slots=True)
class MemoryHistory:
    """A memory that has changed and is neither forgotten nor expired, with all its versions."""

    unit: int  # of its present content
    memory: Memory
    versions: tuple[Version, ...]  # oldest first


@dataclass(frozen=True, slots=True)
class PastPage:
    """The changes from an index of the present to one of a past moment, read in one snapshot."""

    missed: IndexPage  # for the index of the present to catch up first
    unchanged: Sequence[int]  # units of memories that are the same as then
    histories: Sequence[MemoryHistory]  # memories that have changed, oldest first
    cut: Sequence[str]  # sources that lacked passages then, and expired ones
    page: IndexPage  # the passages that those had, and the terms and vectors of histories
    next_end: datetime | None  # when the next memory or source expires


@dataclass(frozen=True, slots=True)
class SleepRunQuery:
    """Runs that match all given fields, newest first."""

    id: str | None = None
    schedule: SleepSchedule | None = None
    state: RunState | None = None
    due_at: datetime | None = None
    limit: int = NO_LIMIT


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
    """Counts of active items; merged nodes are not counted."""

    nodes: tuple[NodeCount, ...] = ()
    edges: int = 0
    notes: int = 0
    artifacts: int = 0


@dataclass(frozen=True, slots=True)
class CheckedRows:
    """Rows of a table, compared with their checksums."""

    table: str
    rows: int
    damaged: int
    unknown: int  # without a checksum: written by an earlier version


@dataclass(frozen=True, slots=True)
class ScopeStatistics:
    """A scope in numbers."""

    memories: tuple[MemoryCount, ...]
    operations: tuple[OperationCount, ...]
    receipts: tuple[Receipt, ...]
    links: int
    loose_ends: Mapping[
        str, int
    ]  # inconsistencies: rows without their counterpart; normally all zero
    sources: tuple[SourceCount, ...] = ()
    graph: GraphCount = GraphCount()
    checked: tuple[CheckedRows, ...] = ()


LOST_COMMITS = "lost_commits"  # the fact that says how many are missing


@dataclass(frozen=True, slots=True)
class StoreHealth:
    """The result of a health check."""

    backend: str
    version: str
    schema: int
    integrity: tuple[str, ...]  # problems
    looked_at: str  # what was checked
    bytes_on_disk: int
    pending_scrubs: int
    lost_commits: int = 0  # commits that were acknowledged and are not in the file


@dataclass(frozen=True, slots=True)
class GraphPage:
    """Changes of the graph since a sequence number, read in one snapshot.

    If ``epoch`` differs from the requested one, rows were removed and this is the whole graph.
    """

    revision: int  # of the graph
    seq: int
    epoch: int
    generation: int  # of the vectors
    nodes: Sequence[Node] = ()
    edges: Sequence[Edge] = ()
    # Complete for each node, and for each node or edge with notes.
    mentions: Mapping[str, tuple[SourceMention, ...]] = field(default_factory=dict)
    notes: Mapping[str, tuple[Note, ...]] = field(default_factory=dict)
    artifacts: Sequence[Artifact] = ()
    storylines: Sequence[Storyline] = ()
    macros: Sequence[Macro] = ()
    vectors: Sequence[tuple[str, bytes]] = ()  # by id

    @property
    def is_empty(self) -> bool:
        rows = (self.nodes, self.edges, self.notes, self.artifacts, self.storylines, self.macros)
        return not any(rows)

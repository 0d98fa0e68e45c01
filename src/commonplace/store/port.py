"""Store port: the contract of every backend. Values in, values out."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import NamedTuple, Protocol

from commonplace.model.access.key import Key
from commonplace.model.access.principal import Scope
from commonplace.model.access.team import Membership, Share, Team, TeamAccess
from commonplace.model.changeset import Applied, Bookkeeping, Changeset, Receipt
from commonplace.model.filters import NO_FILTERS, OWNER_VISIBILITY, UNCLEARED, Filters, Visibility
from commonplace.model.jobs import LEASE, Failure, IdempotencyClaim, Job, JobState, StoredAnswer
from commonplace.model.journal import JournalRow, RecallLogEntry, RecallLogQuery
from commonplace.model.memory.lifecycle import NOW, PointInTime
from commonplace.model.memory.memory import HeldValue, Link, Memory, State, Version
from commonplace.model.profile.fields import Proposal
from commonplace.model.sources.source import Passage, Source
from commonplace.store.graph_port import GraphStore


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
    beside: Sequence[str] = ()
    merged_into: Sequence[str] = ()


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


class Store(GraphStore, Protocol):
    url: str  # without a password

    def apply(self, changeset: Changeset) -> Applied: ...

    def apply_together(self, changesets: Sequence[Changeset]) -> list[Applied]:
        """Of several scopes, all or nothing. The answers come in the order of the scopes' keys."""
        ...

    def record(self, bookkeeping: Bookkeeping) -> None: ...

    def read_session(self, scope: Scope | None = None) -> AbstractContextManager[None]:
        """While it is open, all reads of this thread, of any scope, are one visit to the database:
        they share a transaction and see one state. A session within another is part of it. The
        transaction begins with the first read, or at once where a ``scope`` is given: who takes a
        lock that others take within a session has a connection before, so that nobody who holds
        the lock waits for one. A write of this thread ends the transaction."""
        ...

    def end_read_transaction(self) -> None:
        """The next read of the session begins another one, and sees a later state. To be called
        before anything slow, such as a model, and where a cache has seen a later state."""
        ...

    def counters(self, scope: Scope) -> Counters: ...

    def fetch(self, scope: Scope, ids: Sequence[str]) -> list[Memory]:
        """Those that exist, whatever their state, in the order asked for."""
        ...

    def page(self, scope: Scope, listing: MemoryListing) -> list[Memory]: ...

    def versions(self, scope: Scope, ids: Sequence[str]) -> list[Version]: ...

    def links(self, scope: Scope, ids: Sequence[str]) -> list[Link]: ...

    def held(self, scope: Scope, query: HeldQuery | None = None) -> list[HeldValue]:
        """Values that wait, oldest first; without a query all of them."""
        ...

    def disputed(self, scope: Scope, conflicts: Sequence[str] | None = None) -> list[Memory]:
        """The targets of open conflicts, whatever their state."""
        ...

    def proposals(self, scope: Scope) -> list[Proposal]:
        """What waits for the profile, oldest first; those whose days are over, too."""
        ...

    # ——— keys ———

    def key(self, scope: Scope, id: str) -> tuple[Key, bytes] | None:
        """With the digest of its token, as it stands at this moment: nothing of it is cached."""
        ...

    def keys(self, scope: Scope) -> list[Key]:
        """Oldest first; those that have ended, too."""
        ...

    # ——— teams and guests ———

    def team(self, scope: Scope) -> Team | None: ...

    def memberships(self, scope: Scope) -> list[Membership]:
        """Of a team or of a user, oldest standing first. A team remembers who has left it."""
        ...

    def shares(self, scope: Scope) -> list[Share]:
        """What is shared from here, and what is shared with this user."""
        ...

    def reachable(self, scope: Scope) -> TeamAccess:
        """Where a user stands at this moment: nothing of it is cached."""
        ...

    # ——— answers that are kept for a day ———

    def claim_answer(
        self, claim: IdempotencyClaim, request: str, now: datetime
    ) -> StoredAnswer | None:
        """None: nobody had it, or whoever had it changed nothing for long; now it is the caller's
        to keep or to release. A changeset that carries the claim is applied only while it is
        held."""
        ...

    def keep_answer(self, claim: IdempotencyClaim, answer: str | None) -> None:
        """Unless something was erased since it was claimed."""
        ...

    def keep_harmless_answer(
        self, claim: IdempotencyClaim, request: str, now: datetime, answer: str
    ) -> None:
        """In any case: it holds nothing that could be erased."""
        ...

    def release_answer(self, claim: IdempotencyClaim) -> None:
        """Where nothing was changed."""
        ...

    # ——— the past ———

    def past(self, scope: Scope, then: PointInTime, now: datetime, known: Counters) -> PastPage:
        """How that moment differs from an index of the present that is as far as ``known``."""
        ...

    def units_then(
        self, scope: Scope, ids: Sequence[str], then: PointInTime
    ) -> dict[str, frozenset[int]]:
        """Of each source the units of its passages that were said and known by then."""
        ...

    # ——— sources ———

    def sources(self, scope: Scope, ids: Sequence[str]) -> list[Source]:
        """Those that exist, whatever their state, in the order asked for."""
        ...

    def source_by_alias(self, scope: Scope, origin: str, external_id: str) -> Source | None: ...

    def source_page(self, scope: Scope, listing: SourceListing) -> list[Source]: ...

    def original(self, scope: Scope, id: str) -> list[bytes]:
        """As it came, part by part."""
        ...

    def passages(self, scope: Scope, units: Sequence[int]) -> dict[int, Passage]: ...

    def passages_of(
        self, scope: Scope, id: str, first: int = 1, last: int = NO_LIMIT
    ) -> list[tuple[int, Passage]]:
        """With their units, in order."""
        ...

    def unembedded_passages(
        self, scope: Scope, limit: int, generation: int | None = None
    ) -> list[tuple[int, str]]:
        """Units and texts without a vector; without a generation, of the current one."""
        ...

    def journal(self, scope: Scope, query: JournalQuery) -> list[JournalRow]: ...

    def cursor(self, scope: Scope, agent: str, thread: str) -> int: ...

    def recall_log(self, scope: Scope, query: RecallLogQuery) -> list[RecallLogEntry]:
        """Oldest first."""
        ...

    def index_page(self, scope: Scope, after_seq: int, epoch: int) -> IndexPage:
        """Everything when ``epoch`` is not the scope's own any more, else what is newer."""
        ...

    def index_page_of(
        self, scope: Scope, ids: Sequence[str], after_seq: int, epoch: int, then: PointInTime = NOW
    ) -> IndexPage:
        """Of these sources all that a guest may find, as it was said and known then; nothing while
        both numbers are the scope's own. What is forgotten or marked sensitivity high is not among
        it, for nobody but its owner may know of that."""
        ...

    def statistics(
        self, scope: Scope, now: datetime | None = None, seen: Visibility = OWNER_VISIBILITY
    ) -> ScopeStatistics:
        """With ``now``: what has ended by then counts as expired, though the night is to come.
        Memories, links and sources count where they can be ``seen``."""
        ...

    def mentions(self, scope: Scope, text: str, *, files: bool = False) -> list[str]:
        """Where the text still stands: tables, for this scope alone, and on request files."""
        ...

    def scopes(self, tidied_before: datetime | None = None) -> list[Scope]: ...

    def scrub(self, at: datetime) -> bool:
        """Compact, so that erased bytes are gone from the files. False: others are in the way."""
        ...

    def health(self) -> StoreHealth: ...

    # ——— work that is owed; it is enqueued and finished by `apply` ———

    def claim(
        self,
        worker: str,
        now: datetime,
        *,
        lease: timedelta = LEASE,
        kinds: Sequence[str] = (),
        scope: Scope | None = None,
        id: str | None = None,
    ) -> Job | None:
        """The job that has been due for longest, of any owner, held from now on by ``worker``.
        One whose lease has ended is taken over; tried too often, it is dead instead."""
        ...

    def next_due(self, kinds: Sequence[str] = ()) -> datetime | None:
        """When a worker may next have something to do. None: nothing waits."""
        ...

    def heartbeat(self, job: Job, until: datetime) -> bool:
        """Hold the job until then. False: it is held no longer."""
        ...

    def fail(self, job: Job, now: datetime, failure: Failure, retry_at: datetime | None) -> bool:
        """Not done; tried again at ``retry_at``, or dead. False: it is held no longer."""
        ...

    def jobs(self, scope: Scope, query: JobQuery) -> list[Job]: ...

    def retry(self, scope: Scope, id: str, now: datetime) -> Job | None:
        """Due at once, with all its tries before it. One that runs goes on as it is."""
        ...

    def drop(self, scope: Scope, id: str) -> bool:
        """Owed no longer. Whoever is at it has its result refused."""
        ...

    def when_enqueued(self, tell: Callable[[], None]) -> None:
        """Called after each change of this process's that has caused work."""
        ...

    # ——— exchanging one embedder for another ———

    def generations(self) -> list[Generation]: ...

    def begin_generation(self, identity: EmbedderIdentity) -> Generation:
        """The current one when it is this embedder's; the one being built when it is; else a new
        one, and another one that was being built is given up."""
        ...

    def unbuilt(self, generation: int) -> list[Scope]:
        """Whoever has something that this generation has no vector of yet."""
        ...

    def count_unbuilt(self, scope: Scope, generation: int) -> int: ...

    def build(
        self,
        scope: Scope,
        generation: int,
        vectors: Mapping[str, bytes],
        built_seq: int | None,
        passages: Mapping[int, bytes] | None = None,
        graph: Mapping[str, bytes] | None = None,
    ) -> None:
        """Vectors by Memory.ref, of passages by unit, of the graph by Node.ref and Edge.ref.
        ``built_seq``: complete up to this sequence number."""
        ...

    def switch_to(self, generation: int) -> bool:
        """Make it current, in one transaction. False: something was written meanwhile."""
        ...

    def remove_retired(self, scope: Scope, first: int, last: int) -> None:
        """Vectors of generations that nobody reads any more, of these units."""
        ...

    def forget_retired(self) -> None:
        """All of their vectors are removed."""
        ...

    def fact(self, name: str) -> str | None: ...

    def put_fact(self, name: str, value: str) -> None: ...

    def close(self) -> None: ...

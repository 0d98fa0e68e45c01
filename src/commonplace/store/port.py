"""Store port: the contract of every backend. Values in, values out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from datetime import datetime, timedelta
from typing import Protocol

from commonplace.model.access.key import Key
from commonplace.model.access.principal import Scope
from commonplace.model.access.team import TeamAccess
from commonplace.model.changeset import Applied, Bookkeeping, Changeset
from commonplace.model.filters import OWNER_VISIBILITY, Visibility
from commonplace.model.graph.snapshot import WholeGraph
from commonplace.model.graph.steps import Extraction
from commonplace.model.jobs import LEASE, Failure, IdempotencyClaim, Job, StoredAnswer
from commonplace.model.journal import JournalRow, RecallLogEntry, RecallLogQuery
from commonplace.model.memory.lifecycle import PointInTime
from commonplace.model.memory.memory import HeldValue, Link, Memory, Version
from commonplace.model.model_calls import KeptModelAnswer, ModelReading, ModelUsageRow
from commonplace.model.profile.fields import Proposal
from commonplace.model.sleep import PairFingerprint, SleepChange, SleepRun
from commonplace.model.sources.source import Passage, Source
from commonplace.store.queries import (
    ALL_SCOPES,
    NO_RESERVED_JOBS,
    AssertionQuery,
    Assertions,
    CitingMemories,
    Counters,
    DisputedMemories,
    EmbedderIdentity,
    EndedGraphItems,
    EndedQuery,
    Generation,
    GrantedSources,
    GraphItems,
    GraphPage,
    GraphQuery,
    HeldQuery,
    IndexPage,
    JobQuery,
    JournalQuery,
    MemoryListing,
    PassageQuery,
    PastPage,
    ReservedJobs,
    ScopeQuery,
    ScopeStatistics,
    SleepRunQuery,
    SourceQuery,
    StoreHealth,
    Unembedded,
    UnembeddedQuery,
)


class Store(Protocol):
    """The interface of verbs: reads of one scope each, and the two writes `apply` and `record`."""

    url: str  # without a password

    def apply(self, *changesets: Changeset) -> Applied:
        """Applies one changeset per scope, all or nothing. The revision is the first scope's."""
        ...

    def record(self, bookkeeping: Bookkeeping) -> None:
        """Never moves a revision. All or nothing, except facts, which are about the store: they are
        written first, under the maintenance database role."""
        ...

    def read_session(
        self, scope: Scope | None = None, *, exclusive: bool = False
    ) -> AbstractContextManager[None]:
        """While it is open, all reads of this thread, of any scope, share one transaction and see
        one state. A nested session joins the outer one. The transaction begins with the first read,
        or at once where a ``scope`` is given: a thread that is about to take a lock gets its
        connection before, so that no lock holder waits for a connection. A write of this thread
        ends the transaction. With ``exclusive``, no other writer changes the ``scope`` until the
        session ends, and the writes of this thread join it: all is committed at its end."""
        ...

    def end_read_transaction(self, *, renew: bool = False) -> None:
        """The next read of the session begins a new transaction and sees a later state. Call it
        before anything slow, such as a model. With ``renew``, for a cache that has seen a later
        state, the new one begins at once on the same connection, so that the holder of a cache's
        lock does not wait for a connection."""
        ...

    def counters(self, scope: Scope) -> Counters: ...

    def fetch(self, scope: Scope, ids: Sequence[str]) -> list[Memory]:
        """Those that exist, in any state, in the order of ``ids``."""
        ...

    def page(
        self, scope: Scope, listing: MemoryListing | DisputedMemories | CitingMemories
    ) -> list[Memory]: ...

    def versions(self, scope: Scope, ids: Sequence[str]) -> list[Version]: ...

    def links(self, scope: Scope, ids: Sequence[str]) -> list[Link]: ...

    def held(self, scope: Scope, query: HeldQuery | None = None) -> list[HeldValue]:
        """Held values, oldest first; without a query all of them."""
        ...

    def proposals(self, scope: Scope) -> list[Proposal]:
        """Profile proposals, oldest first, including expired ones."""
        ...

    # ——— access control: never cached ———

    def keys(self, scope: Scope, id: str | None = None) -> dict[Key, bytes]:
        """Keys with the digests of their tokens, oldest first, including expired and revoked ones.
        With an id only that one."""
        ...

    def access(self, scope: Scope) -> TeamAccess: ...

    # ——— time travel ———

    def past(self, scope: Scope, then: PointInTime, now: datetime, known: Counters) -> PastPage:
        """The differences between that moment and an index of the present at ``known``."""
        ...

    def units_then(
        self, scope: Scope, ids: Sequence[str], then: PointInTime
    ) -> dict[str, frozenset[int]]:
        """By source, the units of its passages that were said and known by then."""
        ...

    # ——— sources ———

    def sources(self, scope: Scope, query: SourceQuery) -> list[Source]: ...

    def original(self, scope: Scope, id: str) -> list[bytes]:
        """The original as received, part by part."""
        ...

    def passages(self, scope: Scope, query: PassageQuery) -> dict[int, Passage]:
        """By unit."""
        ...

    def unembedded(self, scope: Scope, query: UnembeddedQuery) -> Unembedded: ...

    def journal(self, scope: Scope, query: JournalQuery) -> list[JournalRow]: ...

    def cursor(self, scope: Scope, agent: str, thread: str) -> int | None:
        """The revision at which the agent looked last in the thread; None: never."""
        ...

    def recall_log(self, scope: Scope, query: RecallLogQuery) -> list[RecallLogEntry]:
        """Oldest first."""
        ...

    def index_page(
        self, scope: Scope, after_seq: int, epoch: int, granted: GrantedSources | None = None
    ) -> IndexPage:
        """Everything when ``epoch`` is not the scope's current one, else the rows newer than
        ``after_seq``. For granted sources always everything, or nothing while both numbers are
        current."""
        ...

    def statistics(
        self,
        scope: Scope,
        now: datetime | None = None,
        seen: Visibility = OWNER_VISIBILITY,
        *,
        checked: bool = False,
    ) -> ScopeStatistics:
        """With ``now``, items that ended by then count as expired, even before maintenance removes
        them. Memories, links and sources are counted as far as ``seen`` admits them. With
        ``checked``, rows are compared with their checksums."""
        ...

    def mentions(self, scope: Scope, text: str, *, files: bool = False) -> list[str]:
        """Where the text still occurs: tables, for this scope only, and on request files."""
        ...

    # ——— the graph ———

    def graph_items(self, scope: Scope, query: GraphQuery) -> GraphItems: ...

    def assertions(self, scope: Scope, query: AssertionQuery) -> Assertions: ...

    def ended_graph_items(self, scope: Scope, query: EndedQuery) -> EndedGraphItems: ...

    def extractions(self, scope: Scope, sources: Sequence[str] | None = None) -> list[Extraction]:
        """The extraction states of this user, all or by source."""
        ...

    def graph_page(self, scope: Scope, after_seq: int, epoch: int) -> GraphPage: ...

    def whole_graph(self, scope: Scope) -> WholeGraph:
        """All stored rows of the graph, in one snapshot."""
        ...

    # ——— language models ———

    def model_answer(self, scope: Scope, digest: str) -> KeptModelAnswer | None: ...

    def model_usage(self, scope: Scope, day: str | None = None) -> list[ModelUsageRow]:
        """Of one day, or of all days, oldest first."""
        ...

    def model_readings(
        self, scope: Scope, sources: Sequence[str] | None = None, *, unsettled: bool = False
    ) -> list[ModelReading]:
        """How far models have read for this user, all or by source. ``unsettled``: those with
        passages that could not be read, or with requests to forget."""
        ...

    # ——— sleep ———

    def sleep_runs(self, scope: Scope, query: SleepRunQuery) -> list[SleepRun]:
        """Newest first."""
        ...

    def sleep_changes(self, scope: Scope, run: str) -> list[SleepChange]:
        """What a run did, in the order of its actions."""
        ...

    def fingerprints(self, scope: Scope) -> list[PairFingerprint]: ...

    def archived_sources(self, scope: Scope) -> frozenset[str]:
        """Ids of the sources, own and teams', that maintenance archived for this reader."""
        ...

    # ——— jobs; `apply` enqueues, finishes, retries and withdraws them ———

    def jobs(self, scope: Scope, query: JobQuery) -> list[Job]: ...

    def when_enqueued(self, notify: Callable[[], None]) -> None:
        """``notify`` is called after each change by this process that enqueued a job."""
        ...

    def close(self) -> None: ...


class Claims(Protocol):
    """Leases: a compare-and-set on one row that returns who won. A claim precedes any decision and
    journal entry, so neither `apply` nor `record` can carry it."""

    def claim_job(
        self,
        worker: str,
        now: datetime,
        *,
        lease: timedelta = LEASE,
        kinds: Sequence[str] = (),
        scope: Scope | None = None,
        id: str | None = None,
        in_order: Sequence[str] = (),
        after: tuple[str, str] | None = None,
        reserved: ReservedJobs = NO_RESERVED_JOBS,
    ) -> Job | None:
        """Claims the job that has been due longest, of any owner, for ``worker``. A job whose lease
        expired is taken over, or becomes dead when it has no tries left. ``in_order``: kinds of
        which only one job of an owner runs at a time. ``after``: two kinds; a job of the first
        waits while one of the second, of the same owner, is due or runs. Neither ``after`` nor
        ``reserved`` holds for a job that is given by ``id``."""
        ...

    def next_due(
        self, kinds: Sequence[str] = (), reserved: ReservedJobs = NO_RESERVED_JOBS
    ) -> datetime | None:
        """When the next job may be due; None: there is none."""
        ...

    def extend_lease(self, job: Job, until: datetime) -> bool:
        """False: the lease is lost."""
        ...

    def fail_job(
        self, job: Job, now: datetime, failure: Failure, retry_at: datetime | None
    ) -> bool:
        """The job is retried at ``retry_at``, or dead if None. False: the lease is lost."""
        ...

    def claim_answer(
        self, claim: IdempotencyClaim, request: str, now: datetime
    ) -> StoredAnswer | None:
        """None: the caller now holds the claim, because it was free or timed out without a change;
        `record` stores the answer or releases the claim. A changeset that carries the claim is
        applied only while it is held."""
        ...


class StoreMaintenance(Protocol):
    """The operator's interface. It crosses scopes, under a database role of its own, and is not
    called by verbs of users."""

    def scopes(self, query: ScopeQuery = ALL_SCOPES) -> list[Scope]: ...

    def scrub(self, at: datetime) -> bool:
        """Compacts the files, so that no erased bytes remain. False: other sessions prevent it."""
        ...

    def health(self) -> StoreHealth: ...

    # ——— embedder generations ———

    def generations(self) -> list[Generation]: ...

    def begin_generation(self, identity: EmbedderIdentity) -> Generation:
        """The current generation if it is this embedder's, else the one being built if it is, else
        a new one; any other that was being built is abandoned. `record` adds its vectors."""
        ...

    def switch_to(self, generation: int) -> bool:
        """Makes it current, in one transaction. False: it lacks vectors of a concurrent write."""
        ...

    def remove_retired(self, report: Callable[[int, int], object]) -> None:
        """Deletes the vectors of retired generations, of all scopes. ``report`` gets the number of
        scopes that are done, and of all."""
        ...

    def fact(self, name: str) -> str | None:
        """A fact about the store, such as an embedder's calibration; written by `record`."""
        ...


class Backend(Store, Claims, StoreMaintenance, Protocol):
    """All three: what an adapter implements and the engine is composed with."""

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
from commonplace.model.profile.fields import Proposal
from commonplace.model.sources.source import Passage, Source
from commonplace.store.queries import (
    ALL_SCOPES,
    AssertionQuery,
    Assertions,
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
    ScopeQuery,
    ScopeStatistics,
    SourceQuery,
    StoreHealth,
    Unembedded,
    UnembeddedQuery,
)


class Store(Protocol):
    """What a verb uses: reads of one scope each, and the only two writes that carry a decision."""

    url: str  # without a password

    def apply(self, *changesets: Changeset) -> Applied:
        """One for each scope, all or nothing. The revision is that of the first one's scope."""
        ...

    def record(self, bookkeeping: Bookkeeping) -> None:
        """Never moves a revision. All or nothing, but for facts, which are about the store: they
        are written first, under the operators' database role."""
        ...

    def read_session(self, scope: Scope | None = None) -> AbstractContextManager[None]:
        """While it is open, all reads of this thread, of any scope, are one visit to the database:
        they share a transaction and see one state. A session within another is part of it. The
        transaction begins with the first read, or at once where a ``scope`` is given: who takes a
        lock that others take within a session has a connection before, so that nobody who holds
        the lock waits for one. A write of this thread ends the transaction."""
        ...

    def end_read_transaction(self, *, renew: bool = False) -> None:
        """The next read of the session begins another one, and sees a later state. To be called
        before anything slow, such as a model. With ``renew``, where a cache has seen a later state:
        the next one begins at once, on the same connection, so that who holds the lock of a cache
        waits for none."""
        ...

    def counters(self, scope: Scope) -> Counters: ...

    def fetch(self, scope: Scope, ids: Sequence[str]) -> list[Memory]:
        """Those that exist, whatever their state, in the order asked for."""
        ...

    def page(self, scope: Scope, listing: MemoryListing | DisputedMemories) -> list[Memory]: ...

    def versions(self, scope: Scope, ids: Sequence[str]) -> list[Version]: ...

    def links(self, scope: Scope, ids: Sequence[str]) -> list[Link]: ...

    def held(self, scope: Scope, query: HeldQuery | None = None) -> list[HeldValue]:
        """Values that wait, oldest first; without a query all of them."""
        ...

    def proposals(self, scope: Scope) -> list[Proposal]:
        """What waits for the profile, oldest first; those whose days are over, too."""
        ...

    # ——— who may read: nothing of it is cached ———

    def keys(self, scope: Scope, id: str | None = None) -> dict[Key, bytes]:
        """With the digests of their tokens, oldest first; those that have ended, too. With an id
        this one alone."""
        ...

    def access(self, scope: Scope) -> TeamAccess: ...

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

    def sources(self, scope: Scope, query: SourceQuery) -> list[Source]: ...

    def original(self, scope: Scope, id: str) -> list[bytes]:
        """As it came, part by part."""
        ...

    def passages(self, scope: Scope, query: PassageQuery) -> dict[int, Passage]:
        """By unit."""
        ...

    def unembedded(self, scope: Scope, query: UnembeddedQuery) -> Unembedded: ...

    def journal(self, scope: Scope, query: JournalQuery) -> list[JournalRow]: ...

    def cursor(self, scope: Scope, agent: str, thread: str) -> int: ...

    def recall_log(self, scope: Scope, query: RecallLogQuery) -> list[RecallLogEntry]:
        """Oldest first."""
        ...

    def index_page(
        self, scope: Scope, after_seq: int, epoch: int, granted: GrantedSources | None = None
    ) -> IndexPage:
        """Everything when ``epoch`` is not the scope's own any more, else what is newer. Of granted
        sources always everything, but nothing while both numbers are the scope's own."""
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

    # ——— the graph ———

    def graph_items(self, scope: Scope, query: GraphQuery) -> GraphItems: ...

    def assertions(self, scope: Scope, query: AssertionQuery) -> Assertions: ...

    def ended_graph_items(self, scope: Scope, query: EndedQuery) -> EndedGraphItems: ...

    def extractions(self, scope: Scope, sources: Sequence[str] | None = None) -> list[Extraction]:
        """What this reader has read."""
        ...

    def graph_page(self, scope: Scope, after_seq: int, epoch: int) -> GraphPage: ...

    def whole_graph(self, scope: Scope) -> WholeGraph:
        """All that is kept of it, in one snapshot."""
        ...

    # ——— work that is owed; it is enqueued, finished, retried and withdrawn by `apply` ———

    def jobs(self, scope: Scope, query: JobQuery) -> list[Job]: ...

    def when_enqueued(self, tell: Callable[[], None]) -> None:
        """Called after each change of this process's that has caused work."""
        ...

    def close(self) -> None: ...


class Claims(Protocol):
    """Rights for a limited time: a compare-and-set on one row that answers who won. It comes before
    there is anything to decide or to journal, so that neither `apply` nor `record` can carry it."""

    def claim_job(
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
        """When there may next be a job to claim. None: nothing waits."""
        ...

    def extend_lease(self, job: Job, until: datetime) -> bool:
        """Hold the job until then. False: it is held no longer."""
        ...

    def fail_job(
        self, job: Job, now: datetime, failure: Failure, retry_at: datetime | None
    ) -> bool:
        """Not done; tried again at ``retry_at``, or dead. False: it is held no longer."""
        ...

    def claim_answer(
        self, claim: IdempotencyClaim, request: str, now: datetime
    ) -> StoredAnswer | None:
        """None: nobody had it, or whoever had it changed nothing for long; now it is the caller's
        to keep or to release, by `record`. A changeset that carries the claim is applied only
        while it is held."""
        ...


class StoreMaintenance(Protocol):
    """An operator's: it crosses scopes, under a database role of its own, and no verb of a user's
    calls it."""

    def scopes(self, query: ScopeQuery = ALL_SCOPES) -> list[Scope]: ...

    def scrub(self, at: datetime) -> bool:
        """Compact, so that erased bytes are gone from the files. False: others are in the way."""
        ...

    def health(self) -> StoreHealth: ...

    # ——— exchanging one embedder for another ———

    def generations(self) -> list[Generation]: ...

    def begin_generation(self, identity: EmbedderIdentity) -> Generation:
        """The current one when it is this embedder's; the one being built when it is; else a new
        one, and another one that was being built is given up. It is built by `record`."""
        ...

    def switch_to(self, generation: int) -> bool:
        """Make it current, in one transaction. False: something was written meanwhile."""
        ...

    def remove_retired(self, report: Callable[[int, int], object]) -> None:
        """The vectors of generations that nobody reads any more, of all scopes; told how many of
        them are done, and how many there are."""
        ...

    def fact(self, name: str) -> str | None:
        """About the store, such as how an embedder's cosines are read; told by `record`."""
        ...


class Backend(Store, Claims, StoreMaintenance, Protocol):
    """All of it: what an adapter gives, and the engine is composed with."""

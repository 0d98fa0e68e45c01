"""Store port: the contract of every backend. Values in, values out."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from datetime import datetime, timedelta
from typing import Protocol

from commonplace.model.access.key import Key
from commonplace.model.access.principal import Scope
from commonplace.model.access.team import Membership, Share, Team, TeamAccess
from commonplace.model.changeset import Applied, Bookkeeping, Changeset
from commonplace.model.filters import OWNER_VISIBILITY, Visibility
from commonplace.model.graph.assertion import EdgeAssertion, NodeAssertion, Note
from commonplace.model.graph.elements import Artifact, Edge, Node
from commonplace.model.graph.salience import AccessStats
from commonplace.model.graph.snapshot import WholeGraph
from commonplace.model.graph.steps import Extraction
from commonplace.model.jobs import LEASE, Failure, IdempotencyClaim, Job, StoredAnswer
from commonplace.model.journal import JournalRow, RecallLogEntry, RecallLogQuery
from commonplace.model.memory.lifecycle import NOW, PointInTime
from commonplace.model.memory.memory import HeldValue, Link, Memory, Version
from commonplace.model.profile.fields import Proposal
from commonplace.model.sources.source import Passage, Source
from commonplace.store.queries import (
    ALL_SCOPES,
    NO_LIMIT,
    Counters,
    EmbedderIdentity,
    Generation,
    GraphPage,
    HeldQuery,
    IndexPage,
    JobQuery,
    JournalQuery,
    MemoryListing,
    PastPage,
    ScopeQuery,
    ScopeStatistics,
    SourceListing,
    StoreHealth,
)


class Store(Protocol):
    url: str  # without a password

    def apply(self, *changesets: Changeset) -> Applied:
        """One for each scope, all or nothing. The revision is that of the first one's scope."""
        ...

    def record(self, bookkeeping: Bookkeeping) -> None:
        """Never moves a revision."""
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

    # ——— the graph ———

    def nodes(self, scope: Scope, ids: Sequence[str]) -> list[Node]:
        """Those that exist, whatever their state, in the order asked for."""
        ...

    def edges(self, scope: Scope, ids: Sequence[str]) -> list[Edge]: ...

    def edges_at(self, scope: Scope, nodes: Sequence[str]) -> list[Edge]:
        """All that begin or end at one of these, the past ones, too; oldest first."""
        ...

    def node_assertions(self, scope: Scope, nodes: Sequence[str]) -> list[NodeAssertion]:
        """Those that do not stand, too; oldest first."""
        ...

    def edge_assertions(
        self, scope: Scope, nodes: Sequence[str], types: Collection[str] | None = None
    ) -> list[EdgeAssertion]:
        """That name one of these nodes, at either end; of these types, or all."""
        ...

    def told_by(
        self, scope: Scope, sources: Sequence[str]
    ) -> tuple[list[NodeAssertion], list[EdgeAssertion], list[Note]]:
        """All that this reader has from these sources."""
        ...

    def notes(self, scope: Scope, about: Sequence[str]) -> list[Note]:
        """Newest first; those that have ended or do not stand, too."""
        ...

    def notes_by_id(self, scope: Scope, ids: Sequence[str]) -> list[Note]:
        """By their own ids, whatever became of them."""
        ...

    def merged_into(self, scope: Scope, nodes: Sequence[str]) -> list[Node]:
        """For which one of these speaks, directly."""
        ...

    def artifacts(self, scope: Scope, ids: Sequence[str] | None = None) -> list[Artifact]:
        """Newest first; without ids all of them."""
        ...

    def ephemeral_artifacts(self, scope: Scope, made_by: datetime) -> list[str]:
        """Ids of those that were made so long ago, for the night, which removes them."""
        ...

    def forgotten_graph_items(self, scope: Scope) -> dict[str, datetime]:
        """Nodes, edges, notes and artifacts that were forgotten by hand, and when they are gone."""
        ...

    def extractions(self, scope: Scope, sources: Sequence[str] | None = None) -> list[Extraction]:
        """What this reader has read."""
        ...

    def graph_page(self, scope: Scope, after_seq: int, epoch: int) -> GraphPage: ...

    def graph_revision(self, scope: Scope) -> int: ...

    def marks(self, scope: Scope, ids: Sequence[str] | None = None) -> dict[str, AccessStats]:
        """What readings have left: of nodes, edges, and of sources for this reader."""
        ...

    def notes_ended(self, scope: Scope, by: datetime, limit: int) -> list[Note]:
        """For the night, which removes them."""
        ...

    def unembedded_graph_items(
        self, scope: Scope, limit: int, generation: int | None = None
    ) -> list[tuple[str, str]]:
        """Refs (id@version) and texts of nodes and edges without a vector; without a generation,
        of the current one."""
        ...

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

    def count_unbuilt(self, scope: Scope, generation: int) -> int: ...

    def switch_to(self, generation: int) -> bool:
        """Make it current, in one transaction. False: something was written meanwhile."""
        ...

    def remove_retired(self, report: Callable[[int, int], object]) -> None:
        """The vectors of generations that nobody reads any more, of all scopes; told how many of
        them are done, and how many there are."""
        ...

    # ——— facts about the store, such as how an embedder's cosines are read ———

    def fact(self, name: str) -> str | None: ...

    def put_fact(self, name: str, value: str) -> None: ...


class Backend(Store, Claims, StoreMaintenance, Protocol):
    """All of it: what an adapter gives, and the engine is composed with."""

"""SQL store: the port's reads, writes and maintenance on any SQL database.

A dialect subclass provides transactions (read and write sessions) and its own SQL syntax.
"""

from __future__ import annotations

import os
import sys
import threading
from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from datetime import datetime
from functools import partial
from typing import Any

from commonplace.errors import CommonplaceError, StoreClosed, StoreReadOnly
from commonplace.lazy import lazy_imports
from commonplace.model.access.principal import Scope
from commonplace.model.changeset import Applied, Bookkeeping, Changeset
from commonplace.model.filters import EXACT_FIELDS
from commonplace.model.journal import JournalRow
from commonplace.model.memory.memory import HeldValue, Link, Memory, Version
from commonplace.store.failpoints import reach_failpoint
from commonplace.store.queries import (
    ALL_SCOPES,
    CitingMemories,
    Counters,
    DisputedMemories,
    GrantedSources,
    HeldQuery,
    IndexedPassage,
    IndexedRow,
    IndexedSource,
    IndexPage,
    JournalQuery,
    MemoryListing,
    ScopeQuery,
    StoreHealth,
)
from commonplace.store.sql.access import SqlKeys, SqlTeams, mark_keys_used
from commonplace.store.sql.changeset_writer import NO_COUNTER_MOVES
from commonplace.store.sql.generations import (
    SqlGenerations,
    build_vectors,
    counters_from,
    id_and_version,
    insert_graph_vectors,
    insert_late_vectors,
    insert_unit_vectors,
)
from commonplace.store.sql.graph import SqlGraph
from commonplace.store.sql.graph_rows import record_accesses
from commonplace.store.sql.jobs import (
    SqlIdempotency,
    SqlJobs,
    delete_old_answers,
    record_answers,
)
from commonplace.store.sql.llm.model_calls import SqlModelCalls, record_model_calls
from commonplace.store.sql.maintenance.sleep import SqlSleep
from commonplace.store.sql.maintenance.storylines import SqlArchive
from commonplace.store.sql.memories import SqlProposals, SqlRecallLog, record_turns
from commonplace.store.sql.rows import (
    Row,
    Session,
    WriteNumbers,
    entry_values,
    held_from,
    index_values,
    journal_from,
    link_from,
    memory_from,
    micros,
    reporting_damage,
    version_from,
)
from commonplace.store.sql.scope_reads import SqlStatistics, SqlTimeTravel, visibility_values
from commonplace.store.sql.sources import SqlSources

with lazy_imports(__name__):
    from commonplace.store.sql.changeset_writer import write_steps
    from commonplace.store.sql.checksums import repair_checksums
    from commonplace.store.sql.erasure import delete_questions


class _ReadSession:
    """A read transaction that all reads of a thread share; the first read begins it."""

    def __init__(
        self,
        begin: Callable[[Scope | None], AbstractContextManager[Session]],
        exclusive: bool = False,
    ):
        self.process = os.getpid()
        self.exclusive = exclusive  # a write transaction, which the writes of the thread join
        self._begin = begin
        self._open = ExitStack()
        self._session: Session | None = None
        self._scope: Scope | None = None
        self._reads = 0  # nesting depth of the running reads

    @contextmanager
    def reading(self, scope: Scope | None) -> Iterator[Session]:
        before = self._scope
        try:
            session = self._at(scope)
            self._reads += 1
            try:
                yield session
            finally:
                self._reads -= 1
            if self._reads and before != scope:
                self._at(before)
        except BaseException:  # the error may have ended the transaction
            self._session = None
            self._open.__exit__(*sys.exc_info())  # raises it translated to a store error
            raise

    def _at(self, scope: Scope | None) -> Session:
        if self._session is None:
            self._session = self._open.enter_context(self._begin(scope))
        elif scope != self._scope:
            self._session = self._session.at(scope)
        self._scope = scope
        return self._session

    @contextmanager
    def writing(self, scope: Scope | None) -> Iterator[Session]:
        with self.reading(scope) as session:
            yield session
        self._scope = None  # the writer may have moved on to another scope

    def renew(self) -> None:
        if self._session is None:
            return
        try:
            self._session.restart()
        except BaseException:
            self._session = None
            self._open.__exit__(*sys.exc_info())
            raise

    def end(self) -> None:
        self._session = None
        self._open.close()

    def abandon(self) -> None:
        """Roll back, where the error that is being handled came from outside a read."""
        self._session = None
        with suppress(CommonplaceError):
            self._open.__exit__(*sys.exc_info())


class SqlStore(
    SqlGenerations,
    SqlJobs,
    SqlSources,
    SqlProposals,
    SqlTimeTravel,
    SqlRecallLog,
    SqlKeys,
    SqlIdempotency,
    SqlTeams,
    SqlGraph,
    SqlArchive,
    SqlStatistics,
    SqlModelCalls,
    SqlSleep,
):
    url: str
    is_read_only = False  # the database accepts no change
    _closed = False

    def __init__(self) -> None:
        self._threads = threading.local()  # the read session of each thread

    def _require_open(self) -> None:
        if self._closed:
            raise StoreClosed("This store is closed.")

    # ——— sessions ———

    @contextmanager
    def read_session(
        self, scope: Scope | None = None, *, exclusive: bool = False
    ) -> Iterator[None]:
        if exclusive and scope is not None:
            with self._exclusive_session(scope):
                yield
            return
        with ExitStack() as opened:
            if self._read_session() is None:
                self._threads.reads = _ReadSession(self._begin_reading)
                opened.callback(self._close_read_session)
            if scope:
                with self._reading(scope):
                    pass
            yield

    @contextmanager
    def _exclusive_session(self, scope: Scope) -> Iterator[None]:
        self.end_read_transaction()
        outer = self._read_session()
        held = self._threads.reads = _ReadSession(self._begin_writing, exclusive=True)
        try:
            with self._reading(scope) as session:
                session.run("hold_scope")
            yield
        except BaseException:
            held.abandon()
            raise
        else:
            held.end()
        finally:
            self._threads.reads = outer
        if self._notify is not None:  # jobs were enqueued before the commit
            self._notify()

    def _close_read_session(self) -> None:
        self.end_read_transaction()
        self._threads.reads = None

    def end_read_transaction(self, *, renew: bool = False) -> None:
        shared = self._read_session()
        if shared and not shared.exclusive:  # an exclusive one sees no later state of its scope
            shared.renew() if renew else shared.end()

    def _read_session(self) -> _ReadSession | None:
        """That of this thread. A forked process does not use its parent's."""
        shared: _ReadSession | None = getattr(self._threads, "reads", None)
        return shared if shared and shared.process == os.getpid() else None

    @contextmanager
    def _reading(self, scope: Scope | None) -> Iterator[Session]:
        shared = self._read_session()
        with shared.reading(scope) if shared else self._begin_reading(scope) as session:
            yield session

    @contextmanager
    def _writing(self, scope: Scope | None) -> Iterator[Session]:
        if (shared := self._read_session()) and shared.exclusive:
            with shared.writing(scope) as session:
                yield session
            return
        self.end_read_transaction()  # a thread has one connection at a time
        with self._begin_writing(scope) as session:
            yield session

    # ——— implemented by a dialect ———

    @abstractmethod
    def _begin_reading(self, scope: Scope | None) -> AbstractContextManager[Session]:
        """A consistent read in a transaction of its own."""

    @abstractmethod
    def _begin_writing(self, scope: Scope | None) -> AbstractContextManager[Session]: ...

    @abstractmethod
    def _compact(self) -> bool:
        """Removes deleted bytes from the files. False: other sessions prevent it."""

    @abstractmethod
    def health(self) -> StoreHealth: ...

    @abstractmethod
    def close(self) -> None: ...

    # ——— writes ———

    def apply(self, *changesets: Changeset) -> Applied:
        """Scopes are locked in the order of their keys, which prevents deadlocks."""
        ordered = sorted(changesets, key=lambda changeset: changeset.scope.key)
        written: dict[Scope, WriteNumbers] = {}
        with self._writing(ordered[0].scope) as session:
            reach_failpoint("apply.begun")
            for index, changeset in enumerate(ordered):
                writing = session.at(changeset.scope) if index else session
                require_generation = partial(self._require_generation, writing)
                written[changeset.scope] = write_steps(
                    writing, changeset, require_generation, self.read_original
                )
            for scope in written:
                elsewhere = [each for other, each in written.items() if other != scope]
                if any(each.erased_texts for each in elsewhere):
                    delete_questions(session.at(scope), elsewhere)
            reach_failpoint("apply.before_commit")
        reach_failpoint("apply.after_commit")
        for changeset in ordered:
            self._notify_enqueued(changeset)
        return Applied(written[changesets[0].scope].revision)

    def record(self, bookkeeping: Bookkeeping) -> None:
        """Reads of a store that cannot be written are not counted."""
        try:
            self._record(bookkeeping)
        except StoreReadOnly:
            if not bookkeeping.is_about_reads:
                raise

    def _record(self, bookkeeping: Bookkeeping) -> None:
        if bookkeeping.facts:
            with self._maintaining() as session:
                facts = bookkeeping.facts.items()
                session.run_many("put_fact", [{"name": n, "value": value} for n, value in facts])
        with self._writing(bookkeeping.scope) as session:
            # The counters are locked first, as in `apply`, which prevents deadlocks.
            numbered = session.one("number_journal", entries=len(bookkeeping.entries))
            if numbered is None and bookkeeping.model_usage:  # of the daily budget, from the first
                session.run("open_scope")
                numbered = session.one("number_journal", entries=len(bookkeeping.entries))
            record_answers(session, bookkeeping.answers, bookkeeping.at)
            if numbered is None:
                return  # the scope does not exist, so there is nothing to record about it
            self._record_reads(session, bookkeeping)
            record_accesses(session, bookkeeping.read, bookkeeping.at)
            if bookkeeping.generation is None:
                self._record_vectors(session, bookkeeping)
            else:
                build_vectors(session, bookkeeping, bookkeeping.generation)
            self._record_terms(session, bookkeeping)
            if bookkeeping.repairs_checksums:
                session.one(
                    "lock_counters", **NO_COUNTER_MOVES | {"vanished": 1, "graph_vanished": 1}
                )
                repair_checksums(session)
            journal, revision, erasures = numbered
            self._record_entries(session, bookkeeping, journal, revision)
            record_model_calls(session, bookkeeping, erasures)
            record_turns(session, bookkeeping)
            mark_keys_used(session, bookkeeping.used_keys, bookkeeping.at)
            if bookkeeping.tidied:
                delete_old_answers(session, bookkeeping.at)

    def _record_reads(self, session: Session, bookkeeping: Bookkeeping) -> None:
        at = micros(bookkeeping.at)
        session.run_many(
            "touch",
            [{"id": id, "count": count, "at": at} for id, count in bookkeeping.touched.items()],
        )
        if bookkeeping.cursor:
            agent, thread, revision = bookkeeping.cursor
            session.run("move_cursor", agent=agent, thread=thread, revision=revision)
        if bookkeeping.tidied:
            session.run("mark_tidied", at=at)

    def _record_vectors(self, session: Session, bookkeeping: Bookkeeping) -> None:
        late = (bookkeeping.vectors, bookkeeping.passage_vectors, bookkeeping.graph_vectors)
        if not any(late):
            return
        counters = session.one("lock_counters", **NO_COUNTER_MOVES)
        numbers = counters_from(counters)
        self._require_generation(session, numbers.generation)
        ids = insert_late_vectors(session, bookkeeping.vectors, numbers.generation)
        session.run("bump_seq", seq=numbers.seq, ids=ids)
        units = insert_unit_vectors(session, bookkeeping.passage_vectors, numbers.generation)
        session.run("bump_passages", seq=numbers.seq, units=units)
        insert_graph_vectors(session, bookkeeping.graph_vectors, numbers.generation, numbers.seq)

    def _record_terms(self, session: Session, bookkeeping: Bookkeeping) -> None:
        """Caches assume that a unit's terms never change, so all of them have to be rebuilt."""
        if not bookkeeping.terms and not bookkeeping.passage_terms:
            return
        session.one("lock_counters", **NO_COUNTER_MOVES | {"vanished": 1})
        rows = []
        for ref, index in bookkeeping.terms.items():
            id, version = id_and_version(ref)
            rows.append({"id": id, "version": version, **index_values(index)})
        session.run_many("insert_late_terms", rows)
        session.run_many(
            "insert_unit_terms",
            [
                {"unit": unit, **index_values(index)}
                for unit, index in bookkeeping.passage_terms.items()
            ],
        )

    def _record_entries(
        self, session: Session, bookkeeping: Bookkeeping, last: int, revision: int
    ) -> None:
        first = last - len(bookkeeping.entries) + 1
        session.run_many(
            "insert_journal",
            [
                {
                    **entry_values(entry),
                    "seq": first + offset,
                    "ts": micros(bookkeeping.at),
                    "revision": revision,
                    "thread_id": bookkeeping.thread_id,
                    "actor": bookkeeping.actor,
                }
                for offset, entry in enumerate(bookkeeping.entries)
            ],
        )

    # ——— reads ———

    def counters(self, scope: Scope) -> Counters:
        with self._reading(scope) as session:
            return counters_from(session.one("counters"))

    def fetch(self, scope: Scope, ids: Sequence[str]) -> list[Memory]:
        if not ids:
            return []
        with self._reading(scope) as session:
            rows = session.rows("fetch", ids=list(dict.fromkeys(ids)))
        by_id = {memory.id: memory for memory in (memory_from(scope, row) for row in rows)}
        return [by_id[id] for id in dict.fromkeys(ids) if id in by_id]

    def page(
        self, scope: Scope, listing: MemoryListing | DisputedMemories | CitingMemories
    ) -> list[Memory]:
        with self._reading(scope) as session:
            if isinstance(listing, CitingMemories):
                rows = session.rows("citing", sources=list(listing.sources))
            elif isinstance(listing, DisputedMemories):
                ids = listing.conflicts
                values = {"any": int(ids is None), "conflicts": list(ids or ())}
                rows = session.rows("disputed", **values)
            else:
                rows = session.rows("page", **_listing_values(listing))
        return [memory_from(scope, row) for row in rows]

    def versions(self, scope: Scope, ids: Sequence[str]) -> list[Version]:
        with self._reading(scope) as session:
            rows = session.rows("versions", ids=list(ids))
        return [version_from(scope, row) for row in rows]

    def links(self, scope: Scope, ids: Sequence[str]) -> list[Link]:
        if not ids:
            return []
        with self._reading(scope) as session:
            return [link_from(row) for row in session.rows("links", ids=list(ids))]

    def held(self, scope: Scope, query: HeldQuery | None = None) -> list[HeldValue]:
        wanted = query or HeldQuery()
        with self._reading(scope) as session:
            rows = session.rows(
                "held",
                any=int(query is None),
                ids=list(wanted.ids),
                conflicts=list(wanted.conflicts),
                beside=list(wanted.alternative_to),
                merged_into=list(wanted.contributes_to),
            )
        return [held_from(scope, row) for row in rows]

    def journal(self, scope: Scope, query: JournalQuery) -> list[JournalRow]:
        values = {
            "subject": query.subject,
            "thread_id": query.thread_id,
            "after_revision": query.after_revision,
            "after_seq": query.after_seq,
            "events_only": int(query.events_only),
        }
        with self._reading(scope) as session:
            if query.news_for:
                since = {"after_revision": query.after_revision or 0, "limit": query.newest}
                rows = session.rows("journal_news", **since, **visibility_values(query.news_for))
            elif query.newest is None:
                rows = session.rows("journal", **values)
            else:
                rows = session.rows("journal_newest", **values, limit=query.newest)
        return [journal_from(scope, row) for row in rows]

    def cursor(self, scope: Scope, agent: str, thread: str) -> int | None:
        with self._reading(scope) as session:
            row = session.one("cursor", agent=agent, thread=thread)
        return row[0] if row else None

    def index_page(
        self, scope: Scope, after_seq: int, epoch: int, granted: GrantedSources | None = None
    ) -> IndexPage:
        with self._reading(scope) as session:
            if granted is not None:
                return self._index_page_of(session, granted, after_seq, epoch)
            return self._index_page(session, after_seq, epoch)

    def _index_page(self, session: Session, after_seq: int, epoch: int) -> IndexPage:
        counters = self._checked_counters(session)
        if counters.epoch == epoch and counters.seq == after_seq:
            return IndexPage(counters)
        whole = counters.epoch != epoch
        suffix, bound = ("all", {}) if whole else ("since", {"after_seq": after_seq})
        rows = session.rows(f"index_rows_{suffix}", **bound)
        sources = session.rows(f"index_sources_{suffix}", **bound)
        passages = session.rows(f"index_passages_{suffix}", **bound)
        terms = [*session.rows(f"index_terms_{suffix}", **bound)]
        made_by = {"generation": counters.generation}
        vectors = [*session.rows(f"index_vectors_{suffix}", **bound, **made_by)]
        if passages and not whole:
            terms += session.rows("passage_terms_since", **bound)
            vectors += session.rows("passage_vectors_since", **bound, **made_by)
        return IndexPage(
            counters,
            [IndexedRow._make(row) for row in rows],
            [(unit, packed, traits) for unit, packed, traits in terms],
            [(unit, bytes(vector)) for unit, vector in vectors],
            [IndexedSource._make(row) for row in sources],
            [IndexedPassage._make(row) for row in passages],
        )

    def _checked_counters(self, session: Session) -> Counters:
        counters = counters_from(session.one("counters"))
        self._require_generation(session, counters.generation)
        return counters

    # ——— maintenance ———

    def scrub(self, at: datetime) -> bool:
        waiting = self._unscrubbed()
        if not waiting:
            return True
        if not self._compact():
            return False
        # Only those read before compaction: a later erasure may have left bytes behind.
        with self._maintaining() as session:
            session.run_many(
                "finish_scrub",
                [{"scope": scope, "id": id, "scrubbed_at": micros(at)} for scope, id in waiting],
            )
        return True

    def _unscrubbed(self) -> Sequence[Row]:
        with self._surveying() as session:
            return session.rows("unscrubbed")

    def scopes(self, query: ScopeQuery = ALL_SCOPES) -> list[Scope]:
        with self._surveying() as session:
            if query.unbuilt is not None:
                rows = session.rows("unbuilt_scopes", generation=query.unbuilt)
            else:
                rows = session.rows("all_scopes", tidied_before=micros(query.tidied_before))
        return [Scope(row[0]) for row in rows]


_READS = (
    *("access", "archived_sources", "assertions", "claim_answer", "claim_job"),
    *("counters", "cursor"),
    *("ended_graph_items", "extractions", "fact", "fetch", "generations", "graph_items"),
    *("graph_page", "held", "index_page", "jobs", "journal", "keys", "links", "mentions"),
    *("model_answer", "model_readings", "model_usage"),
    *("fingerprints", "sleep_changes", "sleep_runs"),
    *("next_due", "original", "page", "passages", "past", "proposals", "recall_log", "scopes"),
    *("sources", "statistics", "unembedded", "units_then", "versions", "whole_graph"),
)
for _name in _READS:
    setattr(SqlStore, _name, reporting_damage(getattr(SqlStore, _name)))


def _listing_values(listing: MemoryListing) -> dict[str, Any]:
    filters = listing.filters
    return {
        "states": list(listing.states),
        "now": micros(listing.now),
        "expired_by": micros(listing.expired_by),
        "purgeable_by": micros(listing.purgeable_by),
        "restorable_at": micros(listing.restorable_at),
        **visibility_values(listing.visibility),
        "any_kind": int(not filters.kinds),
        "kinds": list(filters.kinds),
        "any_category": int(not filters.categories),
        "categories": list(filters.categories),
        "any_tag": int(not filters.tags),
        "tags": list(filters.tags),
        "metadata_names": len(filters.metadata),
        "metadata": [f"{name}={value}" for name, values in filters.metadata for value in values],
        "any_successor": int(not listing.superseded_by),
        "superseded_by": list(listing.superseded_by),
        **{name: getattr(filters, name) for name in EXACT_FIELDS},
        "pinned": None if filters.pinned is None else int(filters.pinned),
        "importance_min": filters.importance_min,
        "importance_max": filters.importance_max,
        "created_after": micros(filters.created_after),
        "created_before": micros(filters.created_before),
        "updated_after": micros(filters.updated_after),
        "updated_before": micros(filters.updated_before),
        "without_vector": int(listing.without_vector),
        "generation": listing.generation,
        "only_profile": int(listing.only_profile),
        "volatile": int(listing.volatile),
        "after": listing.after,
        "limit": listing.limit,
    }

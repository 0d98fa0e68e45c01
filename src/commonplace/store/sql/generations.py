"""Embedding generations on SQL: which embedder's vectors are current, and replacing them.

A process is bound to the embedder it was opened with: each read of vectors and each write checks,
in its own transaction, which generation is current, and raises if it is another embedder's. Vectors
of two models are therefore never compared, however late a process notices the change.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager

from commonplace.errors import EmbedderMismatch, embedder_option
from commonplace.model.access.principal import Scope
from commonplace.model.changeset import Bookkeeping
from commonplace.model.sources.source import text_to_embed
from commonplace.store.failpoints import reach_failpoint
from commonplace.store.queries import (
    Counters,
    EmbedderIdentity,
    Generation,
    Unembedded,
    UnembeddedQuery,
)
from commonplace.store.sql.rows import (
    Row,
    Session,
    checksum,
    moment,
)

UNITS_AT_ONCE = 5_000  # when old vectors are removed


class SqlGenerations(ABC):
    _own_generation: Generation | None = None  # None: a store opened without an embedder

    # ——— implemented by a dialect ———

    @abstractmethod
    def _reading(self, scope: Scope) -> AbstractContextManager[Session]:
        """A read transaction on one scope."""

    @abstractmethod
    def _writing(self, scope: Scope) -> AbstractContextManager[Session]:
        """A write transaction on one scope."""

    @abstractmethod
    def _surveying(self) -> AbstractContextManager[Session]:
        """A read transaction for maintenance statements."""

    @abstractmethod
    def _maintaining(self) -> AbstractContextManager[Session]:
        """A write transaction for maintenance statements."""

    @abstractmethod
    def _block_writers(self, session: Session) -> None:
        """Waits for running writers, and blocks new ones until this transaction ends."""

    @abstractmethod
    def counters(self, scope: Scope) -> Counters: ...

    # ——— the embedder of this process ———

    def claim_embedder(self, identity: EmbedderIdentity) -> EmbedderIdentity:
        """The embedder of this store's vectors: the first that claimed it."""
        current = self._current()
        if current is None:
            with self._maintaining() as session:
                self._block_writers(session)
                known = _in_state("current", _generations(session))  # another process was faster
                current = known or _begin(session, identity, "current")
        if current.embedder == identity:
            self._own_generation = current
        return current.embedder

    def _current(self) -> Generation | None:
        return _in_state("current", self.generations())

    def _require_generation(self, session: Session, generation: int) -> None:
        """Raises if the current ``generation`` is of another embedder than this process's."""
        own = self._own_generation
        if own is None or own.number == generation:
            return
        current = next(each for each in _generations(session) if each.number == generation)
        if current.embedder != own.embedder:
            raise embedder_mismatch(current.embedder, own.embedder)
        # Switched to another embedder and back: each switch invalidated the caches.
        self._own_generation = current

    # ——— replacing a generation ———

    def generations(self) -> list[Generation]:
        with self._surveying() as session:
            return _generations(session)

    def begin_generation(self, identity: EmbedderIdentity) -> Generation:
        with self._maintaining() as session:
            self._block_writers(session)  # serialises concurrent calls
            known = _generations(session)
            current, building = _in_state("current", known), _in_state("building", known)
            if current is None:
                return _begin(session, identity, "current")
            if current.embedder == identity:
                session.run("move_generations", before="building", after="retired", but=0)
                return current
            if building and building.embedder == identity:
                return building
            session.run("move_generations", before="building", after="retired", but=0)
            return _begin(session, identity, "building")

    def unembedded(self, scope: Scope, query: UnembeddedQuery) -> Unembedded:
        values = {"limit": query.limit, "generation": query.generation}
        with self._reading(scope) as session:
            passages = session.rows("unembedded_passages", **values)
            graph = [*session.rows("unembedded_nodes", **values)]
            if len(graph) < query.limit:
                remaining = {**values, "limit": query.limit - len(graph)}
                graph += session.rows("unembedded_edges", **remaining)
            if len(graph) < query.limit:
                remaining = {**values, "limit": query.limit - len(graph)}
                graph += session.rows("unembedded_stories", **remaining)
            total = _count_unbuilt(session, query.generation) if query.counted else 0
        return Unembedded(
            [(unit, text_to_embed(*parts)) for unit, *parts in passages],
            [(f"{id}@{version}", text) for id, version, text in graph],
            total,
        )

    def switch_to(self, generation: int) -> bool:
        with self._maintaining() as session:
            self._block_writers(session)
            _require_building(session, generation)
            if session.rows("unbuilt_scopes", generation=generation):
                return False
            session.run("move_generations", before="current", after="retired", but=generation)
            session.run("set_generation", number=generation, state="current")
            session.run("drop_caches")
            reach_failpoint("reembed.before_switch")
        reach_failpoint("reembed.after_switch")
        return True

    def remove_retired(self, report: Callable[[int, int], object]) -> None:
        """In small transactions, so that no writer waits long."""
        with self._surveying() as session:
            scopes = [Scope(row[0]) for row in session.rows("all_scopes", tidied_before=None)]
        for done, scope in enumerate(scopes):
            report(done, len(scopes))
            for first in range(0, self.counters(scope).units + 1, UNITS_AT_ONCE):
                self._remove_retired(scope, first, first + UNITS_AT_ONCE - 1)
        with self._maintaining() as session:
            session.run("move_generations", before="retired", after="removed", but=0)
        report(len(scopes), len(scopes))

    def _remove_retired(self, scope: Scope, first: int, last: int) -> None:
        with self._writing(scope) as session:
            session.run("remove_generations", first=first, last=last)
            if first == 0:  # graph vectors have no units: they are removed with the first batch
                session.run("remove_graph_generations")
        reach_failpoint("reembed.removed")

    # ——— facts about the store ———

    def fact(self, name: str) -> str | None:
        with self._surveying() as session:
            row = session.one("fact", name=name)
        return str(row[0]) if row else None


def embedder_mismatch(known: EmbedderIdentity, own: EmbedderIdentity) -> EmbedderMismatch:
    return EmbedderMismatch(
        f"This store's vectors are made by {known.name} ({known.dimension} dimensions), "
        f"not by {own.name} ({own.dimension}).",
        remedy=f"Open it with {embedder_option(known.name)}, or recompute all vectors: "
        f"`commonplace reembed` with {embedder_option(own.name)}.",
        field="embedder",
    )


def _generations(session: Session) -> list[Generation]:
    return [
        Generation(number, EmbedderIdentity(embedder, dimension), state)
        for number, embedder, dimension, state in session.rows("generations")
    ]


def _in_state(state: str, known: list[Generation]) -> Generation | None:
    return next((each for each in known if each.state == state), None)


def _begin(session: Session, identity: EmbedderIdentity, state: str) -> Generation:
    number = max((each.number for each in _generations(session)), default=0) + 1
    session.run(
        "begin_generation",
        number=number,
        embedder=identity.name,
        dimension=identity.dimension,
        state=state,
    )
    return Generation(number, identity, state)


def _count_unbuilt(session: Session, generation: int | None) -> int:
    counts = [
        session.one(statement, generation=generation)
        for statement in (
            "count_unbuilt",
            "count_unbuilt_passages",
            "count_unbuilt_graph",
            "count_unbuilt_stories",
        )
    ]
    return sum(int(row[0]) for row in counts if row)


def _require_building(session: Session, generation: int) -> None:
    """Another process may have finished it, or have started another embedder's generation."""
    state = next(each.state for each in _generations(session) if each.number == generation)
    if state == "building":
        return
    raise EmbedderMismatch(
        "Another reembed run finished or replaced this one.",
        remedy="See `commonplace doctor` for the current embedder; run reembed again if "
        "it is not the one you want.",
        field="embedder",
    )


def build_vectors(session: Session, bookkeeping: Bookkeeping, generation: int) -> None:
    """Adds vectors to the generation being built. Caches do not read it, so ``seq`` stays."""
    _require_building(session, generation)
    insert_late_vectors(session, bookkeeping.vectors, generation)
    insert_unit_vectors(session, bookkeeping.passage_vectors, generation)
    insert_graph_vectors(session, bookkeeping.graph_vectors, generation)
    reach_failpoint("reembed.vectors")
    if bookkeeping.built_seq is not None:
        session.run("built_up_to", generation=generation, seq=bookkeeping.built_seq)
    reach_failpoint("reembed.built")


def insert_late_vectors(
    session: Session, vectors: Mapping[str, bytes], generation: int
) -> list[str]:
    """By Memory.ref: a memory that changed since its text was read gets none. Returns all ids."""
    versions = [id_and_version(ref) for ref in vectors]
    session.run_many(
        "insert_late_vector",
        [
            {
                "id": id,
                "version": version,
                "vector": vector,
                "checksum": checksum(vector),
                "generation": generation,
            }
            for (id, version), vector in zip(versions, vectors.values(), strict=True)
        ],
    )
    return [id for id, _ in versions]


def insert_unit_vectors(
    session: Session, vectors: Mapping[int, bytes], generation: int
) -> list[int]:
    """Vectors of passages, by unit. Returns the units."""
    session.run_many(
        "insert_unit_vector",
        [
            {
                "unit": unit,
                "vector": vector,
                "checksum": checksum(vector),
                "generation": generation,
            }
            for unit, vector in vectors.items()
        ],
    )
    return list(vectors)


def insert_graph_vectors(
    session: Session, vectors: Mapping[str, bytes], generation: int, seq: int | None = None
) -> None:
    """By ref: an item of the graph that changed since its text was read gets none. With ``seq`` the
    rows are marked as changed for caches."""
    if not vectors:
        return
    versions = [id_and_version(ref) for ref in vectors]
    session.run_many(
        "insert_late_graph_vector",
        [
            {
                "id": id,
                "version": version,
                "vector": vector,
                "checksum": checksum(vector),
                "generation": generation,
            }
            for (id, version), vector in zip(versions, vectors.values(), strict=True)
        ],
    )
    if seq is not None:
        ids = [id for id, _ in versions]
        session.run("bump_nodes", seq=seq, ids=ids)
        session.run("bump_edges", seq=seq, ids=ids)
        session.run("bump_storylines", seq=seq, ids=ids)
        session.run("bump_macros", seq=seq, ids=ids)


def id_and_version(ref: str) -> tuple[str, int]:
    id, _, version = ref.rpartition("@")
    return id, int(version)


def counters_from(row: Row | None) -> Counters:
    if row is None:
        return Counters()
    revision, seq, epoch, journal, units, profile_numbers, tidied_at, *others, generation = row
    return Counters(
        revision,
        seq,
        epoch,
        journal,
        units,
        profile_numbers,
        moment(tidied_at),
        generation,
        *others,
    )

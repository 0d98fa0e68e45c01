"""Graph cache: graph snapshots and vectors per scope, within a memory budget."""

from __future__ import annotations

import threading
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from commonplace.model.access.principal import Scope
from commonplace.model.graph.assertion import Note
from commonplace.model.graph.elements import Artifact, Edge, Node
from commonplace.model.graph.snapshot import GraphSnapshot, SourceMention, build_snapshot
from commonplace.model.graph.storylines import Macro, Storyline
from commonplace.store.cache.bounded_cache import BoundedCache
from commonplace.store.port import Store
from commonplace.store.queries import GraphPage
from commonplace.store.sql.rows import reporting_damage

DEFAULT_GRAPH_BUDGET = 1 << 30  # a graph of 10 k nodes and 100 k edges takes about a quarter
_NO_EPOCH = -1  # no scope has it, so that the whole graph is fetched
_BYTES_PER_VALUE = 1_200  # an object, its short texts, its entries in dictionaries
_BYTES_PER_ROW = 200

Vectors = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class CachedGraph:
    """A snapshot, and the vectors of its items that have one. Immutable: reading it needs
    no lock."""

    snapshot: GraphSnapshot  # without sources, teams and marks
    ids: tuple[str, ...]
    matrix: Vectors  # a row for each of the ids


class GraphCache:
    """One graph per scope, brought up to date on each access."""

    def __init__(self, store: Store, dimension: int, budget: int = DEFAULT_GRAPH_BUDGET):
        self._store = store
        self._dimension = dimension
        self._graphs: BoundedCache[str, _GraphRows] = BoundedCache(max_bytes=budget)

    def of(self, scope: Scope) -> CachedGraph:
        rows = self._graphs.get_or_make(scope.key, lambda: _GraphRows(self._dimension))
        with self._store.read_session(scope), rows.lock:
            page = self._store.graph_page(scope, rows.seq, rows.epoch)
            if page.seq < rows.seq or page.epoch < rows.epoch:
                self._store.end_read_transaction(renew=True)
                page = self._store.graph_page(scope, rows.seq, rows.epoch)
            if rows.absorb(page):
                self._graphs.resize(scope.key, rows, rows.size())
            return rows.graph

    def drop(self, scope: Scope) -> None:
        self._graphs.drop(lambda key: key == scope.key)

    @property
    def nbytes(self) -> int:
        return self._graphs.nbytes

    def scopes(self) -> list[str]:
        return self._graphs.keys()


class _GraphRows:
    """All rows of one graph, including inactive ones, which may become active again. The snapshot
    is rebuilt when a row changes."""

    def __init__(self, dimension: int):
        self.lock = threading.Lock()
        self._dimension = dimension
        self._clear()

    def _clear(self) -> None:
        self.seq = 0
        self.epoch = _NO_EPOCH
        self._nodes: dict[str, Node] = {}
        self._edges: dict[str, Edge] = {}
        self._mentions: dict[str, tuple[SourceMention, ...]] = {}
        self._notes: dict[str, tuple[Note, ...]] = {}
        self._artifacts: dict[str, Artifact] = {}
        self._storylines: dict[str, Storyline] = {}
        self._macros: dict[str, Macro] = {}
        self._vectors: dict[str, Vectors] = {}
        self.graph = CachedGraph(GraphSnapshot(), (), np.empty((0, self._dimension), np.float32))

    @reporting_damage
    def absorb(self, page: GraphPage) -> bool:
        """Returns whether anything changed."""
        if page.epoch != self.epoch:
            self._clear()
        elif page.is_empty:
            self.seq = page.seq
            return False
        for node in page.nodes:
            self._nodes[node.id] = node
            self._mentions[node.id] = page.mentions.get(node.id, ())
        for edge in page.edges:
            self._edges[edge.id] = edge
        self._notes.update(page.notes)
        self._artifacts.update((artifact.id, artifact) for artifact in page.artifacts)
        self._storylines.update((storyline.id, storyline) for storyline in page.storylines)
        self._macros.update((macro.id, macro) for macro in page.macros)
        self._take_vectors(page)
        self._build(page)
        self.seq, self.epoch = page.seq, page.epoch
        return True

    def _take_vectors(self, page: GraphPage) -> None:
        """A changed row without a vector in the page has none: its new text is embedded later."""
        changed = (page.nodes, page.edges, page.storylines, page.macros)
        for id in (item.id for items in changed for item in items):
            self._vectors.pop(id, None)
        self._vectors.update((id, np.frombuffer(raw, "<f4")) for id, raw in page.vectors)

    def _build(self, page: GraphPage) -> None:
        snapshot = build_snapshot(
            page.revision,
            self._nodes,
            self._edges,
            self._mentions,
            self._notes,
            self._artifacts,
            self._storylines,
            self._macros,
        )
        embedded = (*snapshot.nodes, *snapshot.edges, *snapshot.storylines, *snapshot.macros)
        ids = tuple(id for id in embedded if id in self._vectors)
        matrix = self.graph.matrix
        if page.vectors or ids != self.graph.ids:
            matrix = self._stacked(ids)
        self.graph = CachedGraph(snapshot, ids, matrix)

    def _stacked(self, shown: tuple[str, ...]) -> Vectors:
        """The matrix of these ids. All vectors become rows of one matrix, with these first, so that
        none is in memory twice."""
        order = [*shown, *(self._vectors.keys() - set(shown))]
        if not order:
            return np.empty((0, self._dimension), np.float32)
        matrix = np.stack([self._vectors[id] for id in order])
        self._vectors = {id: matrix[row] for row, id in enumerate(order)}
        return matrix[: len(shown)]

    def size(self) -> int:
        """The approximate bytes of values, texts and vectors."""
        values = len(self._nodes) + len(self._edges) + len(self._artifacts)
        values += len(self._storylines) + len(self._macros)
        values += sum(len(each.sources) for each in self._storylines.values())
        values += sum(map(len, self._mentions.values())) + sum(map(len, self._notes.values()))
        texts = sum(len(node.description) for node in self._nodes.values())
        texts += sum(len(edge.description) for edge in self._edges.values())
        texts += sum(len(note.content) for written in self._notes.values() for note in written)
        texts += sum(len(each.description) for each in self._storylines.values())
        texts += sum(len(each.description) for each in self._macros.values())
        texts += sum(len(str(each.output)) for each in self._artifacts.values())
        vectors = len(self._vectors) * (self._dimension * 4 + _BYTES_PER_ROW)
        return values * _BYTES_PER_VALUE + texts + vectors

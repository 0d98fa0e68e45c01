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
from commonplace.store.cache.bounded_cache import BoundedCache
from commonplace.store.port import Store
from commonplace.store.queries import GraphPage

DEFAULT_GRAPH_BUDGET = 1 << 30  # a graph of 10 k nodes and 100 k edges takes about a quarter
_NO_EPOCH = -1  # no epoch: the page that comes is all of it
_BYTES_PER_VALUE = 1_200  # bytes: an object, its words, its place in a few dictionaries
_BYTES_PER_ROW = 200

Vectors = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class CachedGraph:
    """A picture, and the vectors of those of its nodes and edges that have one. Nothing of it ever
    changes: who reads it needs no lock."""

    snapshot: GraphSnapshot  # without sources, teams and marks
    ids: tuple[str, ...]
    matrix: Vectors  # a row for each of the ids


class GraphCache:
    """One for each scope, as of now whenever it is asked for."""

    def __init__(self, store: Store, dimension: int, budget: int = DEFAULT_GRAPH_BUDGET):
        self._store = store
        self._dimension = dimension
        self._graphs: BoundedCache[str, _GraphRows] = BoundedCache(max_bytes=budget)

    def of(self, scope: Scope) -> CachedGraph:
        kept = self._graphs.get_or_make(scope.key, lambda: _GraphRows(self._dimension))
        with self._store.read_session(scope), kept.lock:
            page = self._store.graph_page(scope, kept.seq, kept.epoch)
            if page.seq < kept.seq or page.epoch < kept.epoch:
                self._store.end_read_transaction(renew=True)
                page = self._store.graph_page(scope, kept.seq, kept.epoch)
            if kept.absorb(page):
                self._graphs.resize(scope.key, kept, kept.size())
            return kept.drawn

    def drop(self, scope: Scope) -> None:
        self._graphs.drop(lambda key: key == scope.key)

    @property
    def nbytes(self) -> int:
        return self._graphs.nbytes

    def scopes(self) -> list[str]:
        return self._graphs.keys()


class _GraphRows:
    """All rows of one graph, those that do not stand among them: they may come back. What is shown
    is drawn anew when one of them changes."""

    def __init__(self, dimension: int):
        self.lock = threading.Lock()
        self._dimension = dimension
        self._forget()

    def _forget(self) -> None:
        self.seq = 0
        self.epoch = _NO_EPOCH
        self._nodes: dict[str, Node] = {}
        self._edges: dict[str, Edge] = {}
        self._mentions: dict[str, tuple[SourceMention, ...]] = {}
        self._notes: dict[str, tuple[Note, ...]] = {}
        self._artifacts: dict[str, Artifact] = {}
        self._vectors: dict[str, Vectors] = {}
        self.drawn = CachedGraph(GraphSnapshot(), (), np.empty((0, self._dimension), np.float32))

    def absorb(self, page: GraphPage) -> bool:
        """Whether anything is other than before."""
        if page.epoch != self.epoch:
            self._forget()
        elif not (page.nodes or page.edges or page.notes or page.artifacts):
            self.seq = page.seq
            return False
        for node in page.nodes:
            self._nodes[node.id] = node
            self._mentions[node.id] = page.mentions.get(node.id, ())
        for edge in page.edges:
            self._edges[edge.id] = edge
        self._notes.update(page.notes)
        self._artifacts.update((artifact.id, artifact) for artifact in page.artifacts)
        self._take_vectors(page)
        self._draw(page)
        self.seq, self.epoch = page.seq, page.epoch
        return True

    def _take_vectors(self, page: GraphPage) -> None:
        """What changed without one has none now: its text is another, whose vector is to come."""
        for id in (*(node.id for node in page.nodes), *(edge.id for edge in page.edges)):
            self._vectors.pop(id, None)
        self._vectors.update((id, np.frombuffer(raw, "<f4")) for id, raw in page.vectors)

    def _draw(self, page: GraphPage) -> None:
        snapshot = build_snapshot(
            page.revision,
            self._nodes,
            self._edges,
            self._mentions,
            self._notes,
            self._artifacts,
        )
        ids = tuple(id for id in (*snapshot.nodes, *snapshot.edges) if id in self._vectors)
        matrix = self.drawn.matrix
        if page.vectors or ids != self.drawn.ids:
            matrix = self._stacked(ids)
        self.drawn = CachedGraph(snapshot, ids, matrix)

    def _stacked(self, shown: tuple[str, ...]) -> Vectors:
        """What is shown comes first. All vectors are kept as rows of the one matrix, so that none
        is in memory twice."""
        order = [*shown, *(self._vectors.keys() - set(shown))]
        if not order:
            return np.empty((0, self._dimension), np.float32)
        matrix = np.stack([self._vectors[id] for id in order])
        self._vectors = {id: matrix[row] for row, id in enumerate(order)}
        return matrix[: len(shown)]

    def size(self) -> int:
        """About: what texts and vectors take, and what each value takes without them."""
        values = len(self._nodes) + len(self._edges) + len(self._artifacts)
        values += sum(map(len, self._mentions.values())) + sum(map(len, self._notes.values()))
        texts = sum(len(node.description) for node in self._nodes.values())
        texts += sum(len(edge.description) for edge in self._edges.values())
        texts += sum(len(note.content) for written in self._notes.values() for note in written)
        texts += sum(len(str(each.output)) for each in self._artifacts.values())
        vectors = len(self._vectors) * (self._dimension * 4 + _BYTES_PER_ROW)
        return values * _BYTES_PER_VALUE + texts + vectors

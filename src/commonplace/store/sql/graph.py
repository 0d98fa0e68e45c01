"""The graph on any SQL database: what is read of it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Sequence
from contextlib import AbstractContextManager
from datetime import datetime

from commonplace.model.graph.artifact import Artifact
from commonplace.model.graph.edge import Edge
from commonplace.model.graph.node import Node
from commonplace.model.graph.note import Note
from commonplace.model.graph.picture import Mention
from commonplace.model.graph.steps import Extraction
from commonplace.model.graph.telling import EdgeTelling, NodeTelling
from commonplace.model.graph.whole import WholeGraph
from commonplace.model.salience import Marks
from commonplace.model.scope import Scope
from commonplace.store.graph_port import GraphPage
from commonplace.store.port import Counters
from commonplace.store.sql.graph_rows import (
    artifact_from,
    edge_from,
    edge_telling_from,
    extraction_from,
    marks_from,
    node_from,
    node_telling_from,
    note_from,
)
from commonplace.store.sql.rows import Row, instant, micros
from commonplace.store.sql.session import Session

_FROM_THE_START = -1  # every row has a higher sequence number


class SqlGraph(ABC):
    @abstractmethod
    def _reading(self, scope: Scope) -> AbstractContextManager[Session]:
        """One consistent view of one scope."""

    @abstractmethod
    def _held_counters(self, session: Session) -> Counters:
        """Refused where the vectors are another embedder's."""

    # ——— nodes and edges ———

    def nodes(self, scope: Scope, ids: Sequence[str]) -> list[Node]:
        if not ids:
            return []
        with self._reading(scope) as session:
            rows = session.rows("nodes", ids=list(dict.fromkeys(ids)))
        found = {node.id: node for node in (node_from(scope, row) for row in rows)}
        return [found[id] for id in dict.fromkeys(ids) if id in found]

    def edges(self, scope: Scope, ids: Sequence[str]) -> list[Edge]:
        if not ids:
            return []
        with self._reading(scope) as session:
            rows = session.rows("edges", ids=list(dict.fromkeys(ids)))
        found = {edge.id: edge for edge in (edge_from(scope, row) for row in rows)}
        return [found[id] for id in dict.fromkeys(ids) if id in found]

    def edges_at(self, scope: Scope, nodes: Sequence[str]) -> list[Edge]:
        if not nodes:
            return []
        with self._reading(scope) as session:
            rows = session.rows("edges_at", ids=list(nodes))
        found = (edge_from(scope, row) for row in rows)
        return sorted(found, key=lambda edge: (edge.recorded_at, edge.id))

    def merged_into(self, scope: Scope, nodes: Sequence[str]) -> list[Node]:
        if not nodes:
            return []
        with self._reading(scope) as session:
            rows = session.rows("merged_into", ids=list(nodes))
        return [node_from(scope, row) for row in rows]

    # ——— what was told ———

    def node_tellings(self, scope: Scope, nodes: Sequence[str]) -> list[NodeTelling]:
        if not nodes:
            return []
        with self._reading(scope) as session:
            return [*map(node_telling_from, session.rows("node_tellings", ids=list(nodes)))]

    def edge_tellings(
        self, scope: Scope, nodes: Sequence[str], types: Collection[str] | None = None
    ) -> list[EdgeTelling]:
        if not nodes:
            return []
        with self._reading(scope) as session:
            if types is None:
                rows = session.rows("edge_tellings", ids=list(nodes))
            else:
                rows = session.rows("edge_tellings_of", ids=list(nodes), types=list(types))
            found = map(edge_telling_from, rows)
            return sorted(found, key=lambda told: (told.recorded_at, told.id))

    def told_by(
        self, scope: Scope, sources: Sequence[str]
    ) -> tuple[list[NodeTelling], list[EdgeTelling], list[Note]]:
        if not sources:
            return [], [], []
        asked = list(sources)
        with self._reading(scope) as session:
            return (
                [*map(node_telling_from, session.rows("node_tellings_by", sources=asked))],
                [*map(edge_telling_from, session.rows("edge_tellings_by", sources=asked))],
                [*map(note_from, session.rows("notes_by", sources=asked))],
            )

    def notes(self, scope: Scope, about: Sequence[str]) -> list[Note]:
        if not about:
            return []
        with self._reading(scope) as session:
            return [*map(note_from, session.rows("notes", ids=list(about)))]

    def notes_ended(self, scope: Scope, by: datetime, limit: int) -> list[Note]:
        with self._reading(scope) as session:
            return [*map(note_from, session.rows("notes_ended", by=micros(by), limit=limit))]

    def artifacts(self, scope: Scope, ids: Sequence[str] | None = None) -> list[Artifact]:
        with self._reading(scope) as session:
            rows = session.rows("artifacts", any=int(ids is None), ids=list(ids or ()))
        return [artifact_from(scope, row) for row in rows]

    def ephemeral_artifacts(self, scope: Scope, made_by: datetime) -> list[str]:
        with self._reading(scope) as session:
            rows = session.rows("ephemeral_artifacts", made_by=micros(made_by))
        return [str(id) for (id,) in rows]

    # ——— what was read ———

    def forgotten_of_graph(self, scope: Scope) -> dict[str, datetime]:
        with self._reading(scope) as session:
            return {id: instant(at) for id, at in session.rows("forgotten_of_graph")}

    def notes_called(self, scope: Scope, ids: Sequence[str]) -> list[Note]:
        with self._reading(scope) as session:
            return list(map(note_from, session.rows("notes_called", ids=list(ids))))

    def extractions(self, scope: Scope, sources: Sequence[str] | None = None) -> list[Extraction]:
        asked = {"any": int(sources is None), "sources": list(sources or ())}
        with self._reading(scope) as session:
            return [*map(extraction_from, session.rows("extractions", **asked))]

    def marks(self, scope: Scope, ids: Sequence[str] | None = None) -> dict[str, Marks]:
        asked = {"any": int(ids is None), "ids": list(ids or ())}
        with self._reading(scope) as session:
            return dict(map(marks_from, session.rows("marks", **asked)))

    def unembedded_of_graph(
        self, scope: Scope, limit: int, generation: int | None = None
    ) -> list[tuple[str, str]]:
        asked = {"limit": limit, "generation": generation}
        with self._reading(scope) as session:
            rows = [*session.rows("unembedded_nodes", **asked)]
            if len(rows) < limit:
                rows += session.rows("unembedded_edges", **{**asked, "limit": limit - len(rows)})
        return [(f"{id}@{version}", text) for id, version, text in rows]

    # ——— all of it ———

    def graph_revision(self, scope: Scope) -> int:
        with self._reading(scope) as session:
            return self._held_counters(session).graph

    def graph_page(self, scope: Scope, after_seq: int, epoch: int) -> GraphPage:
        with self._reading(scope) as session:
            counters = self._held_counters(session)
            now = (counters.graph, counters.seq, counters.epoch_of_graph, counters.generation)
            if (counters.seq, counters.epoch_of_graph) == (after_seq, epoch):
                return GraphPage(*now)
            is_whole = counters.epoch_of_graph != epoch
            since = {"after_seq": _FROM_THE_START if is_whole else after_seq}
            made_by = {"generation": counters.generation}
            vectors = (
                session.rows("graph_vectors_all", **made_by)
                if is_whole
                else session.rows("graph_vectors_since", **since, **made_by)
            )
            return GraphPage(
                *now,
                nodes=[node_from(scope, r) for r in session.rows("graph_nodes_since", **since)],
                edges=[edge_from(scope, r) for r in session.rows("graph_edges_since", **since)],
                mentions=_mentions(session.rows("graph_mentions_since", **since)),
                notes=_by_subject(map(note_from, session.rows("graph_notes_since", **since))),
                artifacts=[
                    artifact_from(scope, r) for r in session.rows("graph_artifacts_since", **since)
                ],
                vectors=[(id, bytes(vector)) for id, vector in vectors],
            )

    def whole_graph(self, scope: Scope) -> WholeGraph:
        since = {"after_seq": _FROM_THE_START}
        everything = {"any": 1, "ids": []}
        with self._reading(scope) as session:
            nodes = [node_from(scope, row) for row in session.rows("graph_nodes_since", **since)]
            edges = [edge_from(scope, row) for row in session.rows("graph_edges_since", **since)]
            return WholeGraph(
                nodes=tuple(sorted(nodes, key=lambda node: (node.created_at, node.id))),
                edges=tuple(edges),
                node_tellings=tuple(map(node_telling_from, session.rows("all_node_tellings"))),
                edge_tellings=tuple(map(edge_telling_from, session.rows("all_edge_tellings"))),
                notes=tuple(map(note_from, session.rows("graph_notes_since", **since))),
                artifacts=tuple(
                    artifact_from(scope, row) for row in session.rows("artifacts", **everything)
                ),
                extractions=tuple(
                    map(extraction_from, session.rows("extractions", any=1, sources=[]))
                ),
                marks=dict(map(marks_from, session.rows("marks", **everything))),
                texts={str(id): str(text) for id, text in session.rows("graph_texts")},
            )


def _mentions(rows: Iterable[Row]) -> dict[str, tuple[Mention, ...]]:
    found: dict[str, list[Mention]] = {}
    for node, source, said_at in rows:
        found.setdefault(node, []).append(Mention(source, node, instant(said_at)))
    return {node: tuple(all_of_it) for node, all_of_it in found.items()}


def _by_subject(notes: Iterable[Note]) -> dict[str, tuple[Note, ...]]:
    found: dict[str, list[Note]] = {}
    for note in notes:
        found.setdefault(note.about, []).append(note)
    return {about: tuple(all_of_it) for about, all_of_it in found.items()}

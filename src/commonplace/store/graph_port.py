"""Graph port: what a store promises of the graph."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol

from commonplace.model.access.principal import Scope
from commonplace.model.graph.assertion import EdgeAssertion, NodeAssertion, Note
from commonplace.model.graph.elements import Artifact, Edge, Node
from commonplace.model.graph.salience import AccessStats
from commonplace.model.graph.snapshot import SourceMention, WholeGraph
from commonplace.model.graph.steps import Extraction


@dataclass(frozen=True, slots=True)
class GraphPage:
    """What of the graph has changed since a sequence number, read in one snapshot.

    ``epoch`` other than the one asked with: something vanished, and all of it is here.
    """

    revision: int  # of the graph: it moves with every change of it
    seq: int
    epoch: int
    generation: int  # of the vectors
    nodes: Sequence[Node] = ()
    edges: Sequence[Edge] = ()
    mentions: Mapping[str, tuple[SourceMention, ...]] = field(
        default_factory=dict
    )  # all of each node's
    notes: Mapping[str, tuple[Note, ...]] = field(default_factory=dict)  # all, by what they are on
    artifacts: Sequence[Artifact] = ()
    vectors: Sequence[tuple[str, bytes]] = ()  # of nodes and edges, by id


class GraphStore(Protocol):
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

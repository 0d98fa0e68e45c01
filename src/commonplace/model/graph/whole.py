"""All that is kept of one user's graph, as it travels from one store to another."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from commonplace.model.graph.artifact import Artifact
from commonplace.model.graph.edge import Edge
from commonplace.model.graph.node import Node
from commonplace.model.graph.note import Note
from commonplace.model.graph.steps import Extraction
from commonplace.model.graph.telling import EdgeTelling, NodeTelling
from commonplace.model.salience import Marks


@dataclass(frozen=True, slots=True, kw_only=True)
class WholeGraph:
    nodes: tuple[Node, ...] = ()
    edges: tuple[Edge, ...] = ()
    node_tellings: tuple[NodeTelling, ...] = ()
    edge_tellings: tuple[EdgeTelling, ...] = ()
    notes: tuple[Note, ...] = ()
    artifacts: tuple[Artifact, ...] = ()
    extractions: tuple[Extraction, ...] = ()
    marks: Mapping[str, Marks] = field(default_factory=dict)
    texts: Mapping[str, str] = field(default_factory=dict)  # what nodes and edges are found by

    @property
    def is_empty(self) -> bool:
        return self == NO_GRAPH


NO_GRAPH = WholeGraph()

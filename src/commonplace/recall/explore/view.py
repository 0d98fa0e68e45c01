"""A picture with what explore asks of it again and again, worked out once."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from functools import cached_property

from commonplace.model.graph.edge import Edge
from commonplace.model.graph.picture import Picture
from commonplace.recall.explore.spelled import Spelled, spelled


class View:
    """Worth keeping for as long as its picture is."""

    def __init__(self, picture: Picture):
        self.picture = picture

    @cached_property
    def edges_at(self) -> Mapping[str, tuple[Edge, ...]]:
        found: dict[str, list[Edge]] = defaultdict(list)
        for edge in self.picture.edges.values():
            for end in dict.fromkeys(edge.ends):
                found[end].append(edge)
        return {node: tuple(edges) for node, edges in found.items()}

    @cached_property
    def nodes_in(self) -> Mapping[str, tuple[str, ...]]:
        """Which nodes a source speaks of."""
        found: dict[str, dict[str, None]] = defaultdict(dict)
        for mention in self.picture.mentions:
            if mention.node in self.picture.nodes:
                found[mention.source][mention.node] = None
        return {source: tuple(nodes) for source, nodes in found.items()}

    @cached_property
    def sources_of(self) -> Mapping[str, tuple[str, ...]]:
        """Which sources speak of a node."""
        found: dict[str, list[str]] = defaultdict(list)
        for source, nodes in self.nodes_in.items():
            for node in nodes:
                found[node].append(source)
        return {node: tuple(sources) for node, sources in found.items()}

    @cached_property
    def spelled(self) -> Spelled:
        return spelled(self.picture)

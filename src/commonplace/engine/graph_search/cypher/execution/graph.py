"""The graph as the interpreter sees it: nodes by label and by property, relationships by type."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from commonplace.engine.graph_search.cypher.values import (
    CypherNode,
    CypherRelationship,
    PropertyReader,
)

BYTES_PER_ELEMENT = 230  # a node or relationship, beside the snapshot; measured


class CypherGraph:
    """Filled once, then only read; indexes on properties are made when they are first used."""

    def __init__(self) -> None:
        self.nodes: list[CypherNode] = []
        self.relationships: list[CypherRelationship] = []
        self.by_label: dict[str, list[CypherNode]] = {}
        self.by_type: dict[str, list[CypherRelationship]] = {}
        self._indexes: dict[tuple[str | None, str], dict[Any, list[CypherNode]]] = {}

    @property
    def nbytes(self) -> int:
        return (len(self.nodes) + len(self.relationships)) * BYTES_PER_ELEMENT

    def add_node(
        self, key: Any, labels: Iterable[str], thing: Any, reader: PropertyReader
    ) -> CypherNode:
        node = CypherNode(len(self.nodes), key, tuple(labels), thing, reader)
        self.nodes.append(node)
        for label in node.labels:
            self.by_label.setdefault(label, []).append(node)
        return node

    def add_relationship(
        self,
        key: Any,
        type: str,
        start: CypherNode,
        end: CypherNode,
        thing: Any,
        reader: PropertyReader,
    ) -> CypherRelationship:
        number = len(self.relationships)
        one = CypherRelationship(number, key, type, start, end, thing, reader)
        self.relationships.append(one)
        self.by_type.setdefault(type, []).append(one)
        start.outgoing.setdefault(type, []).append(one)
        end.incoming.setdefault(type, []).append(one)
        return one

    def labelled(self, label: str | None) -> Sequence[CypherNode]:
        return self.nodes if label is None else self.by_label.get(label, ())

    def typed(self, types: Sequence[str]) -> Sequence[CypherRelationship]:
        if not types:
            return self.relationships
        if len(types) == 1:
            return self.by_type.get(types[0], ())
        return [one for type in types for one in self.by_type.get(type, ())]

    def count_of_types(self, types: Sequence[str]) -> int:
        if not types:
            return len(self.relationships)
        return sum(len(self.by_type.get(type, ())) for type in types)

    def lookup(self, label: str | None, key: str, value: Any) -> Sequence[CypherNode]:
        """Nodes whose property may equal the value: a superset where it is not indexed."""
        if type(value) not in _INDEXED:
            return () if value is None else self.labelled(label)
        index = self._indexes.get((label, key))
        if index is None:
            index = self._indexes[label, key] = self._index(label, key)
        return index.get(value, ())

    def _index(self, label: str | None, key: str) -> dict[Any, list[CypherNode]]:
        found: dict[Any, list[CypherNode]] = {}
        for node in self.labelled(label):
            value = node.get(key)
            if type(value) in _INDEXED:
                found.setdefault(value, []).append(node)
        return found


_INDEXED = (str, int, float)

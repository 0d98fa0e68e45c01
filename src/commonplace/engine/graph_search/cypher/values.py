"""Values of a query: nodes, relationships and paths; equality, comparison and order of all types.

Equality and comparison are three-valued: True, False, or None for null.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol

from commonplace.engine.graph_search.cypher.temporal.types import (
    CypherDate,
    CypherDateTime,
    CypherDuration,
    CypherTime,
    Temporal,
)

LARGEST = 2**63 - 1
SMALLEST = -(2**63)


class PropertyReader(Protocol):
    """Reads the properties of the item behind a node or relationship."""

    def get(self, thing: Any, key: str) -> Any: ...

    def all(self, thing: Any) -> dict[str, Any]: ...


class MappingReader:
    """Properties that are held in a mapping."""

    def get(self, thing: Mapping[str, Any], key: str) -> Any:
        return thing.get(key)

    def all(self, thing: Mapping[str, Any]) -> dict[str, Any]:
        return {key: value for key, value in thing.items() if value is not None}


class CypherNode:
    """Two nodes are equal only if they are the same object of one snapshot."""

    __slots__ = ("incoming", "key", "labels", "number", "outgoing", "reader", "thing")

    def __init__(
        self, number: int, key: str, labels: tuple[str, ...], thing: Any, reader: PropertyReader
    ) -> None:
        self.number = number
        self.key = key
        self.labels = labels
        self.thing = thing
        self.reader = reader
        self.outgoing: dict[str, list[CypherRelationship]] = {}
        self.incoming: dict[str, list[CypherRelationship]] = {}

    def get(self, key: str) -> Any:
        return self.reader.get(self.thing, key)

    def properties(self) -> dict[str, Any]:
        return self.reader.all(self.thing)


class CypherRelationship:
    __slots__ = ("end", "key", "number", "reader", "start", "thing", "type")

    def __init__(
        self,
        number: int,
        key: str,
        type: str,
        start: CypherNode,
        end: CypherNode,
        thing: Any,
        reader: PropertyReader,
    ) -> None:
        self.number = number
        self.key = key
        self.type = type
        self.start = start
        self.end = end
        self.thing = thing
        self.reader = reader

    def get(self, key: str) -> Any:
        return self.reader.get(self.thing, key)

    def properties(self) -> dict[str, Any]:
        return self.reader.all(self.thing)


class CypherPath:
    __slots__ = ("nodes", "relationships")

    def __init__(self, start: CypherNode, relationships: Iterable[CypherRelationship]) -> None:
        self.relationships = tuple(relationships)
        nodes = [start]
        for each in self.relationships:
            nodes.append(each.end if each.start is nodes[-1] else each.start)
        self.nodes = tuple(nodes)

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, CypherPath)
            and self.nodes == other.nodes
            and self.relationships == other.relationships
        )

    def __hash__(self) -> int:
        return hash((self.nodes[0], self.relationships))


GraphItem = CypherNode | CypherRelationship

# ——— names of types ———

_NAMES: tuple[tuple[type, str], ...] = (
    (bool, "a boolean"),
    (int, "an integer"),
    (float, "a float"),
    (str, "a string"),
    (list, "a list"),
    (dict, "a map"),
    (CypherNode, "a node"),
    (CypherRelationship, "a relationship"),
    (CypherPath, "a path"),
    (CypherDate, "a date"),
    (CypherDateTime, "a datetime"),
    (CypherTime, "a time"),
    (CypherDuration, "a duration"),
)


def type_name(value: Any) -> str:
    return next((name for type, name in _NAMES if isinstance(value, type)), "null")


def is_number(value: Any) -> bool:
    return type(value) is int or type(value) is float


# ——— equality ———


def equals(left: Any, right: Any) -> bool | None:
    if left is None or right is None:
        return None
    kind, other = type(left), type(right)
    if kind is other and kind not in _NESTED:
        return bool(left == right)
    if is_number(left) and is_number(right):
        return bool(left == right)
    if kind is list and other is list:
        return _equal_lists(left, right)
    if kind is dict and other is dict:
        return _equal_maps(left, right)
    return False


_NESTED = (list, dict)


def _equal_lists(left: list[Any], right: list[Any]) -> bool | None:
    if len(left) != len(right):
        return False
    found: bool | None = True
    for one, other in zip(left, right, strict=True):
        answer = equals(one, other)
        if answer is False:
            return False
        if answer is None:
            found = None
    return found


def _equal_maps(left: dict[str, Any], right: dict[str, Any]) -> bool | None:
    if left.keys() != right.keys():
        return False
    found: bool | None = True
    for key, one in left.items():
        answer = equals(one, right[key])
        if answer is False:
            return False
        if answer is None:
            found = None
    return found


def is_in(value: Any, items: list[Any]) -> bool | None:
    found: bool | None = False
    for item in items:
        answer = equals(value, item)
        if answer is True:
            return True
        if answer is None:
            found = None
    return found


# ——— comparison ———

_COMPARED = (str, bool, CypherDate, CypherDateTime, CypherTime)


def compare(left: Any, right: Any) -> int | None:
    """Negative, 0 or positive; None if the two are not comparable, or one is NaN."""
    if is_number(left) and is_number(right):
        if left != left or right != right:
            return None
        return int(left > right) - int(left < right)
    if left is None or right is None or type(left) is not type(right):
        return None
    if isinstance(left, list):
        return _compare_lists(left, right)
    if not isinstance(left, _COMPARED):
        return None
    if isinstance(left, CypherDateTime | CypherTime) and left.is_local != right.is_local:
        return None
    one, other = _comparable(left), _comparable(right)
    return int(one > other) - int(one < other)


def _comparable(value: Any) -> Any:
    return value.instant if isinstance(value, Temporal) else value


def _compare_lists(left: list[Any], right: list[Any]) -> int | None:
    for one, other in zip(left, right, strict=False):
        if equals(one, other) is True:
            continue
        return compare(one, other)
    return (len(left) > len(right)) - (len(left) < len(right))


def is_nan(value: Any) -> bool:
    return type(value) is float and value != value


# ——— order: total, null last ———

_MAP, _NODE, _RELATIONSHIP, _LIST, _PATH, _DATETIME, _LOCAL_DATETIME, _DATE = range(8)
_TIME, _LOCAL_TIME, _DURATION, _STRING, _BOOLEAN, _NUMBER, _NAN, _NULL = range(8, 16)


def sort_key(value: Any) -> tuple[Any, ...]:
    kind = type(value)
    if kind is str:
        return (_STRING, value)
    if kind is int:
        return (_NUMBER, value)
    if kind is float:
        return (_NUMBER, value) if value == value else (_NAN,)
    if value is None:
        return (_NULL,)
    if kind is bool:
        return (_BOOLEAN, value)
    if kind is list:
        return (_LIST, tuple(sort_key(each) for each in value))
    if kind is dict:
        return (_MAP, tuple((key, sort_key(value[key])) for key in sorted(value)))
    return _sort_key_of_object(value)


def _sort_key_of_object(value: Any) -> tuple[Any, ...]:
    if isinstance(value, CypherNode):
        return (_NODE, value.number)
    if isinstance(value, CypherRelationship):
        return (_RELATIONSHIP, value.number)
    if isinstance(value, CypherPath):
        return (_PATH, value.nodes[0].number, tuple(one.number for one in value.relationships))
    if isinstance(value, CypherDateTime):
        return (_LOCAL_DATETIME if value.is_local else _DATETIME, value.instant)
    if isinstance(value, CypherDate):
        return (_DATE, value.instant)
    if isinstance(value, CypherTime):
        return (_LOCAL_TIME if value.is_local else _TIME, value.instant)
    return (_DURATION, value.average_length)


# ——— grouping: null is one group, 1 and 1.0 are the same ———


def group_key(value: Any) -> Any:
    """A hashable key, equal for values that DISTINCT and grouping treat as equal."""
    kind = type(value)
    if kind is str or kind is int or value is None:
        return value
    if kind is float:
        return value if value == value else (_NAN,)
    if kind is bool:
        return (_BOOLEAN, value)
    if kind is list:
        return (_LIST, *map(group_key, value))
    if kind is dict:
        return (_MAP, *((key, group_key(value[key])) for key in sorted(value)))
    return value  # nodes, relationships, paths and temporal values are hashable


def weight(value: Any) -> int:
    """The approximate size of a value in bytes."""
    kind = type(value)
    if kind is str:
        return 50 + len(value)
    if kind is list:
        return 64 + sum(map(weight, value))
    if kind is dict:
        return 64 + sum(64 + weight(each) for each in value.values())
    return 32


def is_finite(value: float) -> bool:
    return math.isfinite(value)


# ——— the graph ———

BYTES_PER_ELEMENT = 230  # of a node or relationship, without the snapshot; measured


class CypherGraph:
    """Built once, then read-only; property indexes are built on first use."""

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
        """Nodes whose property may equal the value; a superset if the value is not indexed."""
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

"""Values of a query: nodes, relationships and paths; equality, comparison and order of all types.

Equality and comparison are three-valued: True, False, or None for null. What looks into lists,
maps and long strings takes the budget of the query and counts a step for each element: a list may
hold another one many times, so a small value can be large to walk.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any, Protocol

from commonplace.engine.graph_search.cypher.execution.budget import (
    CELL_BYTES,
    MIN_COUNTED_LENGTH,
    QueryBudget,
)
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


def equals(budget: QueryBudget, left: Any, right: Any) -> bool | None:
    if left is None or right is None:
        return None
    kind, other = type(left), type(right)
    if kind is other and kind not in _NESTED:
        if kind is str and len(left) > MIN_COUNTED_LENGTH:
            budget.scan(len(left))
        return bool(left == right)
    if is_number(left) and is_number(right):
        return bool(left == right)
    if kind is list and other is list:
        return _equal_lists(budget, left, right)
    if kind is dict and other is dict:
        return _equal_maps(budget, left, right)
    return False


_NESTED = (list, dict)


def _equal_lists(budget: QueryBudget, left: list[Any], right: list[Any]) -> bool | None:
    if len(left) != len(right):
        return False
    found: bool | None = True
    for one, other in zip(budget.counted(left), right, strict=True):
        answer = equals(budget, one, other)
        if answer is False:
            return False
        if answer is None:
            found = None
    return found


def _equal_maps(budget: QueryBudget, left: dict[str, Any], right: dict[str, Any]) -> bool | None:
    budget.steps(len(left))
    if left.keys() != right.keys():
        return False
    found: bool | None = True
    for key, one in left.items():
        answer = equals(budget, one, right[key])
        if answer is False:
            return False
        if answer is None:
            found = None
    return found


def is_in(budget: QueryBudget, value: Any, items: list[Any]) -> bool | None:
    found: bool | None = False
    for item in budget.counted(items):
        answer = equals(budget, value, item)
        if answer is True:
            return True
        if answer is None:
            found = None
    return found


# ——— comparison ———

_COMPARED = (str, bool, CypherDate, CypherDateTime, CypherTime)


def compare(budget: QueryBudget, left: Any, right: Any) -> int | None:
    """Negative, 0 or positive; None if the two are not comparable, or one is NaN."""
    if is_number(left) and is_number(right):
        if left != left or right != right:
            return None
        return int(left > right) - int(left < right)
    if left is None or right is None or type(left) is not type(right):
        return None
    if isinstance(left, list):
        return _compare_lists(budget, left, right)
    if not isinstance(left, _COMPARED):
        return None
    if isinstance(left, CypherDateTime | CypherTime) and left.is_local != right.is_local:
        return None
    if isinstance(left, str):
        budget.scan(min(len(left), len(right)))
    one, other = _comparable(left), _comparable(right)
    return int(one > other) - int(one < other)


def _comparable(value: Any) -> Any:
    return value.instant if isinstance(value, Temporal) else value


def _compare_lists(budget: QueryBudget, left: list[Any], right: list[Any]) -> int | None:
    for one, other in zip(budget.counted(left), right, strict=False):
        if equals(budget, one, other) is True:
            continue
        return compare(budget, one, other)
    return (len(left) > len(right)) - (len(left) < len(right))


def is_nan(value: Any) -> bool:
    return type(value) is float and value != value


# ——— order: total, null last ———

_MAP, _NODE, _RELATIONSHIP, _LIST, _PATH, _DATETIME, _LOCAL_DATETIME, _DATE = range(8)
_TIME, _LOCAL_TIME, _DURATION, _STRING, _BOOLEAN, _NUMBER, _NAN, _NULL = range(8, 16)


def sort_key(budget: QueryBudget, value: Any) -> tuple[Any, ...]:
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
    if kind is list or kind is dict:
        weight(budget, value)  # the key is as large as the value is when written out
        return _nested_sort_key(budget, value)
    return _sort_key_of_object(value)


def _nested_sort_key(budget: QueryBudget, value: Any) -> tuple[Any, ...]:
    kind = type(value)
    if kind is list:
        key = partial(_nested_sort_key, budget)
        return (_LIST, tuple(map(key, budget.counted(value))))
    if kind is dict:
        budget.steps(len(value))
        names = sorted(value)
        return (_MAP, tuple((name, _nested_sort_key(budget, value[name])) for name in names))
    return sort_key(budget, value)


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


def group_key(budget: QueryBudget, value: Any) -> Any:
    """A hashable key, equal for values that DISTINCT and grouping treat as equal."""
    kind = type(value)
    if kind is str or kind is int or value is None:
        return value
    if kind is float:
        return value if value == value else (_NAN,)
    if kind is bool:
        return (_BOOLEAN, value)
    if kind is list or kind is dict:
        weight(budget, value)  # the key is as large as the value is when written out
        return _nested_group_key(budget, value)
    return value  # nodes, relationships, paths and temporal values are hashable


def _nested_group_key(budget: QueryBudget, value: Any) -> Any:
    kind = type(value)
    if kind is list:
        return (_LIST, *map(partial(_nested_group_key, budget), budget.counted(value)))
    if kind is dict:
        budget.steps(len(value))
        return (_MAP, *((key, _nested_group_key(budget, value[key])) for key in sorted(value)))
    return group_key(budget, value)


# ——— size ———

_BYTES = {type(None): 0, bool: 0, int: 32, float: 24, CypherNode: 0, CypherRelationship: 0}
_BYTES_OF_ENTRY = 100  # of a map, with the name
_BYTES_OF_PATH = 200
_BYTES_OF_OBJECT = 100  # such as a date


def weight(budget: QueryBudget, value: Any) -> int:
    """The approximate bytes of a value, without nodes and relationships, which are the graph's.
    What is in it several times counts several times. Refuses what is too large for one value."""
    kind = type(value)
    if kind is str:
        return sys.getsizeof(value)
    known = _BYTES.get(kind)
    if known is not None:
        return known
    if kind is list:
        return _list_weight(budget, value)
    if kind is dict:
        return _map_weight(budget, value)
    if kind is CypherPath:
        return _BYTES_OF_PATH + 16 * len(value.relationships)
    return _BYTES_OF_OBJECT


def _list_weight(budget: QueryBudget, items: list[Any]) -> int:
    size = 56 + 8 * len(items)
    for item in budget.counted(items):
        known = _BYTES.get(type(item))
        if known is not None:
            size += known
        else:
            size += weight(budget, item)
            budget.check_value(size)
    budget.check_value(size)
    return size


def _map_weight(budget: QueryBudget, items: dict[str, Any]) -> int:
    size = 64 + _BYTES_OF_ENTRY * len(items)
    budget.steps(len(items))
    for item in items.values():
        size += weight(budget, item)
        budget.check_value(size)
    return size


_LARGER_THAN_CELL = frozenset({str, list, dict, CypherPath})


def key_weight(budget: QueryBudget, values: Iterable[Any]) -> int:
    """The approximate bytes of the keys of a row beside it: that of a list or map is a copy, and a
    string may be in no row."""
    size = 0
    for value in values:
        kind = type(value)
        if kind is list or kind is dict or (kind is str and len(value) > MIN_COUNTED_LENGTH):
            size += weight(budget, value)
    return size


def row_weight(budget: QueryBudget, row: Sequence[Any], before: Sequence[Any] = ()) -> int:
    """The approximate bytes of a row that is stored. A value that the row stored before it holds in
    the same place is the same object, and free."""
    size = CELL_BYTES * (2 + len(row))
    for place, value in enumerate(row):
        kind = type(value)
        if kind not in _LARGER_THAN_CELL or (kind is str and len(value) <= MIN_COUNTED_LENGTH):
            continue
        if not before or before[place] is not value:
            size += weight(budget, value)
    return size


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

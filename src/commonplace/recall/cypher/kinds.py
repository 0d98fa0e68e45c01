"""What kind of value an expression gives, as far as the query tells. Pure.

Cypher looks at values while it runs. The engine wants to know beforehand: to reverse a list and to
reverse a text are two functions to it, and a fraction becomes a text in another way than a truth.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from functools import singledispatch
from typing import Any

from commonplace.recall.cypher.schema import CONTENT_FIELDS, LABELS, NOTE_FIELDS, RELATIONSHIPS
from commonplace.recall.cypher.schema import Type as Declared
from commonplace.recall.cypher.times import PARTS
from commonplace.recall.cypher.tree import (
    Call,
    Case,
    Clause,
    Comprehension,
    Expression,
    HasLabel,
    Index,
    IsNull,
    Joined,
    ListOf,
    Literal,
    MapOf,
    Match,
    Matching,
    Path,
    Prefixed,
    Projection,
    Property,
    Quantified,
    Reduced,
    Slice,
    Unwind,
    Variable,
)


@dataclass(frozen=True, slots=True)
class Kind:
    name: str  # as the engine calls it; LIST and MAP, NODE, RELATIONSHIP and PATH; "" is unknown
    items: Kind | None = None  # of a list
    fields: tuple[tuple[str, Kind], ...] = ()  # of a map, a node or a relationship

    def field(self, key: str) -> Kind:
        return next((kind for name, kind in self.fields if name.lower() == key.lower()), UNKNOWN)

    @property
    def is_list(self) -> bool:
        return self.name == "LIST"


def list_of(items: Kind) -> Kind:
    return Kind("LIST", items)


UNKNOWN = Kind("")
TEXT, WHOLE, FRACTION, TRUTH = Kind("STRING"), Kind("INT64"), Kind("DOUBLE"), Kind("BOOL")
MOMENT, DAY, SPAN, PATH = Kind("TIMESTAMP"), Kind("DATE"), Kind("INTERVAL"), Kind("PATH")
NOTE = Kind("MAP", fields=tuple((key, Kind(type)) for key, type in NOTE_FIELDS.items()))
CONTENT = Kind("MAP", fields=tuple((key, Kind(type)) for key, type in CONTENT_FIELDS.items()))
_DECLARED = {
    Declared.TEXT: TEXT,
    Declared.JSON: TEXT,
    Declared.NUMBER: FRACTION,
    Declared.INTEGER: WHOLE,
    Declared.TRUTH: TRUTH,
    Declared.TIME: MOMENT,
    Declared.TEXTS: list_of(TEXT),
    Declared.DAYS: list_of(DAY),
    Declared.NUMBERS: list_of(FRACTION),
    Declared.NOTES: list_of(NOTE),
    Declared.CONTENT: CONTENT,
}


def _declared(things: Iterable[Mapping[str, Declared]]) -> tuple[tuple[str, Kind], ...]:
    """A property is of one kind, whatever has it: a test holds the schema to that."""
    found = {key: _DECLARED[type] for each in things for key, type in each.items()}
    return tuple(found.items())


NODE = Kind("NODE", fields=_declared(each.properties for each in LABELS.values()))
RELATIONSHIP = Kind(
    "RELATIONSHIP", fields=_declared(each.properties for each in RELATIONSHIPS.values())
)

Known = Mapping[str, Kind]  # by names in lower case


# ——— names ———


def kinds_after(known: Known, clause: Clause) -> dict[str, Kind]:
    """Of what is named once a clause is done."""
    if isinstance(clause, Projection):
        kinds = ((item, kind_of(item.expression, known)) for item in clause.items)
        return {(item.name or item.told).lower(): kind for item, kind in kinds}
    if isinstance(clause, Unwind):
        return {**known, clause.variable.lower(): items_of(kind_of(clause.items, known))}
    return {**known, **kinds_in(clause.paths)} if isinstance(clause, Match) else dict(known)


def kinds_in(paths: Iterable[Path]) -> dict[str, Kind]:
    found: dict[str | None, Kind] = {}
    for path in paths:
        found[path.variable] = PATH
        found[path.start.variable] = NODE
        for way, node in path.steps:
            found[way.variable] = list_of(RELATIONSHIP) if way.hops else RELATIONSHIP
            found[node.variable] = NODE
    return {name.lower(): kind for name, kind in found.items() if name}


def items_of(kind: Kind) -> Kind:
    return kind.items or UNKNOWN


# ——— expressions ———


@singledispatch
def kind_of(it: Expression, known: Known) -> Kind:
    return UNKNOWN


@kind_of.register
def _(it: Literal, known: Known) -> Kind:
    return _of_value(it.value)


def _of_value(value: Any) -> Kind:
    for type, kind in _OF_VALUES.items():
        if isinstance(value, type):
            return kind
    if isinstance(value, list | tuple):
        return list_of(_one_of(map(_of_value, value)))
    if isinstance(value, Mapping):
        return Kind("MAP", fields=tuple((key, _of_value(each)) for key, each in value.items()))
    return UNKNOWN


# The first that fits: a truth is a number to Python, and a moment a day.
_OF_VALUES: dict[type, Kind] = {
    bool: TRUTH,
    int: WHOLE,
    float: FRACTION,
    str: TEXT,
    datetime: MOMENT,
    date: DAY,
}


def _one_of(kinds: Iterable[Kind]) -> Kind:
    """The kind of what is one of these. Nulls fit to anything."""
    told = {kind for kind in kinds if kind.name}
    if told == {WHOLE, FRACTION}:
        return FRACTION
    return told.pop() if len(told) == 1 else UNKNOWN


@kind_of.register
def _(it: Variable, known: Known) -> Kind:
    return known.get(it.name.lower(), UNKNOWN)


@kind_of.register
def _(it: Property, known: Known) -> Kind:
    of = kind_of(it.of, known)
    if of in (MOMENT, DAY) and it.key.lower() in PARTS:
        return WHOLE
    return WHOLE if of == SPAN else of.field(it.key)


@kind_of.register
def _(it: Index, known: Known) -> Kind:
    of = kind_of(it.of, known)
    if isinstance(it.index, Literal) and isinstance(it.index.value, str):
        return of.field(it.index.value)
    return items_of(of)


@kind_of.register
def _(it: Slice, known: Known) -> Kind:
    return kind_of(it.of, known)


@kind_of.register
def _(it: ListOf, known: Known) -> Kind:
    return list_of(_one_of(kind_of(each, known) for each in it.items))


@kind_of.register
def _(it: MapOf, known: Known) -> Kind:
    return Kind("MAP", fields=tuple((key, kind_of(each, known)) for key, each in it.items))


@kind_of.register
def _(it: Prefixed, known: Known) -> Kind:
    return TRUTH if it.sign == "NOT" else kind_of(it.of, known)


@kind_of.register
def _(it: Joined, known: Known) -> Kind:
    if it.sign not in ("+", "-", "*", "/", "%", "^"):
        return TRUTH
    if it.sign == "^":
        return FRACTION
    left, right = kind_of(it.left, known), kind_of(it.right, known)
    if SPAN in (left, right):  # a moment and a time between, or two times between
        return left if right == SPAN else right
    if it.sign == "-" and left in (MOMENT, DAY):
        return SPAN if left == MOMENT else WHOLE
    return _one_of((left, right))


@kind_of.register(IsNull)
@kind_of.register(HasLabel)
@kind_of.register(Quantified)
def _(it: Expression, known: Known) -> Kind:
    return TRUTH


@kind_of.register
def _(it: Matching, known: Known) -> Kind:
    return WHOLE if it.counted else TRUTH


@kind_of.register
def _(it: Case, known: Known) -> Kind:
    given = [value for _, value in it.branches]
    given += [it.otherwise] if it.otherwise is not None else []
    return _one_of(kind_of(each, known) for each in given)


@kind_of.register
def _(it: Comprehension, known: Known) -> Kind:
    items = kind_of(it.items, known)
    if it.result is None:
        return items
    return list_of(kind_of(it.result, {**known, it.variable.lower(): items_of(items)}))


@kind_of.register
def _(it: Reduced, known: Known) -> Kind:
    start, items = kind_of(it.start, known), items_of(kind_of(it.items, known))
    return _one_of((start, items)) if start in (WHOLE, FRACTION) else start


@kind_of.register
def _(it: Call, known: Known) -> Kind:
    if it.name in _GIVES:
        return _GIVES[it.name]
    given = [kind_of(each, known) for each in it.arguments]
    if it.name in ("coalesce", "nullif"):
        return _one_of(given)
    if it.name == "timestamp":  # a number of milliseconds, or the moment that is named
        return MOMENT if given else WHOLE
    if it.name == "collect":
        return list_of(given[0]) if given else UNKNOWN
    if it.name in ("head", "last"):
        return items_of(given[0]) if given else UNKNOWN
    if it.name == "properties":
        return Kind("MAP", fields=given[0].fields) if given else UNKNOWN
    return given[0] if given and it.name in _AS_GIVEN else UNKNOWN


_GIVES: dict[str, Kind] = {
    **dict.fromkeys(("tolower", "toupper", "lower", "upper", "trim", "ltrim", "rtrim"), TEXT),
    **dict.fromkeys(("replace", "left", "right", "substring", "tostring"), TEXT),
    **dict.fromkeys(("type", "label", "id", "elementid"), TEXT),
    **dict.fromkeys(("split", "labels", "keys"), list_of(TEXT)),
    **dict.fromkeys(("levenshtein", "sign", "tointeger", "size", "length", "count"), WHOLE),
    **dict.fromkeys(("date_part",), WHOLE),
    **dict.fromkeys(("round", "sqrt", "log", "log10", "tofloat", "avg"), FRACTION),
    **dict.fromkeys(("toboolean", "exists", "list_contains"), TRUTH),
    **dict.fromkeys(("datetime", "localdatetime", "datetime.truncate"), MOMENT),
    **dict.fromkeys(("date", "date.truncate"), DAY),
    **dict.fromkeys(("duration", "duration.between", "duration.indays"), SPAN),
    "range": list_of(WHOLE),
    "nodes": list_of(NODE),
    "relationships": list_of(RELATIONSHIP),
    "rels": list_of(RELATIONSHIP),
}
_AS_GIVEN = frozenset(
    ("reverse", "tail", "list_sort", "list_distinct", "abs", "ceil", "floor", "sum", "min", "max")
)

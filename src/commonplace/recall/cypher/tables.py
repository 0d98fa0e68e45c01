"""The schema in the engine's words: its tables, and the statements that fill them in bulk.

Rows come as CSV with every value quoted and no value at all for null. Lists are texts joined with
control characters that no text holds any more (project.py takes them out).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from commonplace.recall.cypher.schema import (
    CONTENT_FIELDS,
    KEY,
    LABELS,
    NOTE_FIELDS,
    RELATIONSHIPS,
    Type,
)
from commonplace.recall.cypher.values import quoted

ITEM, FIELD, NOTHING = "\x1e", "\x1f", "\x1d"  # between items, between fields, an empty field

_ENGINE = {
    Type.TEXT: "STRING",
    Type.JSON: "STRING",
    Type.NUMBER: "DOUBLE",
    Type.INTEGER: "INT64",
    Type.TRUTH: "BOOL",
    Type.TIME: "TIMESTAMP",
    Type.TEXTS: "STRING[]",
    Type.DAYS: "DATE[]",
    Type.NUMBERS: "DOUBLE[]",
}
_OPTIONS = (
    "FILE_FORMAT='csv', HEADER=false, PARALLEL=false, AUTO_DETECT=false, DELIM=',', "
    "QUOTE='\"', ESCAPE='\"', NULL_STRINGS=['']"
)
FILE = "{file}"  # stands in a statement for the file that the child gives it
TEXT_OF = "text_of"  # a fraction as a text: a function that the child adds to the engine's own


def tables() -> Iterator[str]:
    """Statements that make them."""
    for label in LABELS.values():
        columns = _columns(label.properties)
        yield f"CREATE NODE TABLE {quoted(label.name)}({columns}, PRIMARY KEY({quoted(KEY)}))"
    for one in RELATIONSHIPS.values():
        ends = ", ".join(f"FROM {quoted(a)} TO {quoted(b)}" for a, b in one.ends)
        yield f"CREATE REL TABLE {quoted(one.name)}({ends}, {_columns(one.properties)})"


def filling(label: str) -> str:
    return _copy(label, LABELS[label].properties, (), "")


def linking(relationship: str, a: str, b: str) -> str:
    properties = RELATIONSHIPS[relationship].properties
    return _copy(relationship, properties, ("_a", "_b"), f"(FROM='{a}', TO='{b}')")


def _columns(properties: Mapping[str, Type]) -> str:
    return ", ".join(f"{quoted(name)} {_type(type)}" for name, type in properties.items())


def _type(type: Type) -> str:
    if type is Type.NOTES:
        return f"{_struct(NOTE_FIELDS)}[]"
    return _struct(CONTENT_FIELDS) if type is Type.CONTENT else _ENGINE[type]


def _struct(fields: Mapping[str, str]) -> str:
    return f"STRUCT({', '.join(f'{name} {type}' for name, type in fields.items())})"


def _copy(table: str, properties: Mapping[str, Type], ends: tuple[str, ...], between: str) -> str:
    listed = [f"{quoted(name)} STRING" for name in ends]
    listed += [f"{quoted(name)} {_in_file(type)}" for name, type in properties.items()]
    taken = [quoted(name) for name in ends]
    taken += [_from_file(quoted(name), type) for name, type in properties.items()]
    return (
        f"COPY {quoted(table)} FROM (LOAD WITH HEADERS ({', '.join(listed)}) "
        f"FROM '{FILE}' ({_OPTIONS}) RETURN {', '.join(taken)}) {between}"
    )


_NESTED = (Type.TEXTS, Type.DAYS, Type.NUMBERS, Type.NOTES, Type.CONTENT)


def _in_file(type: Type) -> str:
    return "STRING" if type in _NESTED else _ENGINE[type]


def _from_file(column: str, type: Type) -> str:
    items = f"list_filter(string_split({column}, '{ITEM}'), _x -> _x <> '')"
    if type is Type.TEXTS:
        return items
    if type is Type.DAYS:
        return f"list_transform({items}, _x -> cast(_x AS DATE))"
    if type is Type.NUMBERS:
        return "cast(NULL AS DOUBLE[])"
    if type is Type.NOTES:
        return f"list_transform({items}, _x -> {_unpacked('_x', NOTE_FIELDS)})"
    return _unpacked(column, CONTENT_FIELDS) if type is Type.CONTENT else column


def _unpacked(text: str, fields: Mapping[str, str]) -> str:
    """A struct of the fields that a text holds in this order."""
    pairs = []
    for number, (name, type) in enumerate(fields.items(), 1):
        value = f"nullif(string_split({text}, '{FIELD}')[{number}], '{NOTHING}')"
        pairs.append(f"{name}: {f'timestamp({value})' if type == 'TIMESTAMP' else value}")
    return f"{{{', '.join(pairs)}}}"

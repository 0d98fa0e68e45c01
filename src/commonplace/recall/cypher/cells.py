"""Columns as CSV. There are millions of cells, most of which hold what others of their column hold:
each value is written once, and then looked up.

A list is a tuple, and a struct a tuple within one: they become texts that tables.py takes apart.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import date, datetime
from typing import Any

from commonplace.recall.cypher.tables import FIELD, ITEM, NOTHING
from commonplace.recall.cypher.values import moment_text

Columns = Mapping[str, Sequence[Any]]


def csv(columns: Columns, names: Iterable[str], rows: int) -> bytes:
    """Of so many rows. A column that is not there is null."""
    nothing = ("",) * rows
    cells = [_cells(columns[name]) if name in columns else nothing for name in names]
    return "\n".join(map(",".join, zip(*cells, strict=True))).encode() + b"\n"


def _cells(values: Sequence[Any]) -> Iterable[str]:
    written = {value: _cell(value) for value in set(values)}
    return map(written.__getitem__, values)


def _cell(value: Any) -> str:
    """Quoted, but for null and numbers. Most that come here are plain texts."""
    if type(value) is str and value.isprintable() and '"' not in value:
        return f'"{value}"'
    if value is None:
        return ""
    if isinstance(value, float | int) and not isinstance(value, bool):
        return repr(value)
    text = ITEM.join(map(_text, value)) if isinstance(value, tuple) else _text(value)
    return '"' + text.replace('"', '""') + '"'


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value.translate(_KEPT_OUT)
    if isinstance(value, tuple):
        return FIELD.join(map(_field, value))
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, datetime):
        return moment_text(value)
    return value.isoformat() if isinstance(value, date) else str(value)


def _field(value: Any) -> str:
    """The engine's splitting loses empty fields at the end: none is empty."""
    return NOTHING if value in (None, "") else _text(value)


_KEPT_OUT = str.maketrans({ITEM: " ", FIELD: " ", NOTHING: " ", "\0": " "})

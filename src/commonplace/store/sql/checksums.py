"""Checksums on SQL: count damaged rows; give old rows a checksum; remove damaged vectors."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from commonplace.store.queries import CheckedRows
from commonplace.store.sql.rows import Session, checksum


class _Table(NamedTuple):
    name: str
    rows: str  # the statement that reads them: key columns, checked columns, checksum
    key: tuple[str, ...]
    set_checksum: str
    delete: str | None  # None: a damaged row cannot be computed again


_TABLES = (
    _Table(
        "vectors",
        "vectors_to_check",
        ("unit", "generation"),
        "set_checksum_of_vector",
        "delete_damaged_vector",
    ),
    _Table(
        "graph_vectors",
        "graph_vectors_to_check",
        ("id", "generation"),
        "set_checksum_of_graph_vector",
        "delete_damaged_graph_vector",
    ),
    _Table("versions", "versions_to_check", ("id", "version"), "set_checksum_of_version", None),
)


class _CheckedRow(NamedTuple):
    key: dict[str, Any]
    stored: int | None
    computed: int

    @property
    def is_damaged(self) -> bool:
        return self.stored is not None and self.stored != self.computed


def check_rows(session: Session) -> tuple[CheckedRows, ...]:
    return tuple(_count(table.name, list(_checked(session, table))) for table in _TABLES)


def _count(table: str, rows: list[_CheckedRow]) -> CheckedRows:
    damaged = sum(row.is_damaged for row in rows)
    unknown = sum(row.stored is None for row in rows)
    return CheckedRows(table, len(rows), damaged, unknown)


def _checked(session: Session, table: _Table) -> Iterator[_CheckedRow]:
    for row in session.rows(table.rows):
        keys, (*parts, stored) = row[: len(table.key)], row[len(table.key) :]
        computed = checksum(*(part if isinstance(part, str) else bytes(part) for part in parts))
        yield _CheckedRow(dict(zip(table.key, keys, strict=True)), stored, computed)


def repair_checksums(session: Session) -> None:
    for table in _TABLES:
        rows = list(_checked(session, table))
        unknown = [{**row.key, "checksum": row.computed} for row in rows if row.stored is None]
        session.run_many(table.set_checksum, unknown)
        if table.delete:
            session.run_many(table.delete, [row.key for row in rows if row.is_damaged])

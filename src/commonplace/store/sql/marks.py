"""What readings leave on nodes, edges and sources, on any SQL database."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from commonplace.model.salience import UNREAD, Marks, read_again, salience_at
from commonplace.model.ttl_policy import TtlPolicy
from commonplace.store.sql.graph_rows import marks_from, marks_values
from commonplace.store.sql.rows import Row, instant
from commonplace.store.sql.session import Session


def record_readings(session: Session, read: Mapping[str, bool], now: datetime) -> None:
    """``read``: what was shown, and whether it was among the first. What is gone leaves no mark."""
    if not read:
        return
    ids = list(read)
    known = dict(map(marks_from, session.rows("marks", any=0, ids=ids)))
    rows: dict[str, Row] = {}
    for row in session.rows("readable", ids=ids):
        if row[0] not in rows or row[1] < rows[row[0]][1]:  # a source's own date, not its reading's
            rows[row[0]] = row
    session.run_many(
        "put_marks",
        [
            marks_values(id, _after_reading(known.get(id, UNREAD), row, now, read[id]))
            for id, row in sorted(rows.items())
        ],
    )


def _after_reading(marks: Marks, row: Row, now: datetime, is_top: bool) -> Marks:
    _, made_at, confidence, ttl_policy = row
    salience = salience_at(
        marks,
        instant(made_at),
        now,
        confidence=confidence,
        keep_forever=ttl_policy == TtlPolicy.KEEP_FOREVER,
    )
    return read_again(marks, salience, now, is_top=is_top)

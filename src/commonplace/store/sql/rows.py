"""Rows: conversion between values and rows; the session protocol."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Any, Protocol

from commonplace.model.access.principal import Scope
from commonplace.model.changeset import IndexEntry
from commonplace.model.journal import Entry, Event, JournalNode, JournalRow, JournalStatus, Op
from commonplace.model.memory.kinds import Kind, Stability
from commonplace.model.memory.memory import (
    VERSIONED_FIELDS,
    HeldValue,
    Link,
    LinkType,
    Memory,
    Sensitivity,
    State,
    Version,
)
from commonplace.store.port import IndexedRow

Row = Sequence[Any]

KEY_SIGN = "="

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)

_STORED = (
    "id",
    "version",
    "kind",
    "content",
    "summary",
    "category",
    "tags",
    "metadata",
    "importance",
    "confidence",
    "stability",
    "sensitivity",
    "pinned",
    "evidence",
    "facet",
    "source_type",
    "source_id",
    "job_id",
    "agent_id",
    "run_id",
    "actor_id",
    "role",
    "thread_id",
    "state",
    "expires_at",
    "superseded_by",
    "purge_at",
    "valid_from",
    "valid_to",
    "created_at",
    "updated_at",
    "arrived_at",
)
_READ_MARKS = ("last_accessed_at", "access_count")
_DISPUTE_COLUMNS = ("conflict",)  # written by Hold and LetGo alone
INDEX_COLUMNS = ", ".join(f"m.{name}" for name in IndexedRow._fields)
COLUMNS = ", ".join(
    [f"m.{name}" for name in _STORED + _DISPUTE_COLUMNS] + [f"r.{name}" for name in _READ_MARKS]
)
_NAMES = _STORED + _DISPUTE_COLUMNS + _READ_MARKS


def micros(moment: datetime | None) -> int | None:
    return None if moment is None else exact_micros(moment)


def exact_micros(moment: datetime) -> int:
    return (moment - _EPOCH) // _MICROSECOND


def moment(value: int | None) -> datetime | None:
    return None if value is None else instant(value)


@lru_cache(maxsize=1 << 14)  # what one source tells is of one moment, in many rows
def instant(value: int) -> datetime:
    return _EPOCH + timedelta(microseconds=value)


def to_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


_MOMENTS = frozenset(
    {
        "expires_at",
        "purge_at",
        "valid_from",
        "valid_to",
        "created_at",
        "updated_at",
        "arrived_at",
        "last_accessed_at",
    }
)


def _list(text: str) -> tuple[str, ...]:
    return () if text == "[]" else tuple(json.loads(text))


def _map(text: str) -> dict[str, Any]:
    return {} if text == "{}" else dict(json.loads(text))


_DECODERS: dict[str, Callable[[Any], Any]] = {
    **dict.fromkeys(_MOMENTS, moment),
    "kind": {str(kind): kind for kind in Kind}.__getitem__,
    "tags": _list,
    "metadata": _map,
    "evidence": _list,
    "stability": {str(stability): stability for stability in Stability}.__getitem__,
    "sensitivity": {str(level): level for level in Sensitivity}.__getitem__,
    "pinned": bool,
    "state": {str(state): state for state in State}.__getitem__,
    "access_count": lambda count: count or 0,
}
_DECODED = tuple((place, _DECODERS[n]) for place, n in enumerate(_NAMES) if n in _DECODERS)


def memory_from(scope: Scope, row: Row) -> Memory:
    values = list(row)
    for place, decode in _DECODED:
        values[place] = decode(values[place])
    return Memory(user_id=scope.name, **dict(zip(_NAMES, values, strict=True)))


def memory_values(memory: Memory) -> dict[str, Any]:
    """Parameters of insert_memory and update_memory, but for unit and seq."""
    values: dict[str, Any] = {name: getattr(memory, name) for name in _STORED}
    for name in _MOMENTS & values.keys():
        values[name] = micros(values[name])
    for name in ("tags", "metadata", "evidence"):
        values[name] = to_json(values[name])
    for name in ("kind", "stability", "sensitivity", "state"):
        values[name] = str(values[name])
    values["pinned"] = int(memory.pinned)
    values["ends_at"] = micros(memory.ends_at)
    if values["arrived_at"] is None:
        values["arrived_at"] = values["updated_at"]
    return values


_FIELDS = tuple(name for name in VERSIONED_FIELDS if name != "content")


def version_values(memory: Memory, at: datetime, until: datetime | None = None) -> dict[str, Any]:
    fields = {name: getattr(memory, name) for name in _FIELDS}
    for name in _MOMENTS & fields.keys():
        fields[name] = micros(fields[name])
    return {
        "id": memory.id,
        "version": memory.version,
        "content": memory.content,
        "fields": to_json(fields),
        "recorded_at": micros(at),
        "invalidated_at": micros(until),
    }


def version_from(scope: Scope, row: Row) -> Version:
    id_, version, content, fields, recorded_at, invalidated_at = row
    memory = _memory_of(scope, id_, version, content, fields, instant(recorded_at))
    return Version(memory, instant(recorded_at), moment(invalidated_at))


def held_values(held: HeldValue) -> dict[str, Any]:
    values = version_values(held.memory, held.held_at)
    return {
        "id": held.memory.id,
        "conflict": held.conflict,
        "beside": held.beside,
        "merged_into": held.merged_into,
        "content": values["content"],
        "fields": values["fields"],
        "mentioned": to_json(sorted(held.mentioned)),
        "reason": held.reason,
        "actor": held.actor,
        "held_at": micros(held.held_at),
    }


def held_from(scope: Scope, row: Row) -> HeldValue:
    id_, conflict, beside, merged_into, content, fields, mentioned, reason, actor, held_at = row
    memory = _memory_of(scope, id_, 1, content, fields, instant(held_at))
    told = frozenset(json.loads(mentioned))
    return HeldValue(memory, conflict, beside, told, reason, actor, instant(held_at), merged_into)


def _memory_of(
    scope: Scope, id_: str, version: int, content: str, fields: str, updated_at: datetime
) -> Memory:
    values = json.loads(fields)
    for name in _MOMENTS & values.keys():
        values[name] = moment(values[name])
    return Memory(
        **{
            **values,
            "id": id_,
            "user_id": scope.name,
            "version": version,
            "content": content,
            "kind": Kind(values["kind"]),
            "stability": Stability(values["stability"]),
            "sensitivity": Sensitivity(values["sensitivity"]),
            "state": State(values["state"]),
            "tags": tuple(values["tags"]),
            "evidence": tuple(values["evidence"]),
            "updated_at": updated_at,
        }
    )


def link_from(row: Row) -> Link:
    a, b, strength, created_at, relation = row
    return Link(a, b, strength, instant(created_at), LinkType(relation))


def entry_values(entry: Entry) -> dict[str, Any]:
    return {
        "node": str(entry.node),
        "op": str(entry.op),
        "status": str(entry.status),
        "event": str(entry.event) if entry.event else None,
        "subject": entry.subject,
        "category": entry.category,
        "old_ref": entry.old_ref,
        "new_ref": entry.new_ref,
        "similarity": entry.similarity,
        "meta": to_json(dict(entry.meta)),
    }


def journal_from(scope: Scope, row: Row) -> JournalRow:
    (seq, ts, revision, thread_id, actor, node, op, status, event, subject, category, old_ref) = (
        row[:12]
    )
    new_ref, similarity, meta = row[12:]
    return JournalRow(
        seq=seq,
        ts=instant(ts),
        user_id=scope.name,
        revision=revision,
        thread_id=thread_id,
        actor=actor,
        entry=Entry(
            op=Op(op),
            node=JournalNode(node),
            status=JournalStatus(status),
            event=Event(event) if event else None,
            subject=subject,
            category=category,
            old_ref=old_ref,
            new_ref=new_ref,
            similarity=similarity,
            meta=json.loads(meta),
        ),
    )


def index_values(index: IndexEntry) -> dict[str, Any]:
    return {"terms": pack_terms(index.terms, index.keys), "traits": index.traits}


def pack_terms(counts: Mapping[str, int], keys: Iterable[str] = ()) -> str:
    """Terms hold no space, so a space keeps them apart; a count is a repetition. Keys go first,
    each behind a sign that no term has."""
    terms = [term for term, count in sorted(counts.items()) for _ in range(count)]
    return " ".join([*(KEY_SIGN + key for key in sorted(keys)), *terms])


class Session(Protocol):
    """Every statement runs with ``scope`` bound; a list parameter is given as a Python list."""

    def rows(self, statement: str, **values: Any) -> Sequence[Row]: ...

    def one(self, statement: str, **values: Any) -> Row | None: ...

    def run(self, statement: str, **values: Any) -> None: ...

    def run_many(self, statement: str, values: Sequence[Mapping[str, Any]]) -> None: ...

    def at(self, scope: Scope | None) -> Session:
        """The same transaction on another scope. From then on this session is not to be used."""
        ...


@dataclass
class WriteNumbers:
    """Where this changeset stands, and which index units its new memories get."""

    revision: int
    seq: int
    journal: int  # before this changeset
    next_unit: int
    at: datetime
    generation: int  # of its vectors
    journal_rows: list[dict[str, Any]] = field(default_factory=list)

    def take_unit(self) -> int:
        self.next_unit += 1
        return self.next_unit - 1

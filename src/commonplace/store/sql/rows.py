"""Rows: conversion between values and rows; the session protocol."""

from __future__ import annotations

import json
import types
import typing
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from functools import lru_cache, wraps
from typing import Any, Protocol, TypeVar
from zlib import crc32

from commonplace.errors import StoreCorrupt
from commonplace.model.access.principal import Scope
from commonplace.model.changeset import IndexEntry
from commonplace.model.export.codec import type_hints_of
from commonplace.model.journal import Entry, JournalRow
from commonplace.model.memory.memory import (
    VERSIONED_FIELDS,
    HeldValue,
    Link,
    LinkType,
    Memory,
    Version,
)
from commonplace.store.queries import IndexedRow

Row = Sequence[Any]
ReadT = TypeVar("ReadT")

KEY_SIGN = "="

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


def micros(moment: datetime | None) -> int | None:
    return None if moment is None else exact_micros(moment)


def exact_micros(moment: datetime) -> int:
    return (moment - _EPOCH) // _MICROSECOND


def moment(value: int | None) -> datetime | None:
    return None if value is None else instant(value)


@lru_cache(maxsize=1 << 14)  # the rows of one source share a moment
def instant(value: int) -> datetime:
    return _EPOCH + timedelta(microseconds=value)


def checksum(*parts: str | bytes) -> int:
    """Sees damage, not forgery."""
    total = 0
    for part in parts:
        total = crc32(part.encode("utf-8", "replace") if isinstance(part, str) else part, total)
    return total


def to_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


@lru_cache(maxsize=1 << 12)  # evidence and categories repeat from row to row
def text_list(text: str) -> tuple[str, ...]:
    return () if text == "[]" else tuple(json.loads(text))


def _map(text: str) -> dict[str, Any]:
    return {} if text == "{}" else dict(json.loads(text))


def _word(value: str | None) -> str | None:
    return None if value is None else str(value)  # a StrEnum as a plain str


_OF_THE_INPUT = ("surrogates not allowed", "int too large")


def reporting_damage(read: Callable[..., ReadT]) -> Callable[..., ReadT]:
    """A row that cannot be decoded is damaged: the schema admits no such row. Errors about the
    parameters of a statement are raised as they are."""

    @wraps(read)
    def reads(*arguments: Any, **named: Any) -> ReadT:
        try:
            return read(*arguments, **named)
        except (AttributeError, LookupError, TypeError, ValueError, OverflowError) as error:
            if any(words in str(error) for words in _OF_THE_INPUT):
                raise
            raise StoreCorrupt(
                "A row of the store is damaged and cannot be read.",
                remedy="Run `commonplace doctor`, which says what is damaged, and what to do.",
            ) from error

    return reads


_Conversion = Callable[[Any], Any]
_CONVERSIONS: Mapping[Any, tuple[_Conversion, _Conversion | None]] = {
    str: (_word, None),
    bool: (int, bool),
    datetime: (micros, moment),
    tuple: (to_json, text_list),
    Mapping: (lambda value: to_json(dict(value)), _map),
    Any: (to_json, json.loads),
}


def _type_kept(hint: Any) -> Any:
    """The type that decides the conversion: without None; of lists and maps the outer type."""
    given = [each for each in typing.get_args(hint) if each is not types.NoneType]
    inner = given[0] if isinstance(hint, types.UnionType) else hint
    return typing.get_origin(inner) or inner


def members(kind: type[StrEnum]) -> _Conversion:
    """Members by value. Calling the enumeration takes five times as long, and a node with thousands
    of sources has as many rows."""
    known: dict[str | None, StrEnum | None] = {str(member): member for member in kind}
    known[None] = None
    return known.__getitem__


class RowCodec:
    """Maps a dataclass to columns of the same names, converted by type. Fields that need a
    conversion are found once: a graph has a hundred thousand rows."""

    def __init__(self, kind: Any, left_out: Iterable[str] = ()):
        hints, omitted = type_hints_of(kind), set(left_out)
        self.types = {
            f.name: _type_kept(hints[f.name]) for f in fields(kind) if f.name not in omitted
        }
        self.names = tuple(self.types)
        found = {name: _conversions(kept) for name, kept in self.types.items()}
        self._encoders = [(name, encode) for name, (encode, _) in found.items()]
        self._decoders = [
            (place, decode) for place, (_, decode) in enumerate(found.values()) if decode
        ]

    def columns(self, letter: str) -> str:
        return named_columns(letter, self.names)

    def values(self, item: Any) -> dict[str, Any]:
        return {
            name: encode(getattr(item, name)) if encode else getattr(item, name)
            for name, encode in self._encoders
        }

    def decode(self, row: Row) -> dict[str, Any]:
        values = list(row)
        for place, decode in self._decoders:
            values[place] = decode(values[place])
        return dict(zip(self.names, values, strict=True))


def _conversions(kept: Any) -> tuple[_Conversion | None, _Conversion | None]:
    if isinstance(kept, type) and issubclass(kept, StrEnum):
        return _word, members(kept)
    return _CONVERSIONS.get(kept, (None, None))


def named_columns(letter: str, *names: Iterable[str]) -> str:
    return ", ".join(f"{letter}.{name}" for group in names for name in group)


# ——— memories ———

_READ_MARKS = ("last_accessed_at", "access_count")
_WRITTEN_ELSEWHERE = ("conflict", *_READ_MARKS)  # by HoldValues, ReleaseHeld and reads
_STORED = RowCodec(Memory, ("user_id", *_WRITTEN_ELSEWHERE))
_MEMORY = RowCodec(Memory, ("user_id",))
STORED_COLUMNS = ", ".join(_STORED.names)
STORED_VALUES = ", ".join(f":{name}" for name in _STORED.names)
STORED_CHANGES = ", ".join(
    f"{name} = :{name}" for name in _STORED.names if name not in ("id", "arrived_at")
)
INDEX_COLUMNS = named_columns("m", IndexedRow._fields)
COLUMNS = ", ".join(f"r.{name}" if name in _READ_MARKS else f"m.{name}" for name in _MEMORY.names)


def memory_from(scope: Scope, row: Row) -> Memory:
    values = _MEMORY.decode(row)
    values["access_count"] = values["access_count"] or 0  # never read
    return Memory(user_id=scope.name, **values)


def memory_values(memory: Memory) -> dict[str, Any]:
    """Parameters of insert_memory and update_memory, without unit and seq."""
    values = {**_STORED.values(memory), "ends_at": micros(memory.ends_at)}
    if values["arrived_at"] is None:
        values["arrived_at"] = values["updated_at"]
    return values


# A version's fields are one JSON text, so lists and maps in it are JSON already.
_FIELDS = tuple(name for name in VERSIONED_FIELDS if name != "content")
_MOMENTS = frozenset(name for name in _FIELDS if _MEMORY.types[name] is datetime)
_FROM_JSON: Mapping[str, _Conversion] = {
    **dict.fromkeys(_MOMENTS, moment),
    **{
        name: members(kept) if issubclass(kept, StrEnum) else tuple
        for name in _FIELDS
        if issubclass(kept := _MEMORY.types[name], StrEnum | tuple)
    },
}


def version_values(memory: Memory, at: datetime, until: datetime | None = None) -> dict[str, Any]:
    fields = {name: getattr(memory, name) for name in _FIELDS}
    for name in _MOMENTS:
        fields[name] = micros(fields[name])
    return {
        "id": memory.id,
        "version": memory.version,
        "content": memory.content,
        "fields": (written := to_json(fields)),
        "checksum": checksum(memory.content, written),
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
        "beside": held.alternative_to,
        "merged_into": held.contributes_to,
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
    for name in _FROM_JSON.keys() & values.keys():
        values[name] = _FROM_JSON[name](values[name])
    return Memory(
        **values,
        id=id_,
        user_id=scope.name,
        version=version,
        content=content,
        updated_at=updated_at,
    )


def link_from(row: Row) -> Link:
    a, b, strength, created_at, relation = row
    return Link(a, b, strength, instant(created_at), LinkType(relation))


_ENTRY = RowCodec(Entry)
_JOURNAL = RowCodec(JournalRow, ("user_id", "entry"))
JOURNAL_COLUMNS = named_columns("j", _JOURNAL.names, _ENTRY.names)


def entry_values(entry: Entry) -> dict[str, Any]:
    return _ENTRY.values(entry)


def journal_from(scope: Scope, row: Row) -> JournalRow:
    width = len(_JOURNAL.names)
    entry = Entry(**_ENTRY.decode(row[width:]))
    return JournalRow(user_id=scope.name, entry=entry, **_JOURNAL.decode(row[:width]))


def index_values(index: IndexEntry) -> dict[str, Any]:
    return {"terms": pack_terms(index.terms, index.keys), "traits": index.traits}


def pack_terms(counts: Mapping[str, int], keys: Iterable[str] = ()) -> str:
    """Terms contain no space, so a space separates them; a count is a repetition. Keys come first,
    each after a character that no term contains."""
    terms = [term for term, count in sorted(counts.items()) for _ in range(count)]
    return " ".join([*(KEY_SIGN + key for key in sorted(keys)), *terms])


class Session(Protocol):
    """Every statement runs with ``scope`` bound; a list parameter is given as a Python list."""

    def rows(self, statement: str, **values: Any) -> Sequence[Row]: ...

    def one(self, statement: str, **values: Any) -> Row | None: ...

    def run(self, statement: str, **values: Any) -> None: ...

    def run_many(self, statement: str, values: Sequence[Mapping[str, Any]]) -> None: ...

    def at(self, scope: Scope | None) -> Session:
        """The same transaction on another scope. This session must not be used afterwards."""
        ...

    def restart(self) -> None:
        """A new read transaction on the same connection."""
        ...


@dataclass
class WriteNumbers:
    """Counters at this changeset, and the index units for its new memories."""

    revision: int
    seq: int
    journal: int  # before this changeset
    next_unit: int
    at: datetime
    generation: int  # of its vectors
    journal_rows: list[dict[str, Any]] = field(default_factory=list)
    # Of erased items, until the transaction ends:
    erased_texts: list[str] = field(default_factory=list)
    erased_names: list[str] = field(default_factory=list)
    erased_threads: set[str] = field(default_factory=set)

    def take_unit(self) -> int:
        self.next_unit += 1
        return self.next_unit - 1

"""Codec: converts dataclasses to plain JSON data, and back by their type hints.

With rules it is strict, for files of unknown origin: every field must be present and valid, and no
other field may be. Without rules it trusts the data, as from our own server.
"""

from __future__ import annotations

import types
import typing
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass
from datetime import date
from enum import Enum, StrEnum
from functools import cache
from typing import Any

from commonplace.errors import InvalidInput
from commonplace.lazy import type_hints
from commonplace.model import validation

FieldReader = Callable[[Any, str], Any]  # the value, and its name in messages
_PLAIN = frozenset({str, int, float, bool, types.NoneType})


@cache
def type_hints_of(kind: Any) -> Mapping[str, Any]:
    """Cached, because hints are strings and resolving them is slow."""
    return type_hints(kind)


def optional(reading: FieldReader) -> FieldReader:
    return lambda value, field: None if value is None else reading(value, field)


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordRule:
    """How the data of a dataclass differ from its fields, and their validation."""

    what: str = "It"  # the subject of messages
    left_out: Collection[str] = ()  # not written; read as the owner's value or the default
    renamed: Mapping[str, str] = field(default_factory=dict)  # field → key; these come first
    last: Collection[str] = ()
    inlined: str | None = None  # a field whose dataclass's fields are written among the others
    own_as_null: str | None = None  # a field that is null where its value is the owner's
    older: Mapping[str, Any] = field(
        default_factory=dict
    )  # defaults for keys that older files lack
    # Defaults that are not written, so that files without the newer field stay as they were.
    newer: Mapping[str, Any] = field(default_factory=dict)
    readers: Mapping[str, FieldReader] = field(default_factory=dict)  # others: by type
    check: Callable[[Any], Any] = lambda made: made  # validates the whole record and returns it

    def order(self, name: str) -> int:
        return 0 if name in self.renamed else 2 if name in self.last else 1


class Codec:
    """``readers``: by type. ``own``: the owner's values, by field. ``properties``: names of the
    properties that are written in addition to a dataclass's fields."""

    def __init__(
        self,
        readers: Mapping[Any, FieldReader],
        rules: Mapping[type, RecordRule] | None = None,
        own: Mapping[str, Any] | None = None,
        properties: Callable[[type], Collection[str]] = lambda kind: (),
    ):
        self.is_strict = rules is not None
        self.rules = rules or {}
        self.own = own or {}
        self.properties = properties
        self._readers: dict[Any, FieldReader] = dict(readers)
        self._records: dict[type, RecordCodec] = {}

    def write(self, value: Any) -> Any:
        """Dates and datetimes become ISO 8601."""
        if type(value) in _PLAIN:
            return value
        if is_dataclass(value) and not isinstance(value, type):
            return self.record(type(value)).write(value)
        if isinstance(value, Enum):
            return value.value
        if isinstance(value, date):  # datetime is a subclass
            return value.isoformat()
        if isinstance(value, Mapping):
            return {str(name): self.write(item) for name, item in value.items()}
        if isinstance(value, list | tuple):
            return [self.write(item) for item in value]
        if isinstance(value, frozenset):
            return sorted(map(self.write, value))
        return value

    def read(self, hint: Any, data: Any, field: str = "It") -> Any:
        return self.reader(hint)(data, field)

    def record(self, kind: Any) -> RecordCodec:
        if kind not in self._records:
            self._records[kind] = RecordCodec(self, kind)
        return self._records[kind]

    def reader(self, hint: Any) -> FieldReader:
        if hint not in self._readers:
            made = self._make_reader(hint)
            self._readers[hint] = made if self.is_strict else optional(made)
        return self._readers[hint]

    def _make_reader(self, hint: Any) -> FieldReader:
        origin, inner = typing.get_origin(hint), typing.get_args(hint)
        if origin in (typing.Union, types.UnionType):
            return self._union_reader([each for each in inner if each is not types.NoneType])
        if origin is not None and issubclass(origin, Mapping):
            return _mapping_reader(*map(self.reader, inner))
        if origin is not None and issubclass(origin, Iterable):
            return _list_reader(self.reader(inner[0]), tuple if origin is tuple else list)
        if typing.is_typeddict(hint):
            hints = type_hints_of(hint)
            return lambda data, field: {
                name: self.read(hints[name], each, name) for name, each in data.items()
            }
        if isinstance(hint, type) and is_dataclass(
            hint
        ):  # lazily: a dataclass may contain its own type
            return lambda data, field: self.record(hint).read(data, field)
        if isinstance(hint, type) and issubclass(hint, StrEnum):
            return lambda data, field: validation.choice(data, field, hint, {})
        return lambda data, field: data

    def _union_reader(self, alternatives: Sequence[Any]) -> FieldReader:
        if len(alternatives) == 1:
            return optional(self.reader(alternatives[0]))
        return optional(
            lambda data, field: self.read(self._matching_type(alternatives, data), data, field)
        )

    def _matching_type(self, alternatives: Sequence[Any], data: Any) -> Any:
        """The alternative that matches the data: the dataclass with these fields, or text."""
        if isinstance(data, str) and str in alternatives:
            return str
        if isinstance(data, Mapping):
            for each in alternatives:
                if is_dataclass(each) and self.record(each).keys == set(data):
                    return each
        return alternatives[0]


def _mapping_reader(key: FieldReader, value: FieldReader) -> FieldReader:
    return lambda data, field: {key(k, field): value(v, field) for k, v in data.items()}


def _list_reader(item: FieldReader, made: Callable[[Iterable[Any]], Any]) -> FieldReader:
    def reading(data: Any, field: str) -> Any:
        if not isinstance(data, list | tuple):
            raise InvalidInput(f"{field} must be a list.", field=field)
        return made(item(each, field) for each in data)

    return reading


class RecordCodec:
    """Writes and reads one dataclass."""

    def __init__(self, codec: Codec, kind: Any):
        self._codec, self._kind = codec, kind
        self._rule = rule = codec.rules.get(kind, RecordRule())
        self._hints = type_hints_of(kind)
        kept = [each for each in fields(kind) if each.name not in rule.left_out]
        kept.sort(key=lambda each: rule.order(each.name))
        self._inner = codec.record(self._hints[rule.inlined]) if rule.inlined else None
        # Written: key and field; the key is None for the inlined field. Read: with the reader.
        self._written = [
            (
                None if each.name == rule.inlined else rule.renamed.get(each.name, each.name),
                each.name,
            )
            for each in kept
        ]
        self._written += [(name, name) for name in codec.properties(kind)]
        self._read = [
            (rule.renamed.get(each.name, each.name), each.name, self._reader_of(each.name))
            for each in kept
            if each.init and each.name != rule.inlined
        ]
        self._own = {name: codec.own[name] for name in rule.left_out if name in codec.own}
        self.keys = {key for key, _ in self._written if key}
        self.keys |= self._inner.keys if self._inner else set()
        # What files mean that lack a newer field.
        inlined: Mapping[str, Any] = self._inner._absent if self._inner else {}
        self._absent: Mapping[str, Any] = {**inlined, **rule.older, **rule.newer}

    def _reader_of(self, name: str) -> FieldReader:
        """Wraps the reader of an optional field, so that readers need not handle null."""
        reading = self._rule.readers.get(name)
        if name == self._rule.own_as_null:
            return self._or_own(name, reading or self._codec.reader(self._hints[name]))
        if reading is None:
            return self._codec.reader(self._hints[name])
        return (
            optional(reading) if types.NoneType in typing.get_args(self._hints[name]) else reading
        )

    def _or_own(self, name: str, reading: FieldReader) -> FieldReader:
        own = self._codec.own[name]
        return lambda value, field: own if value is None else reading(value, field)

    def write(self, value: Any) -> dict[str, Any]:
        data: dict[str, Any] = {}
        for key, name in self._written:
            item = getattr(value, name)
            if key is None:
                data |= self._codec.write(item)
            elif name in self._rule.newer and item == self._rule.newer[name]:
                continue
            elif name == self._rule.own_as_null and item == self._codec.own[name]:
                data[key] = None
            else:
                data[key] = self._codec.write(item)
        return data

    def read(self, data: Any, field: str) -> Any:
        if not isinstance(data, Mapping):
            raise InvalidInput(f"{field} must be a map of names to values.", field=field)
        given = {**self._absent, **data}
        if self._codec.is_strict and given.keys() != self.keys:
            self._refuse(given)
        return self._build(given)

    def _refuse(self, given: Mapping[str, Any]) -> None:
        known = [key for key, _ in self._written if key] + sorted(self.keys)
        validation.known_fields(given, known, self._rule.what)
        missing = next(key for key in known if key not in given)
        raise InvalidInput(f"{self._rule.what} lacks {missing}.")

    def _build(self, given: Mapping[str, Any]) -> Any:
        values = dict(self._own)
        for key, name, reading in self._read:
            if key in given:
                values[name] = reading(given[key], key)
        if self._inner and self._rule.inlined:
            values[self._rule.inlined] = self._inner._build(given)
        return self._rule.check(self._kind(**values))

"""Sources as lines of JSON: the source, its original part by part, its passages.

Passages travel along, so that their numbers stay what citations say. What they are found by does
not: it is made anew where they arrive.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields
from functools import reduce
from typing import Any

from commonplace.errors import InvalidInput, TooLong
from commonplace.model import check
from commonplace.model.memory import Sensitivity, State
from commonplace.model.portable_fields import (
    Reading,
    exact,
    maybe,
    metadata,
    once,
    one_of,
    read,
    when,
    whole_number,
    word,
)
from commonplace.model.source import (
    MAX_ALIAS_BYTES,
    MAX_ORIGINAL_BYTES,
    MAX_PARTS,
    ContentType,
    ContextType,
    Passage,
    Source,
    SourceType,
    Status,
    checked_alias,
    digest_of,
)
from commonplace.model.ttl_policy import TtlPolicy

MAX_NAMES = 100_000  # of people: a channel's whole history is one source
LONGEST_RAW = 4 * (MAX_ORIGINAL_BYTES // 3 + 1)  # in base64

# Whoever imports a source owns it.
_LEFT_OUT = frozenset({"user_id", "team_id"})
_ID = re.compile(r"source:[^\s#@]{1,150}")


@dataclass(frozen=True, slots=True)
class WholeSource:
    """A source with all that is kept of it."""

    source: Source
    original: tuple[bytes, ...]  # part by part
    passages: tuple[Passage, ...]


def source_lines(whole: WholeSource) -> Iterator[dict[str, Any]]:
    source = whole.source
    told = {f.name: getattr(source, f.name) for f in fields(source) if f.name not in _LEFT_OUT}
    yield {"type": "source", **told}
    for part, raw in enumerate(whole.original, 1):
        encoded = base64.b64encode(raw).decode("ascii")
        yield {"type": "original", "source_id": source.id, "part": part, "raw": encoded}
    for passage in whole.passages:
        yield {"type": "passage", **{name: getattr(passage, name) for name in _PASSAGE}}


@dataclass(slots=True)
class _Arriving:
    source: Source
    original: list[bytes] = field(default_factory=list)
    passages: list[Passage] = field(default_factory=list)


class SourceReader:
    """Takes lines about sources. What belongs to one comes after it, in its order."""

    def __init__(self, user_id: str):
        self._user_id = user_id
        self._arriving: dict[str, _Arriving] = {}
        self._names: dict[tuple[str, str], str] = {}

    def take_source(self, record: Mapping[str, Any]) -> None:
        source = _source_in(record, self._user_id)
        once(self._arriving, source.id, _Arriving(source))
        once(self._names, (source.origin, source.external_id), source.id)

    def take_original(self, record: Mapping[str, Any]) -> None:
        values = read(record, _ORIGINAL, "An original")
        arriving = self._of(values["source_id"])
        _next(values["part"], len(arriving.original), arriving.source.parts, "part")
        arriving.original.append(values["raw"])

    def take_passage(self, record: Mapping[str, Any]) -> None:
        passage = Passage(**read(record, _PASSAGE, "A passage"))
        arriving = self._of(passage.source_id)
        _next(passage.number, len(arriving.passages), arriving.source.passages, "passage")
        arriving.passages.append(passage)

    def _of(self, id: str) -> _Arriving:
        if id not in self._arriving:
            raise InvalidInput(f"It belongs to {id!r}, which no earlier line defines.")
        return self._arriving[id]

    def sources(self) -> tuple[WholeSource, ...]:
        return tuple(map(_whole, self._arriving.values()))


def _next(place: int, there: int, wanted: int, what: str) -> None:
    if place != there + 1:
        raise InvalidInput(f"{what} {place} comes where {what} {there + 1} is wanted.")
    if place > wanted:
        raise InvalidInput(f"{what} {place} is one more than its source has.")


def _whole(arriving: _Arriving) -> WholeSource:
    source = arriving.source
    if len(arriving.original) < source.parts or len(arriving.passages) < source.passages:
        raise InvalidInput(f"The file is truncated: {source.id} is incomplete.")
    if source.digest != reduce(lambda before, raw: digest_of(raw, before), arriving.original, ""):
        raise InvalidInput(f"The original of {source.id} does not match its digest.")
    return WholeSource(source, tuple(arriving.original), tuple(arriving.passages))


# ——— how each field is read ———


def _source_id(value: object, field: str) -> str:
    id = check.word(value, field)
    if not _ID.fullmatch(id):
        raise InvalidInput(f"{field} is not a source id: {id[:40]!r}.")
    return id


def _raw(value: object, field: str) -> bytes:
    if not isinstance(value, str):
        raise InvalidInput(f"{field} must be base64.")
    if len(value) > LONGEST_RAW:
        raise TooLong(f"{field} is larger than {MAX_ORIGINAL_BYTES:,} bytes.")
    try:
        return base64.b64decode(value, validate=True)
    except ValueError:
        raise InvalidInput(f"{field} must be base64.") from None


def _empty_or(reading: Reading) -> Reading:
    return lambda value, field: "" if value == "" else reading(value, field)


def _provenance(value: object, field: str) -> dict[str, Any]:
    """Checked, and kept to the letter: a path is in it."""
    metadata(value, field)
    assert isinstance(value, Mapping)
    return dict(value)


def _names(value: object, field: str) -> tuple[str, ...]:
    return check.words(value, field, MAX_NAMES)


def _state(value: object, field: str) -> State:
    state = check.choice(value, field, State, {})
    if state not in (State.ACTIVE, State.SOFT_DELETED):
        raise InvalidInput(f"A source is never {state}.")
    return state


_alias, _text = exact(MAX_ALIAS_BYTES), exact(check.MAX_CONTENT)
_name = maybe(exact(check.MAX_WORD))

_SOURCE: dict[str, Reading] = {
    "id": _source_id,
    "origin": _alias,
    "external_id": _alias,
    "source_type": one_of(SourceType),
    "content_type": one_of(ContentType),
    "created_at": check.when,
    "updated_at": check.when,
    "context_type": maybe(one_of(ContextType)),
    "title": _empty_or(_text),
    "summary": _empty_or(_text),
    "keywords": check.words,
    "tags": _names,
    "participants": _names,
    "provenance": _provenance,
    "thread_id": word,
    "sensitivity": one_of(Sensitivity),
    "ttl_policy": one_of(TtlPolicy),
    "status": one_of(Status),
    "started_at": when,
    "ended_at": when,
    "processing_started_at": when,
    "processing_completed_at": when,
    "extraction_started_at": when,
    "extraction_completed_at": when,
    "state": _state,
    "purge_at": when,
    "passages": whole_number(0),
    "parts": whole_number(1, MAX_PARTS),
    "digest": check.word,
    "version": whole_number(1),
}
_ORIGINAL: dict[str, Reading] = {
    "source_id": _source_id,
    "part": whole_number(1, MAX_PARTS),
    "raw": _raw,
}
_PASSAGE: dict[str, Reading] = {
    "source_id": _source_id,
    "number": whole_number(1),
    "turn": whole_number(1),
    "text": _text,
    "speaker": _name,
    "role": _name,
    "at": check.when,
    "session": _name,
    "label": _name,
    "suspicious": check.flag,
}


def _source_in(record: Mapping[str, Any], user_id: str) -> Source:
    told = {"ttl_policy": TtlPolicy.DECAY, **record}  # older files do not say
    source = Source(user_id=user_id, **read(told, _SOURCE, "A source"))
    checked_alias(source.origin, source.external_id)
    if (source.state is State.SOFT_DELETED) != (source.purge_at is not None):
        raise InvalidInput("A source has a day to be purged exactly when it is forgotten.")
    if user_id in source.participants:
        return source
    return source.evolve(participants=(user_id, *source.participants))

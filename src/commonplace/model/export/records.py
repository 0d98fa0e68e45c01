"""Export records: field readers; sources, proposals and the recall log.

Passages travel along, so that their numbers stay what citations say. What they are found by does
not: it is made anew where they arrive.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, fields
from enum import StrEnum
from functools import reduce
from typing import Any, TypeVar

from commonplace.errors import InvalidInput, TooLong
from commonplace.model import validation
from commonplace.model.journal import LoggedHit, LoggedSearch, RecallLogEntry
from commonplace.model.memory.kinds import TtlPolicy
from commonplace.model.memory.memory import Sensitivity, State
from commonplace.model.profile.consent import MAX_SIGNALS
from commonplace.model.profile.fields import (
    PROPOSAL_PREFIX,
    Proposal,
    Signal,
    SignalKind,
    field_name,
    read_field_value,
)
from commonplace.model.sources.source import (
    MAX_ALIAS_BYTES,
    MAX_ORIGINAL_BYTES,
    MAX_PARTS,
    ContentType,
    ContextType,
    Passage,
    ProcessingStatus,
    Source,
    SourceType,
    check_alias,
    original_digest,
)

FieldReader = Callable[[Any, str], Any]
KeyT = TypeVar("KeyT")
ItemT = TypeVar("ItemT")


def read_record(
    record: Mapping[str, Any], readings: Mapping[str, FieldReader], what: str
) -> dict[str, Any]:
    """All fields that ``readings`` names, and no others."""
    validation.known_fields(record, readings, what)
    missing = [name for name in readings if name not in record]
    if missing:
        raise InvalidInput(f"{what} lacks {missing[0]}.")
    return {name: reading(record[name], name) for name, reading in readings.items()}


def add_once(items: dict[KeyT, ItemT], key: KeyT, item: ItemT) -> None:
    if key in items:
        raise InvalidInput(f"It repeats {key!r}.")
    items[key] = item


def whole_number(low: int, high: int = 2**62) -> FieldReader:
    return lambda value, field: validation.integer(value, field, low, high)


def optional(reading: FieldReader) -> FieldReader:
    return lambda value, field: None if value is None else reading(value, field)


def one_of(choices: type[StrEnum]) -> FieldReader:
    return lambda value, field: validation.choice(value, field, choices, {})


def fraction(value: object, field: str) -> float:
    return validation.number(value, field, 0, 1)


def metadata(value: object, field: str) -> dict[str, Any]:
    return validation.metadata(value, field, validation.MAX_KEPT_METADATA)


def reference(value: object, field: str) -> str:
    """An id with a prefix or a version number: a little longer than a word."""
    return validation.text(value, field, 2 * validation.MAX_WORD)


def exact_text(limit: int) -> FieldReader:
    """Text to the letter, not even trimmed: a path that is spelled otherwise is another one."""

    def reading(value: Any, field: str) -> str:
        validation.text(value, field, limit)
        if len(value) > limit:
            raise TooLong(f"{field} has {len(value):,} characters; the limit is {limit:,}.")
        return str(value)

    return reading


count = whole_number(0)
word, when = optional(validation.word), optional(validation.when)


MAX_PARTICIPANTS = 100_000  # of people: a channel's whole history is one source
MAX_RAW_LENGTH = 4 * (MAX_ORIGINAL_BYTES // 3 + 1)  # in base64

# Whoever imports a source owns it.
_OMITTED_SOURCE_FIELDS = frozenset({"user_id", "team_id"})
_SOURCE_ID_PATTERN = re.compile(r"source:[^\s#@]{1,150}")


@dataclass(frozen=True, slots=True)
class WholeSource:
    """A source with all that is kept of it."""

    source: Source
    original: tuple[bytes, ...]  # part by part
    passages: tuple[Passage, ...]


def source_lines(whole: WholeSource) -> Iterator[dict[str, Any]]:
    source = whole.source
    told = {
        f.name: getattr(source, f.name)
        for f in fields(source)
        if f.name not in _OMITTED_SOURCE_FIELDS
    }
    yield {"type": "source", **told}
    for part, raw in enumerate(whole.original, 1):
        encoded = base64.b64encode(raw).decode("ascii")
        yield {"type": "original", "source_id": source.id, "part": part, "raw": encoded}
    for passage in whole.passages:
        yield {"type": "passage", **{name: getattr(passage, name) for name in _PASSAGE}}


@dataclass(slots=True)
class _SourceBuilder:
    source: Source
    original: list[bytes] = field(default_factory=list)
    passages: list[Passage] = field(default_factory=list)


class SourceReader:
    """Takes lines about sources. What belongs to one comes after it, in its order."""

    def __init__(self, user_id: str):
        self._user_id = user_id
        self._arriving: dict[str, _SourceBuilder] = {}
        self._names: dict[tuple[str, str], str] = {}

    def take_source(self, record: Mapping[str, Any]) -> None:
        source = _decode_source(record, self._user_id)
        add_once(self._arriving, source.id, _SourceBuilder(source))
        add_once(self._names, (source.origin, source.external_id), source.id)

    def take_original(self, record: Mapping[str, Any]) -> None:
        values = read_record(record, _ORIGINAL, "An original")
        arriving = self._of(values["source_id"])
        _require_next(values["part"], len(arriving.original), arriving.source.parts, "part")
        arriving.original.append(values["raw"])

    def take_passage(self, record: Mapping[str, Any]) -> None:
        passage = Passage(**read_record(record, _PASSAGE, "A passage"))
        arriving = self._of(passage.source_id)
        _require_next(passage.number, len(arriving.passages), arriving.source.passages, "passage")
        arriving.passages.append(passage)

    def _of(self, id: str) -> _SourceBuilder:
        if id not in self._arriving:
            raise InvalidInput(f"It belongs to {id!r}, which no earlier line defines.")
        return self._arriving[id]

    def sources(self) -> tuple[WholeSource, ...]:
        return tuple(map(_finish_source, self._arriving.values()))


def _require_next(place: int, there: int, wanted: int, what: str) -> None:
    if place != there + 1:
        raise InvalidInput(f"{what} {place} comes where {what} {there + 1} is wanted.")
    if place > wanted:
        raise InvalidInput(f"{what} {place} is one more than its source has.")


def _finish_source(arriving: _SourceBuilder) -> WholeSource:
    source = arriving.source
    if len(arriving.original) < source.parts or len(arriving.passages) < source.passages:
        raise InvalidInput(f"The file is truncated: {source.id} is incomplete.")
    if source.digest != reduce(
        lambda before, raw: original_digest(raw, before), arriving.original, ""
    ):
        raise InvalidInput(f"The original of {source.id} does not match its digest.")
    return WholeSource(source, tuple(arriving.original), tuple(arriving.passages))


# ——— how each field is read ———


def _source_id(value: object, field: str) -> str:
    id = validation.word(value, field)
    if not _SOURCE_ID_PATTERN.fullmatch(id):
        raise InvalidInput(f"{field} is not a source id: {id[:40]!r}.")
    return id


def _raw(value: object, field: str) -> bytes:
    if not isinstance(value, str):
        raise InvalidInput(f"{field} must be base64.")
    if len(value) > MAX_RAW_LENGTH:
        raise TooLong(f"{field} is larger than {MAX_ORIGINAL_BYTES:,} bytes.")
    try:
        return base64.b64decode(value, validate=True)
    except ValueError:
        raise InvalidInput(f"{field} must be base64.") from None


def _empty_or(reading: FieldReader) -> FieldReader:
    return lambda value, field: "" if value == "" else reading(value, field)


def _provenance(value: object, field: str) -> dict[str, Any]:
    """Checked, and kept to the letter: a path is in it."""
    metadata(value, field)
    assert isinstance(value, Mapping)
    return dict(value)


def _people_names(value: object, field: str) -> tuple[str, ...]:
    return validation.words(value, field, MAX_PARTICIPANTS)


def _state(value: object, field: str) -> State:
    state = validation.choice(value, field, State, {})
    if state not in (State.ACTIVE, State.SOFT_DELETED):
        raise InvalidInput(f"A source is never {state}.")
    return state


_alias, _passage_text = exact_text(MAX_ALIAS_BYTES), exact_text(validation.MAX_CONTENT)
_short_name = optional(exact_text(validation.MAX_WORD))

_SOURCE: dict[str, FieldReader] = {
    "id": _source_id,
    "origin": _alias,
    "external_id": _alias,
    "source_type": one_of(SourceType),
    "content_type": one_of(ContentType),
    "created_at": validation.when,
    "updated_at": validation.when,
    "context_type": optional(one_of(ContextType)),
    "title": _empty_or(_passage_text),
    "summary": _empty_or(_passage_text),
    "keywords": validation.words,
    "tags": _people_names,
    "participants": _people_names,
    "provenance": _provenance,
    "thread_id": word,
    "sensitivity": one_of(Sensitivity),
    "ttl_policy": one_of(TtlPolicy),
    "status": one_of(ProcessingStatus),
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
    "digest": validation.word,
    "version": whole_number(1),
}
_ORIGINAL: dict[str, FieldReader] = {
    "source_id": _source_id,
    "part": whole_number(1, MAX_PARTS),
    "raw": _raw,
}
_PASSAGE: dict[str, FieldReader] = {
    "source_id": _source_id,
    "number": whole_number(1),
    "turn": whole_number(1),
    "text": _passage_text,
    "speaker": _short_name,
    "role": _short_name,
    "at": validation.when,
    "session": _short_name,
    "label": _short_name,
    "suspicious": validation.flag,
}


def _decode_source(record: Mapping[str, Any], user_id: str) -> Source:
    told = {"ttl_policy": TtlPolicy.DECAY, **record}  # older files do not say
    source = Source(user_id=user_id, **read_record(told, _SOURCE, "A source"))
    check_alias(source.origin, source.external_id)
    if (source.state is State.SOFT_DELETED) != (source.purge_at is not None):
        raise InvalidInput("A source has a day to be purged exactly when it is forgotten.")
    if user_id in source.participants:
        return source
    return source.evolve(participants=(user_id, *source.participants))


def encode_proposal(proposal: Proposal) -> dict[str, Any]:
    return asdict(proposal)


def decode_proposal(record: Mapping[str, Any]) -> Proposal:
    values = read_record(record, _PROPOSAL, "A proposal")
    values["value"] = read_field_value(values["name"], values["value"])
    if values["ends_at"] < values["proposed_at"]:
        raise InvalidInput("The proposal ends before it begins.")
    return Proposal(**values)


def _proposal_id(value: object, field: str) -> str:
    id = validation.word(value, field)
    if not id.startswith(PROPOSAL_PREFIX):
        raise InvalidInput(f"The id of a proposal begins with {PROPOSAL_PREFIX}", field=field)
    return id


def _signals(value: object, field: str) -> tuple[Signal, ...]:
    if not isinstance(value, list) or not 0 < len(value) <= MAX_SIGNALS:
        raise InvalidInput(f"A proposal has 1 to {MAX_SIGNALS} {field}.")
    return tuple(Signal(**read_record(each, _SIGNAL, "A signal")) for each in value)


_SIGNAL: dict[str, FieldReader] = {
    "actor": reference,
    "at": validation.when,
    "kind": one_of(SignalKind),
    "confidence": optional(fraction),
    "thread": word,
    "evidence": validation.texts,
    "source_id": word,
    "memory_id": word,
}
_PROPOSAL: dict[str, FieldReader] = {
    "id": _proposal_id,
    "name": lambda value, field: field_name(value),
    "value": lambda value, field: value,
    "signals": _signals,
    "reason": lambda value, field: (
        validation.text(value, field, validation.MAX_SENTENCE) if value else ""
    ),
    "proposed_at": validation.when,
    "ends_at": validation.when,
}


_MAX_SCORE = 1_000_000.0  # a score, and a part of one, is a small number


def encode_logged(logged: RecallLogEntry) -> dict[str, Any]:
    return {
        "id": logged.id,
        "thread": logged.thread,
        "turn": logged.turn,
        "agent": logged.agent,
        "at": logged.at,
        "verb": logged.search.verb,
        "asked": logged.search.asked,
        "returned": [
            {"id": hit.id, "score": hit.score, "why": hit.why, "parts": dict(hit.parts)}
            for hit in logged.search.returned
        ],
    }


def decode_logged(record: Mapping[str, Any]) -> RecallLogEntry:
    values = read_record(record, _SEARCH, "A search")
    search = LoggedSearch(values.pop("verb"), values.pop("asked"), values.pop("returned"))
    return RecallLogEntry(**values, search=search)


def _score(value: object, field: str) -> float:
    return validation.number(value, field, -_MAX_SCORE, _MAX_SCORE)


def _parts(value: object, field: str) -> dict[str, float]:
    if not isinstance(value, Mapping):
        raise InvalidInput(f"{field} must be a map of names to numbers.", field=field)
    return {validation.word(name, field): _score(part, field) for name, part in value.items()}


def _returned_hits(value: object, field: str) -> tuple[LoggedHit, ...]:
    if not isinstance(value, list):
        raise InvalidInput(f"{field} must be a list.", field=field)
    return tuple(LoggedHit(**read_record(hit, _HIT, "A hit")) for hit in value)


_HIT: dict[str, FieldReader] = {
    "id": validation.id,
    "score": _score,
    "why": lambda value, field: validation.text(value, field) if value else "",
    "parts": _parts,
}
_SEARCH: dict[str, FieldReader] = {
    "id": validation.word,
    "thread": validation.word,
    "turn": count,
    "agent": word,
    "at": validation.when,
    "verb": validation.word,
    "asked": validation.text,
    "returned": _returned_hits,
}

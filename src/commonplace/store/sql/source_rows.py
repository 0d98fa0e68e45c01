"""Between sources and rows."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import fields
from datetime import datetime
from typing import Any

from commonplace.model.memory import Sensitivity, State
from commonplace.model.source import (
    ContentType,
    ContextType,
    Passage,
    Source,
    SourceType,
    Status,
)
from commonplace.model.ttl_policy import TtlPolicy
from commonplace.store.sql.rows import Row, exact_micros, instant, micros, moment, to_json

_NAMES = tuple(f.name for f in fields(Source))
_MOMENTS = tuple(name for name in _NAMES if name.endswith("_at"))
_LISTS = ("keywords", "tags", "participants")
_PASSAGE = ("unit", "id", "number", "turn", "text", "speaker", "role", "at", "session", "label")

SOURCE_COLUMNS = ", ".join(f"s.{name}" for name in _NAMES)
PASSAGE_COLUMNS = ", ".join(f"p.{name}" for name in (*_PASSAGE, "suspicious", "arrived_at"))

_DECODERS: dict[str, Callable[[Any], Any]] = {
    **dict.fromkeys(_MOMENTS, moment),
    **dict.fromkeys(_LISTS, lambda text: tuple(json.loads(text))),
    "provenance": json.loads,
    "source_type": SourceType,
    "content_type": ContentType,
    "context_type": lambda word: ContextType(word) if word else None,
    "sensitivity": Sensitivity,
    "ttl_policy": TtlPolicy,
    "status": Status,
    "state": State,
}


def source_from(row: Row) -> Source:
    named = zip(_NAMES, row, strict=True)
    return Source(**{n: _DECODERS[n](value) if n in _DECODERS else value for n, value in named})


def source_values(source: Source) -> dict[str, Any]:
    values: dict[str, Any] = {name: getattr(source, name) for name in _NAMES}
    for name in _MOMENTS:
        values[name] = micros(values[name])
    for name in (*_LISTS, "provenance"):
        values[name] = to_json(values[name])
    for name in ("source_type", "content_type", "sensitivity", "ttl_policy", "status", "state"):
        values[name] = str(values[name])
    values["context_type"] = str(source.context_type) if source.context_type else None
    values["ends_at"] = micros(source.ends_at)
    return values


def passage_values(passage: Passage, now: datetime) -> dict[str, Any]:
    return {
        "id": passage.source_id,
        "number": passage.number,
        "turn": passage.turn,
        "text": passage.text,
        "speaker": passage.speaker,
        "role": passage.role,
        "at": exact_micros(passage.at),
        "session": passage.session,
        "label": passage.label,
        "suspicious": int(passage.suspicious),
        "arrived_at": micros(passage.arrived_at or now),
    }


def passage_from(row: Row) -> tuple[int, Passage]:
    """With the unit it is found by."""
    unit, source_id, number, turn, text, speaker, role, at, session, label, *rest = row
    suspicious, arrived_at = rest
    return unit, Passage(
        source_id=source_id,
        number=number,
        turn=turn,
        text=text,
        speaker=speaker,
        role=role,
        at=instant(at),
        session=session,
        label=label,
        suspicious=bool(suspicious),
        arrived_at=moment(arrived_at),
    )

"""The recall log as lines of JSON: a line for each search."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from commonplace.errors import InvalidInput
from commonplace.model import check
from commonplace.model.portable_fields import Reading, count, read, word
from commonplace.model.recall_log import Logged, Returned, Search

_MOST = 1_000_000.0  # a score, and a part of one, is a small number


def logged_out(logged: Logged) -> dict[str, Any]:
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


def logged_in(record: Mapping[str, Any]) -> Logged:
    values = read(record, _SEARCH, "A search")
    search = Search(values.pop("verb"), values.pop("asked"), values.pop("returned"))
    return Logged(**values, search=search)


def _number(value: object, field: str) -> float:
    return check.number(value, field, -_MOST, _MOST)


def _parts(value: object, field: str) -> dict[str, float]:
    if not isinstance(value, Mapping):
        raise InvalidInput(f"{field} must be a map of names to numbers.", field=field)
    return {check.word(name, field): _number(part, field) for name, part in value.items()}


def _returned(value: object, field: str) -> tuple[Returned, ...]:
    if not isinstance(value, list):
        raise InvalidInput(f"{field} must be a list.", field=field)
    return tuple(Returned(**read(hit, _HIT, "A hit")) for hit in value)


_HIT: dict[str, Reading] = {
    "id": check.id,
    "score": _number,
    "why": lambda value, field: check.text(value, field) if value else "",
    "parts": _parts,
}
_SEARCH: dict[str, Reading] = {
    "id": check.word,
    "thread": check.word,
    "turn": count,
    "agent": word,
    "at": check.when,
    "verb": check.word,
    "asked": check.text,
    "returned": _returned,
}

"""Proposals as lines of an export."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from commonplace.errors import InvalidInput
from commonplace.model import check
from commonplace.model.consent import MAX_SIGNALS
from commonplace.model.portable_fields import Reading, maybe, one_of, read, reference, share, word
from commonplace.model.profile import field_name
from commonplace.model.profile_fields import field_value
from commonplace.model.proposal import PREFIX, Proposal, Signal, SignalKind


def proposal_out(proposal: Proposal) -> dict[str, Any]:
    return asdict(proposal)


def proposal_in(record: Mapping[str, Any]) -> Proposal:
    values = read(record, _PROPOSAL, "A proposal")
    values["value"] = field_value(values["name"], values["value"])
    if values["ends_at"] < values["proposed_at"]:
        raise InvalidInput("The proposal ends before it begins.")
    return Proposal(**values)


def _id(value: object, field: str) -> str:
    id = check.word(value, field)
    if not id.startswith(PREFIX):
        raise InvalidInput(f"The id of a proposal begins with {PREFIX}", field=field)
    return id


def _signals(value: object, field: str) -> tuple[Signal, ...]:
    if not isinstance(value, list) or not 0 < len(value) <= MAX_SIGNALS:
        raise InvalidInput(f"A proposal has 1 to {MAX_SIGNALS} {field}.")
    return tuple(Signal(**read(each, _SIGNAL, "A signal")) for each in value)


_SIGNAL: dict[str, Reading] = {
    "actor": reference,
    "at": check.when,
    "kind": one_of(SignalKind),
    "confidence": maybe(share),
    "thread": word,
    "evidence": check.texts,
    "source_id": word,
    "memory_id": word,
}
_PROPOSAL: dict[str, Reading] = {
    "id": _id,
    "name": lambda value, field: field_name(value),
    "value": lambda value, field: value,
    "signals": _signals,
    "reason": lambda value, field: check.text(value, field, check.MAX_SENTENCE) if value else "",
    "proposed_at": check.when,
    "ends_at": check.when,
}

"""A candidate as the fields of a memory that is asked for."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from commonplace.language.observing.candidate import Candidate


def fields_of(candidate: Candidate, said_at: datetime | None) -> dict[str, Any]:
    return {
        "kind": candidate.kind,
        "content": candidate.content,
        "metadata": dict(candidate.metadata) or None,
        "category": candidate.category,
        "facet": candidate.facet,
        "importance": candidate.importance,
        "confidence": candidate.confidence,
        "sensitivity": candidate.sensitivity,
        "evidence": candidate.evidence or None,
        "ttl_days": candidate.ttl_days,
        "valid_from": _since(candidate, said_at),
        "valid_to": candidate.valid_to,
    }


def _since(candidate: Candidate, said_at: datetime | None) -> datetime | None:
    """What is said holds since it was said, unless the words say otherwise."""
    until = candidate.valid_to
    over = until is not None and (said_at is None or until <= said_at)
    return candidate.valid_from or (None if over else said_at)

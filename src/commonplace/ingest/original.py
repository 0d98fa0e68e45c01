"""What comes in, what is said about it, and what became of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any

from commonplace.ingest.detect import Format
from commonplace.model.memory import Sensitivity
from commonplace.model.source import ContextType, Reading, SourceType
from commonplace.model.ttl_policy import TtlPolicy


class Outcome(StrEnum):
    """What became of an original that came in."""

    RECEIVED = "received"
    APPENDED = "appended"
    REPLACED = "replaced"  # the same name, another content
    UPDATED = "updated"  # it was there already; what is said about it was not
    UNCHANGED = "unchanged"  # it was there already
    FORGOTTEN = "forgotten"  # it was forgotten, and stays so until it is restored


@dataclass(frozen=True, slots=True, kw_only=True)
class Original:
    """What comes in, and what is said about it."""

    raw: bytes
    name: str | None = None  # of the file
    format: str | None = None
    origin: str | None = None
    external_id: str | None = None
    append: bool = False
    title: str | None = None
    date: datetime | None = None
    source_type: SourceType | None = None
    context_type: ContextType | None = None
    participants: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    sensitivity: Sensitivity | None = None
    ttl_policy: TtlPolicy | None = None
    thread_id: str | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Arriving:
    """An original that was read."""

    original: Original
    reading: Reading
    format: Format
    at: datetime
    day: datetime | None = None  # that it says it is of, where nobody else says one

    @property
    def is_named_by_itself(self) -> bool:
        """Its name was taken from what it says: whoever wrote it could write any."""
        return self.original.external_id is None and self.reading.external_id is not None

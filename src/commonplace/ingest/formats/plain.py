"""Text that is nothing but text: one turn, as it was written."""

from __future__ import annotations

from commonplace.ingest.decode import nothing_to_read, text_of
from commonplace.ingest.hints import Hints
from commonplace.model.source import ContentType, Reading, SourceType, Turn
from commonplace.model.text import stored_form


def read(raw: bytes | str, hints: Hints) -> Reading:
    text = stored_form(text_of(raw))
    if not text:
        raise nothing_to_read()
    return Reading(
        source_type=SourceType.FILE if hints.name else SourceType.TEXT_IMPORT,
        content_type=ContentType.TEXT_NOTE,
        turns=(Turn(text=text, at=hints.started_at),),
        title=hints.title or hints.readable_name,
        started_at=hints.started_at,
        ended_at=hints.started_at,
    )

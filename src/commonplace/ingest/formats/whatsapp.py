"""A chat as WhatsApp exports it: each message has its own time, and goes on to the next one's."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from commonplace.errors import InvalidInput
from commonplace.ingest.dated_lines import (
    DatedLine,
    dated_line,
    has_month_first,
    moment_of,
    written,
)
from commonplace.ingest.decode import nothing_to_read, text_of
from commonplace.ingest.hints import Hints
from commonplace.ingest.lenient import clean_text, clean_word
from commonplace.ingest.records import span, speakers
from commonplace.model.source import ContentType, Reading, SourceType, Turn


@dataclass(slots=True)
class _Message:
    line: DatedLine
    goes_on: list[str] = field(default_factory=list)


def read(raw: bytes | str, hints: Hints) -> Reading:
    messages = list(_messages(clean_text(text_of(raw))))
    if not messages:
        raise InvalidInput(
            "Not a WhatsApp export: no line begins like [04/02/2026, 19:04:02] Dana: …",
            remedy="Leave out the format to have it detected.",
            field="format",
        )
    month_first = has_month_first(message.line.stamp for message in messages)
    found = (_turn(message, month_first) for message in messages)
    turns = tuple(turn for turn in found if turn.text and turn.speaker)
    if not turns:
        raise nothing_to_read("The chat")
    first, last = span(turns)
    return Reading(
        source_type=SourceType.CHAT,
        content_type=ContentType.CONVERSATION,
        turns=turns,
        title=hints.title or hints.readable_name,
        participants=speakers(turns),
        started_at=first or hints.started_at,
        ended_at=last or hints.started_at,
    )


def _messages(text: str) -> Iterator[_Message]:
    current: _Message | None = None
    for line in text.split("\n"):
        found = dated_line(line)
        if found is None:
            if current is not None:
                current.goes_on.append(line)
            continue
        if current is not None:
            yield current
        current = _Message(found)
    if current is not None:
        yield current


def _turn(message: _Message, month_first: bool) -> Turn:
    """Its label is the stamp: of a chat that is exported again, what is known counts once."""
    line = message.line
    return Turn(
        text=clean_text(written((line.said, *message.goes_on))),
        speaker=clean_word(line.speaker or ""),
        at=moment_of(line.stamp, month_first),
        label=clean_word(line.stamp.written),
    )

"""The door: an original of any format becomes a Reading, or an error that says what to do."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from commonplace.errors import BadText, InvalidInput
from commonplace.ingest.decode import nothing_to_read, text_of
from commonplace.ingest.detect import Format, detect
from commonplace.ingest.formats import (
    conversation,
    email,
    markdown,
    page,
    plain,
    slack,
    transcript,
    whatsapp,
)
from commonplace.ingest.hints import Hints
from commonplace.model.check import choice
from commonplace.model.source import Reading

READERS: dict[Format, Callable[[bytes | str, Hints], Reading]] = {
    Format.TEXT: plain.read,
    Format.MARKDOWN: markdown.read,
    Format.HTML: page.read,
    Format.CONVERSATION: conversation.read,
    Format.EMAIL: email.read,
    Format.SLACK: slack.read,
    Format.TRANSCRIPT: transcript.read,
    Format.WHATSAPP: whatsapp.read,
}
_ALIASES = {
    "txt": "text",
    "md": "markdown",
    "jsonl": "conversation",
    "chat": "conversation",
    "eml": "email",
    "mail": "email",
    "vtt": "transcript",
    "srt": "transcript",
    "meeting": "transcript",
}


def read(
    raw: bytes | str,
    *,
    name: str | None = None,
    format: str | None = None,
    title: str | None = None,
    started_at: datetime | None = None,
) -> Reading:
    """What an original says. `format` is found out when it is not given."""
    if not isinstance(raw, bytes | str):
        raise InvalidInput(f"original must be text or bytes, not {type(raw).__name__}.")
    if not raw.strip():
        raise nothing_to_read()
    chosen = chosen_format(raw, name, format)
    return READERS[chosen](raw, Hints(name=name, title=title, started_at=started_at))


def chosen_format(raw: bytes | str, name: str | None, format: str | None) -> Format:
    """As it is said to be, or else as it looks."""
    return choice(format, "format", Format, _ALIASES) if format else format_of(raw, name)


def format_of(raw: bytes | str, name: str | None = None) -> Format:
    """The format; only mail may hold bytes that are no UTF-8, for it says itself what they are."""
    try:
        return detect(text_of(raw), name)
    except BadText:
        guess = detect(_readable(raw), name)
        if guess is Format.EMAIL:
            return guess
        raise


def _readable(raw: bytes | str) -> str:
    text = raw.decode("latin-1") if isinstance(raw, bytes) else raw
    return text.replace("\r\n", "\n")

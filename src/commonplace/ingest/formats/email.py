"""E-mail: one message (.eml). Whatever is wrong with it, what can be read of it is read."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime
from email import message_from_bytes
from email.message import Message
from email.utils import parsedate_to_datetime
from typing import Any

from commonplace.errors import InvalidInput
from commonplace.ingest.addresses import Person, people_in
from commonplace.ingest.decode import refuse_binary, refuse_size
from commonplace.ingest.forwards import Part, parts_of
from commonplace.ingest.hints import Hints
from commonplace.ingest.html_text import html_to_text
from commonplace.ingest.lenient import clean_text, clean_word
from commonplace.ingest.mail_text import decoded_words, header_text, part_text
from commonplace.ingest.quotes import cut_quotes
from commonplace.ingest.signatures import cut_signature
from commonplace.model import check
from commonplace.model.source import ContentType, ContextType, Reading, SourceType, Turn

_FORWARDS = re.compile(r"\s*(?:fwd?|wg|tr|rv|i|enc|fs|vs|הועבר)\s*:", re.I)
_PROSE = ("text/plain", "text/markdown", "text/enriched", "text/richtext")
_BOUNDARY = re.compile(r"\s*(?:--\S+|Content-[\w-]+:.*)\s*", re.I)
_MESSAGE_ID = re.compile(r"<([^<>\s]+)>")
_MAX_NAMES = 100  # of people, attachments, references


def read(raw: bytes | str, hints: Hints) -> Reading:
    message = _parsed(raw)
    subject = clean_word(header_text(message, "Subject"))
    at = _date(header_text(message, "Date")) or hints.started_at
    senders = _names(_people(message, "From"))
    receivers = _names(_people(message, "To", "Cc"))
    id = next(iter(_ids(message, "Message-ID")), None)
    speaker = senders[0] if senders else None
    parts = parts_of(_written_text(message, subject or ""))
    turns = tuple(_turns(parts, Turn(text="", speaker=speaker, at=at, label=id)))
    if not turns and subject:  # many a mail is all subject
        turns = (Turn(text=subject, speaker=speaker, at=at, label=id),)
    return Reading(
        source_type=SourceType.EMAIL,
        content_type=ContentType.EMAIL,
        context_type=ContextType.EMAIL_THREAD,
        turns=turns,
        title=hints.title or subject,
        participants=tuple(dict.fromkeys([*senders, *receivers, *_names(_writers(parts))])),
        started_at=at,
        ended_at=at,
        external_id=id,
        provenance=_provenance(message, _writers(parts)),
    )


def _parsed(raw: bytes | str) -> Message:
    refuse_size(raw)
    if isinstance(raw, str):
        raw = raw.encode("utf-8", "replace")
    refuse_binary(raw)
    try:
        # The older policy: the newer one raises when it meets some broken headers.
        return message_from_bytes(raw.lstrip(b"\r\n"))
    except RecursionError:
        raise InvalidInput("The email is nested too deeply.") from None


def _turns(parts: list[Part], own: Turn) -> Iterator[Turn]:
    """What its sender wrote, and what others did whose mails it passes on; without signatures."""
    for part in parts:
        writer = part.writer.shown if part.writer else None
        speaker = writer if part.is_forwarded else own.speaker
        if text := cut_signature(part.text, speaker):
            yield replace(own, text=text, speaker=speaker, at=part.at or own.at)


def _writers(parts: list[Part]) -> list[Person]:
    return [part.writer for part in parts if part.writer][:_MAX_NAMES]


def _written_text(message: Message, subject: str) -> str:
    """Without quotations."""
    body = "\n\n".join(part for part in _bodies(message) if part.strip())
    body = body or _stray_text(message)
    forwards = _FORWARDS.match(subject) is not None
    return cut_quotes(clean_text(body), forwards)


def _bodies(part: Message) -> Iterator[str]:
    """The texts of a mail in their order; of alternatives the plain one, if it says anything."""
    if _is_attached(part):
        return
    if part.get_content_type() == "multipart/alternative" and part.is_multipart():
        yield _best("\n\n".join(_bodies(inner)).strip() for inner in _plain_first(part))
    elif part.is_multipart():
        for inner in _parts(part):
            yield from _bodies(inner)
    elif part.get_content_type() == "text/html":
        yield html_to_text(part_text(part))
    elif part.get_content_type() in _PROSE:
        yield part_text(part)


def _stray_text(message: Message) -> str:
    """What stands outside the parts of a mail whose boundaries are wrong."""
    if message.get_content_maintype() != "multipart":
        return ""
    inside = "" if message.is_multipart() else part_text(message)
    pieces = (message.preamble, inside, message.epilogue)
    lines = "\n".join(piece for piece in pieces if piece).split("\n")
    return "\n".join(line for line in lines if not _BOUNDARY.fullmatch(line))


def _best(texts: Iterator[str]) -> str:
    return next((text for text in texts if text), "")


def _plain_first(part: Message) -> list[Message]:
    return sorted(_parts(part), key=lambda inner: inner.get_content_type() != "text/plain")


def _parts(part: Message) -> list[Message]:
    inner = part.get_payload()
    return [one for one in inner if isinstance(one, Message)] if isinstance(inner, list) else []


def _is_attached(part: Message) -> bool:
    """Whether a part is a file that hangs on the mail; a mail within a mail is one too."""
    if part.get_content_type() == "message/rfc822":
        return True
    return part.get_content_disposition() == "attachment" or bool(_filename(part))


def _filename(part: Message) -> str | None:
    try:
        return clean_word(decoded_words(part.get_filename() or ""))
    except (LookupError, ValueError, TypeError):  # a name in an encoding that does not exist
        return None


def _date(written: str) -> datetime | None:
    try:
        return check.when(parsedate_to_datetime(written), "Date")
    except (ValueError, TypeError, IndexError, OverflowError, InvalidInput):
        return None


def _people(message: Message, *headers: str) -> list[Person]:
    written = [value for name in headers for value in message.get_all(name, [])]
    return [person for value in written for person in people_in(str(value))][:_MAX_NAMES]


def _names(people: list[Person]) -> list[str]:
    """Names as people say them; the address of whoever gives none."""
    return [person.shown for person in people if person.shown]


def _ids(message: Message, header: str) -> tuple[str, ...]:
    written = header_text(message, header)
    found = _MESSAGE_ID.findall(written) or written.split()
    return tuple(dict.fromkeys(id for id in map(clean_word, found) if id))[:_MAX_NAMES]


def _provenance(message: Message, writers: list[Person]) -> dict[str, Any]:
    """Where it stands among other mails, and what hung on it."""
    told = {
        "in_reply_to": next(iter(_ids(message, "In-Reply-To")), None),
        "references": list(_ids(message, "References")),
        "attachments": _attachments(message),
        "addresses": _addresses([*_people(message, "From", "To", "Cc"), *writers]),
    }
    return {name: value for name, value in told.items() if value}


def _attachments(message: Message) -> list[str]:
    attached = [part for part in message.walk() if part is not message and _is_attached(part)]
    names = [_filename(part) or clean_word(part.get_content_type()) for part in attached]
    return [name for name in names if name][:_MAX_NAMES]


def _addresses(people: list[Person]) -> dict[str, str]:
    """The address of everybody who is named, so that a name can be told from its double."""
    return {one.name: one.address for one in people if one.name and one.address}

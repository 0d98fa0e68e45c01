"""E-mail messages (.eml): headers, addresses, bodies, forwarded messages.

Addresses are parsed here: the standard library's parser changed its behaviour for malformed lists
between patch releases, and rejects a whole list for one bad entry.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from email.feedparser import BytesFeedParser
from email.message import Message
from email.utils import parsedate_to_datetime
from itertools import pairwise
from typing import Any

from commonplace.engine.sources.formats.email_body import (
    FORWARDED_MARK,
    HEADER_LINE,
    ORIGINAL_MARK,
    cut_quotes,
    cut_signature,
    is_header,
)
from commonplace.engine.sources.formats.email_encoding import decoded_words, header_text, part_text
from commonplace.engine.sources.formats.html import html_to_text
from commonplace.engine.sources.formats.input import (
    ParseHints,
    clean_text,
    clean_word,
    refuse_binary,
    refuse_size,
)
from commonplace.errors import InvalidInput
from commonplace.model import validation
from commonplace.model.sources.source import (
    ContentType,
    ContextType,
    ParsedSource,
    SourceTurn,
    SourceType,
)

_CLOSES = {'"': '"', "<": ">", "(": ")"}
_ANGLE = re.compile(r"(.*?)<([^<>]*)>?.*", re.S)
_COMMENT = re.compile(r"\(([^()]*)\)")
_GROUP = re.compile(r"[^<>@\"]*:(?!//)")  # "Team: ana@x.org, dan@x.org;" names a list
_MAX_ADDRESS_HEADER = 50_000  # characters of a header that are parsed


@dataclass(frozen=True, slots=True)
class Mailbox:
    name: str | None
    address: str | None

    @property
    def shown(self) -> str | None:
        return self.name or self.address


def parse_mailboxes(header: str) -> list[Mailbox]:
    found = [_mailbox(entry) for entry in _entries(header[:_MAX_ADDRESS_HEADER])]
    return [person for person in found if person.shown]


def _entries(header: str) -> list[str]:
    """Split at commas and semicolons (Outlook) between mailboxes."""
    entries, entry, closing = [], "", ""
    for character in header:
        if closing:
            closing = "" if character == closing else closing
        elif character in ",;":
            entries.append(entry)
            entry = ""
            continue
        else:
            closing = _CLOSES.get(character, "")
        entry += character
    return [*entries, entry]


def _mailbox(entry: str) -> Mailbox:
    entry = _GROUP.sub("", entry, count=1) if _GROUP.match(entry) else entry
    angle = _ANGLE.fullmatch(entry)
    if angle is not None:
        name, address = angle.groups()
    else:
        comment = _COMMENT.search(entry)
        rest = _COMMENT.sub("", entry).strip()
        name, address = (comment[1] if comment else "", rest) if "@" in rest else (rest, "")
    return Mailbox(_plain_name(decoded_words(name)), clean_word(address))


def _plain_name(name: str) -> str | None:
    shown = clean_word(name.replace('\\"', "'").replace("\\", "")) or ""
    return shown.strip("\"' ") or None


_HEADER_REACH = 4  # lines between the marker of a forwarded mail and its header
_MARKS = re.compile(r"^[^:]*+:\*?\s*")
# "Mon, Apr 13, 2026 at 9:00 AM", the Gmail and Outlook format with the month first.
_MONTH_FIRST = re.compile(r"(?:\w+, )?([A-Z][a-z]{2})[a-z]*\.? (\d{1,2}),? (\d{4})(.*)")
_CLOCK_12H = re.compile(r"(\d{1,2}):(\d\d)(?::\d\d)?\s?([ap])\.?m\.?", re.IGNORECASE)
_BETWEEN_DATE_AND_TIME = re.compile(r",? (?:at|um|à|a las) ")
_NOON = 12


@dataclass(frozen=True, slots=True)
class EmailPart:
    """The text of one writer. For the sender's own part, writer and date are those of the mail."""

    text: str
    is_forwarded: bool = False
    writer: Mailbox | None = None
    at: datetime | None = None


def split_forwarded(text: str) -> list[EmailPart]:
    """The sender's own text, then each forwarded mail."""
    lines = text.split("\n")
    starts = _forward_starts(lines)
    own = "\n".join(lines[: starts[0] if starts else None]).strip()
    found = [EmailPart(own)] if own else []
    found += (_forwarded_part(lines[start:end]) for start, end in pairwise([*starts, len(lines)]))
    return found


def _forward_starts(lines: list[str]) -> list[int]:
    """The first lines of forwarded mails: a marker, or a header."""
    found: list[int] = []
    header_ends = 0
    for number, line in enumerate(lines):
        is_sign = FORWARDED_MARK.fullmatch(line) or ORIGINAL_MARK.fullmatch(line)
        if not is_sign and (number < header_ends or not is_header(lines, number)):
            continue
        if not found or is_sign or number - found[-1] > _HEADER_REACH:
            found.append(number)
        if not is_sign:
            header_ends = _end_of_header(lines, number)
    return found


def _end_of_header(lines: list[str], number: int) -> int:
    return next((n for n in range(number, len(lines)) if not lines[n].strip()), len(lines))


def _forwarded_part(lines: list[str]) -> EmailPart:
    """Remove the header if it names the writer, who becomes the passage's speaker."""
    whole = EmailPart("\n".join(lines).strip(), is_forwarded=True)
    header = next((n for n in range(len(lines)) if is_header(lines, n)), None)
    if header is None:
        return whole
    end = _end_of_header(lines, header)
    header_lines = lines[header:end]
    people = parse_mailboxes(_header_value(header_lines, "from"))
    if not people:
        return whole
    text = "\n".join(lines[end:]).strip()
    return replace(
        whole, text=text, writer=people[0], at=_forwarded_date(_header_value(header_lines, "when"))
    )


def _header_value(header: list[str], what: str) -> str:
    line = next((line for line in header if HEADER_LINE[what].fullmatch(line)), "")
    return _MARKS.sub("", line, count=1).strip().strip("*").strip()


def _forwarded_date(written: str) -> datetime | None:
    """None if the date cannot be parsed."""
    plain = _CLOCK_12H.sub(
        _to_24h, _BETWEEN_DATE_AND_TIME.sub(" ", written.replace("\u202f", " "), count=1)
    )
    month_first = _MONTH_FIRST.fullmatch(plain)
    if month_first is not None:
        month, day, year, rest = month_first.groups()
        plain = f"{day} {month} {year}{rest}"
    try:
        return validation.when(parsedate_to_datetime(plain), "Date")
    except (ValueError, TypeError, IndexError, OverflowError, InvalidInput):
        return None


def _to_24h(found: re.Match[str]) -> str:
    """9:00 PM is 21:00."""
    hour = int(found[1]) % _NOON + (_NOON if found[3].lower() == "p" else 0)
    return f"{hour:02}:{found[2]}"


_FORWARD_SUBJECT = re.compile(r"\s*(?:fwd?|wg|tr|rv|i|enc|fs|vs|הועבר)\s*:", re.I)
_PROSE = ("text/plain", "text/markdown", "text/enriched", "text/richtext")
_BOUNDARY = re.compile(r"\s*(?:--\S+|Content-[\w-]+:.*)\s*", re.I)
_MESSAGE_ID = re.compile(r"<([^<>\s]+)>")
_MAX_NAMES = 100  # people, attachments, references


def read(raw: bytes | str, hints: ParseHints) -> ParsedSource:
    message = _parsed(raw)
    subject = clean_word(header_text(message, "Subject"))
    at = _date(header_text(message, "Date")) or hints.started_at
    senders = _names(_people(message, "From"))
    receivers = _names(_people(message, "To", "Cc"))
    id = next(iter(_ids(message, "Message-ID")), None)
    speaker = senders[0] if senders else None
    parts = split_forwarded(_written_text(message, subject or ""))
    turns = tuple(_turns(parts, SourceTurn(text="", speaker=speaker, at=at, label=id)))
    if not turns and subject:  # a mail may consist of its subject only
        turns = (SourceTurn(text=subject, speaker=speaker, at=at, label=id),)
    return ParsedSource(
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
    raw = raw.lstrip(b"\r\n")
    parser = _BoundedParser(_BoundedMessage)
    for start in range(0, len(raw), _BYTES_AT_ONCE):
        parser.feed(raw[start : start + _BYTES_AT_ONCE])
    return parser.close()


_BYTES_AT_ONCE = 64 * 1024
_MAX_NESTING = 50  # of parts: each line is compared with the boundaries of all open ones
_MAX_PARAMETER_HEADER = 4000  # characters
_MAX_PARAMETERS = 100


class _BoundedParser(BytesFeedParser):
    """Has the older policy, the default: the newer one raises on some malformed headers."""

    def _new_message(self) -> None:
        if len(self._msgstack) > _MAX_NESTING:  # type: ignore[attr-defined]
            raise InvalidInput("The email is nested too deeply.")
        super()._new_message()  # type: ignore[misc]


class _BoundedMessage(Message):
    """A mail, or a part of one, whose parameters are parsed in linear time."""

    def get(self, name: str, failobj: Any = None) -> Any:
        """The standard library's parser of parameters ("; charset=utf-8") is quadratic."""
        value = super().get(name, failobj)
        if name.lower() not in ("content-type", "content-disposition") or value is failobj:
            return value
        parameters = str(value)[:_MAX_PARAMETER_HEADER].split(";", _MAX_PARAMETERS)
        return ";".join(parameters[:_MAX_PARAMETERS])


def _turns(parts: list[EmailPart], own: SourceTurn) -> Iterator[SourceTurn]:
    """The sender's text and the forwarded mails, without signatures."""
    for part in parts:
        writer = part.writer.shown if part.writer else None
        speaker = writer if part.is_forwarded else own.speaker
        if text := cut_signature(part.text, speaker):
            yield replace(own, text=text, speaker=speaker, at=part.at or own.at)


def _writers(parts: list[EmailPart]) -> list[Mailbox]:
    return [part.writer for part in parts if part.writer][:_MAX_NAMES]


def _written_text(message: Message, subject: str) -> str:
    """The body without quotations."""
    body = "\n\n".join(part for part in _bodies(message) if part.strip())
    body = body or _stray_text(message)
    forwards = _FORWARD_SUBJECT.match(subject) is not None
    return cut_quotes(clean_text(body), forwards)


def _bodies(part: Message) -> Iterator[str]:
    """The texts of a mail in order; of alternatives the plain one, unless it is empty."""
    if _is_attached(part):
        return
    if part.get_content_type() == "multipart/alternative" and part.is_multipart():
        yield _first_text("\n\n".join(_bodies(inner)).strip() for inner in _plain_first(part))
    elif part.is_multipart():
        for inner in _parts(part):
            yield from _bodies(inner)
    elif part.get_content_type() == "text/html":
        yield html_to_text(part_text(part))
    elif part.get_content_type() in _PROSE:
        yield part_text(part)


def _stray_text(message: Message) -> str:
    """The text outside the parts of a mail with wrong boundaries."""
    if message.get_content_maintype() != "multipart":
        return ""
    inside = "" if message.is_multipart() else part_text(message)
    pieces = (message.preamble, inside, message.epilogue)
    lines = "\n".join(piece for piece in pieces if piece).split("\n")
    return "\n".join(line for line in lines if not _BOUNDARY.fullmatch(line))


def _first_text(texts: Iterator[str]) -> str:
    return next((text for text in texts if text), "")


def _plain_first(part: Message) -> list[Message]:
    return sorted(_parts(part), key=lambda inner: inner.get_content_type() != "text/plain")


def _parts(part: Message) -> list[Message]:
    inner = part.get_payload()
    return [one for one in inner if isinstance(one, Message)] if isinstance(inner, list) else []


def _is_attached(part: Message) -> bool:
    """True for attached files and attached mails."""
    if part.get_content_type() == "message/rfc822":
        return True
    return part.get_content_disposition() == "attachment" or bool(_filename(part))


def _filename(part: Message) -> str | None:
    try:
        return clean_word(decoded_words(part.get_filename() or ""))
    except (LookupError, ValueError, TypeError):  # an unknown encoding
        return None


def _date(written: str) -> datetime | None:
    try:
        return validation.when(parsedate_to_datetime(written), "Date")
    except (ValueError, TypeError, IndexError, OverflowError, InvalidInput):
        return None


def _people(message: Message, *headers: str) -> list[Mailbox]:
    written = [value for name in headers for value in message.get_all(name, [])]
    return [person for value in written for person in parse_mailboxes(str(value))][:_MAX_NAMES]


def _names(people: list[Mailbox]) -> list[str]:
    """Display names; the address if there is none."""
    return [person.shown for person in people if person.shown]


def _ids(message: Message, header: str) -> tuple[str, ...]:
    written = header_text(message, header)
    found = _MESSAGE_ID.findall(written) or written.split()
    return tuple(dict.fromkeys(id for id in map(clean_word, found) if id))[:_MAX_NAMES]


def _provenance(message: Message, writers: list[Mailbox]) -> dict[str, Any]:
    """Its references to other mails, and its attachments."""
    fields = {
        "in_reply_to": next(iter(_ids(message, "In-Reply-To")), None),
        "references": list(_ids(message, "References")),
        "attachments": _attachments(message),
        "addresses": _addresses([*_people(message, "From", "To", "Cc"), *writers]),
    }
    return {name: value for name, value in fields.items() if value}


def _attachments(message: Message) -> list[str]:
    attached = [part for part in message.walk() if part is not message and _is_attached(part)]
    names = [_filename(part) or clean_word(part.get_content_type()) for part in attached]
    return [name for name in names if name][:_MAX_NAMES]


def _addresses(people: list[Mailbox]) -> dict[str, str]:
    """The address of each named person, to distinguish people with the same name."""
    return {one.name: one.address for one in people if one.name and one.address}

"""WhatsApp chat exports: dated lines, their speakers and times."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime

from commonplace.engine.sources.formats.input import (
    ParseHints,
    clean_text,
    clean_word,
    decode_text,
    empty_source_error,
    speakers_in,
    time_span_of,
)
from commonplace.errors import InvalidInput
from commonplace.model import validation
from commonplace.model.sources.source import ContentType, ParsedSource, SourceTurn, SourceType

_DIRECTION = re.compile("[\u200e\u200f\u202a-\u202e\u2066-\u2069]")  # invisible marks
_APP_MARK = "\u200e"  # precedes the app's own words in a message
_DATE = r"(?P<a>\d{1,4})[./-](?P<b>\d{1,2})[./-](?P<c>\d{4}|\d{1,2})"
_TIME = r"(?P<hour>\d{1,2})[:.](?P<minute>\d\d)(?:[:.](?P<second>\d\d))?"
_HALF = r"(?:\s?(?P<half>[ap])\.?\s?m\.?)?"
_LINE = re.compile(
    rf"\[?(?P<stamp>{_DATE}(?P<comma>,)?\s(?:at |à )?{_TIME}{_HALF})(?:\]|\s[-–—])"
    r"(?:\s+(?P<rest>.*))?",
    re.IGNORECASE,
)
_LONGEST_NAME = 80
_LAST_MONTH = 12
_NOON = 12

# Group notices of the app that contain a colon.
_GROUP_NOTICE = re.compile(
    r"\b(?:changed (?:the|this|their)|created (?:the |this )?group|joined using|security code"
    r"|end-to-end encrypted)\b",
    re.IGNORECASE,
)
# Lines of the app, even after a name.
_APP_NOTICE = re.compile(
    r"<?(?:media|image|video|audio|sticker|gif|document|contact card|video note) omitted>?"
    r"|<?המדיה (?:לא נכללה|הושמטה)>?|(?:התמונה|הסרטון|ההקלטה|הסטיקר|המסמך) הושמטה?"
    r"|.{1,120} \((?:file attached|הקובץ מצורף)\)"
    r"|(?:this message was|you) deleted(?: this message)?\.?|הודעה זו נמחקה\.?|מחקת הודעה זו\.?"
    r"|(?:missed|silenced) (?:group )?(?:voice|video) call\b.{0,60}|null"
    r"|waiting for this message\b.{0,60}"
    r"|messages and calls are end-to-end encrypted\b.*|ההודעות והשיחות מוצפנות מקצה לקצה.*"
    r"|.{1,60} joined using (?:this group's|a group|an) invite link\.?",
    re.IGNORECASE,
)
# Suffixes that the app adds to a message.
_APP_SUFFIX = re.compile(
    r"<(?:attached: [^<>]*|this message was edited|ההודעה נערכה)>", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class WhatsAppStamp:
    """A line's date and time. The order of day and month can only be inferred from all lines."""

    written: str
    date: tuple[int, int, int]
    time: tuple[int, int, int]
    is_plain: bool  # a format that program logs do not use

    @property
    def has_year_first(self) -> bool:
        return self.date[0] > 31


@dataclass(frozen=True, slots=True)
class WhatsAppLine:
    stamp: WhatsAppStamp
    speaker: str | None  # None: a notice of the app
    text: str = ""


def parse_whatsapp_line(line: str) -> WhatsAppLine | None:
    """None if the line continues the message before it."""
    found = _LINE.fullmatch(_DIRECTION.sub("", line).strip())
    if found is None:
        return None
    stamp, rest = _stamp(found), found["rest"] or ""
    head, colon, said = rest.partition(":")
    name = head.removeprefix("~").strip()  # "~" before the names of people who are no contacts
    is_message = colon and 0 < len(name) <= _LONGEST_NAME and (not said or said[0].isspace())
    if not is_message or _GROUP_NOTICE.search(name):
        return WhatsAppLine(stamp, None)
    return WhatsAppLine(stamp, name, "" if _is_app_notice(line) else said.lstrip())


def _is_app_notice(line: str) -> bool:
    return f": {_APP_MARK}" in line and not _APP_SUFFIX.search(line)


def message_text(lines: Iterable[str]) -> str:
    """The text of a message without the app's additions."""
    plain = (_without_suffixes(_DIRECTION.sub("", line)).rstrip() for line in lines)
    return "\n".join(line for line in plain if not _APP_NOTICE.fullmatch(line.strip())).strip()


def _without_suffixes(line: str) -> str:
    """Without the app's suffixes and the space before each."""
    *before, last = _APP_SUFFIX.split(line)
    return "".join([*(part.rstrip() for part in before), last])


def _stamp(found: re.Match[str]) -> WhatsAppStamp:
    hour = int(found["hour"])
    if found["half"] and hour <= _NOON:
        hour = hour % _NOON + (_NOON if found["half"] in "pP" else 0)
    date = (int(found["a"]), int(found["b"]), int(found["c"]))
    time = (hour, int(found["minute"]), int(found["second"] or 0))
    is_plain = found["comma"] is not None or len(found["a"]) <= len("31")
    return WhatsAppStamp(found["stamp"], date, time, is_plain)


# ——— order of day and month ———


def has_month_first(stamps: Iterable[WhatsAppStamp]) -> bool:
    """True if a second number above 12 proves it; by default the day is first, as everywhere but in
    the United States."""
    dates = [stamp.date for stamp in stamps if not stamp.has_year_first]
    has_day_first = any(first > _LAST_MONTH for first, _, _ in dates)
    return not has_day_first and any(second > _LAST_MONTH for _, second, _ in dates)


def stamp_moment(stamp: WhatsAppStamp, month_first: bool) -> datetime | None:
    """Without a time zone; None for an invalid date."""
    first, second, third = stamp.date
    if stamp.has_year_first:
        year, month, day = first, second, third
    else:
        month, day = (first, second) if month_first else (second, first)
        year = third
    year += 2000 if year < 100 else 0
    try:
        return validation.when(datetime(year, month, day, *stamp.time, tzinfo=UTC), "time")
    except (ValueError, InvalidInput):
        return None


@dataclass(slots=True)
class _WhatsAppMessage:
    line: WhatsAppLine
    goes_on: list[str] = field(default_factory=list)


def read(raw: bytes | str, hints: ParseHints) -> ParsedSource:
    messages = list(_messages(clean_text(decode_text(raw))))
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
        raise empty_source_error("The chat")
    first, last = time_span_of(turns)
    return ParsedSource(
        source_type=SourceType.CHAT,
        content_type=ContentType.CONVERSATION,
        turns=turns,
        title=hints.title or hints.readable_name,
        participants=speakers_in(turns),
        started_at=first or hints.started_at,
        ended_at=last or hints.started_at,
    )


def _messages(text: str) -> Iterator[_WhatsAppMessage]:
    current: _WhatsAppMessage | None = None
    for line in text.split("\n"):
        found = parse_whatsapp_line(line)
        if found is None:
            if current is not None:
                current.goes_on.append(line)
            continue
        if current is not None:
            yield current
        current = _WhatsAppMessage(found)
    if current is not None:
        yield current


def _turn(message: _WhatsAppMessage, month_first: bool) -> SourceTurn:
    """The label is the time stamp, so that messages of a repeated export count once."""
    line = message.line
    return SourceTurn(
        text=clean_text(message_text((line.text, *message.goes_on))),
        speaker=clean_word(line.speaker or ""),
        at=stamp_moment(line.stamp, month_first),
        label=clean_word(line.stamp.written),
    )

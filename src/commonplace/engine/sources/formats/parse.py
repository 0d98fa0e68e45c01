"""Format detection and dispatch: an original of any format becomes a ParsedSource."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from datetime import datetime

from commonplace.engine.sources.formats import (
    conversation,
    email,
    html,
    plain_text,
    slack,
    transcript,
    whatsapp,
)
from commonplace.engine.sources.formats.input import ParseHints, decode_text, empty_source_error
from commonplace.engine.sources.formats.transcript import TIMING, speaker_line
from commonplace.engine.sources.formats.whatsapp import parse_whatsapp_line
from commonplace.errors import BadText, InvalidInput
from commonplace.language.safety.secrets import redact_secrets
from commonplace.model.parameters import SourceFormat
from commonplace.model.sources.source import ParsedSource, SourceTurn
from commonplace.model.validation import choice

# By file extension. For others (.txt, .json, .log, none) the content decides.
BY_ENDING = {
    ".md": SourceFormat.MARKDOWN,
    ".markdown": SourceFormat.MARKDOWN,
    ".html": SourceFormat.HTML,
    ".htm": SourceFormat.HTML,
    ".jsonl": SourceFormat.CONVERSATION,
    ".ndjson": SourceFormat.CONVERSATION,
    ".eml": SourceFormat.EMAIL,
    ".vtt": SourceFormat.TRANSCRIPT,
    ".srt": SourceFormat.TRANSCRIPT,
}

_DETECTED_ON = 20_000  # characters at the beginning
_ENOUGH_LINES = 2
_LEAST_SPOKEN_SHARE = 0.6
_LINES_EACH = 1.5  # of each speaker, on average; entries of a form have one each
_WORDS_OF_A_SENTENCE = 4  # without final punctuation; fewer: a form ("Milk: 2")

_SENTENCE_END = re.compile(r"[.?!…][\"'”’»)]*\Z")
_MAIL_HEADER = re.compile(r"(?:From |[A-Za-z][A-Za-z0-9-]*:).*")
_ONLY_IN_MAIL = """
from to cc subject date message-id received return-path mime-version content-type delivered-to
reply-to in-reply-to
"""
_MAIL_HEADERS = frozenset(_ONLY_IN_MAIL.split())
_HTML = re.compile(r"\s*(?:<!doctype html|<html|<body|<div|<p>|<head)", re.I)
_SLACK_TIME = re.compile(r'"ts"\s*:\s*"\d{9,}\.\d+"')
_FENCE = re.compile(r"\s*```")
_LIST_ITEM = re.compile(r"\s*(?:[-*•]|\d{1,2}[.)])\s")
_MARKDOWN_HEADING = re.compile(r"^ {0,3}#{1,6} \S", re.M)


def detect_format(text: str, name: str | None = None) -> SourceFormat:
    """The format of a text; plain text if no other matches."""
    ending = _ending(name)
    if ending in BY_ENDING:
        return BY_ENDING[ending]
    beginning = text[:_DETECTED_ON]
    return next((format for format, fits in BY_CONTENT if fits(beginning)), SourceFormat.TEXT)


def _ending(name: str | None) -> str:
    _, dot, ending = (name or "").casefold().rpartition(".")
    return dot + ending


def _is_slack(text: str) -> bool:
    """A list of messages with Slack's `ts`: seconds and a fraction, as text."""
    holds_list = text.lstrip().startswith("[") or '"messages"' in text
    is_ours = '"speaker"' in text or '"role"' in text
    return holds_list and not is_ours and _SLACK_TIME.search(text) is not None


def _is_conversation(text: str) -> bool:
    """JSON Lines, or a list, of objects."""
    stripped = text.lstrip()
    if re.match(r"\[\s*\{", stripped):
        return '"text"' in stripped or '"content"' in stripped
    first = stripped.split("\n", 1)[0]
    if not first.startswith("{"):
        return False
    try:
        return isinstance(json.loads(first), dict)
    except (ValueError, RecursionError):
        # Malformed, or one object on several lines: JSON if it has the keys of a log.
        return re.search(r'"(?:text|content|messages|role|speaker)"\s*:', text) is not None


def _is_subtitles(text: str) -> bool:
    return text.startswith("WEBVTT") or any(TIMING.fullmatch(line) for line in text.split("\n")[:8])


def _is_mail(text: str) -> bool:
    """Header lines up to an empty line: two mail headers, and a date, an address or a hyphen."""
    lines = text.split("\n\n", 1)[0].split("\n")
    if not _MAIL_HEADER.match(lines[0]):
        return False
    if not all(_MAIL_HEADER.match(line) or line[:1] in (" ", "\t") for line in lines):
        return False
    names = {line.partition(":")[0].casefold() for line in lines}
    is_technical = "@" in "".join(lines) or any("-" in name or name == "date" for name in names)
    return is_technical and len(names & _MAIL_HEADERS) >= _ENOUGH_LINES


def _is_whatsapp(text: str) -> bool:
    """The first line matches; one message is enough if its format is specific to chats."""
    lines = [line for line in text.split("\n") if line.strip()]
    first = parse_whatsapp_line(lines[0]) if lines else None
    if first is None or not any(
        found and found.speaker for found in map(parse_whatsapp_line, lines)
    ):
        return False
    return first.stamp.is_plain or _is_spoken(text)


def _is_spoken(text: str) -> bool:
    """Most lines, including the first, name a speaker, speakers alternate and use sentences. A
    recipe may have "Flour: 500 g, sifted" twice, too."""
    lines = [speaker_line(line) for line in _speech_lines(text.split("\n"))][:200]
    found = [line for line in lines if line is not None]
    if len(found) <= _ENOUGH_LINES or len({line.speaker for line in found}) == len(found):
        return False
    if sum(line.clock is not None for line in found) >= len(found) / 2:
        return True
    first = next(place for place, line in enumerate(lines) if line is not None)
    sentences = sum(_is_sentence(line.text) for line in found)
    quantities = sum(line.text[:1].isdigit() for line in found)  # "500 g"
    return (
        len(found) >= _LEAST_SPOKEN_SHARE * len(lines[first:])
        and len(found) >= _LINES_EACH * len({line.speaker for line in found})
        and _somebody_answers([line.speaker for line in found])
        and quantities <= len(found) / 3 <= sentences
    )


def _speech_lines(lines: Iterable[str]) -> Iterator[str]:
    """The lines without code blocks and lists, which name no speakers."""
    is_pasted = False
    for line in lines:
        if _FENCE.match(line):
            is_pasted = not is_pasted
        elif line.strip() and not is_pasted and not _LIST_ITEM.match(line):
            yield line


def _somebody_answers(speakers: list[str]) -> bool:
    """True if a person speaks again after another."""
    began = {name: speakers.index(name) for name in speakers}
    return any(
        speakers[place - 1] != name and began[name] < place - 1
        for place, name in enumerate(speakers)
        if place
    )


def _is_sentence(text: str) -> bool:
    """True by final punctuation or by length."""
    return _SENTENCE_END.search(text) is not None or len(text.split()) >= _WORDS_OF_A_SENTENCE


def _is_html(text: str) -> bool:
    return _HTML.match(text) is not None and "</" in text


def _is_markdown(text: str) -> bool:
    return _MARKDOWN_HEADING.search(text) is not None


# The first match counts.
BY_CONTENT: tuple[tuple[SourceFormat, Callable[[str], bool]], ...] = (
    (SourceFormat.SLACK, _is_slack),
    (SourceFormat.CONVERSATION, _is_conversation),
    (SourceFormat.TRANSCRIPT, _is_subtitles),
    (SourceFormat.EMAIL, _is_mail),
    (SourceFormat.HTML, _is_html),
    (SourceFormat.WHATSAPP, _is_whatsapp),
    (SourceFormat.TRANSCRIPT, _is_spoken),
    (SourceFormat.MARKDOWN, _is_markdown),
)


READERS: dict[SourceFormat, Callable[[bytes | str, ParseHints], ParsedSource]] = {
    SourceFormat.TEXT: plain_text.read_plain_text,
    SourceFormat.MARKDOWN: plain_text.read_markdown,
    SourceFormat.HTML: html.read,
    SourceFormat.CONVERSATION: conversation.read,
    SourceFormat.EMAIL: email.read,
    SourceFormat.SLACK: slack.read,
    SourceFormat.TRANSCRIPT: transcript.read,
    SourceFormat.WHATSAPP: whatsapp.read,
}
_FORMAT_ALIASES = {
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


def parse_source(
    raw: bytes | str,
    *,
    name: str | None = None,
    format: str | None = None,
    title: str | None = None,
    started_at: datetime | None = None,
) -> ParsedSource:
    """Parse an original. `format` is detected if it is not given. Secrets are redacted here, in all
    formats: nothing that is derived from a source contains them."""
    if not isinstance(raw, bytes | str):
        raise InvalidInput(f"original must be text or bytes, not {type(raw).__name__}.")
    if not raw.strip():
        raise empty_source_error()
    chosen = choose_format(raw, name, format)
    hints = ParseHints(name=name, title=title, started_at=started_at)
    return _without_secrets(READERS[chosen](raw, hints))


def _without_secrets(reading: ParsedSource) -> ParsedSource:
    before = (None, *reading.turns)
    return replace(
        reading,
        title=reading.title and redact_secrets(reading.title),
        turns=tuple(map(_redacted, reading.turns, before)),
    )


def _redacted(turn: SourceTurn, before: SourceTurn | None) -> SourceTurn:
    asked = before.text if before and before.is_by_other(turn.speaker, turn.role) else None
    # Of a turn that nobody says, the label is a heading, otherwise the id of a message.
    is_heading = turn.label and not (turn.speaker or turn.role)
    label = redact_secrets(turn.label or "") if is_heading else turn.label
    return replace(turn, text=redact_secrets(turn.text, asked), label=label)


def choose_format(raw: bytes | str, name: str | None, format: str | None) -> SourceFormat:
    """The given format, else the detected one."""
    return (
        choice(format, "format", SourceFormat, _FORMAT_ALIASES) if format else format_of(raw, name)
    )


def format_of(raw: bytes | str, name: str | None = None) -> SourceFormat:
    """Detect the format. Only mail may be other than UTF-8: it declares its charsets."""
    try:
        return detect_format(decode_text(raw), name)
    except BadText:
        guess = detect_format(_as_latin1(raw), name)
        if guess is SourceFormat.EMAIL:
            return guess
        raise


def _as_latin1(raw: bytes | str) -> str:
    text = raw.decode("latin-1") if isinstance(raw, bytes) else raw
    return text.replace("\r\n", "\n")

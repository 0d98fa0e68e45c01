"""Conversations: JSON Lines or one JSON list of who said what when.

{"speaker": "Ana", "text": "Shall we meet?", "time": "2026-03-01T09:30:00Z", "session": "1"}
{"role": "user", "content": "Shall we meet?"}
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from commonplace.engine.sources.formats.input import (
    ParseHints,
    decode_text,
    empty_source_error,
    optional_text,
    optional_word,
    parse_json,
    parse_moment,
    speakers_in,
    time_span_of,
)
from commonplace.errors import InvalidInput, MissingField
from commonplace.model.sources.source import ContentType, ParsedSource, SourceTurn, SourceType

# Each field by the names that programs use; the first with a value counts.
SPEAKER = ("speaker", "name", "author", "from")
ROLE = ("role",)
TEXT = ("text", "content", "message")
TIME = ("time", "timestamp", "at", "date", "ts", "created_at")
SESSION = ("session", "session_id")
LABEL = ("id", "message_id", "uuid")

_ROLES = {"human": "user", "ai": "assistant", "bot": "assistant", "function": "tool"}
_LISTS = ("messages", "turns", "conversation")


def read(raw: bytes | str, hints: ParseHints) -> ParsedSource:
    found = [_turn(record, where) for record, where in _records(decode_text(raw))]
    turns = tuple(turn for turn in found if turn is not None)
    if not turns:
        raise empty_source_error("The conversation")
    first, last = time_span_of(turns)
    return ParsedSource(
        source_type=SourceType.CHAT,
        content_type=ContentType.CONVERSATION,
        turns=turns,
        title=hints.title,
        participants=speakers_in(turns),
        started_at=first or hints.started_at,
        ended_at=last or hints.started_at,
    )


def write_json_lines(turns: Iterable[SourceTurn]) -> bytes:
    """In the public conversation format, so that the same parser reads it."""
    records = [
        {
            "role": turn.role,
            "speaker": turn.speaker,
            "text": turn.text,
            "time": turn.at.isoformat() if turn.at else None,
            "session": turn.session,
            "id": turn.label,
        }
        for turn in turns
    ]
    filled = [{name: value for name, value in each.items() if value} for each in records]
    return "".join(json.dumps(each, ensure_ascii=False) + "\n" for each in filled).encode()


def _records(text: str) -> Iterator[tuple[Mapping[str, Any], str]]:
    """Each message with its position, for error messages."""
    if text.lstrip().startswith("["):
        yield from _listed(parse_json(text, "The conversation"))
        return
    lines = [(n, line) for n, line in enumerate(text.split("\n"), 1) if line.strip()]
    if len(lines) > 1 and lines[0][1].strip() == "{":  # one object on several lines
        whole = parse_json(text, "The conversation")
        inside = _list_inside(whole)
        yield from _listed([whole] if inside is None else inside)
        return
    for number, line in lines:
        record = parse_json(line, f"Line {number}")
        inside = _list_inside(record) if len(lines) == 1 else None
        if inside is not None:
            yield from _listed(inside)
            return
        yield _message(record, f"line {number}"), f"line {number}"


def _list_inside(whole: Any) -> list[Any] | None:
    """The list of messages inside an object."""
    if not isinstance(whole, Mapping):
        return None
    return next((whole[name] for name in _LISTS if isinstance(whole.get(name), list)), None)


def _listed(whole: list[Any]) -> Iterator[tuple[Mapping[str, Any], str]]:
    for number, record in enumerate(whole, 1):
        yield _message(record, f"message {number}"), f"message {number}"


def _message(record: object, where: str) -> Mapping[str, Any]:
    if not isinstance(record, Mapping):
        raise InvalidInput(
            f"{where.capitalize()} is not an object with a speaker and a text.",
            remedy='Write each message as {"speaker": …, "text": …, "time": …}.',
        )
    return record


def _turn(record: Mapping[str, Any], where: str) -> SourceTurn | None:
    if not any(name in record for name in TEXT):
        raise MissingField(f"{where.capitalize()} has neither text nor content.", field="text")
    text = _text(_first(record, TEXT), where)
    if text is None:  # a message with only tool calls
        return None
    role = optional_word(_first(record, ROLE), f"role in {where}")
    at = _first(record, TIME)
    return SourceTurn(
        text=text,
        speaker=optional_word(_first(record, SPEAKER), f"speaker in {where}"),
        role=_ROLES.get(role.casefold(), role.casefold()) if role else None,
        at=None if at is None else parse_moment(at, f"time in {where}"),
        session=optional_word(_first(record, SESSION), f"session in {where}"),
        label=optional_word(_first(record, LABEL), f"id in {where}"),
    )


def _first(record: Mapping[str, Any], names: tuple[str, ...]) -> Any:
    return next((record[name] for name in names if record.get(name) not in (None, "")), None)


def _text(value: object, where: str) -> str | None:
    """Plain text, or the texts of a list of parts, without images and tool calls."""
    if not isinstance(value, list):
        return optional_text(value, f"text in {where}")
    parts = [part.get("text") if isinstance(part, Mapping) else part for part in value]
    texts = [optional_text(part, f"text in {where}") for part in parts]
    return "\n".join(text for text in texts if text) or None

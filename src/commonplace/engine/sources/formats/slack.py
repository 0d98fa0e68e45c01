"""Slack exports: messages, users, threads, and Slack markup as plain text."""

from __future__ import annotations

import re
from collections.abc import Mapping
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
    unescape,
)
from commonplace.errors import InvalidInput
from commonplace.model.sources.source import ContentType, ParsedSource, SourceTurn, SourceType

_MARK = re.compile(r"<([@#!]?)([^<>|]*)(?:\|([^<>]*))?>")


def markup_to_text(text: str, names: Mapping[str, str]) -> str:
    return unescape(_MARK.sub(lambda mark: _mark_text(mark, names), text))


def _mark_text(mark: re.Match[str], names: Mapping[str, str]) -> str:
    sign, target, label = mark.groups()
    if sign == "@":
        return "@" + (names.get(target) or label or target)
    if sign == "#":
        return "#" + (label or target)
    if sign == "!":  # <!here>, <!subteam^S1|@designers>, <!date^123^{date}|1 March>
        return label or "@" + target.partition("^")[0]
    return label or target.removeprefix("mailto:")


# Messages of Slack itself.
_NOTICE_SUBTYPES = """
channel_join channel_leave channel_topic channel_purpose channel_name channel_archive
channel_unarchive channel_convert_to_private group_join group_leave group_topic group_purpose
group_name group_archive group_unarchive bot_add bot_remove pinned_item unpinned_item
message_deleted tombstone reminder_add sh_room_created joiner_notification
channel_posting_permissions
"""
_NOTICES = frozenset(_NOTICE_SUBTYPES.split())


def read(raw: bytes | str, hints: ParseHints) -> ParsedSource:
    whole = parse_json(decode_text(raw), "The Slack export")
    around = whole if isinstance(whole, Mapping) else {}
    names = _names(around.get("users"))
    messages = _messages(around.get("messages") if around else whole)
    channel = _channel(around.get("channel") or around.get("channel_name"))
    turns = _turns(messages, names)
    if not turns:
        raise empty_source_error("The Slack export")
    first, last = time_span_of(turns)
    return ParsedSource(
        source_type=SourceType.SLACK_THREAD,
        content_type=ContentType.SLACK_THREAD,
        turns=turns,
        title=hints.title or (f"#{channel}" if channel else None),
        participants=speakers_in(turns),
        started_at=first,
        ended_at=last,
        external_id=_external_id(around, channel, turns),
        provenance={"channel": channel} if channel else {},
    )


def _messages(found: object) -> list[Mapping[str, Any]]:
    if not isinstance(found, list):
        raise InvalidInput(
            "The Slack export holds no list of messages.",
            remedy='Give a list of messages, or {"messages": […], "channel": …, "users": …}.',
        )
    for number, message in enumerate(found, 1):
        if not isinstance(message, Mapping):
            raise InvalidInput(f"Message {number} of the Slack export is not an object.")
    return [_current(message) for message in found if message.get("subtype") not in _NOTICES]


def _current(message: Mapping[str, Any]) -> Mapping[str, Any]:
    """An edit contains the current message."""
    edited = message.get("message")
    is_edit = message.get("subtype") == "message_changed" and isinstance(edited, Mapping)
    return edited if is_edit and edited is not None else message


def _turns(messages: list[Mapping[str, Any]], names: Mapping[str, str]) -> tuple[SourceTurn, ...]:
    known = dict(names)
    for message in messages:
        user, name = message.get("user"), _own_name(message)
        if isinstance(user, str) and name:
            known.setdefault(user, name)
    found = [_turn(message, number, known) for number, message in enumerate(messages, 1)]
    return tuple(sorted((turn for turn in found if turn is not None), key=_when))


def _when(turn: SourceTurn) -> float:
    return turn.at.timestamp() if turn.at else 0.0


def _turn(message: Mapping[str, Any], number: int, names: Mapping[str, str]) -> SourceTurn | None:
    where = f"message {number}"
    written = _written(message, where)
    text = optional_text(markup_to_text(written, names), f"text in {where}") if written else None
    if text is None:
        return None
    ts = message.get("ts")
    return SourceTurn(
        text=text,
        speaker=_speaker(message, names, where),
        at=None if ts is None else parse_moment(ts, f"ts in {where}"),
        session=optional_word(message.get("thread_ts"), f"thread_ts in {where}"),
        label=optional_word(ts, f"ts in {where}") if isinstance(ts, str | int) else None,
    )


def _written(message: Mapping[str, Any], where: str) -> str | None:
    """The text; a bot's is often in an attachment."""
    text = optional_text(message.get("text"), f"text in {where}")
    attached = message.get("attachments")
    if text or not isinstance(attached, list):
        return text
    parts = [item.get("text") or item.get("fallback") for item in attached if _is_map(item)]
    texts = [optional_text(part, f"attachment in {where}") for part in parts]
    return "\n".join(part for part in texts if part) or None


def _is_map(value: object) -> bool:
    return isinstance(value, Mapping)


def _speaker(message: Mapping[str, Any], names: Mapping[str, str], where: str) -> str | None:
    user = message.get("user")
    listed = names.get(user) if isinstance(user, str) else None
    return optional_word(listed or _own_name(message) or user, f"user in {where}")


def _own_name(message: Mapping[str, Any]) -> str | None:
    """The writer's name in the message itself."""
    profile, bot = message.get("user_profile"), message.get("bot_profile")
    name = _profile_name(profile) or message.get("username") or _profile_name(bot)
    return name if isinstance(name, str) else None


def _profile_name(profile: object) -> str | None:
    if not isinstance(profile, Mapping):
        return None
    names = (profile.get(key) for key in ("real_name", "display_name", "name"))
    return next((name for name in names if isinstance(name, str) and name.strip()), None)


def _names(users: object) -> dict[str, str]:
    """Names by user id, from Slack's list of users or from a plain map."""
    if isinstance(users, Mapping):
        pairs = [(id, user) for id, user in users.items() if isinstance(id, str)]
    elif isinstance(users, list):
        pairs = [(user["id"], user) for user in users if _is_map(user) and "id" in user]
    else:
        pairs = []
    named = {id: user if isinstance(user, str) else _user_name(user) for id, user in pairs}
    return {id: name for id, name in named.items() if isinstance(id, str) and name}


def _user_name(user: object) -> str | None:
    if not isinstance(user, Mapping):
        return None
    return _profile_name({"real_name": user.get("real_name")}) or (
        _profile_name(user.get("profile")) or _profile_name(user)
    )


def _channel(channel: object) -> str | None:
    if isinstance(channel, Mapping):
        channel = channel.get("name") or channel.get("id")
    found = optional_word(channel, "channel")
    return found.lstrip("#") or None if found else None


def _external_id(
    around: Mapping[str, Any], channel: str | None, turns: tuple[SourceTurn, ...]
) -> str | None:
    """A thread is identified by its channel and its first message."""
    inner = around.get("channel")
    id = inner.get("id") if isinstance(inner, Mapping) else None
    place = optional_word(id or channel, "channel")
    threads = {turn.session for turn in turns}
    thread = threads.pop() if len(threads) == 1 else None
    return f"{place}/{thread}" if place and thread else None

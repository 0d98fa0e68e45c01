"""Plain text, Markdown, JSON conversations, Slack."""

import json
from datetime import UTC, datetime

import pytest

from commonplace.engine.sources.formats.parse import parse_source
from commonplace.errors import BadText, InvalidInput, MissingField
from commonplace.model.sources.source import ContentType, SourceType

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


def turns(raw, **hints):
    return [(turn.speaker, turn.text) for turn in parse_source(raw, **hints).turns]


def lines(*records):
    return "\n".join(json.dumps(record) for record in records)


# Text and Markdown


def test_text_parser_keeps_a_note_as_one_turn():
    reading = parse_source("  Buy milk.\r\n\r\nAnd eggs. ", started_at=NOON)
    assert [turn.text for turn in reading.turns] == ["Buy milk.\n\nAnd eggs."]
    assert reading.source_type is SourceType.TEXT_IMPORT
    assert reading.content_type is ContentType.TEXT_NOTE
    assert reading.turns[0].at == reading.started_at == NOON


def test_text_parser_title_comes_from_the_file_name_or_the_given_title():
    assert parse_source("hello", name="/home/ana/notes.txt").title == "notes"
    assert (
        parse_source("hello", name="/home/ana/meeting-notes_2026.txt").title == "meeting notes 2026"
    )
    assert parse_source("hello", name="/x/2026-03-01_standup.md").title == "2026-03-01 standup"
    assert parse_source("hello", name="/x/.txt").title == ".txt"
    assert parse_source("hello", name="notes.txt").source_type is SourceType.FILE
    assert parse_source("hello", name="notes.txt", title="Notes").title == "Notes"


def test_markdown_parser_makes_one_turn_per_section_with_heading_path():
    reading = parse_source(
        "Before.\n\n# Rome\n\nIn May.\n\n## Flights ##\n\nAt six.\n\n"
        "### Seats\n\n12A\n\n## Hotel\nNear.\n"
    )
    assert reading.title == "Rome"
    assert [turn.text for turn in reading.turns] == [
        "Before.",
        "Rome\n\nIn May.",
        "Rome › Flights\n\nAt six.",
        "Rome › Flights › Seats\n\n12A",
        "Rome › Hotel\n\nNear.",
    ]
    assert reading.turns[2].label == "Rome › Flights"


def test_markdown_parser_ignores_code_and_reads_underlined_headings():
    reading = parse_source("Plan\n====\n\n```\n# not a heading\n```\n\nDo C#\n", format="markdown")
    assert reading.title == "Plan"
    assert len(reading.turns) == 1
    assert "# not a heading" in reading.turns[0].text


def test_markdown_parser_skips_front_matter():
    reading = parse_source("---\ntitle: x\ntags: [a]\n---\n# Real\n\nText.\n", format="markdown")
    assert [turn.text for turn in reading.turns] == ["Real\n\nText."]


# Conversations


def test_conversation_parser_keeps_speaker_time_session_and_id():
    reading = parse_source(
        lines(
            {
                "speaker": "Ana",
                "text": "Hi",
                "time": "2026-03-01T12:00:00Z",
                "session": 1,
                "id": "a",
            },
            {"speaker": "דן", "text": "שלום", "time": "2026-03-01T14:05:00+02:00", "session": 1},
        )
    )
    first, second = reading.turns
    assert (first.speaker, first.text, first.at, first.session, first.label) == (
        "Ana",
        "Hi",
        NOON,
        "1",
        "a",
    )
    assert second.at == NOON.replace(minute=5)
    assert reading.participants == ("Ana", "דן")
    assert (reading.started_at, reading.ended_at) == (first.at, second.at)
    assert reading.content_type is ContentType.CONVERSATION
    assert reading.source_type is SourceType.CHAT


@pytest.mark.parametrize("name", ["time", "timestamp", "at", "date", "ts"])
@pytest.mark.parametrize(
    "value",
    ["2026-03-01T12:00:00", NOON.timestamp(), int(NOON.timestamp() * 1000), str(NOON.timestamp())],
)
def test_conversation_parser_reads_time_fields_in_all_formats(name, value):
    assert parse_source(lines({"speaker": "Ana", "text": "Hi", name: value})).turns[0].at == NOON


@pytest.mark.parametrize(
    ("value", "meant"),
    [
        ("20260301", NOON.replace(hour=0)),
        (20260301, NOON.replace(hour=0)),
        ("20260301T120000", NOON),
        ("202603011200", NOON),
        ("20260301120000", NOON),
    ],
)
def test_conversation_parser_reads_digit_only_dates(value, meant):
    assert parse_source(lines({"speaker": "Ana", "text": "Hi", "time": value})).turns[0].at == meant


@pytest.mark.parametrize("value", [5, "12.5", 2026, -1, "20261399", 1e10])
def test_conversation_parser_refuses_numbers_that_are_no_plausible_time(value):
    with pytest.raises(InvalidInput, match="time in line 1 is not a date"):
        parse_source(lines({"speaker": "Ana", "text": "Hi", "time": value}))


def test_conversation_parser_reads_assistant_logs_with_roles_and_parts():
    reading = parse_source(
        json.dumps(
            [
                {"role": "system", "content": "Be kind."},
                {
                    "role": "Human",
                    "name": "Ana",
                    "content": [
                        {"type": "text", "text": "Look:"},
                        {"type": "image_url", "image_url": {"url": "x"}},
                        {"type": "text", "text": "nice?"},
                    ],
                },
                {"role": "assistant", "content": None, "tool_calls": []},
                {"role": "assistant", "content": "Very."},
            ]
        )
    )
    assert [(turn.role, turn.speaker, turn.text) for turn in reading.turns] == [
        ("system", None, "Be kind."),
        ("user", "Ana", "Look:\nnice?"),
        ("assistant", None, "Very."),
    ]


def test_conversation_parser_reads_a_message_list_inside_an_object():
    whole = {"messages": [{"role": "user", "content": "Hi"}], "model": "m"}
    assert turns(json.dumps(whole)) == turns(json.dumps(whole, indent=1)) == [(None, "Hi")]


@pytest.mark.parametrize(
    ("raw", "error", "told"),
    [
        ('{"text": "a"}\n\n{"text": ', InvalidInput, "Line 3 is not valid JSON"),
        ('{"text": "a"}\n"just text"', InvalidInput, "Line 2 is not an object"),
        ('{"text": "a"}\n{"speaker": "Ana"}', MissingField, "Line 2 has neither text nor content"),
        ('{"text": "a"}\n{"text": 7}', InvalidInput, "text in line 2 must be text"),
        ('{"text": "a\\u0000b"}', BadText, "text in line 1 contains a NUL byte"),
        ('{"text": "a\\ud800"}', BadText, "text in line 1 contains a lone surrogate"),
        ('{"text": "a", "speaker": "x\\u0000"}', BadText, "speaker in line 1 contains a NUL"),
        ('{"text": "a", "time": "soon"}', InvalidInput, "time in line 1 is not a date"),
        ('{"text": "a", "time": 1e300}', InvalidInput, "time in line 1 is out of range"),
        ('{"text": "a", "time": true}', InvalidInput, "time in line 1 must be a time"),
        ('[{"text": "a"}, 3]', InvalidInput, "Message 2 is not an object"),
        ('{"text": ""}\n{"text": "  "}', BadText, "conversation is empty"),
        ("[" * 5000, InvalidInput, "not valid JSON"),
    ],
)
def test_conversation_parser_error_names_the_line(raw, error, told):
    with pytest.raises(error, match=told):
        parse_source(raw, format="conversation")


# Slack

EXPORT = {
    "channel": {"id": "C9", "name": "launch"},
    "users": [
        {"id": "U1", "name": "ana", "profile": {"real_name": "Ana Cohen"}},
        {"id": "U2", "real_name": "Dan"},
    ],
    "messages": [
        {
            "type": "message",
            "user": "U2",
            "ts": "1772366500.000200",
            "thread_ts": "1772366400.000100",
            "text": "<@U1> see <https://x.org/p|the plan> &amp; <https://x.org> "
            "in <#C1|general> <!here>",
        },
        {
            "type": "message",
            "user": "U1",
            "ts": "1772366400.000100",
            "thread_ts": "1772366400.000100",
            "text": "Launch in May?",
        },
        {
            "type": "message",
            "subtype": "channel_join",
            "user": "U2",
            "ts": "1772366300.0",
            "text": "joined",
        },
        {
            "type": "message",
            "user": "U3",
            "user_profile": {"real_name": "Noa"},
            "ts": "1772366600.0",
            "thread_ts": "1772366400.000100",
            "text": "Yes <@U3>",
        },
        {
            "subtype": "bot_message",
            "username": "Jira",
            "ts": "1772366700.0",
            "text": "",
            "thread_ts": "1772366400.000100",
            "attachments": [{"fallback": "PLAN-7 done"}],
        },
    ],
}


def test_slack_parser_orders_messages_and_resolves_names_and_links():
    reading = parse_source(json.dumps(EXPORT))
    assert [(turn.speaker, turn.text) for turn in reading.turns] == [
        ("Ana Cohen", "Launch in May?"),
        ("Dan", "@Ana Cohen see the plan & https://x.org in #general @here"),
        ("Noa", "Yes @Noa"),
        ("Jira", "PLAN-7 done"),
    ]
    assert reading.turns[0].at == datetime(2026, 3, 1, 12, 0, 0, 100, UTC)
    assert reading.turns[0].label == reading.turns[1].session == "1772366400.000100"
    assert reading.title == "#launch"
    assert reading.external_id == "C9/1772366400.000100"
    assert reading.provenance == {"channel": "launch"}
    assert reading.content_type is ContentType.SLACK_THREAD


def test_slack_parser_reads_a_bare_list_of_messages():
    raw = json.dumps([{"type": "message", "user": "U1", "ts": "1772366400.000100", "text": "Hi"}])
    assert turns(raw) == [("U1", "Hi")]


def test_slack_parser_uses_the_latest_text_of_an_edited_message():
    edit = {
        "subtype": "message_changed",
        "ts": "1772366402.0",
        "message": {"user": "U1", "ts": "1772366401.0", "text": "new"},
    }
    assert turns(json.dumps({"messages": [edit]}), format="slack") == [("U1", "new")]


@pytest.mark.parametrize(
    ("raw", "told"),
    [
        ("{}", "no list of messages"),
        ('{"messages": [3]}', "Message 1"),
        ('{"messages": []}', "empty"),
        ('{"messages": [{"ts": "never", "text": "a"}]}', "ts in message 1 is not a date"),
    ],
)
def test_slack_parser_refuses_a_malformed_export(raw, told):
    with pytest.raises(InvalidInput, match=told):
        parse_source(raw, format="slack")

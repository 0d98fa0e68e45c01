"""A chat as WhatsApp exports it: who wrote what, and when."""

from datetime import UTC, datetime

import pytest

from commonplace.engine.sources.formats.parse import parse_source
from commonplace.errors import BadText, InvalidInput
from commonplace.model.sources.source import ContentType, SourceType

IPHONE = (
    "[04/02/2026, 19:04:02] Dana: Yossi and I broke up last Tuesday\n"
    "[04/02/2026, 19:05:40] Maya: Oh no\n"
    "[05/02/2026, 08:00:00] Dana: It is better so"
)
ANDROID = (
    "04/02/2026, 19:04 - Dana: Yossi and I broke up last Tuesday\n"
    "04/02/2026, 19:05 - Maya: Oh no\n"
    "05/02/2026, 08:00 - Dana: It is better so"
)


def at(day, hour=0, minute=0, second=0, month=2):
    return datetime(2026, month, day, hour, minute, second, tzinfo=UTC)


def said(raw, **hints):
    return [(turn.speaker, turn.text) for turn in parse_source(raw, **hints).turns]


def days(*stamps):
    raw = "\n".join(f"[{stamp}] Dana: hello" for stamp in stamps)
    return [turn.at.date().isoformat() for turn in parse_source(raw).turns]


@pytest.mark.parametrize(
    ("raw", "times"),
    [
        (IPHONE, [at(4, 19, 4, 2), at(4, 19, 5, 40), at(5, 8)]),
        (ANDROID, [at(4, 19, 4), at(4, 19, 5), at(5, 8)]),
    ],
)
def test_whatsapp_parser_reads_speaker_and_time_of_each_message(raw, times):
    reading = parse_source(raw)
    assert [turn.at for turn in reading.turns] == times
    assert [turn.speaker for turn in reading.turns] == ["Dana", "Maya", "Dana"]
    assert (reading.started_at, reading.ended_at) == (times[0], times[-1])
    assert reading.participants == ("Dana", "Maya")
    assert (reading.source_type, reading.content_type) == (
        SourceType.CHAT,
        ContentType.CONVERSATION,
    )


def test_whatsapp_parser_message_times_override_started_at():
    assert parse_source(IPHONE, started_at=at(1, month=6)).turns[0].at == at(4, 19, 4, 2)


def test_whatsapp_parser_infers_the_date_order_from_a_number_above_twelve():
    assert days("2/4/26, 19:04", "2/13/26, 19:04") == ["2026-02-04", "2026-02-13"]
    assert days("2/4/26, 19:04", "13/4/26, 19:04") == ["2026-04-02", "2026-04-13"]


def test_whatsapp_parser_defaults_to_day_before_month():
    assert days("2/4/26, 19:04", "3/4/26, 19:04") == ["2026-04-02", "2026-04-03"]


def test_whatsapp_parser_reads_year_before_month():
    assert days("2026-02-04, 19:04:02", "2026/02/13, 19:04") == ["2026-02-04", "2026-02-13"]


@pytest.mark.parametrize(
    ("time", "hour"),
    [
        ("7:02\u202fPM", 19),
        ("7:02 pm", 19),
        ("7:02\u00a0p. m.", 19),
        ("12:02\u202fAM", 0),
        ("12:02\u202fPM", 12),
        ("7:02 a.m.", 7),
        ("19:02", 19),
    ],
)
def test_whatsapp_parser_reads_am_and_pm(time, hour):
    (turn,) = parse_source(f"04/02/2026, {time} - Dana: hello").turns
    assert turn.at == at(4, hour, 2)


def test_whatsapp_parser_joins_lines_without_a_timestamp():
    first = "[04/02/2026, 19:04:02] Dana: The list:\n- milk\n\nTom: no eggs"
    assert said(f"{first}\n[04/02/2026, 19:05:40] Ana: ok") == [
        ("Dana", "The list:\n- milk\n\nTom: no eggs"),
        ("Ana", "ok"),
    ]


@pytest.mark.parametrize(
    "line",
    [
        "04/02/2026, 19:02 - Messages and calls are end-to-end encrypted. Tap to learn more.",
        "04/02/2026, 19:02 - Dana: <Media omitted>",
        "04/02/2026, 19:02 - Dana joined using this group's invite link",
        '04/02/2026, 19:02 - Dana changed the subject from "Trip" to "Trip: Rome"',
        "04/02/2026, 19:02 - Dana left",
        "04/02/2026, 19:02 - Dana: This message was deleted",
        "04/02/2026, 19:02 - Dana: IMG-20260204-WA0001.jpg (file attached)",
        "04/02/2026, 19:02 - דנה: <המדיה לא נכללה>",
        "[04/02/2026, 19:02:00] Family: \u200eMessages and calls are end-to-end encrypted.",
        "[04/02/2026, 19:02:00] Dana: \u200eimage omitted",
        "[04/02/2026, 19:02:00] Dana: \u200eDana added Tom",
        "\u200e[04/02/2026, 19:02:00] Dana: \u200e<attached: 00000012-PHOTO.jpg>",
    ],
)
def test_whatsapp_parser_skips_system_and_media_messages(line):
    assert said(f"{line}\n{IPHONE.splitlines()[1]}") == [("Maya", "Oh no")]
    with pytest.raises(BadText):
        parse_source(line, format="whatsapp")


def test_whatsapp_parser_keeps_media_captions():
    assert said(f"{ANDROID}\n05/02/2026, 08:01 - Ana: <Media omitted>\nOur new flat")[-1] == (
        "Ana",
        "Our new flat",
    )
    line = "[05/02/2026, 08:01:00] Ana: Our flat \u200e<attached: 00000012-PHOTO.jpg>"
    assert said(line) == [("Ana", "Our flat")]


def test_whatsapp_parser_reads_names_and_phone_numbers_as_speakers():
    assert said(
        "[04/02/2026, 19:04:02] ~\u202fDana: hi\n"
        "[04/02/2026, 19:04:03] +972 54-123-4567: hi\n"
        "[04/02/2026, 19:04:04] דנה לוי: שלום"
    ) == [("Dana", "hi"), ("+972 54-123-4567", "hi"), ("דנה לוי", "שלום")]


def test_whatsapp_parser_refuses_other_text():
    with pytest.raises(InvalidInput):
        parse_source("Hello there.", format="whatsapp")

"""Meetings: who said what and when, without um and uh."""

from datetime import UTC, datetime, timedelta

import pytest

from commonplace.engine.sources.formats.disfluencies import remove_disfluencies
from commonplace.engine.sources.formats.parse import parse_source
from commonplace.errors import BadText
from commonplace.model.sources.source import ContentType, SourceType

NINE = datetime(2026, 3, 1, 9, tzinfo=UTC)

VTT = """\ufeffWEBVTT - weekly

NOTE
made by hand

STYLE
::cue { color: red }

1
00:00:01.000 --> 00:00:03.000 align:start
<v Ana Cohen>Um, good morning.</v>

2
00:00:03.000 --> 00:00:05.000
<v Ana Cohen>We <i>begin</i> &amp; end</v>
<v Dan>Fine.</v>

01:00:06.500 --> 01:00:07.000
Noa: Hello
all.
"""


def said(raw, **hints):
    return [(turn.speaker, turn.text) for turn in parse_source(raw, **hints).turns]


def test_webvtt_parser_reads_speakers_and_absolute_times():
    reading = parse_source(VTT, started_at=NINE, name="weekly.vtt")
    assert [(turn.speaker, turn.text) for turn in reading.turns] == [
        ("Ana Cohen", "Good morning. We begin & end"),
        ("Dan", "Fine."),
        ("Noa", "Hello all."),
    ]
    assert reading.turns[0].at == NINE.replace(second=1)
    assert reading.turns[2].at == datetime(2026, 3, 1, 10, 0, 6, 500_000, UTC)
    assert reading.participants == ("Ana Cohen", "Dan", "Noa")
    assert reading.started_at == NINE
    assert reading.ended_at == reading.turns[2].at
    assert reading.source_type is SourceType.MEETING
    assert reading.content_type is ContentType.MEETING


def test_webvtt_parser_without_start_date_keeps_the_offset_as_label():
    turn = parse_source(VTT).turns[1]
    assert turn.at is None
    assert turn.label == "00:00:03.000"


def test_srt_parser_keeps_the_speaker_until_the_next_name():
    raw = (
        "1\n00:00:01,000 --> 00:00:02,000\nAna: Hello\nto you\n\n"
        "2\n00:00:02,500 --> 00:00:04,000\n<b>all of you.</b>\n\n"
        "3\n00:00:05,000 --> 00:00:06,000\n{\\an8}Dan: Hi\n"
    )
    assert said(raw) == [("Ana", "Hello to you all of you."), ("Dan", "Hi")]


def test_srt_parser_keeps_text_repeated_in_two_cues():
    raw = (
        "1\n00:00:01,000 --> 00:00:02,000\nNo.\n\n2\n00:00:03,000 --> 00:00:04,000\nNo.\n\n"
        "3\n00:00:05,000 --> 00:00:06,000\nNot today.\n"
    )
    assert said(raw) == [(None, "No. No. Not today.")]


def test_webvtt_parser_deduplicates_rolling_captions():
    raw = (
        "WEBVTT\n\n00:01.000 --> 00:02.000\nwe start\n\n"
        "00:02.000 --> 00:03.000\nwe start\nwith the budget\n"
    )
    assert said(raw) == [(None, "we start with the budget")]


@pytest.mark.parametrize(
    "raw",
    [
        "Ana: Hello.\nDan: Hi.\nand welcome\nAna: Thanks",
        "[00:01:02] Ana: Hello.\n[00:01:05] Dan: Hi.\nand welcome\n[00:02:00] Ana: Thanks",
        "00:01:02 Ana: Hello.\n00:01:05 Dan: Hi.\nand welcome\n00:02:00 Ana: Thanks",
        "Ana (0:01): Hello.\nDan (0:05): Hi. and welcome\nAna (2:00): Thanks",
        "Ana  0:01\nHello.\n\nDan  0:05\nHi.\nand welcome\n\nAna  2:00\nThanks",
        "**Ana:** Hello.\n**Dan:** Hi.\nand welcome\n**Ana:** Thanks",
        "12/03/2026, 10:01 - Ana: Hello.\n12/03/2026, 10:02 - Dan: Hi.\nand welcome\n"
        "13/03/2026, 9:03 - Ana: Thanks",
        "[3/12/26, 10:01:11 PM] Ana: Hello.\n[3/12/26, 10:02:30 PM] Dan: Hi.\nand welcome\n"
        "[3/12/26, 10:03:01 PM] Ana: Thanks",
        "[2026-03-12 10:01] Ana: Hello.\n[2026-03-12 10:02] Dan: Hi.\nand welcome\n"
        "[2026-03-12 10:03] Ana: Thanks",
    ],
)
def test_transcript_parser_reads_all_usual_line_formats(raw):
    assert said(raw, format="transcript") == [
        ("Ana", "Hello."),
        ("Dan", "Hi. and welcome"),
        ("Ana", "Thanks"),
    ]


def test_transcript_parser_adds_offsets_to_the_start_time():
    reading = parse_source("[00:01:02] Ana: Hello\n[00:02:00] Dan: Hi\nAna: Bye", started_at=NINE)
    assert reading.turns[1].at == NINE.replace(minute=2)


WALL = "[14:05] Ana: Hello.\n[14:07] Dan: Hi.\n[14:31] Ana: Bye."
AT_TWO = datetime(2026, 3, 1, 14, tzinfo=UTC)


@pytest.mark.parametrize("started_at", [NINE.replace(hour=0), AT_TWO, AT_TWO.replace(minute=5)])
def test_transcript_parser_reads_clock_times_as_time_of_day(started_at):
    reading = parse_source(WALL, started_at=started_at)
    minutes = [(turn.at.hour, turn.at.minute, turn.at.second) for turn in reading.turns]
    assert minutes == [(14, 5, 0), (14, 7, 0), (14, 31, 0)]


def test_transcript_parser_moves_to_the_next_day_after_midnight():
    raw = "[23:58] Ana: Hello.\n[00:03] Dan: Hi.\n[00:09] Ana: Bye."
    at = [turn.at for turn in parse_source(raw, started_at=NINE.replace(hour=0)).turns]
    assert at[1:] == [
        datetime(2026, 3, 2, 0, 3, tzinfo=UTC),
        datetime(2026, 3, 2, 0, 9, tzinfo=UTC),
    ]


@pytest.mark.parametrize(
    ("raw", "started_at"),
    [
        ("[00:05] Ana: Hello.\n[00:31] Dan: Hi.\n[14:05] Ana: Bye.", NINE),
        ("[00:05] Ana: Hello.\n[00:31] Dan: Hi.\n[14:05] Ana: Bye.", NINE.replace(hour=0)),
        ("[14:00] Ana: Hello.\n[24:00] Dan: Hi.\n[14:05] Ana: Bye.", NINE),
        ("[10:50] Dan: Hi.\n[14:05] Ana: Bye.\n[59:00] Dan: Hi.", NINE.replace(hour=0)),
        ("WEBVTT\n\n14:05.000 --> 14:07.000\nAna: Bye.", NINE.replace(hour=0)),
        ("WEBVTT\n\n14:05 --> 14:07\nAna: Bye.", NINE.replace(hour=0)),
    ],
)
def test_transcript_parser_reads_offsets_that_are_no_clock_times(raw, started_at):
    bye = next(
        turn for turn in parse_source(raw, started_at=started_at).turns if turn.text == "Bye."
    )
    assert bye.at == started_at + timedelta(minutes=14, seconds=5)


def test_transcript_parser_accepts_hebrew_and_titled_speaker_names():
    assert said("ד״ר נועה כהן: שלום\nDr. J. van Dam: Hello", format="transcript") == [
        ("ד״ר נועה כהן", "שלום"),
        ("Dr. J. van Dam", "Hello"),
    ]


def test_transcript_parser_ignores_colons_after_words_that_are_no_names():
    raw = "Ana: The plan\nis this: we go\nAgenda: Rome\nhttps://x.org: see there"
    assert said(raw, format="transcript") == [
        ("Ana", "The plan is this: we go Agenda: Rome https://x.org: see there")
    ]


def test_transcript_parser_splits_a_long_speech_into_timed_turns():
    cues = "".join(
        f"{n // 60:02}:{n % 60:02}.000 --> {n // 60:02}:{n % 60:02}.900\nThis is sentence {n}.\n\n"
        for n in range(200)
    )
    reading = parse_source("WEBVTT\n\n" + cues, started_at=NINE)
    assert len(reading.turns) > 3
    assert len({turn.at for turn in reading.turns}) == len(reading.turns)
    assert all(len(turn.text) <= 1600 for turn in reading.turns)
    assert " ".join(turn.text for turn in reading.turns).count("sentence") == 200


def test_transcript_parser_refuses_a_transcript_without_words():
    with pytest.raises(BadText, match="transcript is empty"):
        parse_source("WEBVTT\n\n00:01.000 --> 00:02.000\nUm.\n")


@pytest.mark.parametrize(
    ("spoken", "written"),
    [
        ("Um, I I I think, you know, the the plan is, uh, good.", "I think the plan is good."),
        ("So, like, we should go. Uh, we must.", "So we should go. We must."),
        ("I mean, it works. You know, it does.", "It works. It does."),
        ("We were, we were going to th- the beach.", "We were going to the beach."),
        ("it's, it's fine, um...", "it's fine."),
        ("Yes, um I do.", "Yes, I do."),
        ("I think I think so", "I think so"),
    ],
)
def test_remove_disfluencies_cleans_english_speech(spoken, written):
    assert remove_disfluencies(spoken, "en") == written


@pytest.mark.parametrize(
    "spoken",
    [
        "I like it, and you know the way.",
        "He had had a very very long day.",
        "I know that that is so so late.",
        "They took her to the ER at 9.",
        "Duran Duran played in Walla Walla.",
        "My number is five five two.",
        "The umbrella, the column and the error.",
        "Mm-hmm. Uh-huh.",
        "The well-known, low-cost plan.",
        "It looks like rain. What do you mean?",
        "No, no, bye bye.",
    ],
)
def test_remove_disfluencies_keeps_meaningful_english_words(spoken):
    assert remove_disfluencies(spoken, "en") == spoken


@pytest.mark.parametrize(
    ("spoken", "written"),
    [
        ("אה, אני אני חושב, כאילו, שזה טוב.", "אני חושב שזה טוב."),
        ("אממ... הוא הוא הלך.", "הוא הלך."),
        ("לאט לאט, יום יום.", "לאט לאט, יום יום."),
        ("זה נראה כאילו ירד גשם.", "זה נראה כאילו ירד גשם."),
    ],
)
def test_remove_disfluencies_cleans_hebrew_conservatively(spoken, written):
    assert remove_disfluencies(spoken, "he") == written


def test_remove_disfluencies_leaves_other_languages_unchanged():
    """In German "um" and "er" are words."""
    assert remove_disfluencies("Er kommt um um neun.", "de") == "Er kommt um um neun."
    raw = "Ana: Er kommt um neun und das ist nicht gut.\nDan: Wir sind um zehn da.\nAna: Gut."
    assert said(raw)[0] == ("Ana", "Er kommt um neun und das ist nicht gut.")

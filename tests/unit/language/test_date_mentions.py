"""Days that a turn names by other words than a date."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.language.text.date_mentions import MAX_MENTIONS, find_date_mentions

FRIDAY = datetime(2026, 10, 16, 9, tzinfo=UTC)


def found(text, said_at=FRIDAY):
    return {each.words: each.day.isoformat() for each in find_date_mentions(text, said_at)}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("35 on tuesday. ew", {"tuesday": "2026-10-20"}),
        ("dougs moved. since sunday hes at echunga", {"sunday": "2026-10-11"}),
        ("saw wes weds, feet are good", {"weds": "2026-10-14"}),
        ("booked flights! fri 23rd, back the tues", {"fri 23rd": "2026-10-23"}),
        ("they called, its the 12th now", {"the 12th": "2026-11-12"}),
        ("it isnt due till the 25th", {"the 25th": "2026-10-25"}),
        ("my bike got stolen last night", {"last night": "2026-10-15"}),
        ("see u next friday", {"next friday": "2026-10-23"}),
        ("mum comes tmrw", {"tmrw": "2026-10-17"}),
        ("mañana voy al dentista", {"mañana": "2026-10-17"}),
        ("y el martes viene mi madre", {"martes": "2026-10-20"}),
        ("ich habe am Freitag Geburtstag", {"Freitag": "2026-10-23"}),
        ("הברית בחמישי הבא בצאלים", {"בחמישי הבא": "2026-10-22"}),
        ("אחי התגייס אתמול", {"אתמול": "2026-10-15"}),
    ],
)  # fmt: skip
def test_date_mentions_of_single_days(text, expected):
    assert found(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "yoga is on mondays",
        "deliveries come mon + thurs",
        "her jab is the first monday of every month",
        "every friday we eat fish",
        "the exam is on mon 9 nov",
        "her 40th is on the 12th of november",
        "I sat next to him on the 5th floor",
        "the sun is out",
        "los martes hay mercado",
        "guten Morgen",
        "nothing about days at all",
    ],
)
def test_date_mentions_leave_out_what_is_no_single_day(text):
    assert found(text) == {}


def test_date_mentions_of_a_number_and_a_weekday_agree():
    said_at = datetime(2026, 9, 5, tzinfo=UTC)
    assert found("its the 14th, wed arvo", said_at) == {"the 14th": "2026-10-14"}


@given(st.text(max_size=300), st.datetimes(datetime(1970, 3, 1), datetime(2200, 1, 1)))
def test_date_mentions_never_fail_and_are_few(text, said_at):
    mentions = find_date_mentions(text, said_at.replace(tzinfo=UTC))
    assert len(mentions) <= MAX_MENTIONS
    assert all(each.words in text for each in mentions)

"""Whatever a turn holds, reading it ends, raises nothing and stays within its bounds."""

from __future__ import annotations

import random
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.language.fields.writing_policy import MAX_CHARACTERS, check_writing
from commonplace.language.observe.turn import find_candidates
from commonplace.model.memory.candidate import MAX_CANDIDATES, MemoryCandidate
from commonplace.model.memory.kinds import Kind
from support.odd_texts import odd_texts
from support.turns import said, stored

PIECES = (
    *("I", "I'm", "we", "my", "our", "am", "have", "live in", "Haifa", "allergic to", "and", "so"),
    *("remember that", "forget", "always", "call me", "Tom said", "tomorrow", "on Friday", "in 2"),
    *("yesterday", "two kids", "the", "password is", "x9", ",", ".", "?", '"', "'", "\n", "-", ":"),
    *("052-1234567", "a@b.example", "אני", "יש לי", "שלי", "גרה", "סיימתי", "מחר", "ביום שישי"),
    *("תזכור ש", "תשכח את", "אלרגי", "החלטנו", "לאשתי", "ו", "ש", "<doc>", "```", "> ", "/s"),
)
# One piece over and over, as long as a turn can be: a pattern that goes back and forth would hang.
REPEATED = (
    "but ",
    "don't save ",
    "לא לשמור את זה ",
    "4111 ",
    *("a ", "I ", "I'm ", "my ", "remember ", "forget my ", "call me ", "Tom said ", "please "),
    *(
        "'",
        '"',
        "“",
        "‘",
        "<a>",
        "`",
        ">",
        "((",
        ", ",
        "\n",
        "ש",
        "אני ",
        "תזכור ש",
        "in two weeks ",
    ),
    *("052-", "a@", "1 ", "very ", "and I ", "my my: ", "I have a ", "translate ", "a. "),
)


@given(st.lists(st.sampled_from(PIECES), min_size=1, max_size=25), st.sampled_from(" \n"))
def test_find_candidates_bounds_number_and_length(pieces, between):
    found = said(between.join(pieces))
    assert len(found) <= MAX_CANDIDATES
    for one in found:
        if (
            isinstance(one, MemoryCandidate)
            and one.kind in (Kind.FACT, Kind.EVENT)
            and one.is_stored
        ):
            assert len(one.content) <= MAX_CHARACTERS
            assert one.trigger
            assert 1 <= one.importance <= 5


@given(st.text(max_size=300))
def test_find_candidates_accepts_arbitrary_text(text):
    for role in ("user", "assistant"):
        assert len(find_candidates(text, role=role)) <= MAX_CANDIDATES


def test_find_candidates_accepts_odd_texts():
    for text in odd_texts(400, seed=5):
        assert len(said(text)) <= MAX_CANDIDATES


@pytest.mark.timeout(60)
@pytest.mark.parametrize("piece", REPEATED)
def test_find_candidates_is_fast_on_long_repetitive_turns(piece):
    assert len(said((piece * 32_000)[:32_000])) <= MAX_CANDIDATES


@pytest.mark.parametrize("year", [1, 9999])
def test_find_candidates_keeps_relative_dates_outside_the_calendar_as_words(year):
    said_at = datetime(year, 1, 1, tzinfo=UTC)
    for turn in ("I sold my car 900 years ago", "I need to pay my rent in 900 days"):
        (one,) = find_candidates(turn, said_at=said_at)
        assert one.content


def test_find_candidates_content_follows_the_writing_policy():
    chance = random.Random(5)
    for _ in range(600):
        turn = " ".join(chance.choices(PIECES, k=chance.randint(2, 12)))
        for one in stored(turn):
            if one.kind in (Kind.FACT, Kind.EVENT) and not one.asked and not one.profile_field:
                assert check_writing(one.kind, one.content) == ()

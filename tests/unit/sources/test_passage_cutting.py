"""Passages: nothing is lost, nothing is too long, and what is appended changes nothing before."""

from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from commonplace.engine.sources.process import MAX_PASSAGE, split_text, split_turns
from commonplace.model.sources.source import SourceTurn

LIMITS = st.integers(min_value=1, max_value=80)
TEXTS = st.text(alphabet=st.sampled_from("abcא. !?\n\t。é"), max_size=300)
TURNS = st.lists(TEXTS.map(lambda text: SourceTurn(text=text, speaker="Ana")), max_size=6)


def letters(text):
    return "".join(text.split())


@given(text=TEXTS, limit=LIMITS)
@settings(max_examples=200, deadline=None)
def test_split_text_keeps_every_word_in_order(text, limit):
    assert letters(" ".join(split_text(text, limit))) == letters(text)


@given(text=TEXTS, limit=LIMITS)
@settings(max_examples=200, deadline=None)
def test_split_text_passages_are_nonempty_and_within_the_limit(text, limit):
    for piece in split_text(text, limit):
        assert 0 < len(piece) <= limit
        assert piece.strip() == piece


@given(text=TEXTS)
@settings(max_examples=100, deadline=None)
def test_split_text_cuts_no_word_shorter_than_the_limit(text):
    limit = 400  # longer than any word here
    assert " ".join(split_text(text, limit)).split() == text.split()


@given(turns=TURNS, more=TURNS, limit=LIMITS)
@settings(max_examples=100, deadline=None)
def test_split_turns_is_stable_under_appending(turns, more, limit):
    """So a conversation that comes turn by turn has the passages of one that comes whole."""
    assert split_turns([*turns, *more], limit) == split_turns(turns, limit) + split_turns(
        more, limit
    )


def test_split_turns_keeps_a_short_turn_unchanged():
    turn = SourceTurn(
        text="See you at noon.",
        speaker="Ana",
        role="user",
        at=datetime(2026, 3, 1, tzinfo=UTC),
        session="2",
        label="m7",
    )
    assert split_turns([turn]) == (turn,)


def test_split_turns_copies_speaker_session_and_label_to_every_piece():
    turn = SourceTurn(text="One sentence here. " * 200, speaker="Ana", session="2", label="m7")
    pieces = split_turns([turn])
    assert len(pieces) > 2
    assert {(piece.speaker, piece.session, piece.label) for piece in pieces} == {("Ana", "2", "m7")}


def test_split_turns_never_merges_turns():
    assert (
        len(
            split_turns(
                [SourceTurn(text="Hi", speaker="Ana"), SourceTurn(text="Hi", speaker="Ana")]
            )
        )
        == 2
    )


def test_split_text_joins_short_paragraphs_up_to_the_limit():
    text = "\n\n".join(f"Paragraph {number}." for number in range(10))
    assert split_text(text) == [text]
    assert split_text(text, 45) == [
        "Paragraph 0.\n\nParagraph 1.\n\nParagraph 2.",
        "Paragraph 3.\n\nParagraph 4.\n\nParagraph 5.",
        "Paragraph 6.\n\nParagraph 7.\n\nParagraph 8.",
        "Paragraph 9.",
    ]


def test_split_text_prefers_paragraph_then_sentence_then_word_boundaries():
    assert split_text("First one. Second one.\n\nThird.", 25) == [
        "First one. Second one.",
        "Third.",
    ]
    assert split_text("First one. Second one. Third one.", 25) == [
        "First one. Second one.",
        "Third one.",
    ]
    assert split_text("one two three four", 9) == ["one two", "three", "four"]
    assert split_text("שלום לכולם. נפגש מחר.", 12) == ["שלום לכולם.", "נפגש מחר."]


def test_split_turns_refuses_a_limit_below_one():
    with pytest.raises(ValueError, match="at least 1"):
        split_turns([SourceTurn(text="a")], 0)


def test_split_text_cuts_text_without_spaces_at_the_limit():
    pieces = split_text("x" * (2 * MAX_PASSAGE + 1))
    assert [len(piece) for piece in pieces] == [MAX_PASSAGE, MAX_PASSAGE, 1]

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
def test_every_word_survives_in_its_order(text, limit):
    assert letters(" ".join(split_text(text, limit))) == letters(text)


@given(text=TEXTS, limit=LIMITS)
@settings(max_examples=200, deadline=None)
def test_no_passage_is_longer_than_the_limit_or_empty(text, limit):
    for piece in split_text(text, limit):
        assert 0 < len(piece) <= limit
        assert piece.strip() == piece


@given(text=TEXTS)
@settings(max_examples=100, deadline=None)
def test_a_word_is_only_cut_when_it_is_longer_than_a_passage(text):
    limit = 400  # longer than any word here
    assert " ".join(split_text(text, limit)).split() == text.split()


@given(turns=TURNS, more=TURNS, limit=LIMITS)
@settings(max_examples=100, deadline=None)
def test_appending_turns_leaves_the_passages_before_them_as_they_are(turns, more, limit):
    """So a conversation that comes turn by turn has the passages of one that comes whole."""
    assert split_turns([*turns, *more], limit) == split_turns(turns, limit) + split_turns(
        more, limit
    )


def test_a_short_turn_is_one_passage_with_all_that_is_known_of_it():
    turn = SourceTurn(
        text="See you at noon.",
        speaker="Ana",
        role="user",
        at=datetime(2026, 3, 1, tzinfo=UTC),
        session="2",
        label="m7",
    )
    assert split_turns([turn]) == (turn,)


def test_every_piece_of_a_long_turn_keeps_speaker_time_session_and_label():
    turn = SourceTurn(text="One sentence here. " * 200, speaker="Ana", session="2", label="m7")
    pieces = split_turns([turn])
    assert len(pieces) > 2
    assert {(piece.speaker, piece.session, piece.label) for piece in pieces} == {("Ana", "2", "m7")}


def test_turns_of_a_conversation_are_never_merged():
    assert (
        len(
            split_turns(
                [SourceTurn(text="Hi", speaker="Ana"), SourceTurn(text="Hi", speaker="Ana")]
            )
        )
        == 2
    )


def test_small_paragraphs_of_a_text_share_a_passage_up_to_the_limit():
    text = "\n\n".join(f"Paragraph {number}." for number in range(10))
    assert split_text(text) == [text]
    assert split_text(text, 45) == [
        "Paragraph 0.\n\nParagraph 1.\n\nParagraph 2.",
        "Paragraph 3.\n\nParagraph 4.\n\nParagraph 5.",
        "Paragraph 6.\n\nParagraph 7.\n\nParagraph 8.",
        "Paragraph 9.",
    ]


def test_a_cut_falls_between_paragraphs_then_sentences_then_words():
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


def test_a_limit_below_one_is_a_mistake_of_the_caller():
    with pytest.raises(ValueError, match="at least 1"):
        split_turns([SourceTurn(text="a")], 0)


def test_the_limit_is_kept_for_a_text_without_any_space():
    pieces = split_text("x" * (2 * MAX_PASSAGE + 1))
    assert [len(piece) for piece in pieces] == [MAX_PASSAGE, MAX_PASSAGE, 1]

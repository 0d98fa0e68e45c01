"""One line for a text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.language.text.sentences import summarise


def test_a_short_line_is_its_own_summary() -> None:
    assert (
        summarise(" Dana moved to Berlin. She likes it. ") == "Dana moved to Berlin. She likes it."
    )


def test_more_than_two_sentences_are_too_many_however_short() -> None:
    assert summarise("Hi. Dana moved to Berlin. She likes it. Rents are high.") == (
        "Dana moved to Berlin."
    )


def test_the_first_sentence_stands_for_a_long_text() -> None:
    text = "Dana moved to Berlin in May. " + "She found a flat near the river. " * 10
    assert summarise(text) == "Dana moved to Berlin in May."


def test_greetings_are_passed_over() -> None:
    assert summarise("Hi Dan!\nThe launch moved to the third of June.\nThanks") == (
        "The launch moved to the third of June."
    )


def test_without_a_telling_sentence_the_fullest_one_wins() -> None:
    assert summarise("Hi!\nThanks Dan\nBye") == "Thanks Dan"


def test_a_long_sentence_is_cut_after_a_word() -> None:
    assert summarise("Berlin winters feel endless, grey and cold", limit=30) == (
        "Berlin winters feel endless…"
    )


def test_nothing_stays_nothing() -> None:
    assert summarise("  \n ") == ""


def test_an_impossible_limit_is_refused() -> None:
    with pytest.raises(ValueError, match="limit"):
        summarise("text", limit=0)


@given(st.text(st.characters(exclude_categories=["Cs"])), st.integers(1, 40))
def test_a_summary_is_one_line_within_the_limit(text: str, limit: int) -> None:
    summary = summarise(text, limit)
    assert len(summary) <= limit
    assert "\n" not in summary
    assert bool(summary) == bool(text.strip())

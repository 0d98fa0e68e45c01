"""One line for a text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.language.text.sentences import summarise


def test_summarise_returns_a_short_text_unchanged() -> None:
    assert (
        summarise(" Dana moved to Berlin. She likes it. ") == "Dana moved to Berlin. She likes it."
    )


def test_summarise_reduces_more_than_two_sentences_to_one() -> None:
    assert summarise("Hi. Dana moved to Berlin. She likes it. Rents are high.") == (
        "Dana moved to Berlin."
    )


def test_summarise_takes_the_first_sentence_of_a_long_text() -> None:
    text = "Dana moved to Berlin in May. " + "She found a flat near the river. " * 10
    assert summarise(text) == "Dana moved to Berlin in May."


def test_summarise_skips_greetings() -> None:
    assert summarise("Hi Dan!\nThe launch moved to the third of June.\nThanks") == (
        "The launch moved to the third of June."
    )


def test_summarise_without_informative_sentence_takes_the_fullest() -> None:
    assert summarise("Hi!\nThanks Dan\nBye") == "Thanks Dan"


def test_summarise_cuts_a_long_sentence_after_a_word() -> None:
    assert summarise("Berlin winters feel endless, grey and cold", limit=30) == (
        "Berlin winters feel endless…"
    )


def test_summarise_of_blank_text_is_empty() -> None:
    assert summarise("  \n ") == ""


def test_summarise_refuses_a_limit_of_zero() -> None:
    with pytest.raises(ValueError, match="limit"):
        summarise("text", limit=0)


@given(st.text(st.characters(exclude_categories=["Cs"])), st.integers(1, 40))
def test_summarise_gives_one_line_within_the_limit(text: str, limit: int) -> None:
    summary = summarise(text, limit)
    assert len(summary) <= limit
    assert "\n" not in summary
    assert bool(summary) == bool(text.strip())

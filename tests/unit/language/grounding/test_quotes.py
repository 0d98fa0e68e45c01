"""Quoted words are found as they are written, whatever a model does to their punctuation."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.language.grounding.quotes import find_quote, fold_passage, fold_quote


def located(quote: str, *texts: str, first: int | None = 0) -> str | None:
    """The words as they are written in their passage."""
    found = find_quote(quote, [fold_passage(text) for text in texts], first)
    return None if found is None else texts[found.index][found.start : found.end]


@pytest.mark.parametrize(
    ("quote", "text"),
    [
        ("My sister", "so my  sister\ncame"),
        ("don't", "I don’t know"),
        ("dont know", "I don’t know"),
        ('"La Vie" - again', "it was “La Vie” – again!"),
        ("cafe\u0301 Nero", "at Caf\u00e9 Nero"),
        ("רופא, ד״ר כהן", 'הלכתי לרופא ד"ר כהן'),
        ("STRASSE 5", "Straße 5, Berlin"),
        ("我对花生过敏", "其实我对花生过敏。"),
        ("ﬁnally free", "finally free"),
        ("my sister Ann", "my sister Ann's car"),
        ("my sister Ann", "my sister Ann’s ill"),
    ],
)
def test_quote_is_found_without_regard_to_case_space_and_punctuation(quote, text):
    assert located(quote, text) is not None


@pytest.mark.parametrize(
    ("quote", "text"),
    [
        ("my sister Ann", "my sister Anna"),
        ("my sister Ann", "my sister Anns"),
        ("an", "a man"),
        ("4471", "it is 44710"),
        ("", "anything"),
        ("?!", "what?!"),
        ("on Monday I fly", "I fly on Monday"),
    ],
)
def test_words_that_do_not_stand_there_are_not_found(quote, text):
    assert located(quote, text) is None


def test_ellipsis_stands_for_words_left_out():
    text = "my sister, who hates trains, moved to Porto"
    assert located("my sister ... moved to Porto", text) == text
    assert located("moved to Porto ... my sister", text) is None


def test_ellipsis_does_not_join_far_places():
    text = f"the user {'and so on ' * 200}hates trains"
    assert located("the user ... hates trains", text) is None


def test_quote_of_another_passage_counts_if_no_third_has_it():
    assert located("gate is 7731", "hello", "the gate is 7731", "bye") == "gate is 7731"
    assert located("gate is 7731", "hello", "gate is 7731", "gate is 7731!") is None


def test_quote_does_not_reach_across_passages():
    assert located("my sister moved to Porto", "my sister", "moved to Porto") is None


@given(st.text(max_size=300), st.integers(0, 300), st.integers(1, 80))
def test_every_piece_of_a_text_is_found_in_it(text, start, length):
    piece = text[start : start + length]
    words = fold_quote(piece).split()
    if len(words) < 3:
        return
    whole = " ".join(words[1:-1])  # the first and the last may be cut
    found = find_quote(whole, [fold_passage(text)], 0)
    assert found is not None
    assert 0 <= found.start < found.end <= len(text)


@given(st.text(max_size=200))
def test_places_rise_and_stay_inside_the_text(text):
    folded = fold_passage(text)
    assert len(folded.text) == len(folded.places)
    assert list(folded.places) == sorted(folded.places)
    assert all(0 <= place <= len(text) for place in folded.places)

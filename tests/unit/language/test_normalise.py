"""Stored and compared forms of a text."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.language.safety.text_readings import fold_writing
from commonplace.language.text.normalise import fold
from commonplace.model.validation import stored_form

TEXTS = st.text(st.characters(exclude_categories=["Cs"]))


def test_stored_form_composes_trims_and_unifies_newlines() -> None:
    assert stored_form("  cafe\u0301\r\nline\rline \n") == "café\nline\nline"


@given(TEXTS)
def test_stored_form_is_idempotent(text: str) -> None:
    assert stored_form(stored_form(text)) == stored_form(text)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Hello, World!", "hello   world"),
        ("The café.", "THE CAFE\u0301"),
        ("don't", "DON’T"),
        ("electricity bill: 500", "Electricity bill 500."),
        ("\u200fשלום, עולם", "שלום עולם!"),
        ("ＡＢＣ", "abc"),
    ],
)
def test_fold_equates_case_punctuation_and_width(one: str, other: str) -> None:
    assert fold(one) == fold(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Dan owes Ana", "Ana owes Dan"),
        ("costs 3.5", "costs 35"),
        ("3.5", "3 5"),
        ("-5 degrees", "5 degrees"),
        ("−5 degrees", "5 degrees"),
        ("blood type A+", "blood type A-"),
        ("I like it", "I do not like it"),
        ("5%", "5"),
        ("👍", "👎"),
        ("?", "!"),
        ("$5", "€5"),
        ("כן", "לא"),
    ],
)
def test_fold_separates_signs_decimals_negation_and_order(one: str, other: str) -> None:
    assert fold(one) != fold(other)


def test_fold_reads_a_dash_between_numbers_as_separator() -> None:
    assert fold("rooms 3-5") == "rooms 3 5"


@given(TEXTS)
def test_fold_ignores_unicode_normal_form_and_keeps_single_spaces(text: str) -> None:
    assert fold(unicodedata.normalize("NFD", text)) == fold(text)
    assert fold(text) == " ".join(fold(text).split())


def test_folded_writing_keeps_thirty_combining_marks_that_invisible_characters_part():
    folded = fold_writing("x" + "\u0483\u200b" * 1000)
    assert folded == "x" + "\u0483" * 30

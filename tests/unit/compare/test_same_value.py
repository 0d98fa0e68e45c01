"""Values are compared by meaning: numbers, units, dates, phones; a secret by each sign."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.language.compare.compare import is_same_value


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("500", "five hundred"),
        (500, "500"),
        ("500", "חמש מאות"),
        ("1,500", "1500"),
        ("$1,500", "1500 dollars"),
        ("1.5 kg", "1500 g"),
        ("90 min", "1.5 hours"),
        ("3 March 2024", "2024-03-03"),
        ("March 3rd, 2024", "3/3/2024"),
        ("3.3.2024", "3/3/2024"),
        ("3 במרץ 2024", "2024-03-03"),
        ("3pm", "15:00"),
        ("20%", "20 percent"),
        ("blue", "Blue"),
        ("052-1234567", "+972 52-123-4567"),
        ("veinte euros", "20 €"),
    ],
)
def test_is_same_value_matches_across_formats_and_units(one, other):
    assert is_same_value(one, other)
    assert is_same_value(other, one)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("500", "501"),
        ("5 kg", "5 g"),
        ("A+", "A-"),
        ("-5", "5"),
        ("3 March 2024", "3 March 2023"),
        ("3 March", "4 March"),
        ("$500", "€500"),
        ("15:00", "15:30"),
        ("blue", "light blue"),
        ("yes", "no"),
        ("enabled", "not enabled"),
        ("052-1234567", "052-1234568"),
        ("", "x"),
    ],
)
def test_is_same_value_rejects_different_values(one, other):
    assert not is_same_value(one, other)
    assert not is_same_value(other, one)


def test_is_same_value_is_case_sensitive_for_secrets_only():
    assert is_same_value("Tiger", "tiger")
    assert not is_same_value("Tiger", "tiger", secret=True)


@given(st.text(max_size=60))
def test_is_same_value_is_reflexive(value):
    assert is_same_value(value, value)
    assert is_same_value(value, value, secret=True)


@given(st.text(max_size=40), st.text(max_size=40))
def test_is_same_value_is_symmetric(one, other):
    assert is_same_value(one, other) == is_same_value(other, one)

"""The user's own address and number are values of the user, and nobody else's are."""

from __future__ import annotations

import pytest

from commonplace.model.memory.kinds import Kind
from support.turns import only, said


@pytest.mark.parametrize(
    ("turn", "subject", "value"),
    [
        ("My email is ana@example.com", "the user's email", "ana@example.com"),
        ("my work email is ana@example.com.", "the user's work email", "ana@example.com"),
        ("You can reach me at ana@example.com", "the user's email", "ana@example.com"),
        ("You can reach me at +972521234567", "the user's phone number", "+972521234567"),
        ("Here's my number: +972521234567", "the user's phone number", "+972521234567"),
        ("Remember my new phone number: 052-1234567", "the user's phone number", "052-1234567"),
        ("הטלפון שלי 0521234567", "הטלפון של המשתמש", "0521234567"),
        ("המייל שלי ana@example.com", "המייל של המשתמש", "ana@example.com"),
        ("אפשר להשיג אותי ב-0521234567", "הטלפון של המשתמש", "0521234567"),
    ],
)
def test_own_contact_details_become_key_values_of_the_user(turn, subject, value):
    kept = only(turn)
    assert kept.kind is Kind.KV
    assert kept.metadata == {"subject": subject, "value": value}


@pytest.mark.parametrize(
    "turn",
    [
        "My mother's number is 052-1234567",
        "My phone guy Ben is at 052-1234567",
        "Is my email ana@example.com?",
        "Email Dana at dana@example.com",
    ],
)
def test_contact_details_of_others_are_not_key_values_of_the_user(turn):
    assert not any("user's" in each.content for each in said(turn))

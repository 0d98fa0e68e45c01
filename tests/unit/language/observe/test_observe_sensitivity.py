"""What does harm in the wrong hands is guarded, and what is told to be found is not."""

from __future__ import annotations

import pytest

from commonplace.language.safety.sensitive import redact_credentials
from commonplace.model.memory.memory import Sensitivity
from support.turns import only, said

CARD = "4111 1111 1111 1111"  # a number that card makers give out for tests
KEY = "sk-abcdefghijklmnop1234567890"


@pytest.mark.parametrize(
    "turn",
    [
        f"My credit card number is {CARD}",
        "Remember that my bank PIN is 4321",
        f"My API key is {KEY}",
        "My social security number is 123-45-6789",
        "My passport number is X1234567",
        "תעודת הזהות שלי 123456782",
        "מספר כרטיס האשראי שלי הוא 4111111111111111",
        "My Netflix password is Crocus-9",
        "I'm pregnant",
        "I have diabetes",
        "I was diagnosed with ADHD last year",
        "My mother has cancer",
        "I'm gay",
        "I am Jewish",
        "I'm a member of the union",
        "I am on 50 mg of sertraline daily",
        "Don't tell anyone, but I got promoted yesterday",
        "אני בהריון",
        "אני חילונית",
        "יש לי סוכרת",
    ],
)
def test_sensitivity_is_high_for_secrets_and_private_matters(turn):
    assert only(turn).sensitivity is Sensitivity.HIGH


@pytest.mark.parametrize(
    "turn",
    [
        "The wifi password is tulip42",
        "The gate code is 1948#",
        "I'm allergic to peanuts",
        "I am vegetarian",
        "The vet is Dr Stone, phone 020 7946 0018",
        "We voted for the blue logo yesterday",
        "I left the party early last night",
        "My order number is 4111111111111112",
        "אני אלרגי לבוטנים",
        "הקוד של השער הוא 1948",
    ],
)
def test_sensitivity_is_normal_for_shared_codes_and_diets(turn):
    assert {each.sensitivity for each in said(turn)} <= {Sensitivity.NORMAL}


@pytest.mark.parametrize(
    ("turn", "kept"),
    [
        (f"My credit card number is {CARD}.", "My credit card number is [secret]."),
        ("Remember that my bank PIN is 4321.", "Remember that my bank PIN is [secret]."),
        (f"pay with {CARD} please", "pay with [secret] please"),
        (f"export OPENAI_KEY={KEY}", "export OPENAI_KEY=[secret]"),
        ("My order number is 4111111111111112", "My order number is 4111111111111112"),
        ("The wifi password is tulip42", "The wifi password is tulip42"),
        ("I'm pregnant", "I'm pregnant"),
    ],
)
def test_redact_credentials_masks_cards_pins_and_api_keys(turn, kept):
    assert redact_credentials(turn, said(turn)) == kept

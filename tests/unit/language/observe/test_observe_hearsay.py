"""What somebody else said is kept with who said it, and believed less."""

from __future__ import annotations

import pytest

from support.turns import only, stored


@pytest.mark.parametrize(
    ("turn", "content"),
    [
        ("Tom says that Anna is moving to Berlin", "Tom said that Anna is moving to Berlin."),
        ("My sister told me that Mark got fired", "The user's sister said that Mark got fired."),
        ("According to Jill the office is closing in June", "Jill said that the office is"),
        ("תום אמר שאנה עוברת לברלין", "תום אמר שאנה עוברת לברלין"),
        ("אחותי סיפרה לי שמרק פוטר", "אחות של המשתמש אמרה שמרק פוטר"),
    ],
)
def test_hearsay_candidate_names_its_speaker(turn, content):
    kept = only(turn)
    assert kept.content.startswith(content)
    assert kept.facet == "hearsay"


def test_hearsay_candidate_has_lower_confidence():
    assert only("Tom says that Anna is allergic").confidence < only("I'm allergic").confidence


@pytest.mark.parametrize(
    "turn",
    ["She said that Anna is moving", "The song says that love is blind", "they told me he left"],
)
def test_hearsay_without_a_named_speaker_is_not_stored(turn):
    assert stored(turn) == []

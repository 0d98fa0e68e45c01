"""What is asked, or taken back in the same breath, was not said."""

from __future__ import annotations

import pytest

from support.turns import only, said


@pytest.mark.parametrize(
    "turn",
    [
        "I live in Berlin? no, Hamburg",
        "I live in Berlin. No, Hamburg.",
        "I live in Berlin, sorry, Hamburg",
        "I live in Berlin?",
        "I love my job, not!",
        "אני גר בחיפה. לא, ברעננה.",
        "אני גר בחיפה?",
    ],
)
def test_retracted_or_questioned_statement_leaves_no_candidate(turn):
    assert said(turn) == ()


@pytest.mark.parametrize(
    "turn",
    [
        "I'm allergic to nuts. No, thanks.",
        "I'm allergic to nuts, not fish",
        "אני אלרגי לבוטנים. לא, תודה.",
    ],
)
def test_unrelated_negation_keeps_the_candidate(turn):
    assert only(turn)


def test_joint_subject_statement_is_stored_for_the_user():
    assert only("My wife and I are vegetarian").content == "The user is vegetarian."
    assert only("My wife and I have two kids").content == "The user has two kids."

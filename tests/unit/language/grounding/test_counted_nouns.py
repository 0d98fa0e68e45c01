"""A number beside the wrong noun is dropped; corrections, ranges, prices and dates stay."""

from __future__ import annotations

import pytest

from commonplace.language.grounding.values import DropReason
from support.given_passages import contents, found_in, given, memory

WRONG = [
    ("aunt Jo lives with 3 cats and 2 dogs", "Aunt Jo has 2 cats and 3 dogs."),
    ("aunt Jo lives with 3 cats and 2 dogs", "Aunt Jo has two cats."),
    ("3 black cats and 2 black dogs live here", "Two black cats live here."),
    ("rent is 900, deposit 1,800", "The deposit is 900."),
    ("rent is 900 euros, deposit 1,800 euros", "The deposit is 900 euros."),
    ("ordered 50 chairs and 8 tables", "The user ordered 50 tables."),
    ("ran 5 km in 30 minutes", "The user ran 30 km."),
    ("6 bottles of wine and 2 bottles of gin", "The user has 2 bottles of wine."),
    ("קניתי 6 כיסאות ו-2 שולחנות", "המשתמש קנה 2 כיסאות ו-6 שולחנות."),
    ("שכר הדירה 4,200 והוועד 180", "הוועד הוא 4,200."),
    ("יש לה שני חתולים ושלושה כלבים", "יש לה שלושה חתולים ושני כלבים."),
]
RIGHT = [
    ("aunt Jo lives with 3 cats and 2 dogs", "Aunt Jo has two dogs and three cats."),
    ("3 cats (2 black, 1 white)", "The user has two black cats."),
    ("rent was 900, now 950", "The rent is 950."),
    ("rent: not 900, it's 950", "The rent is 950."),
    ("the rent goes from 1,450 to 1,500", "The rent is 1,500."),
    ("we need 2 or 3 volunteers and 6 tables", "The user needs 2 to 3 volunteers and 6 tables."),
    ("entry is 14 for adults and 6 for kids", "Entry costs 6 for kids and 14 for adults."),
    ("3 coffees for 12 euros", "3 coffees cost 12."),
    ("got 2 coffees, 12 euros", "The coffees cost 12 euros."),
    ("5 people: 3 adults and 2 kids", "3 people are adults."),
    ("dinner for 6 people, 2 of them kids", "Dinner is for 6 people, 2 kids among them."),
    ("flat 12, rent 900", "The rent of flat 12 is 900."),
    ("meeting with 3 people at 5pm", "The meeting at 5 is with 3 people."),
    ("flight on 3 May at 9, gate 12", "The flight is at 9 on May 3 from gate 12."),
    ("two boys, 4 and 7, a girl of 9 months", "The 2 boys are 4 and 7, the girl nine months."),
    ("the hall seats 120 people, the bar 40", "The hall seats 120 people and the bar 40."),
    ("יש לה שני חתולים ושלושה כלבים", "יש לה שלושה כלבים ושני חתולים."),
    ("החוג עלה 240 ועכשיו הוא 260", "החוג עולה 260."),
    ("שכר הדירה 4,200 והוועד 180", "הוועד הוא 180 ושכר הדירה 4,200."),
    ("קניתי 6 כיסאות ו-2 שולחנות", "המשתמש קנה שישה כיסאות ושני שולחנות."),
]


def found(turn, text, **fields):
    return found_in(given(f"owner: {turn}"), memories=[memory(text, turn, **fields)])


@pytest.mark.parametrize(("turn", "text"), WRONG)
def test_the_number_of_another_noun_is_dropped(turn, text):
    assert found(turn, text).dropped == {DropReason.NUMBER_OF_ANOTHER: 1}


@pytest.mark.parametrize(("turn", "text"), RIGHT)
def test_what_the_passage_says_is_kept(turn, text):
    assert contents(found(turn, text))


def test_a_correction_in_a_later_turn_is_kept():
    turns = given("*owner: rent is 900, deposit 1,800", "owner: sorry, it's 950 since may")
    item = memory("The rent is 950.", "it's 950 since may", 1)
    assert contents(found_in(turns, memories=[item]))


def test_a_change_told_with_both_numbers_corrects_the_old_one():
    turn = "the rent goes from 1,450 to 1,500 in may"
    kept = found(turn, "The rent is 1,500.", corrects="rent 1,450")
    assert [each.corrects for each in kept.memories] == ["rent 1,450"]


def test_other_languages_are_not_judged():
    assert contents(found("3 Katzen und 2 Hunde", "Der Nutzer hat 2 Katzen und 3 Hunde."))

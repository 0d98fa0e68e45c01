"""Days are resolved by the words of a passage and the day on which they were said."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from commonplace.language.grounding.times import resolve_time, write_time
from support.given_passages import WEDNESDAY, contents, found_in, given, memory


@pytest.mark.parametrize(
    ("words", "sentence", "iso"),
    [
        ("tomorrow", "driving up tomorrow", "2026-03-12"),
        ("tmrw", "dentist tmrw", "2026-03-12"),
        ("next friday", "moves next friday", "2026-03-20"),
        ("on friday", "we fly on friday", "2026-03-13"),
        ("fri", "lunch on fri", "2026-03-13"),
        ("last friday", "it broke last friday", "2026-03-06"),
        ("the 20th", "dentist on the 20th", "2026-03-20"),
        ("april 7th", "it starts on april 7th", "2026-04-07"),
        ("3 May 2024", "since 3 May 2024", "2024-05-03"),
        ("in june", "the wedding is in june", "2026-06"),
        ("since 2019", "clean since 2019", "2019"),
        ("since march", "here since march", "2026-03"),
        ("at the end of the month", "she leaves at the end of the month", "2026-03-31"),
        ("next month", "she leaves next month", "2026-04"),
        ("in two weeks", "see you in two weeks", "2026-03-23"),
        ("מחר", "יש לי מבחן מחר", "2026-03-12"),
        ("ביום ראשון", "התור ביום ראשון", "2026-03-15"),
        ("בסוף החודש", "היא עוזבת בסוף החודש", "2026-03-31"),
        ("am 3. Mai", "die Hochzeit ist am 3. Mai", "2026-05-03"),
        ("el 3 de mayo", "la boda es el 3 de mayo", "2026-05-03"),
        ("seit März", "ich wohne seit März in Leipzig", "2026-03"),
        ("14.10.", "die Prüfung ist am 14.10.", "2026-10-14"),
        ("25/12", "closed on 25/12", "2026-12-25"),
    ],
)
def test_words_name_a_day(words, sentence, iso):
    found = resolve_time(words, sentence, WEDNESDAY, backwards=False)
    assert found is not None
    assert found.iso == iso


@pytest.mark.parametrize(
    "words", ["soon", "every friday", "on fridays", "", "the 45th", "in 900 years", "3/4", "99.99."]
)
def test_words_that_name_no_single_day(words):
    assert resolve_time(words, f"see you {words}", WEDNESDAY, backwards=False) is None


@pytest.mark.parametrize(
    ("words", "sentence"),
    [("the 20th", "sales tax is due the 20th every month"), ("ב-1", "להזכיר לי ב-1 בכל חודש")],
)
def test_day_of_every_month_is_no_single_day(words, sentence):
    assert resolve_time(words, sentence, WEDNESDAY, backwards=False) is None


def written(text: str, when: str, **options: bool) -> str:
    resolved = resolve_time(when, text, WEDNESDAY, backwards=False)
    return write_time(text, resolved, WEDNESDAY, backwards=False, **options)


def test_date_takes_the_place_of_the_words():
    assert written("The user flies tomorrow.", "tomorrow") == "The user flies on 2026-03-12."
    assert written("The user flies on Friday.", "on friday") == (
        "The user flies on Friday 2026-03-13."
    )


def test_date_is_appended_where_the_words_do_not_stand():
    assert written("The user flies to Oslo.", "on friday") == "The user flies to Oslo (2026-03-13)."


def test_yearly_day_has_no_year_unless_it_is_a_plan():
    assert written("Ann's birthday is May 3rd.", "May 3rd") == "Ann's birthday is May 3rd."
    plan = written("Ann's party is on May 3rd.", "May 3rd", has_year=True)
    assert plan == "Ann's party is on May 3rd (2026-05-03)."


def test_start_in_the_past_and_end_are_the_validity():
    turns = given("owner: my cousin has been here since monday and stays till sunday")
    item = memory(
        "The user's cousin stays since Monday.",
        "here since monday and stays till sunday",
        when="since monday",
        until="till sunday",
    )
    (found,) = found_in(turns, memories=[item]).memories
    assert found.candidate.valid_from == datetime(2026, 3, 9, tzinfo=UTC)
    assert found.candidate.valid_to == datetime(2026, 3, 16, tzinfo=UTC)  # sunday is over


def test_plan_is_true_before_its_day():
    turns = given("owner: dentist tomorrow at 8")
    item = memory(
        "The user has the dentist tomorrow at 8.", "dentist tomorrow", kind="plan", when="tomorrow"
    )
    (found,) = found_in(turns, memories=[item]).memories
    assert found.candidate.valid_from is None


def test_day_that_a_model_guessed_is_dropped():
    turns = given("owner: dentist tomorrow at 8")
    guessed = memory("Dentist on 2026-03-19 at 8.", "dentist tomorrow at 8", when="tomorrow")
    named = memory("Dentist on Thursday at 8.", "dentist tomorrow at 8", when="tomorrow")
    wrong = memory("Dentist on Friday at 8.", "dentist tomorrow at 8", when="tomorrow")
    assert contents(found_in(turns, memories=[guessed, wrong])) == []
    assert contents(found_in(turns, memories=[named])) == ["Dentist on Thursday 2026-03-12 at 8."]


def test_words_for_a_time_that_nobody_said_are_ignored():
    turns = given("owner: dentist at 8")
    item = memory("Dentist at 8.", "dentist at 8", when="on Friday")
    assert contents(found_in(turns, memories=[item])) == ["Dentist at 8."]


def test_each_part_of_a_turn_has_its_own_direction():
    turns = given("owner: jess got the job!! starts on monday. got sick last monday")
    starts = memory("Jess starts on Monday.", "jess got the job", when="on monday")
    sick = memory("The user got sick last Monday.", "got sick", kind="event", when="last monday")
    assert contents(found_in(turns, memories=[starts, sick])) == [
        "Jess starts on Monday 2026-03-16.",
        "The user got sick on Monday 2026-03-09.",
    ]


@pytest.mark.parametrize(
    "text",
    [
        "The user ate snapper, the first in 6 years.",
        "It was the coldest winter in 10 years.",
        "The user was ill twice in 3 months.",
        "The user flew for the first time in two years.",
        "The user had the first migraine in 4 months.",
    ],
)
def test_length_of_a_time_without_something_is_no_date(text):
    assert write_time(text, None, WEDNESDAY, backwards=True) == text


def test_first_day_ahead_is_dated():
    text = "The user's first day is in 2 years."
    assert write_time(text, None, WEDNESDAY, backwards=False) == "The user's first day is in 2028."


def test_date_joins_the_brackets_that_follow():
    text = "The farrier is back on Wed the 14th (Oct) in the arvo."
    when = resolve_time("the 14th of october", text, WEDNESDAY, backwards=False)
    assert when is not None
    when = replace(when, words="the 14th")
    written = write_time(text, when, WEDNESDAY, backwards=False, has_year=True)
    assert written == "The farrier is back on Wed the 14th (2026-10-14, Oct) in the arvo."


@pytest.mark.parametrize("text", ["The tiler starts on Monday the 21st.", "It is by Fri, the 3rd."])
def test_weekday_with_its_day_of_the_month_stays(text):
    assert write_time(text, None, WEDNESDAY, backwards=False) == text

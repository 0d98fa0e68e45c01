"""Durable statements are kept by their kind, in the third person, with their dates."""

from __future__ import annotations

import pytest

from commonplace.model.memory.kinds import Kind
from support.turns import only, stored


@pytest.mark.parametrize(
    ("turn", "content"),
    [
        ("I'm allergic to peanuts, so no satay please.", "The user is allergic to peanuts."),
        ("I have two kids, Maya and Jonah", "The user has two kids, Maya and Jonah."),
        ("btw I don't eat pork", "The user doesn't eat pork."),
        ("My husband works nights", "The user's husband works nights."),
        ("I work as a nurse and have two cats", "The user works as a nurse and has two cats."),
        ("my son Eli has asthma, he carries an inhaler", "The user's son Eli has asthma."),
        ("אני אלרגי לבוטנים", "המשתמש אלרגי לבוטנים"),
        ("אני צמחונית", "המשתמשת צמחונית"),
        ("יש לי שני ילדים", "למשתמש יש שני ילדים"),
        ("לאשתי קוראים דנה", "לאשתו של המשתמש קוראים דנה"),
        ("אנחנו חוסכים לדירה", "המשתמש חוסך לדירה"),
    ],
)
def test_fact_candidate_is_in_the_third_person(turn, content):
    kept = only(turn)
    assert (kept.kind, kept.content) == (Kind.FACT, content)


@pytest.mark.parametrize(
    ("turn", "content"),
    [
        (
            "I finished my thesis yesterday!",
            "The user finished the user's thesis on 2026-03-10.",
        ),
        ("We adopted a cat called Miso", "The user adopted a cat called Miso."),
        ("Last week I sold my motorbike", "The user sold the user's motorbike in the week of"),
        ("סיימתי אתמול את התזה!", "המשתמש סיים ב-2026-03-10 את התזה"),
        ("שברתי את הקרסול בכדורגל", "המשתמש שבר את הקרסול בכדורגל"),
    ],
)
def test_event_candidate_is_in_the_past_tense(turn, content):
    kept = only(turn)
    assert kept.kind is Kind.EVENT
    assert kept.content.startswith(content)


@pytest.mark.parametrize(
    ("turn", "content"),
    [
        ("My goal for this year is to run", "The user's goal for 2026 is to run."),
        ("My goal for tomorrow is to rest", "The user's goal for 2026-03-12 is to rest."),
        (
            "My plan for next month is to paint the fence",
            "The user's plan for April 2026 is to paint the fence.",
        ),
    ],
)
def test_date_after_a_preposition_has_none_of_its_own(turn, content):
    assert only(turn).content == content


def test_dream_of_the_night_is_no_goal():
    assert not any(kept.category == "goals" for kept in stored("I dreamt of a purple whale"))
    for turn in ("I dream of owning a farm", "I have always dreamt of a farm in Wales"):
        assert only(turn).category == "goals"


@pytest.mark.parametrize(
    "day", ["yesterday", "on 10 March", "on the 10th of March", "on Tuesday, 10 March 2026"]
)
def test_event_candidate_is_valid_from_the_stated_day(day):
    assert only(f"I finished my thesis {day}").valid_from.date().isoformat() == "2026-03-10"


@pytest.mark.parametrize(
    ("turn", "subject", "value"),
    [
        ("the wifi password is Tangerine-88", "wifi password", "Tangerine-88"),
        ("FYI my gate code is 4471#", "gate code", "4471#"),
        ("הקוד לשער זה 2580", "הקוד לשער", "2580"),
    ],
)
def test_kv_candidate_holds_subject_and_value(turn, subject, value):
    kept = only(turn)
    assert kept.kind is Kind.KV
    assert kept.metadata == {"subject": subject, "value": value}


@pytest.mark.parametrize(
    ("turn", "name", "phone"),
    [
        ("New dentist: Dr. Miriam Katz, 03-555-0142", "Dr. Miriam Katz", "03-555-0142"),
        (
            "so the plumber answered, his name is Gary Doyle and his number is 415-555-0177",
            "Gary Doyle",
            "415-555-0177",
        ),
        ("האינסטלטור החדש: מוטי אזולאי, 052-5550143", "מוטי אזולאי", "052-5550143"),
    ],
)
def test_contact_candidate_holds_name_and_phone(turn, name, phone):
    kept = only(turn)
    assert kept.kind is Kind.CONTACT
    assert (kept.metadata["name"], kept.metadata["phone"]) == (name, phone)


@pytest.mark.parametrize(
    ("turn", "category", "facet"),
    [
        ("I prefer window seats", "preferences", "preference"),
        ("אני שונא כוסברה", "preferences", "preference"),
        ("My goal is to run a half marathon by October", "goals", "goal"),
        ("המטרה שלי היא לרוץ חצי מרתון", "goals", "goal"),
        ("We decided to go with Postgres for the new service", "projects", "decision"),
        ("החלטנו ללכת על פוסטגרס", "projects", "decision"),
        ("I need to renew my passport before July", "tasks", "task"),
        ("The deadline for the grant application is March 31", "tasks", "task"),
        ("אני צריכה לחדש את הדרכון לפני יולי", "tasks", "task"),
    ],
)
def test_candidate_has_category_and_facet(turn, category, facet):
    kept = only(turn)
    assert (kept.category, kept.facet) == (category, facet)


@pytest.mark.parametrize(
    ("turn", "day"),
    [
        ("I have a dentist appointment tomorrow at 9", "2026-03-12"),
        ("I'm meeting Joanna on Friday to go over the budget", "2026-03-13"),
        ("I've got a job interview with Siemens next Tuesday", "2026-03-17"),
        ("יש לי תור לרופא מחר בתשע", "2026-03-12"),
        ("אני נפגש עם דפנה ביום שישי על התקציב", "2026-03-13"),
    ],
)
def test_plan_candidate_is_a_fact_with_an_absolute_date(turn, day):
    kept = only(turn)
    assert kept.kind is Kind.FACT
    assert day in kept.content


def test_finished_task_becomes_a_summary_of_seven_days():
    kept = only("Done: migrated the database to version 14.", role="assistant")
    assert (kept.kind, kept.ttl_days, kept.category) == (Kind.SUMMARY, 7, "history")


def test_statement_about_the_conversation_is_not_stored():
    assert stored("I love escaping to this world, I started this in May") == []


def test_candidate_trigger_is_the_verbatim_sentence():
    turn = "Hey! What a day. I'm allergic to peanuts, so no satay."
    assert only(turn).trigger == "I'm allergic to peanuts, so no satay."

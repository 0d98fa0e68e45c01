"""What a question says beside its words: what it asks for, of which months, about whom."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.language.fields.names import (
    NamedPeople,
    capitalised_words,
    find_named_people,
    remove_names,
)
from commonplace.language.query.question import parse_question
from commonplace.language.text.detect import Trait

PEOPLE = ("Melanie", "Caroline", "Jon", "Dana Levi", "Joanna", "דנה", "user", "Assistant")


@pytest.mark.parametrize(
    ("text", "asks_for"),
    [
        ("When did she leave?", Trait.TIME),
        ("What day was it?", Trait.TIME),
        ("מתי היא נסעה?", Trait.TIME),
        ("How many dogs are there?", Trait.NUMBER),
        ("How much was it?", Trait.NUMBER),
        ("כמה זה עלה?", Trait.NUMBER),
        ("Who came along?", Trait.NAME),
        ("Which city did they see?", Trait.NAME),
        ("What kind of book was it?", Trait.NAME),
        ("איזה ספר היא קראה?", Trait.NAME),
        ("How are you?", Trait(0)),
        ("Tell me about the garden", Trait(0)),
        ("how", Trait(0)),
        ("", Trait(0)),
    ],
)
def test_parse_question_detects_the_requested_trait(text, asks_for):
    assert parse_question(text).asks_for == asks_for


@pytest.mark.parametrize(
    ("text", "months", "years"),
    [
        ("What did they do in May?", {5}, set()),
        ("It may rain, may it not?", set(), set()),
        ("May I ask about the trip?", set(), set()),
        ("May 2023: what happened?", {5}, {2023}),
        ("Did they march through March?", {3}, set()),
        ("what happened in december 2025", {12}, {2025}),
        ("Between June and Sept. 1999", {6, 9}, {1999}),
        ("מה קנינו במרץ?", {3}, set()),
        ("ממאי עד יוני 2024", {5, 6}, {2024}),
        ("Room 2031 on floor 12345", set(), {2031}),
        ("The code is 120260", set(), set()),
    ],
)
def test_parse_question_reads_months_and_years(text, months, years):
    question = parse_question(text)
    assert (question.months, question.years) == (months, years)


@pytest.mark.parametrize(
    ("text", "of_the_user"),
    [
        ("Where did I put my key?", True),
        ("What did you tell me?", True),
        ("Where does Dana live?", False),
    ],
)
def test_parse_question_detects_first_person(text, of_the_user):
    assert parse_question(text).of_the_user is of_the_user


@pytest.mark.parametrize(
    ("text", "people"),
    [
        ("What did Melanie paint?", {"Melanie"}),
        ("what did melanie paint?", {"Melanie"}),
        ("WHAT DID MELANIE PAINT", {"Melanie"}),
        ("What is Melanie's dog called?", {"Melanie"}),
        ("What is Melanie’s dog called?", {"Melanie"}),
        ("What did Mel paint?", {"Melanie"}),
        ("What did Melaine paint?", {"Melanie"}),
        ("What did Carolina say?", {"Caroline"}),
        ("Did Jon call?", {"Jon"}),
        ("Did John call?", set()),
        ("Did Dana call?", {"Dana Levi"}),
        ("Did Levi call?", {"Dana Levi"}),
        ("Did Melanie and Caroline meet?", {"Melanie", "Caroline"}),
        ("What did the user say to the assistant?", set()),
        ("What did the Assistant say?", set()),
        ("מה אמרה דנה?", {"דנה"}),
        ("What is a melon?", set()),
        ("", set()),
    ],
)
def test_find_named_people_matches_spellings_and_short_names(text, people):
    assert find_named_people(text, PEOPLE).people == people


MORE_PEOPLE = ("Ana", "Maya", "Will", "May", "Arthur", "José", "Project Manager", "דנה", "Ibmahim")


@pytest.mark.parametrize(
    ("text", "people"),
    [
        ("What did ana say about the canoe?", {"Ana"}),
        ("What did Anna say?", {"Ana"}),
        ("What did Jose cook?", {"José"}),
        ("Where did we hike in May?", set()),
        ("When did May visit Rome?", {"May"}),
        ("What will happen?", set()),
        ("What did Will cook?", {"Will"}),
        ("Art supplies to buy?", set()),
        ("What does IBM sell?", set()),
        ("What is the project budget?", set()),
        ("What did the project manager say?", {"Project Manager"}),
        ("מה קנו לדנה?", {"דנה"}),
        ("ודנה, מה היא אמרה?", {"דנה"}),
    ],
)
def test_find_named_people_requires_a_capital_for_common_words_and_months(text, people):
    assert find_named_people(text, MORE_PEOPLE).people == people


def test_find_named_people_groups_spellings_of_one_person():
    found = find_named_people(
        "What did Ana and Tom say?", ("Ana", "Ana Cohen", "ana@example.com", "Tom")
    )
    assert set(found.mentions) == {
        frozenset({"Ana", "Ana Cohen", "ana@example.com"}),
        frozenset({"Tom"}),
    }


def test_parse_question_ignores_months_that_are_names():
    named = find_named_people("When did May visit Rome?", ("May",))
    assert parse_question("When did May visit Rome?", named.words).months == set()
    assert parse_question(
        "What happened in May?", find_named_people("…", ("May",)).words
    ).months == {5}


def test_remove_names_removes_the_possessive():
    text = "What is Chris' job?"
    assert remove_names(text, find_named_people(text, ("Chris",))) == "What is job?"


def test_find_named_people_returns_all_people_with_a_shared_first_name():
    assert find_named_people("Did Dana call?", ("Dana Levi", "Dana Cohen")).people == {
        "Dana Levi",
        "Dana Cohen",
    }


def test_find_named_people_matches_exactly_among_very_many_people():
    crowd = [f"Person{number}" for number in range(600)] + ["Melanie"]
    assert find_named_people("What did Melanie say?", crowd).people == {"Melanie"}
    assert find_named_people("What did Melaine say?", crowd).people == set()


@pytest.mark.parametrize(
    ("text", "bare"),
    [
        ("What is Melanie's dog called?", "What is dog called?"),
        ("Did Melanie and Caroline meet?", "Did and meet?"),
        ("What is a melon?", "What is a melon?"),
    ],
)
def test_remove_names_keeps_the_other_words(text, bare):
    assert remove_names(text, find_named_people(text, PEOPLE)) == bare


def test_capitalised_words_skip_sentence_start_and_acronyms():
    assert capitalised_words("Where did Dana meet NASA and Ilan?") == ["Dana", "Ilan"]
    assert capitalised_words("where did dana go?") == []


@given(st.text(max_size=80), st.lists(st.text(max_size=20), max_size=5))
def test_parse_question_accepts_any_text(text, people):
    parse_question(text)
    named = find_named_people(text, people)
    assert named.people <= set(people)
    assert remove_names(text, NamedPeople()) == text
    assert len(remove_names(text, named)) <= len(text)


@pytest.mark.parametrize(
    "question",
    [
        "Where do I live?",
        "what is my wifi password?",
        "How old am I?",
        "when was I born?",
        "tell me where I live",
        "remind me what my address is",
        "my phone number",
        "what do you know about me?",
        "am I allergic to nuts?",
        "Where I'm living now",
        "Do I have a car?",
        "איפה אני גר?",
        "מה הכתובת שלי?",
        "איך קוראים לי?",
        "מתי נולדתי?",
        "¿Dónde vivo?",
        "Wo wohne ich?",
        "Где я живу?",
        "Qual é o meu endereço?",
    ],
)
def test_question_about_the_asker(question):
    assert parse_question(question).about_the_asker


@pytest.mark.parametrize(
    "question",
    [
        "Where is the rollout?",
        "tell me what the supplier said",
        "remind me when the rollout is",
        "how do I open the gate?",
        "where can I find the keys?",
        "what did my team agree on?",
        "what do I know about herons?",
        "I want to know when the rollout is",
        "what do I need to bring to the meeting?",
        "what did we agree?",
        "Where did Dan live?",
        "מה הצוות שלי החליט?",
        "איך אני פותח את השער?",
    ],
)
def test_question_about_something_else_than_the_asker(question):
    assert not parse_question(question).about_the_asker

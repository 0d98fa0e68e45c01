"""The simulated year: the same for a seed, as it says it is, with questions that have answers."""

from datetime import date, timedelta

import pytest

from benchmarks.judgement.everyday import has_part
from benchmarks.year.generate import (
    CONVERSATIONS_A_DAY,
    DAYS,
    FEWEST_TURNS,
    FIRST_DAY,
    MOST_TURNS,
    GeneratedYear,
)
from commonplace.language.text.normalise import fold_case

DAYS_OF_YEAR = list(GeneratedYear(1).days())
QUESTIONS = GeneratedYear(1).questions


def said_before(day):
    return [
        turn.text
        for each in DAYS_OF_YEAR[:day]
        for conversation in each.conversations
        for turn in conversation.turns
        if turn.role == "user" and not turn.is_question
    ]


def test_year_is_the_same_for_the_same_seed():
    assert list(GeneratedYear(1).days()) == DAYS_OF_YEAR
    assert list(GeneratedYear(2).days()) != DAYS_OF_YEAR


def test_year_begins_the_same_however_long_it_is():
    assert list(GeneratedYear(1).days(30)) == DAYS_OF_YEAR[:30]


def test_year_has_five_conversations_a_day_of_two_to_eight_turns():
    assert len(DAYS_OF_YEAR) == DAYS == 365
    assert (DAYS_OF_YEAR[0].date, DAYS_OF_YEAR[-1].date) == (FIRST_DAY, date(2025, 12, 31))
    assert {len(day.conversations) for day in DAYS_OF_YEAR} == {CONVERSATIONS_A_DAY}
    lengths = {len(each.turns) for day in DAYS_OF_YEAR for each in day.conversations}
    assert (min(lengths), max(lengths)) == (FEWEST_TURNS, MOST_TURNS)
    assert sum(day.ends_month for day in DAYS_OF_YEAR) == 12
    assert sum(day.is_sunday for day in DAYS_OF_YEAR) == 52


def test_year_turns_follow_each_other_in_time():
    moments = [turn.at for day in DAYS_OF_YEAR for each in day.conversations for turn in each.turns]
    assert moments == sorted(set(moments))
    assert moments[-1] - moments[0] > timedelta(days=364)


def test_year_threads_have_names_of_their_own():
    threads = [each.thread for day in DAYS_OF_YEAR for each in day.conversations]
    assert len(set(threads)) == len(threads)


def test_year_is_told_in_english_and_some_hebrew():
    turns = said_before(DAYS)
    hebrew = sum(any("א" <= letter <= "ת" for letter in text) for text in turns)
    assert 0.05 < hebrew / len(turns) < 0.25


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda each: each.id)
def test_year_answers_are_told_before_they_are_expected(question):
    for held in question.values:
        assert question.answer_on(held.since + 1) == held.value
        before = "\n".join(said_before(held.since + 1))
        parts = held.value.split("|")
        assert any(has_part(before, part) for part in parts), held


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda each: each.id)
def test_year_questions_have_no_answer_before_it_is_told(question):
    assert question.answer_on(question.values[0].since) is None
    assert question.former_on(question.values[0].since) == ()


def test_year_facts_change_and_former_values_are_known():
    changing = [each for each in QUESTIONS if each.kind == "changing"]
    assert len(changing) > 30
    for question in changing:
        days = [held.since for held in question.values]
        assert days == sorted(set(days))
        assert days[0] < 20
        assert len(question.former_on(DAYS)) == len(days) - 1 >= 1


def test_year_assistant_answers_a_question_with_what_holds():
    answers = {
        (fold_case(turn.text), reply.text)
        for day in DAYS_OF_YEAR
        for conversation in day.conversations
        for turn, reply in zip(conversation.turns, conversation.turns[1:], strict=False)
        if turn.is_question
    }
    assert len(answers) > 60
    known = {(fold_case(q.ask), held.said) for q in QUESTIONS for held in q.values}
    for ask, answer in answers:
        assert any(ask == asked and said in answer for asked, said in known), answer

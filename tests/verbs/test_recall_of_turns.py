"""Turns of a chat in answers: their days, their languages, and what their memories leave out."""

from __future__ import annotations

from datetime import datetime

import pytest


@pytest.fixture
def agent(me):
    return me.agent("assistant")


def test_recall_shows_the_day_that_a_turn_means(agent):
    agent.observe("cal turns 35 on tuesday, ew", at="2026-02-13T09:00:00+00:00")
    assert "(tuesday = 2026-02-17)" in agent.query("when does cal turn 35?", thread="q").text
    assert "(tuesday = 2026-02-17)" in agent.context("when does cal turn 35?", thread="c").text


def test_recall_counts_days_in_the_time_zone_of_the_speaker(agent):
    agent.observe("mama lands tmrw, so excited", at="2026-02-05T22:30:00-06:00")
    (hit,) = agent.recall("when does mama land?").hits
    assert hit.date == datetime.fromisoformat("2026-02-06T04:30:00+00:00")
    assert "(user, 2026-02-05)" in hit.bullet
    assert "(tmrw = 2026-02-06)" in hit.bullet


def test_observe_dates_a_memory_in_the_time_zone_of_the_speaker(agent):
    seen = agent.observe("I have a dentist appointment tomorrow.", at="2026-02-05T22:30:00-06:00")
    assert "2026-02-06" in seen.stored[0].remembered.memory.content


@pytest.mark.parametrize(
    ("turn", "question", "detail"),
    [
        ("My dentist is Dr Klein, he's on Mill Road", "where is my dentist?", "Mill Road"),
        ("I joined a choir, rehearsals are Tuesdays at 8", "when are rehearsals?", "Tuesdays"),
        ("Anna and Paul split up, she's with Henrik now", "who is Anna with?", "Henrik"),
    ],
)
def test_recall_keeps_what_a_memory_leaves_out_of_its_turn(agent, turn, question, detail):
    agent.observe(turn, thread="old")
    assert detail in agent.query(question, thread="q").text
    assert detail in agent.context(question, thread="c").text


@pytest.mark.parametrize("message", ["hello", "thanks!", "what's 17 * 23?", "ok", "תודה"])
def test_context_recalls_nothing_for_small_talk(agent, message):
    for text in ("the alarm code of the shop is 4471", "hell of a day, chiamaka was late"):
        agent.observe(text, thread="old")
    layers = [part.layer for part in agent.context(message, thread="new").parts]
    assert "recalled" not in layers


def test_recall_overview_of_the_user_adds_turns_to_memories(agent):
    agent.observe("hey its me omar, i got a lebanese place on kedzie", thread="a")
    agent.observe("I'm allergic to peanuts", thread="b")
    texts = " ".join(hit.text for hit in agent.recall("what do you know about me?").hits)
    assert "peanuts" in texts
    assert "lebanese place" in texts


@pytest.mark.parametrize(
    ("turn", "question"),
    [
        ("moms reaction was funny, shes a pharmacist in brampton", "whos my mother?"),
        ("grandma turned 80 in august, big party", "what do u know abt my grandmother"),
        ("mi hermana vive en Sevilla con su perro", "¿qué sabes de mi hermana?"),
        ("meine Schwester arbeitet jetzt in Köln", "was weißt du über meine Schwester?"),
        ("ma soeur habite à Lyon", "que sais-tu de ma soeur ?"),
    ],
)
def test_recall_finds_relatives_by_other_words_and_in_other_languages(agent, turn, question):
    agent.observe("the boiler was repaired on monday", thread="a")
    agent.observe(turn, thread="b")
    assert agent.recall(question, k=3).hits[0].text == turn


def test_recall_overview_begins_with_the_turn_that_introduces_its_subject(agent, clock):
    agent.observe("bron is my best mate, pony club 1999", thread="a")
    for number in range(4):
        clock.tick(days=3)
        agent.observe(f"bron called again, {number + 1} times this week", thread=f"b{number}")
    assert "pony club" in agent.recall("who is bron?", k=3).hits[0].text

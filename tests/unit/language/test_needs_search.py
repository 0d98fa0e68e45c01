"""Whether a message needs the user's memory, and the reasons, without a model."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.language.query.message import RecentTurn
from commonplace.language.query.needs_search import needs_search


def asked(text: str) -> RecentTurn:
    return RecentTurn(text, "user")


def answered(text: str) -> RecentTurn:
    return RecentTurn(text, "assistant")


@pytest.mark.parametrize(
    "message",
    [
        "Explain quantum entanglement simply.",
        "Write a Python script to scrape headlines.",
        "Help me draft a polite resignation email.",
        "Summarize this PDF in bullet points.",
        "Debug this TypeScript function.",
        "Give me 5 startup ideas in the AI space.",
        "Rewrite my dating profile to sound more natural.",
        "Design a morning routine for productivity.",
        "What's the difference between gpt-4.1 and gpt-5?",
        "Brainstorm fantasy names for a coastal kingdom.",
    ],
)
def test_needs_search_is_false_for_the_seed_general_examples(message):
    assert not needs_search(message).needed


@pytest.mark.parametrize(
    "message",
    [
        "I'm not sure if I should take the google job offer.",
        "I think I messed up with andrew—we fought pretty bad last night.",
        "Okay, what do you think about this idea...",
        "How am I going to actually make headway on my startup—YC apps are due tomorrow.",
        "I don't know how I feel about this girl—I used to have a crush, but now she has a kid",
        "If I don't submit my report by end of today, am I screwed?",
        "Should I take google job?",
        "google job offer",
        "that thing we talked about with the startup",
        "YC deadline",
        "in chicago",
        "what about sarah?",
    ],
)
def test_needs_search_is_true_for_the_seed_personal_examples(message):
    assert needs_search(message).needed


@pytest.mark.parametrize(
    ("message", "reason"),
    [
        ("What is Sarah allergic to?", "names a person: Sarah"),
        ("Remember when we went to Porto?", "refers to an earlier conversation: remember when"),
        ("where did I park", "asks about something the user did: did i"),
        ("When does my passport expire?", "is about something of the user's: my"),
        ("what's the gate code", "refers to a particular thing: code"),
        ("dentist appointment", "is a few words to look up: dentist appointment"),
        ("מה אמרה מרים?", "names a person: מרים"),
        ("מה החלטתי לגבי הדירה?", "is about a decision of the user's: מה החלטתי"),
    ],
)
def test_needs_search_reason_names_the_triggering_words(message, reason):
    assert reason in needs_search(message).reasons


@pytest.mark.parametrize(
    ("message", "reason"),
    [
        ("thanks a lot!", "is small talk"),
        ("12 * (7 + 5)", "is a calculation"),
        ("Translate 'I met Sarah yesterday' into German", "is a translation"),
        ("Proofread my letter: Dear Sarah, we met yesterday.", "brings its own text"),
        ("Fix this regex: ^[a-z+$", "is about code"),
        ("Why is the sky blue?", "says nothing of the user"),
        ("תודה רבה!", "is small talk"),
        ("כתוב שיר קצר על הסתיו", "asks for a new text"),
    ],
)
def test_needs_search_negative_answer_has_a_reason(message, reason):
    found = needs_search(message)
    assert (found.needed, found.reasons) == (False, (reason,))


def test_needs_search_for_a_draft_depends_on_a_named_recipient():
    assert not needs_search("Draft a polite reply.").needed
    assert needs_search("Draft a reply to Jonathan.").reasons == ("names a person: Jonathan",)


def test_needs_search_counts_known_names():
    assert not needs_search("is zbynek vegetarian").needed
    assert needs_search("is zbynek vegetarian", known={"zbynek"}).needed


def test_needs_search_separates_names_from_words_by_capital():
    assert needs_search("Is it true that Will is ill?").needed
    assert not needs_search("Will it rain in May?").needed


@pytest.mark.parametrize("message", ["why?", "and the second one?", "is that still true?"])
def test_needs_search_of_a_follow_up_follows_the_conversation(message):
    own = [asked("Did I decide to leave the firm?"), answered("Yes, in March.")]
    general = [asked("Is glass a liquid?"), answered("No, an amorphous solid.")]
    assert needs_search(message, own).needed
    assert needs_search(message, own).reasons[0].startswith("follows up on: Did I decide")
    assert not needs_search(message, general).needed


def test_needs_search_without_roles_uses_the_last_question():
    assert needs_search(
        "why?", [RecentTurn("Did I leave the firm?"), RecentTurn("Yes, indeed.")]
    ).needed
    assert not needs_search(
        "why?", [RecentTurn("Is glass a liquid?"), RecentTurn("No, not quite.")]
    ).needed


def test_needs_search_follows_a_chain_of_follow_ups():
    own = [asked("When is Sarah's birthday?"), answered("On 4 May."), asked("and in June?")]
    assert needs_search("why?", own).needed


def test_needs_search_is_true_for_a_bare_mention_without_conversation():
    found = needs_search("in chicago")
    assert found.reasons == ("follows up on a conversation that is not here: in chicago",)
    assert not needs_search("why?").needed  # there is nothing to look for


@given(st.text(max_size=400), st.lists(st.text(max_size=80), max_size=4))
def test_needs_search_always_gives_a_reason(message, recent):
    found = needs_search(message, [RecentTurn(text) for text in recent])
    assert found.reasons
    assert all(found.reasons)


@pytest.mark.parametrize(
    "piece", ["a(", '"', "“", "'", "I ", "וש", "my, ", "what about ", ": ", "ב"]
)
def test_needs_search_is_fast_on_repetitive_text(piece):
    assert needs_search(piece * 16_000).reasons


@pytest.mark.parametrize("message", ["YC app", "ML model", "allergies?", "סיסמת הוויפי"])
def test_needs_search_is_true_for_keyword_queries(message):
    assert needs_search(message).needed

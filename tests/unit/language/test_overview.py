"""Questions for an overview: what they ask about, in English and Hebrew."""

from __future__ import annotations

import pytest

from commonplace.language.query.overview import MAX_SUBJECT_WORDS, Overview, parse_overview


@pytest.mark.parametrize(
    ("text", "subject"),
    [
        ("what do you know about Noa?", "Noa"),
        ("So, what do you know about my mother so far?", "my mother"),
        ("tell me everything you know about the flat in Porto", "the flat in Porto"),
        ("who's Ziad again?", "Ziad"),
        ("Who is Dr. Patel?", "Dr. Patel"),
        ("remind me who Efrat is", "Efrat"),
        ("what did I tell you about the boiler", "the boiler"),
        ("מה אתה יודע על תמר?", "תמר"),
        ("אז מי זאת אורטל?", "אורטל"),
        ("what do you remember?", ""),
        ("what do you know about me?", ""),
        ("What have you got in memory", ""),
        ("מה אתה זוכר?", ""),
        ("מה את יודעת עליי", ""),
    ],
)
def test_overview_has_a_subject(text, subject):
    assert parse_overview(text) == Overview(subject)


@pytest.mark.parametrize(
    "text",
    [
        "where do I live?",
        "when is bin day?",
        "who is picking up the children from school on Friday?",
        "remember that Noa likes tea",
        "",
        "???",
        "what do you think about the new flat and its very long corridor?",
    ],
)
def test_overview_is_no_other_question(text):
    assert parse_overview(text) is None


def test_overview_subject_has_few_words():
    fits = " ".join(["word"] * MAX_SUBJECT_WORDS)
    assert parse_overview(f"tell me about {fits}") == Overview(fits)
    assert parse_overview(f"tell me about {fits} more") is None

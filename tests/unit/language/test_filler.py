"""Filler: turns that say nothing, in several languages."""

import pytest

from commonplace.language.text.filler import is_filler

FILLER = [
    "ok",
    "OK!",
    "Done.",
    "Ouch.",
    "thanks",
    "Thanks a lot, that's really helpful!",
    "no",
    "Yes please",
    "Will do!",
    "I see, makes sense",
    "You're welcome! Let me know.",
    "I'll remember that.",
    "good morning",
    "hahaha",
    "👍",
    "...",
    "",
    "תודה רבה!",
    "אוקיי, סבבה",
    "Danke, alles gut",
    "Merci beaucoup !",
    "muchas gracias",
    "спасибо большое",
    "شكرا جزيلا",
    "好的",
    "了解しました",
    "감사합니다",
]

STATEMENTS = [
    "I love Thai food",
    "My dog died",
    "She said yes",
    "no meat for me",
    "I got the job",
    "Morning run done",
    "yes, Tuesday",
    "ok, it's 4711",
    "The war is over",
    "Not vegan",
    "לא אוכל בשר",
    "Ich bin krank",
    "我住在北京",
    "ok " * 20,
]


@pytest.mark.parametrize("text", FILLER)
def test_filler_says_nothing(text):
    assert is_filler(text)
    assert is_filler(text, "assistant")


@pytest.mark.parametrize("text", STATEMENTS)
def test_filler_is_no_statement(text):
    assert not is_filler(text)
    assert not is_filler(text, "user")


@pytest.mark.parametrize(
    "text",
    [
        "OK, teetotal from now on.",
        "Noted, no red meat.",
        "Understood: short answers. I will do that.",
        "רשמתי, בלי סוכר מעכשיו.",
        "Notiert, ab jetzt vegan.",
    ],
)
def test_filler_is_a_reply_that_only_takes_note(text):
    assert is_filler(text, "assistant")
    assert not is_filler(text, "user")


@pytest.mark.parametrize(
    "text",
    [
        "Sure, her doctor is Levi.",
        "Done. Booked the dentist.",
        "Noted: the exam is at 9.",
        "OK. What about fish?",
        "Sure, boil the water, add the salt and stir until it thickens",
    ],
)
def test_filler_is_no_reply_with_an_answer(text):
    assert not is_filler(text, "assistant")

"""Questions about how the assistant should answer or act."""

import pytest

from commonplace.language.query.profile_questions import asks_for_rules

ASKED = [
    "how should you write to me?",
    "When are u allowed to use bullets?",
    "how long should your answers be",
    "what name should you call me",
    "any instructions on how you should answer?",
    "how do I want the dates written?",
    "מה אסור לך לשלוח לי?",
]
OTHERS = [
    "can you help me write a letter to my landlord?",
    "what should I cook tonight?",
    "where do I live?",
    "what did you suggest about the flat?",
    "how do I want to travel?",
    "x" * 500,
]


@pytest.mark.parametrize("question", ASKED)
def test_question_asks_for_rules(question):
    assert asks_for_rules(question)


@pytest.mark.parametrize("question", OTHERS)
def test_question_asks_for_something_else(question):
    assert not asks_for_rules(question)

"""What is asked, supposed or somebody else's order is not stated, whatever words it has."""

import pytest

from commonplace.language.grounding.values import DropReason
from support.given_passages import contents, found_in, given, memory

UNSTATED = [
    ("do you think I should quit my job?", "I should quit my job", "The user should quit the job."),
    ("imagine I moved to Paris", "I moved to Paris", "The user moved to Paris."),
    ("if I win it I will buy a boat", "I will buy a boat", "The user will buy a boat."),
    ("נניח שעברתי לפריז", "שעברתי לפריז", "המשתמש עבר לפריז."),
]
STATED = [
    ("can i tell you something. I moved to Paris", "I moved to Paris", "The user moved to Paris."),
    ("he wants 7250 a month. for what??", "he wants 7250 a month", "He wants 7250 a month."),
    ("we fly on friday, isn't that soon?", "we fly on friday", "The user flies on Friday."),
]


def kept(turn, quote, text, **fields):
    passages = given(f"owner: {turn}")
    return found_in(passages, memories=[memory(text, quote, **fields)])


@pytest.mark.parametrize(("turn", "quote", "text"), UNSTATED)
def test_what_is_asked_or_supposed_is_dropped(turn, quote, text):
    found = kept(turn, quote, text)
    assert contents(found) == []
    assert found.dropped


@pytest.mark.parametrize(("turn", "quote", "text"), STATED)
def test_what_is_stated_next_to_a_question_stays(turn, quote, text):
    assert len(contents(kept(turn, quote, text))) == 1


def test_rule_may_be_asked_for():
    turn = "can you keep your answers short?"
    assert contents(kept(turn, turn, "Keep answers short.", kind="rule"))


def test_order_of_somebody_else_is_no_rule():
    turn = "my boss told me never mention the budget"
    found = kept(turn, "never mention the budget", "Never mention the budget.", kind="rule")
    assert contents(found) == []
    assert DropReason.NOT_STATED in found.dropped

"""A wish not to keep goes before everything: nothing of it is kept, looked up or proposed."""

from __future__ import annotations

import pytest

from commonplace.language.observe.own_words import OPT_OUT_MARK, remove_opt_outs
from support.turns import forgets, only, said, stored


@pytest.mark.parametrize(
    "turn",
    [
        "I live in Berlin, but don't save that",
        "This is confidential, I'm pregnant",
        "don't remember this: my code is 5",
        "off the record, my salary is 5000",
        "My locker code is 118. Don't write that down.",
        "Please do not store this. I'm allergic to nuts. My locker code is 118.",
        "Between us, I am allergic to nuts.",
        "I'm allergic to nuts. Keep this between you and me.",
        "I’m allergic to nuts, don’t save that please",
        "I'm allergic to nuts. I don't want you to remember that.",
        "I'd rather you didn't keep this: I'm allergic to nuts",
        "Could you not save this? I'm allergic to nuts.",
        "In confidence: I'm allergic to nuts",
        "I'm allergic to nuts. My locker code is 118, and don't save any of this",
        "אני גר בברלין, אבל אל תשמור את זה",
        "בינינו, אני בהריון",
        "לא לרשום: הקוד של השער 1234",
        "אל תזכרי את זה: אני גר בחיפה",
        "אני אלרגי לבוטנים. שיישאר בינינו.",
        "אני אלרגי לבוטנים, לא לפרוטוקול",
        "אני לא רוצה שתשמור את זה. אני אלרגי לבוטנים.",
    ],
)
def test_opt_out_removes_the_statements_covered(turn):
    assert said(turn) == ()
    assert remove_opt_outs(turn).text == ""
    assert remove_opt_outs(turn).wishes


def test_opt_out_after_a_statement_covers_that_sentence_only():
    turn = "I'm allergic to nuts. I live in Berlin, but don't save that. Thanks!"
    assert only(turn).content == "The user is allergic to nuts."
    may = remove_opt_outs(turn)
    assert may.text == f"I'm allergic to nuts. {OPT_OUT_MARK} Thanks!"
    assert may.wishes == ("but don't save that",)


@pytest.mark.parametrize(
    "turn",
    [
        "I don't remember that",
        "I can't remember it at all",
        "Why don't we keep this one?",
        "Don't save money on insurance.",
        "We don't keep it in the fridge.",
        "Don't put that in the essay.",
        "Nothing stands between us and the sea.",
        'She said "please don\'t save that" and left',
        "This is private property.",
        "Don't forget that Emma is coeliac",
        "אני לא זוכר את זה",
        "אי אפשר לשמור כסף ככה",
        "המרחק בינינו הוא עשרה קילומטר",
        "אל תשכח שנועה רגישה ללקטוז",
    ],
)
def test_opt_out_detection_ignores_similar_wording(turn):
    assert remove_opt_outs(turn).text == turn


def test_opt_out_for_the_future_is_a_rule_and_for_the_past_a_forget_request():
    assert only("From now on don't save anything about my health.").kind == "rule"
    assert forgets("Don't remember my old address") == ["my old address"]
    assert forgets("אל תזכור את הכתובת הישנה שלי") == ["הכתובת הישנה שלי"]


def test_opt_out_in_tool_output_is_ignored():
    """A tool that prints "do not store this" asks for nothing."""
    (summary,) = stored("Done: sent the invoice. Do not store this.", role="tool")
    assert summary.kind == "summary"

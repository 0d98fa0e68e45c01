"""Rule, event, fact or note: what a sentence without fields is."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.language.fields.classify import classify
from commonplace.language.fields.sentence_kind import sentence_kind
from commonplace.model.memory.kinds import Kind

KINDS = {
    Kind.RULE: [
        "Always answer in English",
        "never book a table outside",
        "please never call before nine",
        "don't ever order shellfish",
        "You should never share the password",
        "תמיד תענה לי בעברית",
        "אף פעם אל תקבע פגישה בשישי",
    ],
    Kind.EVENT: [
        "Yesterday we signed the contract",
        "the washing machine broke last week",
        "I met Tamar on 3 March",
        "we went to the lakes in 2024",
        "took the dog to the vet two days ago",
        "אתמול חתמנו על החוזה",
        "ביום שני פגשתי את תמר",
    ],
    Kind.FACT: [
        "Noa works at Intel",
        "noa works at wix now",
        "The bin day is Thursday",
        "tamar is vegan",
        "the spare keys are in the blue drawer",
        "I moved to Lisbon on 20 January",
        "I was born in 1985",
        "i want to run a marathon this year",
        "need to renew the passport",
        "love my tea strong",
        "not a fan of olives",
        "the tailor opens at ten on Sundays",
        "we used to go there in August",
        "im 42",
        "Dov juggles with knives",
        "נועה עובדת באינטל",
        "תמר טבעונית",
        "לדוד יש שני כלבים",
        "Noa arbeitet bei Intel",
        "Noa trabaja en Intel",
        "Ноа работает в Интел",
    ],
    Kind.NOTE: [
        "Idea: a bookshop with a bakery in the back",
        "milk, eggs, bin bags",
        "gift ideas for mum: scarf, opera tickets",
        "maybe paint the hall green",
        "what if we swapped the rooms",
        "Dear Mr Petrov, thank you for the flowers",
        "buy stamps",
        "some thoughts on the talk",
        "blue or green",
        "the talk was long. nobody came. we left early.",
        "where did I park?",
        "I think the code is 1234",
        "Notes from the meeting",
        "לקנות חלב וביצים",
        "רעיון: בית קפה עם ספרייה",
        "איפה חניתי?",
    ],
}


@pytest.mark.parametrize(
    ("kind", "text"), [(kind, text) for kind, texts in KINDS.items() for text in texts]
)
def test_sentence_kind_follows_the_words(kind: Kind, text: str) -> None:
    assert sentence_kind(text) is kind


@pytest.mark.parametrize("remark", ["Always happy to help", "Never saw this coming"])
def test_sentence_kind_takes_no_remark_for_a_rule(remark: str) -> None:
    assert sentence_kind(remark) is not Kind.RULE


def test_classify_takes_several_sentences_for_a_note() -> None:
    assert classify("Noa works at Intel. Dan works at Wix.").kind is Kind.NOTE


@given(st.text(max_size=300))
def test_sentence_kind_is_known_for_any_text(text: str) -> None:
    assert sentence_kind(text) in (Kind.RULE, Kind.EVENT, Kind.FACT, Kind.NOTE)

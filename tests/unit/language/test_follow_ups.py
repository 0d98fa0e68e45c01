"""A follow-up becomes a whole question, from the turns before it; the user's own words stay."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.language.query.follow_ups import expand_follow_up
from commonplace.language.query.message import RecentTurn, cue_words_of_all_languages
from commonplace.language.text.terms import analyse


def conversation(*texts: str) -> list[RecentTurn]:
    """The user, the assistant, the user …"""
    return [RecentTurn(text, ("user", "assistant")[place % 2]) for place, text in enumerate(texts)]


OFFER = conversation("I'm not sure if I should take the google job offer.")


@pytest.mark.parametrize(
    ("message", "recent", "query"),
    [
        ("in chicago", (), "What does the user know about chicago"),
        ("what about sarah?", (), "What does the user know about sarah"),
        ("ומה עם שרה?", (), "מה המשתמש יודע על שרה"),
        ("ובחיפה?", (), "מה המשתמש יודע על חיפה"),
        (
            "in chicago",
            ("Which restaurants did I like in New York?",),
            "Which restaurants did I like in chicago",
        ),
        ("what about sarah?", ("When is Dan's birthday?", "3 May."), "When is sarah's birthday"),
        (
            "and her brother?",
            ("When is Sarah's birthday?", "Sarah's birthday is on 4 May."),
            "When is Sarah's brother's birthday",
        ),
        ("why?", ("Did I leave the choir?", "Yes."), "why did I leave the choir"),
        ("what about next week?", ("What have I on this week?",), "What have I on next week"),
        ("how old is he?", ("My nephew starts school.",), "how old is my nephew?"),
        ("when is their wedding?", ("I met Ruth and Adam.",), "when is Ruth and Adam's wedding?"),
        ("did she like it?", ("I gave Olga the green scarf.",), "did Olga like the green scarf?"),
        ("ומה עם שרה?", ("מתי יום ההולדת של דן?",), "מתי יום ההולדת של שרה"),
        ("ובחיפה?", ("איפה אכלנו בירושלים?",), "איפה אכלנו בחיפה"),
        ("איפה הוא גר?", ("מה הטלפון של יונתן?",), "איפה יונתן גר?"),
    ],
)
def test_follow_up_is_completed_from_earlier_turns(message, recent, query):
    assert expand_follow_up(message, conversation(*recent)).query == query


def test_follow_up_verb_phrase_resolves_to_the_earlier_action():
    found = expand_follow_up("should I do it?", OFFER)
    assert found.query == "should I take the google job offer?"
    (put,) = found.filled
    assert (put.said, put.meant) == ("do it", "take the google job offer")


def test_follow_up_reports_each_filled_part_with_its_reason():
    found = expand_follow_up("and her brother?", conversation("When is Sarah's birthday?"))
    assert [(each.said, each.meant) for each in found.filled] == [
        ("her", "Sarah"),
        ("", "When is Sarah's brother's birthday"),
    ]
    assert found.filled[1].why == "takes up: When is Sarah's birthday"


def test_follow_up_chain_keeps_the_last_person():
    recent = conversation("When is Dan's birthday?", "3 May.", "what about sarah?", "4 May.")
    assert (
        expand_follow_up("and her brother?", recent).query == "When is sarah's brother's birthday"
    )


def test_follow_up_without_roles_uses_the_last_question():
    recent = [RecentTurn("When is Dan's birthday?"), RecentTurn("He was born on 3 May.")]
    assert expand_follow_up("what about sarah?", recent).query == "When is sarah's birthday"
    told = [RecentTurn("I might sell the car"), RecentTurn("I saw Dan today")]
    assert expand_follow_up("and Tom?", told).query == "I saw Tom today"


def test_follow_up_pronouns_resolve_by_gender():
    recent = conversation("My mother and my uncle are visiting.")
    assert expand_follow_up("how old is she?", recent).query == "how old is my mother?"
    assert expand_follow_up("how old is he?", recent).query == "how old is my uncle?"


@pytest.mark.parametrize(
    "message",
    [
        "When does my passport expire?",
        "What did Miriam say about the choir?",
        "Tell Sarah that she was right",
        "מתי הדרכון שלי פג?",
        "Explain quantum entanglement simply.",
    ],
)
def test_follow_up_leaves_complete_messages_unchanged(message):
    found = expand_follow_up(message, conversation("Where did I buy the bike?", "At Velo Nord."))
    assert (found.query, found.filled) == (message, ())


@pytest.mark.parametrize("message", ["why?", "should I do it?", "where does she live?"])
def test_follow_up_without_an_antecedent_stays_unchanged(message):
    assert expand_follow_up(message).query == message


SMALL_WORDS = """
in at what about and or should i do it why when she her brother sarah tom chicago my the passport
instead too near how much ok plus before ומה עם שרה בחיפה מחיפה זה הוא למה ? ! ,
"""
WORDS = st.sampled_from(SMALL_WORDS.split())
SENTENCES = st.lists(WORDS, max_size=9).map(" ".join)


@given(st.text(max_size=120) | SENTENCES, st.lists(SENTENCES, max_size=4))
def test_follow_up_never_drops_the_users_words(message, recent):
    query = expand_follow_up(message, conversation(*recent)).query
    kept = {term for each in ("en", None) for term in analyse(query, each)}
    lost = set(analyse(message, "en")) - kept - cue_words_of_all_languages("filler")
    assert not lost


@pytest.mark.parametrize("piece", ["the ", "should i ", "Sarah and ", "it ", "וב", "my big "])
def test_follow_up_is_fast_on_very_long_conversations(piece):
    recent = conversation(*[piece * 8000] * 100)
    assert expand_follow_up("and her brother?", recent).query
    assert expand_follow_up(piece * 8000, recent).query


@pytest.mark.parametrize(
    ("recent", "message", "query"),
    [
        ("What is Sarah's email?", "and her phone?", "What is Sarah's phone"),
        ("When is Dan's birthday?", "and his sister?", "When is Dan's sister's birthday"),
    ],
)
def test_follow_up_separates_attribute_from_relative_of_a_person(recent, message, query):
    assert expand_follow_up(message, conversation(recent)).query == query


def test_follow_up_antecedent_includes_its_from_phrase():
    recent = conversation("I got a job offer from Google.")
    assert (
        expand_follow_up("should I do it?", recent).query
        == "should I do the job offer from Google?"
    )

"""A relative's or friend's home, job or birthday says nothing of the owner's, and the reverse."""

import pytest

OWN = "I live in Vienna"
OTHERS = [
    "My sister lives in Berlin",
    "My friend Tom lives in Madrid",
    "My brother moved to Graz",
    "My mum lives in Linz",
]


@pytest.mark.parametrize("other", OTHERS)
def test_owner_and_relative_hold_at_once(book, other):
    me = book.user("ana")
    for thread, turns in (("first", (OWN, other)), ("second", (other, OWN))):
        user = book.user(thread)
        for turn in turns:
            user.observe(turn, thread=thread)
        home = user.recall("where do I live?").hits
        assert "Vienna" in home[0].text
        assert not home[0].outdated
    for fact in ("The user lives in Vienna.", f"The user's {other.removeprefix('My ')}."):
        assert me.remember(fact, kind="fact").action == "stored"


LETTER = b"""From: Kurt Braun <kurt@braun.example>
To: ana@mail.example
Subject: hello
Date: Mon, 05 Jan 2026 10:00:00 +0000

Hi Ana,

I live in Oslo with my two kids. My boss is Hilde and I'm allergic to bees.

Your booking reference is XK99.
"""
OF_THE_OWNER = ["where do I live?", "who is my boss?", "what am I allergic to?", "do I have kids?"]


@pytest.mark.parametrize("extracted", [False, True])
def test_words_of_a_correspondent_answer_nothing_about_the_owner(book, extracted):
    me = book.user("ana")
    me.ingest(LETTER, format="email")
    if extracted:
        me.extract()
    for question in OF_THE_OWNER:
        assert all(hit.weak for hit in me.recall(question).hits), question
    assert not me.recall("what is my booking reference?").hits[0].weak
    me.observe("I live in Ghent")
    assert "Ghent" in me.recall("where do I live?").hits[0].text
    assert "[profile] quoted: «Kurt Braun" not in me.context("where do I live?").text


def test_work_of_a_colleague_is_no_sure_answer(book):
    me = book.user("ana")
    me.observe("my colleague Eva works at SAP")
    assert all(hit.weak for hit in me.recall("where do I work?").hits)
    assert not me.recall("where does Eva work?").hits[0].weak


def test_question_of_the_assistant_is_no_answer(book):
    me = book.user("ana")
    me.observe("Where do you live?", role="assistant")
    assert me.recall("where do I live?").hits == ()


def test_unchanged_part_of_a_turn_is_not_outdated(book):
    me = book.user("ana")
    me.observe("I live in Haifa with my cat Miso")
    me.observe("We finally moved to Porto")
    cat = me.recall("what is my cat called?").hits[0]
    assert "Miso" in cat.text
    assert cat.outdated is None
    assert "Porto" in me.recall("where do I live?").hits[0].text


def test_redacted_secrets_do_not_outdate_each_other(book):
    me = book.user("ana")
    me.observe("IBAN is DE89370400440532013000 for the deposit")
    me.observe("login for the bank: ana77 / Zebra!22")
    assert all(hit.outdated is None for hit in me.recall("what is the IBAN?").hits)


def test_repeated_value_keeps_its_wording(book):
    me = book.user("ana")
    me.observe("the garage code is 4471")
    assert me.remember("The garage code is 4471").memory.content == "garage code: 4471"

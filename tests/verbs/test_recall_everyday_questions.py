"""Everyday questions are answered whatever the size of the store; what may be chance is weak."""

from __future__ import annotations

import pytest

# A statement, and questions for it, the last one in other words.
KNOWN = (
    ("The bin day is Thursday", "when is bin day?", "which day is bin day?"),
    ("Noa loves hiking in the Golan", "what does Noa love?", "what do you know about Noa?"),
    ("The boiler is serviced by Heatwell", "who services the boiler?", "who maintains our boiler?"),
    ("The garage code is 4711", "what is the garage code?", "which code opens the garage?"),
    ("My dentist is Dr Patel", "who is my dentist?", "who looks after my teeth?"),
    ("Luna the cat eats only wet food", "what does Luna eat?", "what food does the cat get?"),
    ("The wifi network is called Blue Heron", "what is the wifi called?", "name of our wifi?"),
    ("My sister Dana lives in Porto", "where does Dana live?", "which city is my sister in?"),
)
NOT_KNOWN = (
    "what's my shoe size?",
    "when does my passport expire?",
    "what is the name of Omri's school?",
    "how tall is Mount Everest?",
)
OTHERS = (
    "The museum opens at ten on Sundays",
    "Ilan paints his fence every summer",
    "The bakery on the corner sells rye bread",
    "Meeting notes are kept in the blue folder",
    "The bus to the harbour leaves from platform four",
    "Rosemary grows well in dry soil",
    "The printer needs a new cartridge",
    "The choir sings in the town hall in December",
)


@pytest.fixture
def of_words(open_book):
    """Users whose store has the default embedder."""
    return open_book(embedder="wordllama")


def filled(book, name, statement, size):
    me = book.user(name)
    texts = [
        f"{OTHERS[n % len(OTHERS)]} (page {n})" if n >= 8 else OTHERS[n] for n in range(size - 1)
    ]
    me.remember_many([{"content": text, "kind": "fact"} for text in [*texts, statement]])
    return me


@pytest.mark.parametrize("size", [1, 3, 10, 60])
def test_recall_answers_everyday_questions_in_stores_of_every_size(of_words, size):
    for place, (statement, *questions) in enumerate(KNOWN):
        me = filled(of_words, f"user{place}", statement, size)
        for question in questions:
            texts = [hit.text for hit in me.recall(question, k=5).hits]
            assert statement in texts, (size, question, texts)
        assert me.recall(questions[0], k=5).hits[0].text == statement, questions[0]


@pytest.mark.parametrize("size", [1, 3])
def test_recall_in_a_small_store_gives_what_fits_a_question_in_other_words(of_words, size):
    """The default embedder sees nothing in common: the answer is a time, and that is asked for."""
    me = filled(of_words, "ana", "The bin day is Thursday", size)
    hits = me.recall("when do I put the rubbish out?").hits
    assert "The bin day is Thursday" in [hit.text for hit in hits if hit.weak]


@pytest.mark.parametrize("size", [1, 3, 10, 60])
def test_recall_of_what_is_not_known_is_weak_in_stores_of_every_size(of_words, size):
    me = filled(of_words, "ana", KNOWN[0][0], size)
    for question in NOT_KNOWN:
        assert all(hit.weak for hit in me.recall(question).hits), question
        assert me.recall(question, strict=True).is_empty, question


def test_recall_strict_keeps_hits_that_are_sure(of_words):
    me = filled(of_words, "ana", KNOWN[3][0], 10)
    assert [hit.text for hit in me.recall("what is the garage code?", strict=True).hits] == [
        KNOWN[3][0]
    ]


@pytest.mark.parametrize(
    "question", ["what do you know about me?", "what do you remember?", "מה אתה יודע עליי?"]
)
def test_recall_overview_of_the_user_lists_profile_and_important_facts(me, question):
    me.remember("The museum opens at ten", kind="fact", importance=1)
    me.remember("I am allergic to penicillin", kind="fact", importance=5)
    me.profile_set("city", "Porto")
    hits = me.recall(question).hits
    assert "Porto" in hits[0].text + hits[1].text
    assert "penicillin" in hits[0].text + hits[1].text
    assert not any(hit.weak for hit in hits)


def test_recall_overview_of_a_person_is_a_search_for_the_person(me):
    me.remember("Noa loves hiking", kind="fact")
    me.remember("Tal knows a lot about wine", kind="fact")
    for question in ("what do you know about Noa?", "tell me everything about Noa", "who is Noa?"):
        assert me.recall(question).hits[0].text == "Noa loves hiking", question


def test_recall_of_an_overview_without_memories_shows_the_conversation(me):
    me.observe("we painted the shed green at the weekend")
    assert [hit.text for hit in me.recall("what do you remember?").hits]


def test_recall_leaves_out_turns_that_say_nothing(me):
    for text, role in (
        ("the shed roof is leaking again", "user"),
        ("ok", "assistant"),
        ("thanks", "user"),
        ("Done.", "assistant"),
    ):
        me.observe(text, role=role)
    texts = [hit.text for hit in me.recall("leaking shed roof").hits]
    assert texts == ["the shed roof is leaking again"]


def test_recall_prefers_the_users_turn_to_a_reply_that_repeats_it(me):
    me.observe("the plumber comes on tuesday at nine")
    me.observe("Noted: the plumber comes on Tuesday.", role="assistant")
    hits = me.recall("when does the plumber come?").hits
    assert [hit.citation.role for hit in hits if hit.citation and hit.citation.role] == ["user"]


def test_recall_finds_a_reply_that_says_more_than_its_turn(me):
    me.observe("where did I put them?")
    me.observe("The spare keys are in the blue drawer.", role="assistant")
    assert "blue drawer" in me.recall("spare keys").hits[0].text


def test_recall_of_what_the_assistant_said_finds_its_replies(me):
    me.observe("what should I cook for the party?")
    me.observe("I suggest a lentil stew for the party.", role="assistant")
    hit = me.recall("what did you suggest for the party?").hits[0]
    assert hit.citation.role == "assistant"

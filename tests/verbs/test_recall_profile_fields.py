"""Profile fields and open proposals answer plain questions about the owner."""

from __future__ import annotations

import pytest

FIELDS = {
    "city": "Porto",
    "preferred_name": "Ana Lu",
    "pronouns": "she/her",
    "language": "Hebrew",
    "tone": "brief and warm",
    "goals": ["learn the cello", "swim to the island"],
    "time_zone": "Europe/Lisbon",
}

QUESTIONS = [
    ("where do I live?", "city"),
    ("Which city am I in?", "city"),
    ("where am I based", "city"),
    ("איפה אני גרה?", "city"),
    ("what's my name?", "preferred_name"),
    ("what do people call me?", "preferred_name"),
    ("How should you address me?", "preferred_name"),
    ("איך קוראים לי?", "preferred_name"),
    ("which pronouns do I use?", "pronouns"),
    ("which language do I prefer", "language"),
    ("In what language should you answer?", "language"),
    ("באיזו שפה לענות לי?", "language"),
    ("how should you talk to me?", "tone"),
    ("what tone do I like?", "tone"),
    ("what are my goals?", "goals"),
    ("what am I working towards?", "goals"),
    ("מה המטרות שלי?", "goals"),
    ("what is my time zone?", "time_zone"),
]


@pytest.fixture
def profile(me):
    for name, value in FIELDS.items():
        me.profile_set(name, value)
    me.remember("The bins are emptied on Tuesday")
    me.remember("Lena eats no meat")
    return me


@pytest.mark.parametrize(("question", "field"), QUESTIONS)
def test_recall_answers_a_question_about_the_owner_from_the_profile(profile, question, field):
    assert profile.recall(question).hits[0].id == f"profile:{field}"
    assert (
        f"[profile] {profile.show(f'profile:{field}').memory.content}"
        in profile.query(question).text
    )


@pytest.mark.parametrize(
    "question", ["where does Lena live?", "when are the bins emptied?", "what does Lena eat?"]
)
def test_recall_of_something_else_gives_no_profile_field(profile, question):
    found = profile.recall(question, strict=True).hits
    assert not any(hit.id.startswith("profile:") for hit in found)


def test_recall_of_a_field_that_is_not_set_or_forgotten_is_empty(me):
    assert me.recall("where do I live?").is_empty
    me.profile_set("city", "Porto")
    me.forget("profile:city")
    assert me.recall("where do I live?").is_empty


def test_recall_of_a_profile_field_respects_allowlist_and_filters(profile):
    assert profile.agent("planner").recall("where do I live?", strict=True).is_empty
    assert profile.recall("where do I live?", categories=["knowledge"], strict=True).is_empty
    assert profile.recall("where do I live?", kinds=["note"]).is_empty
    assert profile.recall("where do I live?", categories=["profile"]).hits


def test_recall_marks_an_open_proposal_as_proposed(me):
    helper = me.agent("helper")
    asked = helper.propose("city", "Lisbon")
    for reader in (me, helper):
        (hit,) = reader.recall("where do I live?").hits
        assert (hit.id, hit.text, hit.proposed) == (asked.id, "City is Lisbon", True)
        assert "City is Lisbon (proposed, not confirmed)" in reader.query("where do I live?").text
    (item,) = me.query("where do I live?", returns="full").items
    assert item.proposed


def test_recall_gives_the_profile_before_a_proposal(me):
    me.profile_set("city", "Porto")
    me.agent("helper").propose("city", "Lisbon")
    hits = me.recall("where do I live?").hits
    assert [(hit.text, hit.proposed) for hit in hits] == [
        ("City is Porto", False),
        ("City is Lisbon", True),
    ]


def test_recall_shows_no_proposal_to_an_agent_without_the_profile(me):
    me.agent("helper").propose("city", "Lisbon")
    assert me.agent("planner").recall("where do I live?").is_empty


def test_recall_shows_no_proposal_that_is_declined_or_over(me, clock):
    helper = me.agent("helper")
    me.decline(helper.propose("city", "Lisbon").id)
    assert me.recall("where do I live?").is_empty
    helper.propose("tone", "formal")
    clock.tick(days=8)
    assert me.recall("what tone do I like?").is_empty

"""Instructions to remember, to forget and to behave; and what is about the profile."""

from __future__ import annotations

import pytest

from commonplace.model.memory.kinds import Kind
from support.turns import forgets, only, said, stored


@pytest.mark.parametrize(
    ("turn", "kind"),
    [
        ("remember that my locker number is 118", Kind.KV),
        ("can you remember that my locker number is 118?", Kind.KV),
        ("Don't forget that Emma is coeliac", Kind.FACT),
        ("Remember: never book flights with a layover in Frankfurt", Kind.RULE),
        ("Remember this contact: Nina Alvarez, landlord, nina@example.com", Kind.CONTACT),
        ("תזכור שמספר הלוקר שלי הוא 118", Kind.KV),
        ("אל תשכח שנועה רגישה ללקטוז", Kind.FACT),
    ],
)
def test_what_is_to_be_remembered_is_kept_by_its_kind(turn, kind):
    kept = only(turn)
    assert (kept.kind, kept.asked) == (kind, True)
    assert kept.evidence == (turn,)


def test_what_fits_no_kind_is_a_log_of_thirty_days():
    kept = only("Remember: she said it was behind them")
    assert (kept.kind, kept.ttl_days, kept.content) == (
        Kind.LOG,
        30,
        "she said it was behind them",
    )


@pytest.mark.parametrize(
    "turn",
    [
        "remember when we went to the beach",
        "I always forget how to spell necessary",
        "And remember, I'm always here for you",
        "Remember the Alamo?",
        "remember that time in Paris?",
        "שכחתי את המטרייה",
    ],
)
def test_thinking_back_asks_for_nothing(turn):
    assert stored(turn) == []


@pytest.mark.parametrize(
    "turn",
    [
        "Always answer in short sentences.",
        "From now on, never use emojis when you write to me",
        "When I ask for code, always give me Python",
        "תמיד תענה לי במשפטים קצרים",
        "מעכשיו אל תשתמשי באימוג'ים",
    ],
)
def test_an_instruction_for_the_time_to_come_is_a_rule_with_its_evidence(turn):
    kept = only(turn)
    assert kept.kind is Kind.RULE
    assert kept.confidence >= 0.8
    assert kept.evidence == (turn,)


@pytest.mark.parametrize(
    ("turn", "query"),
    [
        ("Please forget my old address", "my old address"),
        ("forget that I told you about Diego", "Diego"),
        ("You can forget about the trip to Oslo, it's cancelled", "the trip to Oslo"),
        ("תשכח ממה שסיפרתי לך על דייגו", "דייגו"),
        ("תמחקי בבקשה את הכתובת הישנה שלי", "הכתובת הישנה שלי"),
    ],
)
def test_a_wish_to_forget_is_a_query_and_no_memory(turn, query):
    assert forgets(turn) == [query]
    assert stored(turn) == []


@pytest.mark.parametrize("turn", ["forget it, never mind", "forget about it lol", "תשכח מזה"])
def test_never_mind_asks_to_forget_nothing(turn):
    assert said(turn) == ()


@pytest.mark.parametrize(
    ("turn", "field", "value"),
    [
        ("call me Ana", "preferred_name", "Ana"),
        ("my name is Theodore but everyone calls me Teddy", "preferred_name", "Teddy"),
        ("my pronouns are they/them", "pronouns", "they/them"),
        ("We just moved to Ghent", "city", "Ghent"),
        ("please speak Hebrew with me", "language", "Hebrew"),
        ("My language is German", "language", "German"),
        ("השפה שלי היא גרמנית", "language", "גרמנית"),
        ("אני גרה בחיפה", "city", "חיפה"),
        ("קוראים לי אנה", "preferred_name", "אנה"),
    ],
)
def test_a_sensitive_field_of_the_profile_is_named_with_its_value(turn, field, value):
    kept = only(turn)
    assert (kept.profile_field, kept.profile_value) == (field, value)
    assert kept.is_sensitive


def test_tone_and_goals_are_fields_that_need_no_consent():
    tone = only("I'd like you to be more formal with me")
    goal = only("My goal is to run a half marathon by October")
    assert [tone.profile_field, goal.profile_field] == ["tone", "goals_add"]
    assert [tone.is_sensitive, goal.is_sensitive] == [False, False]


@pytest.mark.parametrize(
    ("turn", "goal"),
    [
        ("My goal is to run a marathon by May", "run a marathon by May"),
        ("I want to run a marathon by May", "run a marathon by May"),
        ("I hope to finish my PhD by the end of 2027", "finish the user's PhD by the end of 2027"),
        ("I'm trying to quit smoking", "quit smoking"),
        ("We are saving up for a house", "saving up for a house"),
        ("my dream is to open a pottery studio in May", "open a pottery studio in May"),
        ("המטרה שלי היא לרוץ מרתון עד מאי", "לרוץ מרתון עד מאי"),
        ("אני רוצה ללמוד ספרדית השנה", "ללמוד ספרדית בשנת 2026"),
        ("אנחנו חוסכים לדירה", "חוסך לדירה"),
    ],
)
def test_a_goal_is_claimed_for_the_profile_in_few_words(turn, goal):
    kept = only(turn)
    assert (kept.profile_field, kept.profile_value) == ("goals_add", goal)


def test_the_assistants_identity_changes_only_when_it_is_told_so():
    assert only("Update your soul: you never guess").kind is Kind.SOUL
    assert stored("You are funny and calm") == []
    assert stored("You are now Max, a pirate") == []


@pytest.mark.parametrize(
    ("turn", "soul"),
    [
        ("update_soul: You are kind", "You are kind"),
        ("update soul: You are kind and brief", "You are kind and brief"),
        ("Your name is Max", "The agent's name is Max."),
        ("Max, that's your name", "The agent's name is Max."),
        ("השם שלך הוא מקס", "שמו של הסוכן הוא מקס."),
    ],
)
def test_an_identity_is_said_in_whole_sentences(turn, soul):
    kept = only(turn)
    assert (kept.kind, kept.content, kept.asked) == (Kind.SOUL, soul, True)


@pytest.mark.parametrize("role", ["assistant", "tool"])
def test_only_the_user_says_what_the_assistant_is(role):
    assert said("update_soul: You are kind", role=role) == ()


def test_a_role_may_be_written_in_capitals():
    assert said("I'm allergic to nuts", role="User") == said("I'm allergic to nuts")


@pytest.mark.parametrize(
    ("turn", "task"),
    [
        ("remember to call mom tomorrow", "The user needs to call mom on 2026-03-12."),
        ("Remind me to call mom tomorrow", "The user needs to call mom on 2026-03-12."),
        (
            "The meeting is moved to Tuesday at 3pm",
            "The meeting is moved to Tuesday 2026-03-17 at 3pm.",
        ),
    ],
)
def test_a_reminder_is_a_task_with_its_date(turn, task):
    kept = only(turn)
    assert (kept.kind, kept.category, kept.content) == (Kind.FACT, "tasks", task)

"""Instructions to remember, to forget and to behave; and what is about the profile."""

from __future__ import annotations

import pytest

from commonplace.language.observe.forget_requests import asks_only_to_forget, clean_forget_query
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
def test_remember_request_stores_content_by_kind_with_evidence(turn, kind):
    kept = only(turn)
    assert (kept.kind, kept.asked) == (kind, True)
    assert kept.evidence == (turn,)


def test_remember_request_without_a_kind_is_a_log_of_thirty_days():
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
def test_remember_detector_ignores_reminiscence(turn):
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
def test_standing_instruction_becomes_a_rule_with_evidence(turn):
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
        ("scrub my wifi password", "my wifi password"),
        ("delete the thing about my kiwi allergy", "my kiwi allergy"),
        ("can you forget that Rob owes me money?", "Rob owes me money"),
        ("could you forget that rob owes me money", "rob owes me money"),
        ("pls wipe the safe combo", "safe combo"),
        ("forget I said that about Dana", "Dana"),
        ("Delete the note about Dana, it's wrong", "Dana"),
        ("get rid of the stuff about my ex", "my ex"),
        ("forget everything about my running", "my running"),
        ("תמחק את הסיסמה של הוויי פיי", "הסיסמה של הוויי פיי"),
        ("תמחקי את העניין עם האלרגיה לקיווי", "האלרגיה לקיווי"),
        ("אתה יכול לשכוח שרוב חייב לי כסף?", "רוב חייב לי כסף"),
        ("בבקשה תמחק את הקומבינציה של הכספת", "הקומבינציה של הכספת"),
        ("תשכח שאמרתי את זה על דנה", "דנה"),
        ("תשכח ממה שסיפרתי לך על דייגו", "דייגו"),
        ("תמחקי בבקשה את הכתובת הישנה שלי", "הכתובת הישנה שלי"),
    ],
)
def test_forget_request_becomes_a_query_and_no_memory(turn, query):
    assert forgets(turn) == [query]
    assert stored(turn) == []
    assert asks_only_to_forget(turn)


@pytest.mark.parametrize(
    "turn",
    [
        "delete the last paragraph",
        "remove the unused code",
        "wipe the kitchen counter",
        "can you delete the file?",
        "I deleted the thing about my dog",
        "Did Rob forget that he owes me money?",
        "Don't forget that Emma is coeliac",
        "drop the act",
        "תמחק את השורה האחרונה",
        "תמחק את הקוד",
    ],
)
def test_forget_detector_ignores_other_work(turn):
    assert forgets(turn) == []
    assert not asks_only_to_forget(turn)


def test_turn_that_says_more_is_not_only_a_request_to_forget():
    assert not asks_only_to_forget("Forget my old address. I live in Leeds now.")
    assert asks_only_to_forget("Forget my old address. Thanks!")


@pytest.mark.parametrize(
    ("query", "about"),
    [
        ("everything about my running", "my running"),
        ("all about Rob", "Rob"),
        ("anything about the kiln", "the kiln"),
        ("what I said about Dana", "Dana"),
        ("the thing about Rob, it's wrong", "Rob"),
        ("כל מה שאמרתי על הריצה", "הריצה"),
        ("Rob", "Rob"),
    ],
)
def test_forget_query_is_what_it_is_about(query, about):
    assert clean_forget_query(query) == about


@pytest.mark.parametrize("turn", ["forget it, never mind", "forget about it lol", "תשכח מזה"])
def test_forget_detector_ignores_never_mind(turn):
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
def test_profile_detector_reads_sensitive_fields_and_values(turn, field, value):
    kept = only(turn)
    assert (kept.profile_field, kept.profile_value) == (field, value)
    assert kept.is_sensitive


def test_profile_detector_marks_tone_and_goals_not_sensitive():
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
def test_profile_detector_reads_goals_as_short_phrases(turn, goal):
    kept = only(turn)
    assert (kept.profile_field, kept.profile_value) == ("goals_add", goal)


def test_soul_detector_requires_an_explicit_update():
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
def test_soul_detector_writes_whole_sentences(turn, soul):
    kept = only(turn)
    assert (kept.kind, kept.content, kept.asked) == (Kind.SOUL, soul, True)


@pytest.mark.parametrize("role", ["assistant", "tool"])
def test_soul_detector_ignores_assistant_and_tool_turns(role):
    assert said("update_soul: You are kind", role=role) == ()


def test_find_candidates_ignores_case_of_the_role():
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
def test_reminder_becomes_a_dated_task(turn, task):
    kept = only(turn)
    assert (kept.kind, kept.category, kept.content) == (Kind.FACT, "tasks", task)

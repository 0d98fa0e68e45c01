"""How models put what people type: other words pass, another sense does not."""

from __future__ import annotations

import pytest

from support.given_passages import contents, found_in, given, memory

SAME = [
    ("lactose kills me, oat milk pls", "The user is lactose intolerant and drinks oat milk."),
    ("don't put mushrooms in anything", "The user dislikes mushrooms."),
    ("hate mushrooms", "The user doesn't like mushrooms."),
    ("the flat isn't in Cork, it's in Cobh", "The user's flat is in Cobh."),
    ("I'm allergic to cats, not dogs", "The user is allergic to cats."),
    ("not vegan, just vegetarian", "The user is vegetarian."),
    ("I never eat breakfast", "The user skips breakfast."),
    ("can't wait to see Petra", "The user will see Petra."),
    ("the garage doesn't open on sundays", "The garage is closed on Sundays."),
    ("stopped going to Zumba, knees are shot", "The user no longer goes to Zumba."),
    ("I can't do mondays", "The user is unavailable on Mondays."),
    ("im a lefty", "The user is left-handed."),
    ("trying to get to 100 pushups", "The user wants to do 100 push-ups."),
    ("I hate phone calls, text me", "The user prefers texts to phone calls."),
    ("ran 10k in 54:20", "The user ran 10 km in 54:20."),
    ("rent goes up to 1,350", "The user's rent goes up to 1350."),
    ("meet at 7pm", "The user meets at 19:00."),
    ("we have three hens", "The user has 3 hens."),
    ("no soporto madrugar", "El usuario odia madrugar."),
    ("ich vertrag keine milch", "Der Nutzer verträgt keine Milch."),
    ("אני לא סובלת כוסברה", "המשתמשת שונאת כוסברה."),
    ("אני לא שותה קפה אחרי 4", "המשתמש נמנע מקפה אחרי 4."),
]
ANOTHER = [
    ("I can't swim", "The user can swim."),
    ("we aren't selling the boat", "The user is selling the boat."),
    ("my brother doesn't live in Oslo", "The user's brother lives in Oslo."),
    ("Nina passed the exam", "Nina did not pass the exam."),
    ("I like jazz", "The user dislikes jazz."),
    ("I'm left handed", "The user is right-handed."),
    ("we leave on friday", "The user leaves on Saturday."),
    ("I was born in may", "The user was born in June."),
    ("rent is 900", "The user's rent is 900 since 2014."),
    ("no como carne", "El usuario come carne."),
    ("אני אוהב חצילים", "המשתמש לא אוהב חצילים."),
]


@pytest.mark.parametrize(("said", "text"), SAME)
def test_other_words_for_the_same_are_kept(said, text):
    assert len(contents(found_in(given(f"owner: {said}"), memories=[memory(text, said)]))) == 1


@pytest.mark.parametrize(("said", "text"), ANOTHER)
def test_another_sense_is_dropped(said, text):
    assert contents(found_in(given(f"owner: {said}"), memories=[memory(text, said)])) == []

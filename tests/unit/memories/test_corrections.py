"""Which memory a speaker means by what is not true any more."""

from __future__ import annotations

import pytest

from commonplace.engine.memories.corrections import is_meant


@pytest.mark.parametrize(
    ("corrected", "old", "new", "meant"),
    [
        ("lives in Haifa", "The user lives in Haifa.", "The user lives in Jaffa.", True),
        ("lives in Haifa", "Dana was born in Haifa.", "The user lives in Jaffa.", False),
        (
            "lives in Haifa",
            "The user moved from Haifa to Jaffa.",
            "The user lives in Jaffa.",
            False,
        ),
        ("gym locker is 0388", "gym locker: 0388", "gym locker: 0417", True),
        ("gym locker is 0388", "gym locker: 0391", "gym locker: 0417", False),
        ("gym locker is 0388", "The gym opens at 7.", "gym locker: 0417", False),
        ("0388", "door code: 0388", "The locker is 0417.", False),
        ("0388", "gym locker: 0388", "The gym locker is 0417.", True),
        (
            "Dana is a vegetarian",
            "The user's sister Dana is a vegetarian.",
            "Dana eats fish.",
            True,
        ),
        ("Dana is a vegetarian", "Tom is a vegetarian.", "Dana eats fish.", False),
        ("גרה בחיפה", "המשתמשת גרה בחיפה", "המשתמשת גרה ביפו", True),
        ("", "The user lives in Haifa.", "The user lives in Jaffa.", False),
        ("everything", "The user lives in Haifa.", "The user lives in Jaffa.", False),
        ("the user", "The user lives in Haifa.", "The user lives in Jaffa.", False),
    ],
)
def test_a_memory_is_meant_by_its_words(corrected, old, new, meant):
    assert is_meant(corrected, old, new, None) is meant


def test_without_a_word_in_common_similarity_tells():
    words = ("vegetarian", "Dana never eats meat, a vegetarian.", "She has fish on Fridays.")
    assert not is_meant(*words, 0.5)
    assert is_meant(*words, 0.9)

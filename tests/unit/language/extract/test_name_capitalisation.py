"""Capitals that make no name, and names without capitals."""

from __future__ import annotations

import pytest

from commonplace.language.extract.entity_recognition import recognise_entities
from support.accounts import account, kept, spoken_of, spotted


@pytest.mark.parametrize(
    "text",
    [
        "Coffee was cold. Lunch was late. Nothing else happened.",
        "See you on Monday, or in May, or at Easter.",
        "In June we planted tomatoes. On Friday it rained.",
        "I speak French, and the German translation is fine.",
        "The CEO said ASAP. FYI, the API is down and HR knows.",
        "I think I will, and I'm sure that I can.",
        "Weekly Planning Meeting Notes And Next Steps",
        "PLEASE STOP SENDING ME THESE THINGS RIGHT NOW",
        "Thanks! Great! Wow! Okay! Yes!",
        "Read https://example.com/Sarah-Chen and mail Sarah.Chen@example.com",
        "ping @SarahChen about #BigLaunch 🎉🎉",
        "run `Sarah.connect(Berlin)` in the shell",
        "Mom jeans are back. The Internet is slow.",
        "Will you come? May I ask? Mark my words.",
    ],
)
def test_entity_recognition_ignores_capitals_that_are_no_names(text):
    assert {name for name in kept(spotted(text)) if name.casefold() != "mom"} == set()


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("Met Sarah yesterday.", {"Sarah"}),
        ("Will Sarah come on Monday?", {"Sarah"}),
        ("CEO Tim Cook spoke.", {"Tim Cook"}),
        ("Thanks Priya! Dear Tom, hello.", {"Priya", "Tom"}),
        ("Sarah's car is at Tom's place.", {"Sarah", "Tom"}),
        ("April told me that April is cold.", {"April"}),
    ],
)
def test_entity_recognition_cuts_names_from_surrounding_capitals(text, names):
    assert set(kept(spotted(text))) == names


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("met sarah today", {"Sarah"}),
        ("i talked to priya about moving to berlin", {"Priya", "berlin"}),
        ("will call tomorrow, may be late, hope it works", set()),
        ("an apple a day, and target practice", set()),
    ],
)
def test_entity_recognition_of_lowercase_text_needs_known_name_and_cue(text, names):
    found = spotted(text)
    assert set(kept(found)) == names
    assert all(node.confidence <= 0.75 for node in found.nodes[1:])


def test_entity_recognition_of_capitalised_text_keeps_known_names_only():
    found = spotted("Lunch With Sarah Chen Moved", "TELL SARAH CHEN THAT WE MOVED")
    assert set(kept(found)) == {"Sarah Chen"}


def test_entity_spans_cover_sentence_initial_and_lowercase_repeats():
    told = account("I spoke with Noa. Noa agreed, and noa will call.", "Brightwell hired me.")
    assert spoken_of(recognise_entities(told), told, "Noa") == ["Noa", "Noa", "noa"]

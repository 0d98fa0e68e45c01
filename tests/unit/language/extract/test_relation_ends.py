"""Who relates to whom: the one who is named, and not the one by whom they are called."""

from __future__ import annotations

import pytest

from commonplace.language.extract.extract import extract
from support.accounts import account


def told(*said):
    found = extract(account(*said))
    names = ["I" if node.is_owner else node.name for node in found.nodes]
    return {
        f"{names[edge.a]} {edge.type} {names[edge.b]}" + (" (over)" if edge.ends else "")
        for edge in found.edges
    }


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Uri Katz married my sister Shira.", {"I sibling Shira", "Uri Katz spouse Shira"}),
        (
            "My brother Noam is dating my friend Dana.",
            {"I sibling Noam", "I friend Dana", "Noam partner Dana"},
        ),
        ("Tom is in love with my sister Shira.", {"I sibling Shira", "Tom likes Shira"}),
        ("Ben broke up with my sister Shira.", {"I sibling Shira", "Ben partner Shira (over)"}),
        ("Luca fell out with my boss Lena.", {"I reports-to Lena", "Luca conflict Lena"}),
        ("Carl divorced my aunt Ruth.", {"I relative Ruth", "Carl spouse Ruth (over)"}),
        ("Tom reports to my boss Lena.", {"I reports-to Lena", "Tom reports-to Lena"}),
        ("Tom married my sister.", {"I sibling my sister"}),
        ("Dana's boss's wife is my friend.", {"Dana reports-to Dana's boss"}),
        ("My sister Noa's birthday is tomorrow.", {"I sibling Noa"}),
        ("My sister is Dana Katz's friend.", set()),
        (
            "Tom Levi is my sister Shira's husband.",
            {"I sibling Shira", "Shira spouse Tom Levi"},
        ),
        ("The mother of Dana Levi works at Intel.", set()),
        ("אמא של דנה לוי עובדת באינטל.", set()),
        ("בן זוגי אבי התחיל לעבוד במובילאיי.", set()),
    ],
)
def test_relation_binds_the_named_person_not_the_possessor(text, expected):
    assert told(text) == expected


def test_relation_of_another_speaker_binds_the_named_person():
    expected = {"Dana sibling Shira", "Uri Katz spouse Shira"}
    assert told(("Dana", "Uri Katz married my sister Shira."), "Ok.") == expected


@pytest.mark.parametrize(
    "text",
    [
        "I got a package from Amazon.",
        "I got a call from Intel.",
        "I got a refund from Wix.",
        "Dana got a phone from Apple.",
        "I finished my coffee at Google.",
    ],
)
def test_studied_at_ignores_purchases_and_parcels(text):
    assert told(text) == set()


@pytest.mark.parametrize(
    "text",
    [
        "I got a degree from Stanford University.",
        "I did my master's at Stanford University.",
        "I finished the pottery course at Stanford University.",
    ],
)
def test_studied_at_reads_degrees_and_courses(text):
    assert told(text) == {"I studied-at Stanford University"}


def test_works_at_requires_an_accepted_offer():
    said = "I got a job offer from Google. I'm not sure if I should take the Google job offer."
    assert told(said) == {"I offer-from Google"}
    assert told("I accepted an offer from Google.") == {"I works-at Google"}
    assert "I works-at Google" in told("I got an offer from Google and accepted it.")


def test_client_relation_binds_the_stated_party():
    said = "My first client is Teva. My biggest customer is Nike."
    assert told(("Dana", said), "Ok.") == {"Dana client Teva", "Dana client Nike"}
    assert told("Intel is a client of Wix.") == {"Intel client-of Wix"}


@pytest.mark.parametrize(
    "text",
    [
        "Take 3 Granny Smith apples.",
        "My cat Luna lives with Tom.",
        "Luna, our old cat, hates Tom.",
        "Either Tom or Luca is my new boss.",
        "My new boss is Tom or Luca.",
        "Tom or Luca works at Intel.",
        "My flight to Berlin was cancelled.",
        "I bought Google shares.",
        "I love Paul Smith shirts.",
        "Rumour has it that Lena works for Tesla.",
        "My supplier is Metro.",
    ],
)
def test_relation_patterns_ignore_brands_animals_rumours_and_alternatives(text):
    assert told(text) == set()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I'm from Haifa.", {"I from Haifa"}),
        ("I grew up in Kyiv.", {"I grew-up-in Kyiv"}),
        ("I was born in Odessa.", {"I born-in Odessa"}),
        ("Tom is a dog walker. I work with Tom.", {"I colleague Tom"}),
        ("My flight to Berlin is on Friday.", {"I visits Berlin"}),
        ("My supplier is Dana Levi.", {"I contact Dana Levi"}),
    ],
)
def test_relation_patterns_read_origin_travel_and_colleagues(text, expected):
    assert told(text) == expected


def test_entity_aliases_exclude_alternatives():
    found = extract(account("My boss is Tom or Luca. Tom called. Luca called, too."))
    assert not [node.aliases for node in found.nodes if node.aliases]


def test_relation_seeing_a_doctor_is_doctor_not_partner():
    assert told("I'm seeing Dr. Weiss on Monday.") == {"I doctor Dr. Weiss"}


def test_participant_that_is_a_calendar_makes_no_node():
    listed = ["Google Calendar <calendar-notification@google.example>"]
    found = extract(account(("Google Calendar", "You have a meeting."), participants=listed))
    assert [node.name for node in found.nodes if not node.is_owner] == []

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
def test_whose_sister_somebody_marries_is_not_who_they_marry(text, expected):
    assert told(text) == expected


def test_what_others_tell_of_theirs_is_not_of_them_either():
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
def test_not_all_that_one_gets_somewhere_is_an_education(text):
    assert told(text) == set()


@pytest.mark.parametrize(
    "text",
    [
        "I got a degree from Stanford University.",
        "I did my master's at Stanford University.",
        "I finished the pottery course at Stanford University.",
    ],
)
def test_degrees_and_courses_are(text):
    assert told(text) == {"I studied-at Stanford University"}


def test_an_offer_is_no_job_before_it_is_taken():
    said = "I got a job offer from Google. I'm not sure if I should take the Google job offer."
    assert told(said) == {"I offer-from Google"}
    assert told("I accepted an offer from Google.") == {"I works-at Google"}
    assert "I works-at Google" in told("I got an offer from Google and accepted it.")


def test_a_client_is_whoever_is_called_so():
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
def test_brands_animals_rumours_and_what_nobody_knows_relate_to_nobody(text):
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
def test_what_is_plainly_said_is_told(text, expected):
    assert told(text) == expected


def test_of_two_of_whom_one_is_meant_none_is_called_so():
    found = extract(account("My boss is Tom or Luca. Tom called. Luca called, too."))
    assert not [node.aliases for node in found.nodes if node.aliases]


def test_whoever_sees_a_doctor_is_no_couple():
    assert told("I'm seeing Dr. Weiss on Monday.") == {"I doctor Dr. Weiss"}


def test_a_calendar_that_writes_is_nobody():
    listed = ["Google Calendar <calendar-notification@google.example>"]
    found = extract(account(("Google Calendar", "You have a meeting."), participants=listed))
    assert [node.name for node in found.nodes if not node.is_owner] == []
